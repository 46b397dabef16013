import type { RefinementRole } from '../../contracts/refinement.js';
import { add, approximateTokens, available, budgetFaults, ledgerOf, usd } from '../budget.js';
import { iso } from '../instant.js';
import { estimateOf } from '../priced-call.js';
import type { Amount } from '../session/setup.js';
import { type RefinementDraft, say } from './draft.js';
import type { RefinementCall, RefinementPending } from './effects.js';
import { critiqueAgainPrompt, critiquePrompt, generatePrompt } from './prompts.js';
import type { RefinementState } from './state.js';

export const spent = ({ usage }: Pick<RefinementState, 'usage'>): Amount => add(usage.generator, usage.critic);
export const spend = ({ tokens, usdMicros }: Amount): { tokens: number; usd: string } => ({
  tokens,
  usd: usd(usdMicros),
});

/** When the present iteration's time is over, epoch milliseconds. */
export const iterationDue = ({ iterationStartedAt, setup }: RefinementState): number =>
  iterationStartedAt + setup.loop.iteration_timeout_ms;

/**
 * Why a call may not be made: the budget is used up, or does not hold what the call is likely to take (spec 08 "Reserve before
 * each call"); null: it may. One call is under way at a time, so that nothing else is reserved.
 */
const budgetRefusal = (refinement: RefinementState, role: RefinementRole, prompt: string): string | null => {
  const { setup, usage } = refinement;
  const own = setup[role];
  const ledger = ledgerOf(setup.budget, undefined, spent({ usage }));
  const { maxTokens } = setup.budget;
  if (maxTokens !== null && ledger.spent.tokens >= maxTokens) {
    return `the budget is used up: ${ledger.spent.tokens} of max_tokens ${maxTokens} tokens`;
  }
  const faults = budgetFaults(ledger, estimateOf(own, prompt.length + own.instructions.length));
  return faults.length === 0 ? null : faults.map(({ message }) => message).join('; ');
};

const callOf = (
  { refinement, now }: RefinementDraft,
  role: RefinementRole,
  prompt: string,
  attempt: 1 | 2,
): RefinementCall => {
  const { setup, usage, iteration, calls } = refinement;
  const { agentId, adapter, instructions, temperature } = setup[role];
  const { tokens } = available(ledgerOf(setup.budget, undefined, spent({ usage })));
  return {
    iteration,
    attempt,
    agentId,
    adapter,
    prompt,
    instructions,
    temperature,
    callsBefore: calls[role],
    timeoutMs: iterationDue(refinement) - now,
    maxTokens: tokens === null ? null : Math.max(1, tokens - approximateTokens(prompt + instructions)),
  };
};

/** Asks the generator or the critic, unless the time of the iteration or the budget is over; then that is its turn. */
export const ask = (draft: RefinementDraft, role: RefinementRole): void => {
  const { refinement, now } = draft;
  const { firstFaults: again } = refinement;
  refinement.turn = null;
  if (now >= iterationDue(refinement)) {
    refinement.turn = { on: 'TIMED_OUT', fault: null };
    return;
  }
  const prompt =
    role === 'generator'
      ? generatePrompt(refinement)
      : again
        ? critiqueAgainPrompt(refinement, again)
        : critiquePrompt(refinement);
  const refused = budgetRefusal(refinement, role, prompt);
  if (refused !== null) {
    refinement.turn = {
      on: 'BUDGET_GONE',
      fault: { code: 'EBUDGET', message: `the ${role} cannot be asked: ${refused}` },
    };
    const data = { at: iso(now), action: 'refused' as const, role, message: refused, spend: spend(spent(refinement)) };
    say(draft, { event: 'budget', data });
    return;
  }
  if (!again) refinement.askedAt = now;
  const call = callOf(draft, role, prompt, again ? 2 : 1);
  const id = refinement.effects + 1;
  const pending: RefinementPending =
    role === 'generator'
      ? { type: 'generate', id, ...call }
      : { type: 'critique', id, rubric: refinement.setup.rubric, ...call };
  refinement.effects = id;
  refinement.pending = pending;
  draft.effects.push(pending);
};
