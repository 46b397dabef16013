import type { Role } from '../../contracts/debate.js';
import { approximateTokens } from '../budget.js';
import { holdBounded } from '../call-most.js';
import type { LedgerState } from '../ledger/state.js';
import type { Ask, AskPurpose } from './effects.js';
import { leftOf, spentOf, timeLeftOf, timeRefusal } from '../work-account.js';
import type { CodedFault, DebateState } from './state.js';

/** Used up: from here on roles do not speak (details 2.5 "tripped when used >= limit"). */
export const isBudgetGone = (debate: Budgeted): boolean => usedUp(debate) !== null;

export type Budgeted = Pick<DebateState, 'setup' | 'ledger' | 'steppedAt'>;

/** What of the budget is used up, in words; null: nothing is. */
const usedUp = ({ setup, ledger, steppedAt }: Budgeted): string | null => {
  const { maxTokens } = setup.budget;
  const { tokens } = spentOf(ledger);
  if (maxTokens !== null && tokens >= maxTokens)
    return `the budget is used up: ${tokens} of max_tokens ${maxTokens} tokens`;
  return timeRefusal(ledger, steppedAt);
};

/** What failed as the time of the budget was over is not tried again; anything else is as it was. */
export const lateFault = ({ ledger, steppedAt }: Budgeted, fault: CodedFault): CodedFault => {
  const late = timeRefusal(ledger, steppedAt);
  return late === null ? fault : { code: 'EBUDGET', message: `${late}: ${fault.message}` };
};

/** What a role is asked, and how. */
export interface Asked {
  purpose: AskPurpose;
  attempt: 1 | 2;
  prompt: string;
  instructions: string;
  /** Milliseconds that it has at most, beside those of the budget; null or left out: no such limit. */
  withinMs?: number | null;
}

const least = (one: number | null, other: number | null): number | null =>
  one === null ? other : other === null ? one : Math.min(one, other);

/**
 * Whether a role may be called now: the budget is not used up, and holds what the call is likely to take (spec 08 "Reserve
 * before each call"). @returns the call with the ledger that holds it, or why it is not made
 */
export const callOf = (
  debate: DebateState,
  role: Role,
  { withinMs = null, ...asked }: Asked,
): { ask: Ask; ledger: LedgerState } | { refused: string } => {
  const { setup, ledger, steppedAt } = debate;
  const { limits } = setup;
  const own = setup.roles[role];
  const characters = asked.prompt.length + asked.instructions.length;
  const refused = usedUp(debate);
  if (refused !== null) return { refused };
  const held = holdBounded(ledger, own, characters, steppedAt);
  if ('faults' in held) return { refused: held.faults.join('; ') };
  const { tokens } = leftOf(ledger);
  const leftMs = least(timeLeftOf(ledger, steppedAt), withinMs);
  return {
    ledger: held.ledger,
    ask: {
      role,
      ...asked,
      pass: debate.pass,
      personaId: own.personaId,
      adapter: own.adapter,
      callsBefore: debate.calls[role],
      timeoutMs: Math.min(limits.answer_timeout_ms, leftMs ?? Infinity),
      ...(leftMs !== null && { leftMs }),
      maxTokens: tokens === null ? null : Math.max(1, tokens - approximateTokens(asked.prompt + asked.instructions)),
    },
  };
};
