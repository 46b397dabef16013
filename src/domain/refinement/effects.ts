import type { Adapter } from '../../contracts/adapter.js';
import type { Json } from '../../contracts/frames.js';
import type { RefinementRole } from '../../contracts/refinement.js';
import type { Criterion } from '../../contracts/rubric.js';
import type { Amount } from '../session/setup.js';
import type { TenantWaitEvent } from '../tenant-waits.js';
import type { Critique } from './rubric.js';

/** One call of the generator or the critic. */
export interface RefinementCall {
  iteration: number;
  /** 2: the critic is asked again, because its first answer held no valid score. */
  attempt: 1 | 2;
  agentId: string;
  adapter: Adapter;
  prompt: string;
  instructions: string;
  temperature: number;
  /** Calls of this agent that have ended before: a script plays on from there (spec 10 "scripted"). */
  callsBefore: number;
  /** What is left of the iteration's time. */
  timeoutMs: number;
  /** Most tokens the answer may have, by what is left of the budget; null: no limit but the adapter's. */
  maxTokens: number | null;
}

/** What a refinement wants done: one call at a time, answered by an event with its id; `stop` asks for its early end. */
export type RefinementEffect =
  | ({ type: 'generate'; id: number } & RefinementCall)
  | ({ type: 'critique'; id: number; rubric: Criterion[] } & RefinementCall)
  | { type: 'stop'; of: number };

/** An effect under way. */
export type RefinementPending = Extract<RefinementEffect, { id: number }>;

export const roleOf = ({ type }: Pick<RefinementPending, 'type'>): RefinementRole =>
  type === 'generate' ? 'generator' : 'critic';

/** What failed, with its code. */
export interface CallFault {
  code: string;
  message: string;
  /** Whether asking again can help; left out: that is not known. */
  retryable?: boolean;
}

/** No answer came: the agent failed for good, or the iteration's time was over. */
export type CallFailure = ({ outcome: 'failed' } & CallFault) | { outcome: 'timeout' };
export type GenerateOutcome = { outcome: 'generated'; output: Json } | CallFailure;
export type CritiqueOutcome =
  | { outcome: 'scored'; critique: Critique }
  /** An answer without a valid score; the critic is asked once more with the faults. */
  | { outcome: 'unscored'; faults: string[] }
  | CallFailure;

interface CallCost {
  usage: Amount;
  /** Above 1: a worker process died in those before. Left out: 1. */
  attempt?: number;
}

/** What can happen to a refinement, from outside the pure code. */
export type RefinementEvent =
  | { type: 'START' }
  /** A fork goes on from its state: what is to be asked there is asked. */
  | { type: 'RESUME' }
  | ({ type: 'GENERATED'; id: number; outcome: GenerateOutcome } & CallCost)
  | ({ type: 'CRITIQUED'; id: number; outcome: CritiqueOutcome } & CallCost)
  | { type: 'TICK' }
  /** The call waits for a person who answers for its tenant's budget; `call` is its id. */
  | TenantWaitEvent
  | { type: 'CANCEL' };
