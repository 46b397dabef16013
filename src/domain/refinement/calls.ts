import type { RefinementRole } from '../../contracts/refinement.js';
import { approximateTokens, usd } from '../budget.js';
import { holdBounded } from '../call-most.js';
import { iso } from '../instant.js';
import type { LedgerState } from '../ledger/state.js';
import type { Amount } from '../session/setup.js';
import { leftOf, spentOf, timeEndOf, timeRefusal } from '../work-account.js';
import { type RefinementDraft, say } from './draft.js';
import type { RefinementCall, RefinementPending } from './effects.js';
import { critiqueAgainPrompt, critiquePrompt, generatePrompt } from './prompts.js';
import type { RefinementState, Turn } from './state.js';

export const spend = ({ tokens, usdMicros }: Amount): { tokens: number; usd: string } => ({
  tokens,
  usd: usd(usdMicros),
});

/** When the present iteration's time is over, epoch milliseconds. */
export const iterationDue = ({ iterationStartedAt, setup }: RefinementState): number =>
  iterationStartedAt + setup.loop.iteration_timeout_ms;

/** When the present call has to be over: with its iteration, or with the budget's time before that. */
export const callDue = (refinement: RefinementState): number =>
  Math.min(iterationDue(refinement), timeEndOf(refinement.ledger) ?? Infinity);

/** Tells that the budget is gone; that is its turn. */
export const endByBudget = (draft: RefinementDraft, role: RefinementRole, refused: string, why = refused): Turn => {
  const { refinement, now } = draft;
  const data = {
    at: iso(now),
    action: 'refused' as const,
    role,
    message: refused,
    spend: spend(spentOf(refinement.ledger)),
  };
  say(draft, { event: 'budget', data });
  return { on: 'BUDGET_GONE', fault: { code: 'EBUDGET', message: why } };
};

/** The time of a call is over: that of its iteration, unless the budget's is. */
export const timedOut = (draft: RefinementDraft, role: RefinementRole): Turn => {
  const late = timeRefusal(draft.refinement.ledger, draft.now);
  return late === null ? { on: 'TIMED_OUT', fault: null } : endByBudget(draft, role, late);
};

/**
 * Whether a call may be made: the budget is not used up, and holds what the call is likely to take (spec 08 "Reserve before each
 * call"). @returns the ledger that holds it, or why it is not made
 */
const held = (
  { setup, ledger }: RefinementState,
  role: RefinementRole,
  prompt: string,
  now: number,
): { ledger: LedgerState } | { refused: string } => {
  const own = setup[role];
  const { maxTokens } = setup.budget;
  const { tokens } = spentOf(ledger);
  if (maxTokens !== null && tokens >= maxTokens) {
    return { refused: `the budget is used up: ${tokens} of max_tokens ${maxTokens} tokens` };
  }
  const result = holdBounded(ledger, own, prompt.length + own.instructions.length, now);
  return 'faults' in result ? { refused: result.faults.join('; ') } : result;
};

const callOf = (
  { refinement, now }: RefinementDraft,
  role: RefinementRole,
  prompt: string,
  attempt: 1 | 2,
): RefinementCall => {
  const { setup, iteration, calls, ledger } = refinement;
  const { agentId, adapter, instructions, temperature } = setup[role];
  const { tokens } = leftOf(ledger);
  return {
    iteration,
    attempt,
    agentId,
    adapter,
    prompt,
    instructions,
    temperature,
    callsBefore: calls[role],
    timeoutMs: callDue(refinement) - now,
    maxTokens: tokens === null ? null : Math.max(1, tokens - approximateTokens(prompt + instructions)),
  };
};

/** Asks the generator or the critic, unless the time of the iteration or the budget is over; then that is its turn. */
export const ask = (draft: RefinementDraft, role: RefinementRole): void => {
  const { refinement, now } = draft;
  const { firstFaults: again } = refinement;
  refinement.turn = null;
  if (now >= iterationDue(refinement)) {
    refinement.turn = timedOut(draft, role);
    return;
  }
  const prompt =
    role === 'generator'
      ? generatePrompt(refinement)
      : again
        ? critiqueAgainPrompt(refinement, again)
        : critiquePrompt(refinement);
  const holding = held(refinement, role, prompt, now);
  if ('refused' in holding) {
    const { refused } = holding;
    refinement.turn = endByBudget(draft, role, refused, `the ${role} cannot be asked: ${refused}`);
    return;
  }
  if (!again) refinement.askedAt = now;
  const call = callOf(draft, role, prompt, again ? 2 : 1);
  refinement.ledger = holding.ledger;
  const id = refinement.effects + 1;
  const pending: RefinementPending =
    role === 'generator'
      ? { type: 'generate', id, ...call }
      : { type: 'critique', id, rubric: refinement.setup.rubric, ...call };
  refinement.effects = id;
  refinement.pending = pending;
  draft.effects.push(pending);
};
