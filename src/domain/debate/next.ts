import { isRolledBack } from './rollback.js';
import { nextTask } from './execution.js';
import { useGate } from './gate.js';
import { checkState } from './health.js';
import { repairState } from './healing.js';
import type { DebateEventName } from './machine.js';
import { speakerIn } from './roles.js';
import type { DebateState } from './state.js';

/** The event that the state alone raises, or null: something has to happen first. */
export const nextEvent = (debate: DebateState): DebateEventName | null => {
  const { state, identity, context, pass, statements, approvals, execution, pending } = debate;
  const speaker = speakerIn(state);
  if (speaker) {
    return statements.some((statement) => statement.role === speaker && statement.pass === pass) ? 'SPOKEN' : null;
  }
  switch (state) {
    case 'VERIFYING_IDENTITY':
      if (identity === null) return null;
      return identity.faults.length > 0 ? 'IDENTITY_MISMATCH' : 'IDENTITY_OK';
    case 'LOADING_CONTEXT':
      return context === null ? null : 'CONTEXT_LOADED';
    case 'CLASSIFYING':
      return 'CLASSIFIED';
    case 'PLANNING':
      return 'PLANNED';
    case 'MULTI_PASS_CHECK':
      return 'CHECKED';
    case 'AGGREGATING':
      return 'AGGREGATED';
    case 'CALCULATING_CONSENSUS':
      return 'CALCULATED';
    case 'ELO_DUELS':
      return 'DUELLED';
    case 'RESOLVING':
      return 'RESOLVED';
    case 'AWAITING_APPROVAL':
      switch (approvals.at(-1)?.outcome) {
        case 'approved':
          return useGate(debate, debate.steppedAt)?.refused === null ? 'APPROVED' : 'VOIDED';
        case 'changes_requested':
          return 'CHANGES_REQUESTED';
        case 'rejected':
          return 'REJECTED';
        case 'expired':
          return 'EXPIRED';
        default:
          return null;
      }
    case 'EXECUTING':
      if (execution === null || pending !== null) return null;
      if (execution.fault) return 'FAULT';
      return nextTask(execution) === null ? 'EXECUTED' : null;
    case 'VALIDATING':
      return 'VALIDATED';
    case 'SELF_HEALING': {
      // What a repair of before had come to says nothing while its failure is checked.
      if (pending?.type === 'check_health') return null;
      const check = checkState(debate);
      if (check !== null) return check === 'healthy' ? 'HEALTHY' : 'UNHEALTHY';
      const repair = repairState(debate);
      return repair === 'ready' ? 'REPAIRED' : repair === 'given_up' ? 'GIVEN_UP' : null;
    }
    case 'ROLLING_BACK':
      return pending === null && isRolledBack(debate) ? 'ROLLED_BACK' : null;
    case 'SUCCEEDED':
    case 'BLOCKED':
      return 'CLOSED';
    case 'STORING_MEMORY':
      return debate.memory === null ? null : 'STORED';
    case 'AUDITING':
      return debate.audit === null ? null : 'AUDITED';
    default:
      return null;
  }
};
