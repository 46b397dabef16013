import type { Role } from '../../contracts/debate.js';
import { approximateTokens } from '../budget.js';
import type { LedgerState } from '../ledger/state.js';
import type { Ask, AskPurpose } from './effects.js';
import { estimateOf } from '../priced-call.js';
import { holdCall, leftOf, spentOf } from '../work-account.js';
import type { DebateState } from './state.js';

/** Used up: from here on roles do not speak (details 2.5 "tripped when used >= limit"). */
export const isBudgetGone = (debate: Pick<DebateState, 'setup' | 'ledger'>): boolean => {
  const { maxTokens } = debate.setup.budget;
  return maxTokens !== null && spentOf(debate.ledger).tokens >= maxTokens;
};

/**
 * Whether a role may be called now: the budget is not used up, and holds what the call is likely to take (spec 08 "Reserve
 * before each call"). @returns the call with the ledger that holds it, or why it is not made
 */
export const callOf = (
  debate: DebateState,
  role: Role,
  asked: { purpose: AskPurpose; attempt: 1 | 2; prompt: string; instructions: string },
): { ask: Ask; ledger: LedgerState } | { refused: string } => {
  const { setup, ledger } = debate;
  const { budget, limits } = setup;
  const own = setup.roles[role];
  const characters = asked.prompt.length + asked.instructions.length;
  if (isBudgetGone(debate)) {
    return { refused: `the budget is used up: ${spentOf(ledger).tokens} of max_tokens ${budget.maxTokens} tokens` };
  }
  const held = holdCall(ledger, estimateOf(own, characters));
  if ('faults' in held) return { refused: held.faults.join('; ') };
  const { tokens } = leftOf(ledger);
  return {
    ledger: held.ledger,
    ask: {
      role,
      ...asked,
      pass: debate.pass,
      personaId: own.personaId,
      adapter: own.adapter,
      callsBefore: debate.calls[role],
      timeoutMs: limits.answer_timeout_ms,
      maxTokens: tokens === null ? null : Math.max(1, tokens - approximateTokens(asked.prompt + asked.instructions)),
    },
  };
};
