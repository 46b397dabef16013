import { type Budgeted, isBudgetGone } from './calls.js';
import type { DebateState } from './state.js';

/** The rule of 3 (spec 02 "Multi-pass check"): whatever a request says, no more further passes than these. */
export const maxRefinements = 3;

/** Whether another pass may be asked for: what is used up of the rule of 3, and of the budget. */
export const mayRefine = (debate: Budgeted & Pick<DebateState, 'refinements'>): boolean =>
  debate.refinements < Math.min(maxRefinements, debate.setup.limits.refinements) && !isBudgetGone(debate);
