import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
} from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { RestoreItem } from '../src/contracts/checkpoint.js';
import type { Kind } from '../src/contracts/work.js';
import { keptRestores, type Place, type Restore } from '../src/domain/checkpoint.js';
import { ParleyError } from '../src/domain/errors.js';
import { iso } from '../src/domain/instant.js';
import type { AskedRestore, CarriedState, CheckpointsPort } from '../src/gateway/work-port.js';
import type { Point } from './checkpoints.js';
import { searchAttributes } from './search-attributes.js';
import { startedWith } from './started-with.js';

interface RestoreParts {
  client: Client;
  within: <T>(kind: Kind, id: string, ask: () => Promise<T>) => Promise<T>;
  placeOf: (kind: Kind, id: string) => Promise<Place>;
  pointOf: (kind: Kind, id: string, number: number) => Promise<Point>;
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
    ...[searchAttributes.kind, searchAttributes.tenant, searchAttributes.traceId].flatMap((key) => {
      const value = before.get(key);
      return value === undefined ? [] : [{ key, value }];
    }),
    { key: searchAttributes.state, value: state },
    { key: searchAttributes.awaiting, value: false },
    { key: searchAttributes.restored, value: true },
  ]);

/**
 * Restores of any kind of work: what runs is stopped, and a new run of the same id begins with the state of the checkpoint
 * (docs/decisions/0015: why not by a reset of Temporal's). Its durable events follow those that were told before.
 */
export const createRestore = ({ client, within, placeOf, pointOf }: RestoreParts): CheckpointsPort['restore'] => {
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
          workflowTaskTimeout: '2 seconds',
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

  return async (kind, id, number, { reason, by, key, ...asked }: AskedRestore) => {
    const handle = client.workflow.getHandle(id);
    const isDone = ({ restores }: Place): boolean => key !== null && restores.some((done) => done.key === key);
    const description = await within(kind, id, () => handle.describe());
    const { runId } = description;
    if (key !== null && isDone(await placeOf(kind, id))) return { runId, isReplayed: true };
    // All that can go wrong does so before anything is stopped.
    const point = await pointOf(kind, id, number);
    await asked.check(point.state.artifacts);
    const isOpen = description.status.name === 'RUNNING' || description.status.name === 'PAUSED';
    if (isOpen) await within(kind, id, () => handle.terminate(`restored to checkpoint ${number}: ${reason}`));
    // What has ended tells no more than its history did.
    const { restores, lastEventId } = isOpen ? await placeOf(kind, id) : point.place;
    const restored: Restore = { checkpoint: number, reason, by, at: Date.now(), key, fromRunId: runId };
    const carried = {
      ...(point.state.carried as CarriedState),
      eventsBefore: lastEventId,
      previousRunId: runId,
      isRestored: true,
      restores: keptRestores(restores, restored),
    };
    return { runId: await startFrom(kind, id, point, description, carried), isReplayed: false };
  };
};
