/** An agent whose turn, or a step whose work, has just ended; `error` says what it failed with. */
export interface EndedTurn {
  agentId: string;
  error: string | null;
}

/** One boundary of a piece of work: a named point of its history (spec 07). Plain JSON, as continue-as-new carries it. */
export interface CheckpointMark {
  /** From 0, without holes. */
  number: number;
  /** A UUID. */
  id: string;
  /** Epoch milliseconds. */
  at: number;
  /** Whose turn ended; where only a phase did, the kind of work. */
  agentId: string;
  /** The state of the machine in which it ended. */
  phase: string;
  /** null: it completed. At most `errorChars` characters. */
  error: string | null;
  /** In the run's own history: the start of the workflow task in which it happened. */
  eventId: number;
  temporalRunId: string;
}

/** What a boundary is, before it has its number and its place in the history. */
export type Boundary = Pick<CheckpointMark, 'agentId' | 'phase' | 'error'>;

/** A file that work has left, as a checkpoint names it (spec 10). */
export interface CheckpointArtifact {
  path: string;
  hash: string;
  size_bytes: number;
  inline: boolean;
}

/** Checkpoints kept of one piece of work (spec 07 "Retention"). */
export const maxCheckpoints = 100;
/** Errors are carried with every continue-as-new. */
const errorChars = 200;

interface Phased {
  state: string;
  error: { message: string } | null;
}

/**
 * The boundaries that one step passed: one for each turn that ended in it, else one where the machine's state changed (spec 07
 * "at each agent, phase or step boundary").
 */
export const boundariesOf = (kind: string, before: Phased, after: Phased, ended: readonly EndedTurn[]): Boundary[] => {
  const phase = before.state;
  if (ended.length > 0)
    return ended.map(({ agentId, error }) => ({ agentId, phase, error: error?.slice(0, errorChars) ?? null }));
  if (before.state === after.state) return [];
  const error = before.error === null && after.error !== null ? after.error.message.slice(0, errorChars) : null;
  return [{ agentId: kind, phase, error }];
};

/** With one more; beyond `maxCheckpoints` the oldest goes, never the latest (details 4.5). */
export const keptMarks = (marks: readonly CheckpointMark[], mark: CheckpointMark): CheckpointMark[] =>
  [...marks, mark].slice(-maxCheckpoints);

export const nextNumber = (marks: readonly CheckpointMark[]): number => (marks.at(-1)?.number ?? -1) + 1;

/** A return to an earlier point of the same piece of work (spec 07 "Restore"). Plain JSON, as continue-as-new carries it. */
export interface Restore {
  /** Number of the checkpoint that it went on from. */
  checkpoint: number;
  reason: string;
  /** Who asked for it: the name of the key, or of the caller. */
  by: string;
  /** Epoch milliseconds. */
  at: number;
  /** Names the request, so that sending it again changes nothing; null: it has no name. */
  key: string | null;
  /** Tells whether a second request with the key asks for the same; none: it has no key. */
  hash?: string;
  /** The run that was there until then, which keeps what happened after the checkpoint. */
  fromRunId: string;
}

/** What a piece of work was forked from (spec 07 "Fork"). */
export interface ForkOrigin {
  id: string;
  checkpoint: number;
}

/** Where a piece of work stands in its history. */
export interface Place {
  /** The boundaries so far, of earlier runs too. */
  marks: CheckpointMark[];
  /** Every return to an earlier point, of earlier runs too. */
  restores: Restore[];
  /** How many returns there were; the list of them is cut. */
  epoch: number;
  /** Number of the last durable event. */
  lastEventId: number;
  /** Ids of the coordinators that are told where it stands; left out: there are none. */
  watchers?: string[];
}

/** Restores kept of one piece of work. */
const maxRestores = 100;

export const keptRestores = (restores: readonly Restore[], restore: Restore): Restore[] =>
  [...restores, restore].slice(-maxRestores);
