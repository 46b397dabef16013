import { atLeast } from '../numbers.js';
import { isVeto, statementOf } from './consensus.js';
import { aborts, failureIn, leavesEvidence } from './execution.js';
import { checksHealth } from './health.js';
import { repairsBegun } from './healing.js';
import type { DebateFacts } from './machine.js';
import { mayRefine } from './passes.js';
import type { DebateState } from './state.js';

/** What the guards look at, from the state alone. */
export const factsOf = (debate: DebateState): DebateFacts => {
  const { setup, consensus, plan, execution } = debate;
  const { limits, approval } = setup;
  const security = statementOf(debate, 'security');
  const tasks = execution?.repairs.at(-1)?.tasks ?? plan.tasks;
  const failed = execution ? failureIn(execution) : null;
  return {
    // Asked for in two states alone, and not for nothing: it takes the prompt of the next pass.
    get mayRefine() {
      return mayRefine(debate);
    },
    wantsRefinement: !atLeast(consensus, limits.refine_below),
    veto: isVeto(security, limits.veto),
    securityValid: security?.valid ?? false,
    consensusHolds: atLeast(consensus, limits.proceed),
    approvalRequired: approval.required && tasks.length > 0,
    snapshotTaken: execution !== null && execution.snapshot !== null,
    valid: execution?.valid === true,
    mayRepair: failed !== null && repairsBegun(debate) < limits.max_repairs,
    checksHealth: checksHealth(debate),
    aborts: aborts(debate),
    leavesEvidence: leavesEvidence(debate),
  };
};
