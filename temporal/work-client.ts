import { setTimeout } from 'node:timers/promises';
import {
  type Client,
  isGrpcServiceError,
  QueryNotRegisteredError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  type WorkflowExecutionDescription,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, TypedSearchAttributes } from '@temporalio/common';
import type { Config } from '../src/config.js';
import type { SessionStatus } from '../src/contracts/session.js';
import { ParleyError } from '../src/domain/errors.js';
import type { SessionSetup } from '../src/domain/session-setup.js';
import type { SessionsPort } from '../src/gateway/sessions-port.js';
import { eventsQuery, framesUpdate, sessionWorkflowType, statusQuery } from '../workflows/messages.js';
import { fromFailure } from './failure.js';
import { grpcStatus } from './grpc-status.js';
import { searchAttributes } from './search-attributes.js';
import { createTurns } from './turns.js';
import { listWork } from './work-list.js';

/** Where the workers of this installation take their tasks from. */
export const parleyTaskQueue = 'parley';

export interface SessionsClientOptions {
  client: Client;
  config: Pick<Config, 'webUiUrl' | 'temporal'>;
  taskQueue?: string;
  /** Milliseconds that a start may take before the caller is told that nothing was started. */
  startDeadlineMs?: number;
  /** Milliseconds for any other question. */
  deadlineMs?: number;
  /** Hears of what failed after its caller had been answered. */
  onError?: (error: unknown) => void;
}

/**
 * Updates of one workflow under way from this gateway. Temporal takes 10 and puts the others off for seconds, a try at a
 * time: waiting here is far shorter.
 */
const updatesAtOnce = 8;

/** Most ids kept in memory as known sessions. */
const rememberedIds = 10_000;

/** Codes with which Temporal says that it, or a worker, cannot answer now. */
const passing = new Set<number | undefined>([
  grpcStatus.UNAVAILABLE,
  grpcStatus.DEADLINE_EXCEEDED,
  grpcStatus.CANCELLED,
  grpcStatus.RESOURCE_EXHAUSTED,
  // A query without a worker that could answer it.
  grpcStatus.FAILED_PRECONDITION,
  grpcStatus.ABORTED,
]);

const grpcError = (error: unknown): { code?: number; message: string } | null => {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (isGrpcServiceError(current)) return current;
  }
  return null;
};

const notFound = (id: string): ParleyError => new ParleyError('not_found', `There is no session ${id}.`);

const translated = (error: unknown, id: string): unknown => {
  const carried = fromFailure(error);
  if (carried) return carried;
  if (error instanceof WorkflowNotFoundError || error instanceof QueryNotRegisteredError) return notFound(id);
  const grpc = grpcError(error);
  if (grpc?.code === grpcStatus.NOT_FOUND) return notFound(id);
  // Terminated while no worker was there: no state was ever made that could be shown.
  if (grpc?.message.includes('closed before WorkflowTaskStarted')) {
    return new ParleyError('wrong_state', `session ${id} was closed from outside before a worker began it.`);
  }
  const isLate = error instanceof WorkflowUpdateRPCTimeoutOrCancelledError;
  if (isLate || (grpc && passing.has(grpc.code))) {
    const why = grpc?.message ? ` (${grpc.message})` : '';
    return new ParleyError('unavailable', `Temporal or its workers do not answer now${why}; try again.`, {
      retryable: true,
      retryAfterMs: 2000,
    });
  }
  return error;
};

/** The first words of the prompt, on one line: what an operator sees in a list. */
const summaryOf = ({ prompt }: SessionSetup): string => `session: ${prompt.replace(/\s+/g, ' ').trim().slice(0, 100)}`;

/** How a run that is not running any more was closed. */
const closedAs = ({ status }: WorkflowExecutionDescription): string | null =>
  status.name === 'RUNNING' || status.name === 'CONTINUED_AS_NEW' || status.name === 'PAUSED' ? null : status.name;

/** Sessions as workflows of Temporal, which is the only store: every gateway gives the same answers, after a restart too. */
export const createSessionsClient = ({
  client,
  config,
  taskQueue = parleyTaskQueue,
  startDeadlineMs = 5000,
  deadlineMs = 10_000,
  onError = () => {},
}: SessionsClientOptions): SessionsPort => {
  const within = async <T>(id: string, milliseconds: number, ask: () => Promise<T>): Promise<T> => {
    try {
      return await client.withDeadline(Date.now() + milliseconds, ask);
    } catch (error) {
      throw translated(error, id);
    }
  };
  const turns = createTurns(updatesAtOnce);
  /** Ids seen to be sessions: others are not queried, since no worker of ours could answer for them. */
  const seen = new Set<string>();
  const describe = async (id: string): Promise<WorkflowExecutionDescription> => {
    const description = await within(id, deadlineMs, () => client.workflow.getHandle(id).describe());
    if (description.type !== sessionWorkflowType) throw notFound(id);
    remember(id);
    return description;
  };
  const remember = (id: string): void => {
    if (seen.size >= rememberedIds) seen.clear();
    seen.add(id);
  };
  const ensureSession = async (id: string): Promise<void> => {
    if (!seen.has(id)) await describe(id);
  };

  /** A run that was terminated or timed out never wrote its end into its own state. */
  const closedFromOutside = (status: SessionStatus, description: WorkflowExecutionDescription): SessionStatus => {
    const how = closedAs(description);
    if (how === null || how === 'COMPLETED') return status;
    return {
      ...status,
      lifecycle: how === 'FAILED' || how === 'TIMED_OUT' ? 'failed' : 'cancelled',
      waiting: null,
      error: status.error ?? {
        code: how === 'FAILED' ? 'EAGENTDOWN' : 'EPREEMPT',
        message: `The workflow was closed from outside (${how}) in state ${status.state}; see it in Temporal's Web UI.`,
        lanes: status.lanes.map(({ lane_id, state, reason }) => ({ lane_id, state, reason })),
      },
      ended_at: status.ended_at ?? description.closeTime?.toISOString() ?? null,
    };
  };

  /**
   * The status that a closed run left as its outcome, which no worker is needed to read; null where it left none: it was
   * cancelled, or closed from outside.
   */
  const outcome = async (id: string, ask: () => Promise<SessionStatus>): Promise<SessionStatus | null> => {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw translated(error, id);
      const { cause } = error;
      return cause instanceof ApplicationFailure ? ((cause.details?.[0] as SessionStatus | undefined) ?? null) : null;
    }
  };

  const status = async (id: string): Promise<SessionStatus> => {
    const description = await describe(id);
    const handle = client.workflow.getHandle<() => Promise<SessionStatus>>(id);
    if (description.status.name === 'COMPLETED' || description.status.name === 'FAILED') {
      const left = await outcome(id, () => client.withDeadline(Date.now() + deadlineMs, () => handle.result()));
      if (left !== null) return left;
    }
    const answer = await within(id, deadlineMs, () => handle.query(statusQuery));
    return answer.ended_at === null ? closedFromOutside(answer, description) : answer;
  };

  const refuseEnded = async (id: string, what: string): Promise<never> => {
    const { state, lifecycle } = await status(id);
    throw new ParleyError('wrong_state', `session in ${state} cannot ${what}: it has ended (${lifecycle}).`);
  };

  // An eager start hands the first task back in the answer; it needs the connection that the worker uses.
  let eager = true;
  const startWorkflow = async (setup: SessionSetup, bodyHash: string): Promise<void> => {
    const options = {
      workflowId: setup.id,
      taskQueue,
      args: [setup],
      workflowIdReusePolicy: 'REJECT_DUPLICATE' as const,
      workflowIdConflictPolicy: 'FAIL' as const,
      workflowTaskTimeout: '2 seconds' as const,
      memo: { bodyHash, summary: summaryOf(setup) },
      staticSummary: summaryOf(setup),
      typedSearchAttributes: new TypedSearchAttributes([
        { key: searchAttributes.kind, value: 'session' },
        { key: searchAttributes.state, value: 'INIT' },
        { key: searchAttributes.tenant, value: setup.tenant },
        { key: searchAttributes.traceId, value: setup.traceId },
        { key: searchAttributes.awaiting, value: false },
      ]),
    };
    try {
      await client.workflow.start(sessionWorkflowType, { ...options, requestEagerStart: eager });
    } catch (error) {
      // The client refuses before it sends anything; no property of the connection tells it beforehand.
      if (!eager || !(error instanceof Error) || !error.message.includes('Eager workflow start requires')) throw error;
      eager = false;
      await client.workflow.start(sessionWorkflowType, options);
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
          client.workflow.getHandle(id).terminate('its caller was told that nothing was started'),
        );
        return;
      } catch (error) {
        if (grpcError(error) === null && !(error instanceof WorkflowNotFoundError)) throw error;
      }
    }
  };

  return {
    start: async (setup, bodyHash, { isRepeatable }) => {
      try {
        await client.withDeadline(Date.now() + startDeadlineMs, () => startWorkflow(setup, bodyHash));
        remember(setup.id);
        return 'started';
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) {
          if (!isRepeatable) void withdraw(setup.id).catch(onError);
          throw translated(error, setup.id);
        }
      }
      const { type, memo } = await within(setup.id, deadlineMs, () => client.workflow.getHandle(setup.id).describe());
      if (type === sessionWorkflowType && memo?.['bodyHash'] === bodyHash) return 'replayed';
      throw new ParleyError(
        'conflict',
        `The id ${setup.id} is taken by ${type === sessionWorkflowType ? 'a session with another body' : `a ${type}`}.`,
      );
    },
    status,
    awaitEnd: async (id, milliseconds, signal) => {
      const stop = new AbortController();
      const abort = (): void => stop.abort();
      const timer = globalThis.setTimeout(abort, milliseconds);
      signal.addEventListener('abort', abort, { once: true });
      try {
        const handle = client.workflow.getHandle<() => Promise<SessionStatus>>(id);
        const left = await outcome(id, () => client.withAbortSignal(stop.signal, () => handle.result()));
        return left ?? (await status(id));
      } catch (error) {
        if (stop.signal.aborted) return null;
        throw error;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      }
    },
    cancel: async (id) => {
      if (closedAs(await describe(id)) !== null) return refuseEnded(id, 'be cancelled');
      await within(id, deadlineMs, () => client.workflow.getHandle(id).cancel());
    },
    frames: async (id, lane, frames) => {
      try {
        return await turns(id, () =>
          client.withDeadline(Date.now() + deadlineMs, () =>
            client.workflow.getHandle(id).executeUpdate(framesUpdate, { args: [lane, frames] }),
          ),
        );
      } catch (error) {
        const isRefused = error instanceof WorkflowUpdateFailedError;
        if (isRefused && fromFailure(error)) throw translated(error, id);
        // A closed workflow takes no update: Temporal answers as if there were none, or fails the update that was under way.
        const isGone =
          isRefused || error instanceof WorkflowNotFoundError || grpcError(error)?.code === grpcStatus.NOT_FOUND;
        if (isGone && closedAs(await describe(id)) !== null) return refuseEnded(id, 'take frames');
        throw translated(error, id);
      }
    },
    events: async (id, since, runId) => {
      await ensureSession(id);
      return within(id, deadlineMs, () => client.workflow.getHandle(id, runId).query(eventsQuery, since));
    },
    closedAs: async (id) => closedAs(await describe(id)),
    list: async (filter) => listWork(client, config, filter, (ask) => within('', deadlineMs, ask)),
    isReachable: async () => {
      try {
        const { namespace } = client.options;
        await client.withDeadline(Date.now() + 2000, () => client.workflowService.describeNamespace({ namespace }));
        return true;
      } catch {
        return false;
      }
    },
  };
};
