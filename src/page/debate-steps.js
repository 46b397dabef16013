// The machine's way as few steps that a person can take in at a glance.
import { openGate, speaker } from './debate-model.js';
import { words } from './model.js';

const rounds = ['ANALYST', 'SOLUTION', 'CRITIC', 'SECURITY', 'OPTIMIZER'].map((role) => `ROUND_${role}`);

/** `detour`: shown only when it is taken. */
const way = [
  { name: 'Identity', states: ['IDLE', 'VERIFYING_IDENTITY'] },
  { name: 'Context', states: ['LOADING_CONTEXT', 'CLASSIFYING', 'PLANNING'] },
  { name: 'Rounds', states: [...rounds, 'MULTI_PASS_CHECK'] },
  { name: 'Decision', states: ['AGGREGATING', 'CALCULATING_CONSENSUS', 'ELO_DUELS', 'RESOLVING', 'BLOCKED'] },
  { name: 'Approval', states: ['AWAITING_APPROVAL'], detour: true },
  { name: 'Execution', states: ['EXECUTING'] },
  { name: 'Validation', states: ['VALIDATING', 'SUCCEEDED'] },
  { name: 'Repair', states: ['SELF_HEALING'], detour: true },
  { name: 'Rollback', states: ['ROLLING_BACK'], detour: true },
  { name: 'Memory', states: ['STORING_MEMORY'] },
  { name: 'Audit', states: ['AUDITING'] },
  { name: 'Done', states: ['DONE', 'ABORTED'] },
];

/** Whether the health check let a failure stand. */
const isHealthy = ({ checks }) => checks.at(-1)?.healthy === true;

const noteOf = (model, name, isNow) => {
  const { pass, decision, repairs, result } = model;
  switch (name) {
    case 'Rounds':
      return [pass > 0 && `pass ${pass}`, isNow && speaker(model)?.role].filter(Boolean).join(', ');
    case 'Decision':
      return decision ? words(decision.decision) : '';
    case 'Approval': {
      const gate = openGate(model);
      return gate && gate.needed > 1 ? `${approvals(gate)} of ${gate.needed}` : '';
    }
    case 'Repair':
      if (isHealthy(model)) return 'healthy';
      return repairs.length > 1 ? `${repairs.length}` : '';
    case 'Rollback':
      return result?.outcome === 'rollback_incomplete' ? 'incomplete' : '';
    default:
      return '';
  }
};

/** People who have approved so far. */
export const approvals = ({ answers }) => answers.filter(({ response }) => response === 'approve').length;

/**
 * Where a debate stands: {name, stand, note} with a stand of `done`, `failed`, `now`, `ahead` or `skipped`. A way that leads
 * back (another pass, a repair) has its later steps ahead again.
 */
export const stepsOf = (model) => {
  const { state, visited, result } = model;
  const isOver = state === 'DONE' || state === 'ABORTED';
  const isVisited = ({ states }) => states.some((each) => visited.has(each) || each === state || each === 'IDLE');
  const isBlocked = visited.has('BLOCKED');
  const steps = way.filter((step) => !step.detour || isVisited(step));
  const current = steps.findIndex(({ states }) => states.includes(state));
  const lastVisited = steps.findLastIndex((step, index) => index < steps.length - 1 && isVisited(step));
  const hasFailed = ({ name }, index) => {
    switch (name) {
      case 'Decision':
        return isBlocked;
      case 'Execution':
        return visited.has('ROLLING_BACK') && !visited.has('VALIDATING');
      case 'Validation':
        return visited.has('ROLLING_BACK') || isHealthy(model);
      case 'Rollback':
        return result?.outcome === 'rollback_incomplete';
      default:
        return state === 'ABORTED' && index >= lastVisited;
    }
  };
  return steps.map((step, index) => {
    const isNow = index === current && !isOver;
    const isPast = isVisited(step) && (isOver || index < current || Boolean(step.detour));
    const isSkipped = isOver || (isBlocked && ['Execution', 'Validation'].includes(step.name));
    const stand = isNow
      ? 'now'
      : isPast
        ? hasFailed(step, index)
          ? 'failed'
          : 'done'
        : isSkipped
          ? 'skipped'
          : 'ahead';
    const name = step.name === 'Done' && state === 'ABORTED' ? 'Aborted' : step.name;
    return { name, stand, note: noteOf(model, step.name, isNow) };
  });
};
