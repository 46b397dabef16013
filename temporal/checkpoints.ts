import type { Client } from '@temporalio/client';
import type { Checkpoint } from '../src/contracts/checkpoint.js';
import type { Kind } from '../src/contracts/work.js';
import { checkpointDocument, checkpointItem, type CheckpointState } from '../src/domain/checkpoint-view.js';
import type { CheckpointMark } from '../src/domain/checkpoint.js';
import { ParleyError } from '../src/domain/errors.js';
import type { CheckpointsPort } from '../src/gateway/work-port.js';
import { checkpointsQuery } from '../workflows/messages.js';
import { builtBundle } from './built-bundle.js';
import { type History, replayRun } from './replaying.js';
import { createTurns } from './turns.js';
import { translated } from './temporal-errors.js';

export interface CheckpointsOptions {
  client: Client;
  /** What histories are replayed against; default: the bundle of this build. */
  bundlePath?: string | undefined;
  /** Milliseconds for a question to Temporal. */
  deadlineMs?: number;
}

/** The state at one checkpoint, or null where the history does not come past it (spec 07 "Inspect"). */
const stateAt = async (
  history: History,
  workId: string,
  inspected: number,
  bundlePath: string,
): Promise<CheckpointState | null> => {
  let seen: CheckpointState | null = null;
  const onCheckpoint = (state: CheckpointState): void => {
    seen = state;
  };
  await replayRun({ history, workId, inspected, bundlePath, onCheckpoint });
  return seen;
};

const gone = (kind: Kind, id: string, number: number, why: string): ParleyError =>
  new ParleyError('gone', `Checkpoint ${number} of ${kind} ${id} is gone: ${why}.`);

/** The checkpoints of any kind of work, from Temporal's history alone (spec 07). */
export const createCheckpoints = ({ client, bundlePath, deadlineMs = 10_000 }: CheckpointsOptions): CheckpointsPort => {
  // A replay takes a thread and memory of its own: one at a time.
  const turns = createTurns(1);
  const marksOf = async (kind: Kind, id: string): Promise<CheckpointMark[]> => {
    try {
      return await client.withDeadline(Date.now() + deadlineMs, () =>
        client.workflow.getHandle(id).query(checkpointsQuery),
      );
    } catch (error) {
      throw translated(error, kind, id);
    }
  };

  const historyOf = async (kind: Kind, id: string, { number, temporalRunId }: CheckpointMark): Promise<History> => {
    try {
      return await client.withDeadline(Date.now() + deadlineMs, () =>
        client.workflow.getHandle(id, temporalRunId).fetchHistory(),
      );
    } catch (error) {
      const fault = translated(error, kind, id);
      if (fault instanceof ParleyError && fault.code === 'not_found')
        throw gone(kind, id, number, `its run ${temporalRunId} is past the namespace's retention`);
      throw fault;
    }
  };

  const inspect = async (kind: Kind, id: string, number: number): Promise<Checkpoint> => {
    const marks = await marksOf(kind, id);
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
      state = await turns('replay', () => stateAt(history, id, number, bundlePath ?? builtBundle()));
    } catch (error) {
      if (error instanceof ParleyError || !(error instanceof Error)) throw error;
      why = error.message;
    }
    if (state !== null) return checkpointDocument(id, mark, state);
    throw new ParleyError('wrong_state', `The history of ${kind} ${id} does not replay in this version: ${why}`);
  };

  return {
    list: async (kind, id) => (await marksOf(kind, id)).map((mark) => checkpointItem(id, mark)),
    inspect,
  };
};
