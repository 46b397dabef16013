import type { Role } from '../../contracts/debate.js';
import { add, approximateTokens, available, budgetFaults, ledgerOf, type Ledger, noAmount } from '../budget.js';
import type { Amount } from '../session/setup.js';
import type { Ask, AskPurpose } from './effects.js';
import { estimateOf } from '../priced-call.js';
import type { DebateSetup } from './setup.js';
import { roleOrder } from './roles.js';
import type { DebateState } from './state.js';

/** What all roles have used so far. */
export const spent = ({ usage }: Pick<DebateState, 'usage'>): Amount =>
  roleOrder.reduce<Amount>((sum, role) => add(sum, usage[role]), noAmount);

const ledger = ({ setup, usage }: { setup: DebateSetup; usage: DebateState['usage'] }): Ledger =>
  ledgerOf(setup.budget, noAmount, spent({ usage }));

/** Used up: from here on roles do not speak (details 2.5 "tripped when used >= limit"). */
export const isBudgetGone = (debate: Pick<DebateState, 'setup' | 'usage'>): boolean => {
  const { maxTokens } = debate.setup.budget;
  return maxTokens !== null && spent(debate).tokens >= maxTokens;
};

/**
 * Whether a role may be called now: the budget is not used up, and holds what the call is likely to take (spec 08 "Reserve
 * before each call"). @returns the call, or why it is not made
 */
export const callOf = (
  debate: DebateState,
  role: Role,
  asked: { purpose: AskPurpose; attempt: 1 | 2; prompt: string; instructions: string },
): { ask: Ask } | { refused: string } => {
  const { setup } = debate;
  const { budget, limits } = setup;
  const own = setup.roles[role];
  const characters = asked.prompt.length + asked.instructions.length;
  const reserved = estimateOf(own, characters);
  const books = ledger(debate);
  if (isBudgetGone(debate)) {
    return { refused: `the budget is used up: ${books.spent.tokens} of max_tokens ${budget.maxTokens} tokens` };
  }
  const faults = budgetFaults(books, reserved);
  if (faults.length > 0) return { refused: faults.map(({ message }) => message).join('; ') };
  const { tokens } = available(books);
  return {
    ask: {
      role,
      ...asked,
      pass: debate.pass,
      personaId: own.personaId,
      adapter: own.adapter,
      callsBefore: debate.calls[role],
      timeoutMs: limits.answer_timeout_ms,
      maxTokens: tokens === null ? null : Math.max(1, tokens - approximateTokens(asked.prompt + asked.instructions)),
      reserved,
    },
  };
};
