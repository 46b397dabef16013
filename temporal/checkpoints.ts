import type { Client } from '@temporalio/client';
import { type Kind, kindSchema } from '../src/contracts/work.js';
import { checkpointDocument, checkpointItem, type CheckpointState } from '../src/domain/checkpoint-view.js';
import type { CheckpointMark, ForkOrigin } from '../src/domain/checkpoint.js';
import { ParleyError } from '../src/domain/errors.js';
import { goneBecause, retained, type RetentionRules, retentionPreset } from '../src/domain/retention.js';
import type { CarriedState, CheckpointsPort } from '../src/gateway/work-port.js';
import { checkpointsQuery } from '../workflows/messages.js';
import { builtBundle } from './built-bundle.js';
import { type History, replayRun } from './replaying.js';
import { converterOf } from './data-converter.js';
import { createRestores } from './restores.js';
import { searchAttributes } from './search-attributes.js';
import { startedWith } from './started-with.js';
import { notFound, translated } from './temporal-errors.js';
import { createTurns } from './turns.js';

export interface CheckpointsOptions {
  client: Client;
  /** What histories are replayed against; default: the bundle of this build. */
  bundlePath?: string | undefined;
  /** How long checkpoints are kept; default: as spec 07 has it. */
  retention?: RetentionRules;
  /** Milliseconds for a question to Temporal. */
  deadlineMs?: number;
}

/** The state at one checkpoint, or null where the history does not come past it (spec 07 "Inspect"). */
const stateAt = async (
  history: History,
  workId: string,
  inspected: number,
  bundlePath: string,
  client: Client,
): Promise<CheckpointState | null> => {
  let seen: CheckpointState | null = null;
  const onCheckpoint = (state: CheckpointState): void => {
    seen = state;
  };
  const dataConverter = converterOf(client, 'replay');
  await replayRun({ history, workId, inspected, bundlePath, dataConverter, onCheckpoint });
  return seen;
};

const gone = (kind: Kind, id: string, number: number, why: string): ParleyError =>
  new ParleyError('gone', `Checkpoint ${number} of ${kind} ${id} is gone: ${why}.`);

/** A checkpoint with the history that holds it, and what a replay saw there. */
export interface Point {
  mark: CheckpointMark;
  history: History;
  state: CheckpointState;
}

/** The checkpoints of any kind of work, from Temporal's history alone (spec 07). */
export const createCheckpoints = (options: CheckpointsOptions): CheckpointsPort => {
  const { client, bundlePath, retention = retentionPreset, deadlineMs = 10_000 } = options;
  // A replay takes a thread and memory of its own: one at a time.
  const turns = createTurns(1);
  const within = async <T>(kind: Kind | 'work', id: string, ask: () => Promise<T>): Promise<T> => {
    try {
      return await client.withDeadline(Date.now() + deadlineMs, ask);
    } catch (error) {
      throw translated(error, kind, id);
    }
  };
  const marksOf = (kind: Kind, id: string): Promise<CheckpointMark[]> =>
    within(kind, id, () => client.workflow.getHandle(id).query(checkpointsQuery));

  const historyOf = async (kind: Kind, id: string, { number, temporalRunId }: CheckpointMark): Promise<History> => {
    try {
      return await within(kind, id, () => client.workflow.getHandle(id, temporalRunId).fetchHistory());
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'not_found')
        throw gone(kind, id, number, `its run ${temporalRunId} is past the namespace's retention`);
      throw error;
    }
  };

  const pointOf = async (kind: Kind, id: string, number: number): Promise<Point> => {
    const { kept, gone: past } = retained(await marksOf(kind, id), Date.now(), retention);
    const marks = kept.map(({ mark }) => mark);
    const expired = past.find((each) => each.mark.number === number);
    if (expired) throw gone(kind, id, number, goneBecause(expired, retention));
    const [first, last] = [marks[0]?.number ?? 0, marks.at(-1)?.number ?? -1];
    const mark = marks.find((candidate) => candidate.number === number);
    if (!mark) {
      if (number < first) throw gone(kind, id, number, `the latest ${marks.length} are kept, from ${first}`);
      const there = last < 0 ? 'it has none yet' : `it has ${first} to ${last}`;
      throw new ParleyError('not_found', `There is no checkpoint ${number} of ${kind} ${id}; ${there}.`);
    }
    const history = await historyOf(kind, id, mark);
    let state: CheckpointState | null = null;
    let why = 'it does not pass that point again';
    try {
      state = await turns('replay', () => stateAt(history, id, number, bundlePath ?? builtBundle(), client));
    } catch (error) {
      if (error instanceof ParleyError || !(error instanceof Error)) throw error;
      why = error.message;
    }
    if (state !== null) return { mark, history, state };
    throw new ParleyError('wrong_state', `The history of ${kind} ${id} does not replay in this version: ${why}`);
  };

  const restores = createRestores({ client, within, pointOf });

  return {
    list: async (kind, id) =>
      retained(await marksOf(kind, id), Date.now(), retention).kept.map(({ mark }) => checkpointItem(id, mark)),
    inspect: async (kind, id, number) => {
      const { mark, state } = await pointOf(kind, id, number);
      return checkpointDocument(id, mark, state);
    },
    ...restores,
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
      const { request } = await startedWith(client, history);
      const forkedFrom = (memo?.['forkedFrom'] as ForkOrigin | undefined) ?? null;
      const tenant = typedSearchAttributes.get(searchAttributes.tenant) ?? 'default';
      return { kind: kind.data, tenant, request, forkedFrom };
    },
  };
};
