import type { DebateStatus } from '../contracts/debate-status.js';
import type { FanOutStatus } from '../contracts/fan-out-status.js';
import type { Json } from '../contracts/frames.js';
import type { RefinementStatus } from '../contracts/refinement-status.js';
import type { SessionStatus } from '../contracts/session-status.js';
import type { Compared } from '../contracts/time-travel.js';
import type { ForkOrigin } from './checkpoint.js';

/** A status document of any kind, told apart by `kind`. */
export type AnyStatus = SessionStatus | DebateStatus | FanOutStatus | RefinementStatus;

/** What it came to, and how far it can be trusted (0 to 1); null: nothing yet. */
const outcomeOf = (status: AnyStatus): { answer: Json; agreement: number | null } => {
  switch (status.kind) {
    case 'session':
      return { answer: status.result?.answer ?? null, agreement: status.result?.agreement ?? null };
    case 'debate': {
      const { result } = status;
      if (result === null) return { answer: null, agreement: null };
      const { decision, outcome, reason } = result;
      return { answer: { decision, outcome, reason }, agreement: result.consensus };
    }
    case 'fan-out': {
      const { result } = status;
      return {
        answer: result?.value ?? null,
        agreement:
          result === null ? null : (result.agreement ?? status.barrier.completed / Math.max(1, status.barrier.total)),
      };
    }
    case 'refinement':
      return { answer: status.result?.output ?? null, agreement: status.result?.score ?? null };
  }
};

/** One side of a comparison (spec 08 "Fork with a question"); `now` in epoch milliseconds ends what still runs. */
export const compared = (status: AnyStatus, forkedFrom: ForkOrigin | null, now: number): Compared => {
  const { id, kind, lifecycle, state, spend, started_at, ended_at } = status;
  return {
    id,
    kind,
    lifecycle,
    state,
    ...outcomeOf(status),
    spend,
    elapsed_ms: Math.max(0, (ended_at === null ? now : Date.parse(ended_at)) - Date.parse(started_at)),
    started_at,
    ended_at,
    forked_from: forkedFrom,
  };
};
