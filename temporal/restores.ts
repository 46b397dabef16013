import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { RestoreItem } from '../src/contracts/checkpoint.js';
import type { Kind } from '../src/contracts/work.js';
import { keptRestores, type Place, type Restore } from '../src/domain/checkpoint.js';
import { ParleyError } from '../src/domain/errors.js';
import { iso } from '../src/domain/instant.js';
import { taskTimeoutOf } from '../src/domain/task-timeout.js';
import type { AskedRestore, CarriedState, CheckpointsPort } from '../src/gateway/work-port.js';
import type { Point } from './checkpoints.js';
import { searchAttributes } from './search-attributes.js';
import { startedWith } from './started-with.js';
import { translated } from './temporal-errors.js';

interface RestoreParts {
  client: Client;
  within: <T>(kind: Kind, id: string, ask: () => Promise<T>) => Promise<T>;
  placeOf: (kind: Kind, id: string) => Promise<Place>;
  pointOf: (kind: Kind, id: string, number: number) => Promise<Point>;
  closedPlace: (kind: Kind, id: string, runId: string, number: number) => Promise<Place>;
}

export const restoreItem = ({ checkpoint, reason, by, at, fromRunId }: Restore): RestoreItem => ({
  checkpoint,
  reason,
  by,
  at: iso(at),
  from_run_id: fromRunId,
});

/** The attributes of the run of before, for one that has just begun and waits for nobody yet. */
const attributesOf = ({ typedSearchAttributes: before }: WorkflowExecutionDescription, state: string) =>
  new TypedSearchAttributes([
    ...[searchAttributes.kind, searchAttributes.tenant, searchAttributes.traceId, searchAttributes.name].flatMap(
      (key) => {
        const value = before.get(key);
        return value === undefined ? [] : [{ key, value }];
      },
    ),
    { key: searchAttributes.state, value: state },
    { key: searchAttributes.awaiting, value: false },
    { key: searchAttributes.restored, value: true },
  ]);

/**
 * Restores of any kind of work: what runs is stopped, and a new run of the same id begins with the state of the checkpoint
 * (docs/decisions/0015: why not by a reset of Temporal's). Its durable events follow those that were told before.
 */
export const createRestore = ({
  client,
  within,
  placeOf,
  pointOf,
  closedPlace,
}: RestoreParts): CheckpointsPort['restore'] => {
  const startFrom = async (
    kind: Kind,
    id: string,
    { state, history }: Point,
    description: WorkflowExecutionDescription,
    carried: CarriedState,
  ): Promise<string> => {
    const { setup, request } = await startedWith(client, history);
    const { memo = {}, type, taskQueue } = description;
    const summary = typeof memo['summary'] === 'string' ? memo['summary'] : kind;
    try {
      const handle = await within(kind, id, () =>
        client.workflow.start(type, {
          workflowId: id,
          taskQueue,
          args: [setup, carried, request],
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          workflowIdConflictPolicy: 'FAIL',
          workflowTaskTimeout: taskTimeoutOf(kind),
          memo,
          staticSummary: summary,
          typedSearchAttributes: attributesOf(description, state.status.state),
        }),
      );
      return handle.firstExecutionRunId;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      throw new ParleyError(
        'conflict',
        `${kind} ${id} was restored by somebody else at the same moment; look at it first.`,
      );
    }
  };

  const describe = (kind: Kind, id: string) => within(kind, id, () => client.workflow.getHandle(id).describe());
  const isOpen = ({ status }: WorkflowExecutionDescription): boolean =>
    status.name === 'RUNNING' || status.name === 'PAUSED';

  /** Stops exactly the run that was looked at. @throws ParleyError conflict when another has taken its place since */
  const stop = async (kind: Kind, id: string, runId: string, why: string): Promise<void> => {
    const now = await describe(kind, id);
    if (now.runId !== runId)
      throw new ParleyError('conflict', `${kind} ${id} went on in another run at the same moment; look at it first.`);
    if (!isOpen(now)) return;
    try {
      await client.workflow.getHandle(id, runId).terminate(why);
    } catch (error) {
      // It ended by itself in between.
      if (!(error instanceof WorkflowNotFoundError)) throw translated(error, kind, id);
    }
  };

  return async (kind, id, number, { reason, by, key, hash, check, rollBack }: AskedRestore) => {
    const before = await describe(kind, id);
    const { runId } = before;
    const done = key === null ? undefined : (await placeOf(kind, id)).restores.find((each) => each.key === key);
    if (done) {
      if (done.hash === hash) return { runId, isReplayed: true };
      throw new ParleyError(
        'conflict',
        `The key was used for a restore to checkpoint ${done.checkpoint}; use another.`,
      );
    }
    // All that can go wrong does so before anything is stopped.
    const point = await pointOf(kind, id, number);
    await check(point.state.artifacts, point.state.carried as CarriedState);
    await rollBack?.();
    await stop(kind, id, runId, `restored to checkpoint ${number}: ${reason}`);
    // What had ended tells no more than its history did.
    const place = isOpen(before) ? await closedPlace(kind, id, runId, number) : point.place;
    const restored: Restore = { checkpoint: number, reason, by, at: Date.now(), key, hash, fromRunId: runId };
    const carried = {
      ...(point.state.carried as CarriedState),
      eventsBefore: place.lastEventId,
      previousRunId: runId,
      isRestored: true,
      restores: keptRestores(place.restores, restored),
      epoch: place.epoch + 1,
      // Who has come to watch it since the checkpoint watches it still.
      ...(place.watchers && { watchers: place.watchers }),
    };
    return { runId: await startFrom(kind, id, point, before, carried), isReplayed: false };
  };
};
