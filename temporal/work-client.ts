import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  type WorkflowExecutionDescription,
  type WorkflowHandle,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { ApplicationFailure, TypedSearchAttributes } from '@temporalio/common';
import pRetry from 'p-retry';
import type { NumberedEvent, PartialEvent } from '../src/contracts/events.js';
import type { Json } from '../src/contracts/frames.js';
import type { Kind, Waiting } from '../src/contracts/work.js';
import { waitingForCalls } from '../src/domain/call-wait.js';
import { ParleyError } from '../src/domain/errors.js';
import { maxPayloadBytes } from '../src/domain/payload-limit.js';
import { taskTimeoutOf } from '../src/domain/task-timeout.js';
import type { CarriedState, StartOptions, WorkPort, WorkSetup, WorkStatus } from '../src/gateway/work-port.js';
import { eventsQuery } from '../workflows/messages.js';
import { fromFailure } from '../src/failure.js';
import { askQuery } from './ask-query.js';
import { callWaits } from './call-waits.js';
import { grpcStatus } from './grpc-status.js';
import { createNextAnswers } from './next-answers.js';
import { searchAttributes } from './search-attributes.js';
import { parleyTaskQueue } from './task-queue.js';
import { grpcError, notFound, translated } from './temporal-errors.js';
import { createTurns } from './turns.js';

/** What sets one kind of work apart for who starts and reads it. */
export interface WorkDefinition<Setup extends WorkSetup, Status extends WorkStatus> {
  kind: Kind;
  workflowType: string;
  initialState: string;
  /** What an operator sees in a list: the kind and the first words of what was asked, on one line. */
  summaryOf(setup: Setup): string;
  /** What people call it beside its id; undefined: nothing. */
  nameOf?(setup: Setup): string | undefined;
  /** The status of a run that was closed from outside (terminated, timed out) and never wrote its end itself. */
  closedFromOutside(status: Status, how: string, closedAt: string | null): Status;
  /** The lane whose text a durable event ends, or null. */
  endedLane: (event: NumberedEvent) => string | null;
  /** Texts so far that no worker streams. */
  texts(status: Status): PartialEvent[];
}

export interface WorkClientOptions {
  client: Client;
  taskQueue?: string;
  /** Milliseconds that a start may take before the caller is told that nothing was started. */
  startDeadlineMs?: number;
  /** Milliseconds for any other question. */
  deadlineMs?: number;
  /** Whether a worker on the same connection may get the first task with the answer to a start. */
  eagerStarts?: boolean;
  /** Hears of what failed after its caller had been answered. */
  onError?: (error: unknown) => void;
}

export type WorkUpdate = <T>(
  id: string,
  verb: string,
  send: (handle: WorkflowHandle, updateId: string) => Promise<T>,
  withinMs?: number,
) => Promise<T>;

export interface WorkClient<Setup extends WorkSetup, Status extends WorkStatus> extends WorkPort<Setup, Status> {
  /**
   * An update of running work, in turn with the others of the same work. `verb` completes "cannot …" in a refusal; `withinMs` is
   * for how many milliseconds its answer is waited for, by default as for any question. One that Temporal puts back is sent
   * again, under the `updateId` that is handed over, by which it counts once.
   * @throws ParleyError what the workflow refused with; not_found, wrong_state (it has ended), unavailable
   */
  update: WorkUpdate;
  /** A question to the work, in turn with the others, whether it runs or has ended. @throws ParleyError not_found, unavailable */
  ask<T>(id: string, send: (handle: WorkflowHandle) => Promise<T>): Promise<T>;
}

/**
 * Updates of one workflow under way from this gateway. Temporal takes 10 and puts the others off for seconds, a try at a
 * time: waiting here is far shorter.
 */
const updatesAtOnce = 8;

/**
 * Of what is prepared for a start. What runs the lanes is given it whole, and with it what others have answered: a quarter of
 * what one payload may take leaves room for those.
 */
const maxSetupBytes = maxPayloadBytes / 4;

/**
 * Tries after what passes by itself. Temporal puts back the updates of a workflow whose task came to nothing, as it does when the
 * workflow was about to close or to continue as new while something else arrived.
 */
const again = { retries: 4, minTimeout: 100, maxTimeout: 2_000 };

/** Most ids kept in memory as known work. */
const rememberedIds = 10_000;

/** How a run that is not running any more was closed. */
const closedAs = ({ status }: WorkflowExecutionDescription): string | null =>
  status.name === 'RUNNING' || status.name === 'CONTINUED_AS_NEW' || status.name === 'PAUSED' ? null : status.name;

/** One line of at most 100 characters of what was asked. */
export const firstWords = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 100);

/**
 * One kind of work as workflows of Temporal, which is the only store: every gateway gives the same answers, after a restart
 * too.
 */
export const createWorkClient = <
  Setup extends WorkSetup,
  Status extends WorkStatus & { ended_at: string | null; waiting: Waiting | null },
>(
  definition: WorkDefinition<Setup, Status>,
  {
    client,
    taskQueue = parleyTaskQueue,
    startDeadlineMs = 5000,
    deadlineMs = 10_000,
    eagerStarts = true,
    onError = () => {},
  }: WorkClientOptions,
): WorkClient<Setup, Status> => {
  const { kind, workflowType } = definition;
  const handleOf = (id: string, runId?: string) =>
    client.workflow.getHandle<(setup: Setup, carried: CarriedState | null, request: Json) => Promise<Status>>(
      id,
      runId,
    );
  const within = async <T>(id: string, milliseconds: number, ask: () => Promise<T>): Promise<T> => {
    try {
      return await client.withDeadline(Date.now() + milliseconds, ask);
    } catch (error) {
      throw translated(error, kind, id);
    }
  };
  const turns = createTurns(updatesAtOnce);
  // A stock server keeps one query for a workflow that is at work and puts others off for seconds; ours keeps more, but each is
  // work for the worker, and nobody needs two answers of the same moment.
  const queryTurns = createTurns(1);
  const nextStatus = createNextAnswers<Status>();
  const query = <T>(id: string, ask: () => Promise<T>): Promise<T> =>
    queryTurns(id, async () => {
      try {
        return await askQuery(client, deadlineMs, ask);
      } catch (error) {
        throw translated(error, kind, id);
      }
    });
  /** Ids seen to be of this kind: others are not queried, since no worker of ours could answer for them. */
  const seen = new Set<string>();
  const remember = (id: string): void => {
    if (seen.size >= rememberedIds) seen.clear();
    seen.add(id);
  };
  const describe = async (id: string): Promise<WorkflowExecutionDescription> => {
    const description = await within(id, deadlineMs, () => handleOf(id).describe());
    if (description.type !== workflowType) throw notFound(kind, id);
    remember(id);
    return description;
  };

  /**
   * The status that a closed run left as its outcome, which no worker is needed to read; null where it left none: it was
   * cancelled, or closed from outside.
   */
  const outcome = async (id: string, ask: () => Promise<Status>): Promise<Status | null> => {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw translated(error, kind, id);
      const { cause } = error;
      return cause instanceof ApplicationFailure ? ((cause.details?.[0] as Status | undefined) ?? null) : null;
    }
  };

  const statusNow = async (id: string): Promise<Status> => {
    const description = await describe(id);
    const { name } = description.status;
    if (name === 'COMPLETED' || name === 'FAILED') {
      const left = await outcome(id, () => client.withDeadline(Date.now() + deadlineMs, () => handleOf(id).result()));
      if (left !== null) return left;
    }
    const answer = await query(id, () => handleOf(id).query<Status>('status'));
    if (answer.ended_at !== null) return answer;
    const how = closedAs(description);
    if (how === null)
      return { ...answer, waiting: waitingForCalls(answer.waiting, await callWaits(client, description)) };
    if (how === 'COMPLETED') return answer;
    return definition.closedFromOutside(answer, how, description.closeTime?.toISOString() ?? null);
  };
  /** However many ask at once: each answer was asked for after they came. */
  const status = (id: string): Promise<Status> => nextStatus(id, () => statusNow(id));

  const refuseEnded = async (id: string, verb: string): Promise<never> => {
    const { state, lifecycle } = await status(id);
    throw new ParleyError('wrong_state', `${kind} in ${state} cannot ${verb}: it has ended (${lifecycle}).`);
  };

  // An eager start hands the first task back in the answer; it needs the connection that the worker uses.
  let eager = eagerStarts;
  const startWorkflow = async (setup: Setup, bodyHash: string, { request, carried }: StartOptions): Promise<void> => {
    const summary = definition.summaryOf(setup);
    const name = definition.nameOf?.(setup);
    const options = {
      workflowId: setup.id,
      taskQueue,
      args: [setup, carried ?? null, request] as [Setup, CarriedState | null, Json],
      workflowIdReusePolicy: 'REJECT_DUPLICATE' as const,
      workflowIdConflictPolicy: 'FAIL' as const,
      workflowTaskTimeout: taskTimeoutOf(kind),
      memo: { bodyHash, summary, ...(carried?.['forkedFrom'] ? { forkedFrom: carried['forkedFrom'] } : {}) },
      staticSummary: summary,
      typedSearchAttributes: new TypedSearchAttributes([
        { key: searchAttributes.kind, value: kind },
        { key: searchAttributes.state, value: definition.initialState },
        { key: searchAttributes.tenant, value: setup.tenant },
        { key: searchAttributes.traceId, value: setup.traceId },
        { key: searchAttributes.awaiting, value: false },
        ...(name === undefined ? [] : [{ key: searchAttributes.name, value: name }]),
      ]),
    };
    try {
      await client.workflow.start(workflowType, { ...options, requestEagerStart: eager });
    } catch (error) {
      // The client refuses before it sends anything; no property of the connection tells it beforehand.
      if (!eager || !(error instanceof Error) || !error.message.includes('Eager workflow start requires')) throw error;
      eager = false;
      await client.workflow.start(workflowType, options);
    }
  };

  /**
   * A start whose answer was lost may have happened all the same. Where nobody knows its id, nobody could find it or start
   * it again: it is ended, for as long as it may still arrive.
   */
  const withdraw = async (id: string): Promise<void> => {
    for (let waitMs = 1000; waitMs <= 32_000; waitMs *= 2) {
      await setTimeout(waitMs, undefined, { ref: false });
      try {
        await client.withDeadline(Date.now() + deadlineMs, () =>
          handleOf(id).terminate('its caller was told that nothing was started'),
        );
        return;
      } catch (error) {
        if (grpcError(error) === null && !(error instanceof WorkflowNotFoundError)) throw error;
      }
    }
  };

  return {
    kind,
    endedLane: definition.endedLane,
    texts: async (id) => definition.texts(await status(id)),
    start: async (setup, bodyHash, options) => {
      const { isRepeatable } = options;
      const bytes = Buffer.byteLength(JSON.stringify(setup));
      if (bytes > maxSetupBytes) {
        throw new ParleyError(
          'invalid_request',
          `must take at most ${maxSetupBytes} bytes once it is prepared, with an adapter for every clone; it takes ${bytes}`,
        );
      }
      try {
        await client.withDeadline(Date.now() + startDeadlineMs, () => startWorkflow(setup, bodyHash, options));
        remember(setup.id);
        return 'started';
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) {
          if (!isRepeatable) void withdraw(setup.id).catch(onError);
          throw translated(error, kind, setup.id);
        }
      }
      const { type, memo } = await within(setup.id, deadlineMs, () => handleOf(setup.id).describe());
      if (type === workflowType && memo?.['bodyHash'] === bodyHash) return 'replayed';
      throw new ParleyError(
        'conflict',
        `The id ${setup.id} is taken by a ${type === workflowType ? `${kind} with another body` : type}.`,
      );
    },
    status,
    awaitEnd: async (id, milliseconds, signal) => {
      const stop = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
      const stopped = new Promise<null>((resolve) => {
        stop.addEventListener('abort', () => resolve(null), { once: true });
        if (stop.aborted) resolve(null);
      });
      // A worker's connection knows no abort, but keeps to deadlines: a wait that was given up ends a little later.
      const result = (): Promise<Status> => client.withAbortSignal(stop, () => handleOf(id).result());
      const look = async (): Promise<Status> =>
        (await outcome(id, () => client.withDeadline(Date.now() + milliseconds + 1_000, result))) ?? (await status(id));
      const isPassing = ({ error }: { error: Error }): boolean =>
        !stop.aborted && error instanceof ParleyError && error.code === 'unavailable';
      const ended = pRetry(look, { ...again, signal: stop, shouldRetry: isPassing }).catch((error: unknown) => {
        if (stop.aborted) return null;
        throw error;
      });
      return await Promise.race([ended, stopped]);
    },
    cancel: async (id) => {
      if (closedAs(await describe(id)) !== null) return refuseEnded(id, 'be cancelled');
      await within(id, deadlineMs, () => handleOf(id).cancel());
    },
    update: async (id, verb, send, withinMs = deadlineMs) => {
      const due = Date.now() + withinMs;
      const updateId = randomUUID();
      const sendNow = () => client.withDeadline(due, () => send(handleOf(id), updateId));
      const isPutBack = ({ error }: { error: Error }): boolean =>
        Date.now() < due && grpcError(error)?.code === grpcStatus.FAILED_PRECONDITION;
      try {
        return await turns(id, () => pRetry(sendNow, { ...again, shouldRetry: isPutBack }));
      } catch (error) {
        const isRefused = error instanceof WorkflowUpdateFailedError;
        if (isRefused && fromFailure(error)) throw translated(error, kind, id);
        // A closed workflow takes no update: Temporal answers as if there were none, or fails the update that was under way.
        const isGone =
          isRefused || error instanceof WorkflowNotFoundError || grpcError(error)?.code === grpcStatus.NOT_FOUND;
        if (isGone && closedAs(await describe(id)) !== null) return refuseEnded(id, verb);
        throw translated(error, kind, id);
      }
    },
    events: async (id, since, runId) => {
      if (!seen.has(id)) await describe(id);
      return query(id, () => handleOf(id, runId).query(eventsQuery, since));
    },
    ask: async (id, send) => {
      if (!seen.has(id)) await describe(id);
      return query(id, () => send(handleOf(id)));
    },
    closedAs: async (id) => closedAs(await describe(id)),
    latestRun: async (id) => (await describe(id)).runId,
  };
};
