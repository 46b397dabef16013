import type { Client } from '@temporalio/client';
import { type Kind, kindSchema } from '../src/contracts/work.js';
import { checkpointDocument, checkpointItem, type CheckpointState } from '../src/domain/checkpoint-view.js';
import type { CheckpointMark, ForkOrigin, Place } from '../src/domain/checkpoint.js';
import { ParleyError } from '../src/domain/errors.js';
import { goneBecause, retained, type RetentionRules, retentionPreset } from '../src/domain/retention.js';
import type { CarriedState, CheckpointsPort } from '../src/gateway/work-port.js';
import { placeQuery } from '../workflows/messages.js';
import { askQuery } from './ask-query.js';
import type { History, Replayer } from './replaying.js';
import { createRestore, restoreItem } from './restores.js';
import { searchAttributes } from './search-attributes.js';
import { startedWith } from './started-with.js';
import { notFound, translated } from './temporal-errors.js';

export interface CheckpointsOptions {
  client: Client;
  /** Replays histories against this version's workflows. */
  replayer: Replayer;
  /** How long checkpoints are kept; default: as spec 07 has it. */
  retention?: RetentionRules;
  /** Milliseconds for a question to Temporal. */
  deadlineMs?: number;
}

interface Replayed {
  /** null: the history does not come past the checkpoint. */
  state: CheckpointState | null;
  /** Where the work stands at the end of the history. */
  place: Place;
}

/** The state at one checkpoint, from the history alone (spec 07 "Inspect"). */
const replayed = async (history: History, workId: string, inspected: number, replayer: Replayer): Promise<Replayed> => {
  let state: CheckpointState | null = null;
  let place: Place = { marks: [], restores: [], epoch: 0, lastEventId: 0 };
  await replayer.replay({
    history,
    workId,
    inspected,
    onCheckpoint: (seen) => {
      state = seen;
    },
    onPlace: (seen) => {
      place = { ...seen, marks: [...place.marks, ...seen.marks] };
    },
  });
  return { state, place };
};

const gone = (kind: Kind, id: string, number: number, why: string): ParleyError =>
  new ParleyError('gone', `Checkpoint ${number} of ${kind} ${id} is gone: ${why}.`);

/** A checkpoint with the history that holds it, and what a replay saw there. */
export interface Point {
  mark: CheckpointMark;
  history: History;
  state: CheckpointState;
  /** Where the work stood at the end of its newest run's history. */
  place: Place;
}

/** The checkpoints of any kind of work, from Temporal's history alone (spec 07). */
export const createCheckpoints = (options: CheckpointsOptions): CheckpointsPort => {
  const { client, replayer, retention = retentionPreset, deadlineMs = 10_000 } = options;
  const within = async <T>(kind: Kind | 'work', id: string, ask: () => Promise<T>): Promise<T> => {
    try {
      return await client.withDeadline(Date.now() + deadlineMs, ask);
    } catch (error) {
      throw translated(error, kind, id);
    }
  };
  const placeOf = (kind: Kind, id: string): Promise<Place> =>
    within(kind, id, () => askQuery(client, deadlineMs, () => client.workflow.getHandle(id).query(placeQuery)));

  const historyOf = (kind: Kind, id: string, runId?: string): Promise<History> =>
    within(kind, id, () => client.workflow.getHandle(id, runId).fetchHistory());

  const replay = async (kind: Kind, id: string, history: History, number: number): Promise<Replayed> => {
    try {
      return await replayed(history, id, number, replayer);
    } catch (error) {
      if (error instanceof ParleyError || !(error instanceof Error)) throw error;
      throw new ParleyError(
        'wrong_state',
        `The history of ${kind} ${id} does not replay in this version: ${error.message}`,
      );
    }
  };

  /** The mark of a number, of those that are kept. @throws ParleyError gone, not_found */
  const markOf = (kind: Kind, id: string, number: number, { marks: all }: Place): CheckpointMark => {
    const { kept, gone: past } = retained(all, Date.now(), retention);
    const marks = kept.map(({ mark }) => mark);
    const expired = past.find((each) => each.mark.number === number);
    if (expired) throw gone(kind, id, number, goneBecause(expired, retention));
    const mark = marks.find((candidate) => candidate.number === number);
    if (mark) return mark;
    const [first, last] = [marks[0]?.number ?? 0, marks.at(-1)?.number ?? -1];
    if (number < first) throw gone(kind, id, number, `the latest ${marks.length} are kept, from ${first}`);
    const there = last < 0 ? 'it has none yet' : `it has ${first} to ${last}`;
    throw new ParleyError('not_found', `There is no checkpoint ${number} of ${kind} ${id}; ${there}.`);
  };

  const earlierRun = async (kind: Kind, id: string, { number, temporalRunId }: CheckpointMark): Promise<History> => {
    try {
      return await historyOf(kind, id, temporalRunId);
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'not_found')
        throw gone(kind, id, number, `its run ${temporalRunId} is past the namespace's retention`);
      throw error;
    }
  };

  /** As a rule the newest run has it, and one replay tells everything. */
  const pointOf = async (kind: Kind, id: string, number: number): Promise<Point> => {
    const newest = await historyOf(kind, id);
    const { state, place } = await replay(kind, id, newest, number);
    const mark = markOf(kind, id, number, place);
    if (state !== null) return { mark, history: newest, state, place };
    const history = await earlierRun(kind, id, mark);
    const earlier = await replay(kind, id, history, number);
    if (earlier.state !== null) return { mark, history, state: earlier.state, place };
    throw new ParleyError(
      'wrong_state',
      `The history of ${kind} ${id} does not replay in this version: it does not pass that point again`,
    );
  };

  /** Where a run that has closed stood in the end; no worker is needed. */
  const closedPlace = async (kind: Kind, id: string, runId: string, number: number): Promise<Place> =>
    (await replay(kind, id, await historyOf(kind, id, runId), number)).place;

  const restore = createRestore({ client, within, placeOf, pointOf, closedPlace });

  return {
    list: async (kind, id) => {
      const { marks, restores } = await placeOf(kind, id);
      const { kept } = retained(marks, Date.now(), retention);
      return { items: kept.map(({ mark }) => checkpointItem(id, mark)), restores: restores.map(restoreItem) };
    },
    inspect: async (kind, id, number) => {
      const { mark, state } = await pointOf(kind, id, number);
      return checkpointDocument(id, mark, state);
    },
    restore,
    origin: async (kind, id, number) => {
      const { history, state } = await pointOf(kind, id, number);
      const { request } = await startedWith(client, history);
      if (request === null)
        throw new ParleyError('wrong_state', `${kind} ${id} was started before bodies were kept; it cannot be forked.`);
      return { request, carried: state.carried as CarriedState };
    },
    beginning: async (id) => {
      const handle = client.workflow.getHandle(id);
      const { runId, memo, typedSearchAttributes } = await within('work', id, () => handle.describe());
      const kind = kindSchema.safeParse(typedSearchAttributes.get(searchAttributes.kind));
      if (!kind.success) throw notFound('work', id);
      const { namespace } = client.options;
      const { history } = await within('work', id, () =>
        client.workflowService.getWorkflowExecutionHistory({
          namespace,
          execution: { workflowId: id, runId },
          maximumPageSize: 1,
        }),
      );
      const { request } = await startedWith(client, history ?? {});
      const forkedFrom = (memo?.['forkedFrom'] as ForkOrigin | undefined) ?? null;
      const tenant = typedSearchAttributes.get(searchAttributes.tenant) ?? 'default';
      return { kind: kind.data, tenant, request, forkedFrom };
    },
  };
};
