import type { Json } from '../../contracts/frames.js';
import type { RefinementRole } from '../../contracts/refinement.js';
import type { RefinementResult, RefinementStateName } from '../../contracts/refinement-status.js';
import { noAmount } from '../budget.js';
import type { LedgerState } from '../ledger/state.js';
import type { Amount } from '../session/setup.js';
import type { HasTenantWaits } from '../tenant-waits.js';
import { openWorkAccount } from '../work-account.js';
import type { CallFault, RefinementPending } from './effects.js';
import type { RefinementEventName } from './machine.js';
import type { Critique } from './rubric.js';
import type { RefinementSetup } from './setup.js';

/** A critique that counts, and how it came about. */
export interface CritiqueRecord extends Critique {
  /** Over the version before; null: it is the first. */
  improvement: number | null;
  scoringMs: number;
  calls: number;
}

/** One version; times in epoch milliseconds. */
export interface VersionRecord {
  version: number;
  output: Json;
  generatingMs: number;
  critique: CritiqueRecord | null;
  usage: Amount;
  at: number;
}

/** What the last call has brought, as the machine's next event; `fault` says what went wrong. */
export interface Turn {
  on: Exclude<RefinementEventName, 'START' | 'CANCEL'>;
  fault: CallFault | null;
}

/** A whole refinement as plain JSON: what continue-as-new carries, and `snapshot` returns. */
export interface RefinementState extends HasTenantWaits {
  setup: RefinementSetup;
  state: RefinementStateName;
  startedAt: number;
  /** When it last took an event; left out: it began before that was noted, and has taken none since. */
  steppedAt?: number;
  endedAt: number | null;
  /** From 1; 0: none has begun. */
  iteration: number;
  iterationStartedAt: number;
  versions: VersionRecord[];
  /** When what is under way was asked for; a second try of the critic counts from the first. */
  askedAt: number;
  /** Why the critic's first answer held no score, while it is asked again. */
  firstFaults: string[] | null;
  turn: Turn | null;
  calls: Record<RefinementRole, number>;
  usage: Record<RefinementRole, Amount>;
  /** The budget: what both have used, and what the call under way holds. */
  ledger: LedgerState;
  pending: RefinementPending | null;
  /** Effects so far; the next one's id is one more. */
  effects: number;
  /** Since when it waits for the call under way. */
  waitingSince: number | null;
  result: RefinementResult | null;
  error: CallFault | null;
  /** Events that came where nothing takes them. */
  dropped: number;
}

export const openRefinementState = (setup: RefinementSetup, now: number): RefinementState => ({
  setup,
  state: 'S0',
  startedAt: now,
  endedAt: null,
  iteration: 0,
  iterationStartedAt: now,
  versions: [],
  askedAt: now,
  firstFaults: null,
  turn: null,
  calls: { generator: 0, critic: 0 },
  usage: { generator: noAmount, critic: noAmount },
  ledger: openWorkAccount(setup.budget, now),
  pending: null,
  effects: 0,
  waitingSince: null,
  result: null,
  error: null,
  dropped: 0,
});
