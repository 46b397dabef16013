import { add, noAmount } from '../budget.js';
import { estimateOf } from '../priced-call.js';
import { faultsOf } from '../work-account.js';
import { isBudgetGone } from './calls.js';
import { statementPrompt } from './prompts.js';
import { roleOrder } from './roles.js';
import type { DebateState } from './state.js';

/** The rule of 3 (spec 02 "Multi-pass check"): whatever a request says, no more further passes than these. */
export const maxRefinements = 3;

/** Whether another pass may be asked for: what is used up of the rule of 3, and of the budget. */
export const mayRefine = (debate: DebateState): boolean =>
  debate.refinements < Math.min(maxRefinements, debate.setup.limits.refinements) &&
  !isBudgetGone(debate) &&
  (debate.setup.passesArePaid !== true || paysForPass(debate));

/**
 * Whether what is left is likely to pay for rounds 2 to 5 once more. A pass that breaks off before security has spoken can only
 * reject what the pass before may have agreed on.
 */
export const paysForPass = (debate: DebateState): boolean => {
  const { setup, ledger, pass } = debate;
  // Prompts grow within the pass, and are much the same for all who speak in it.
  const prompt = statementPrompt({ ...debate, pass: pass + 1 }, 'solution').length;
  const likely = roleOrder
    .filter((role) => role !== 'analyst')
    .map((role) => estimateOf(setup.roles[role], prompt + setup.roles[role].instructions.length))
    .reduce(add, noAmount);
  return faultsOf(ledger, likely).length === 0;
};
