import type { Passed } from '../../contracts/export.js';
import type { Json } from '../../contracts/frames.js';
import type { CheckpointState } from '../checkpoint-view.js';
import { changesBetween, type Difference, differencesBetween, isFreshMember, withChanges } from './changes.js';

/** A checkpoint as an export tells it, with its whole state. */
export interface PassedState extends Omit<Passed, 'changes'> {
  /** The status document without links, how it stood in words, and how far it is to be trusted. */
  state: Json;
}

/** What a replay says at a checkpoint, which is the last of the marks. */
export const passedState = ({ marks, status, details, confidence }: CheckpointState): PassedState => {
  const mark = marks.at(-1);
  const { links: _, ...said } = status as unknown as Record<string, Json>;
  return {
    sequence_num: mark?.number ?? 0,
    agent_id: mark?.agentId ?? '',
    phase: mark?.phase ?? '',
    error: mark?.error ?? null,
    event_id: Math.max(1, mark?.eventId ?? 1),
    temporal_run_id: mark?.temporalRunId ?? '',
    state: { status: said, details, confidence },
  };
};

/** Each with what it says that the one before did not: most of a state stays as it was. */
export const packed = (states: readonly PassedState[]): Passed[] =>
  states.map(({ state, ...passed }, index) => ({
    ...passed,
    changes: changesBetween(states[index - 1]?.state ?? null, state),
  }));

export const unpacked = (checkpoints: readonly Passed[]): PassedState[] => {
  let state: Json = null;
  return checkpoints.map(({ changes, ...passed }) => {
    state = withChanges(state, changes);
    return { ...passed, state };
  });
};

/** One checkpoint that a replay passed otherwise than it was recorded, or that only one of them passed. */
export interface CheckpointDifference {
  sequence_num: number;
  agent_id: string;
  phase: string;
  event_id: number;
  /** `both`: their fields differ; else where it is at all. */
  passed: 'both' | 'recorded only' | 'replayed only';
  fields: Difference[];
}

/** Words for people change with every version, and decide nothing. */
export type Compared = 'all' | 'decisions';

const wording = /^\/(state\/)?(details|status\/waiting\/detail|waiting\/detail)$/;

/**
 * What a second value says otherwise than the first. A member that only the second has is no difference: a version that
 * says more still says the same.
 */
export const contradictions = (recorded: Json, replayed: Json, compared: Compared): Difference[] =>
  differencesBetween(recorded, replayed).filter(
    (difference) => !isFreshMember(recorded, difference) && (compared === 'all' || !wording.test(difference.at)),
  );

/**
 * The checkpoints that differ, in order. Where the replay came to its end early (`isWhole` false), those it did not come to
 * are left out: why it ended says more.
 */
export const checkpointDifferences = (
  recorded: readonly PassedState[],
  replayed: readonly PassedState[],
  { compared, isWhole }: { compared: Compared; isWhole: boolean },
): CheckpointDifference[] => {
  const count = Math.max(replayed.length, isWhole ? recorded.length : 0);
  return Array.from({ length: count }, (_, index): CheckpointDifference | null => {
    const [before, now] = [recorded[index], replayed[index]];
    const known = now ?? before;
    if (!known) return null;
    const { sequence_num, agent_id, phase, event_id } = known;
    const about = { sequence_num, agent_id, phase, event_id };
    if (!before) return { ...about, passed: 'replayed only', fields: [] };
    if (!now) return { ...about, passed: 'recorded only', fields: [] };
    const fields = contradictions(before as unknown as Json, now as unknown as Json, compared);
    return fields.length === 0 ? null : { ...about, passed: 'both', fields };
  }).filter((difference) => difference !== null);
};
