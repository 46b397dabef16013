import type { HealthReport } from '../../contracts/execution.js';
import type { HealthCheck } from '../../contracts/plan.js';
import { iso } from '../instant.js';
import { timeRefusal } from '../work-account.js';
import { type DebateDraft, say, want } from './draft.js';
import type { CommandEnd } from './effects.js';
import { failureIn } from './execution.js';
import { checkTask } from './health-check.js';
import type { DebateState, Execution } from './state.js';
import { timedTask } from './timed-task.js';

/** The check that the request declares, or null. */
export const checkOf = ({ setup }: Pick<DebateState, 'setup'>): HealthCheck | null => setup.healing?.check ?? null;

/** Whether a healing begins with a check: one is declared, and there is time for it. */
export const checksHealth = (debate: Pick<DebateState, 'setup' | 'ledger' | 'steppedAt'>): boolean =>
  checkOf(debate) !== null && timeRefusal(debate.ledger, debate.steppedAt) === null;

/** What came of the check after the task that failed in this round; null: it was not run, or runs still. */
const latestCheck = ({ checks = [], round }: Execution): HealthReport | null =>
  checks.findLast((check) => check.round === round) ?? null;

/** Whether the check after the last failure found nothing to heal: then the debate has succeeded (details 2.5). */
export const isHealthy = ({ execution }: Pick<DebateState, 'execution'>): boolean =>
  execution !== null && execution.valid !== true && latestCheck(execution)?.healthy === true;

/** What the check has come to, before a repair is begun; null: it runs still, or there is none. */
export const checkState = ({ execution }: DebateState): 'healthy' | 'unhealthy' | null => {
  if (!execution || execution.repairs.length > execution.round) return null;
  const check = latestCheck(execution);
  return check && (check.healthy ? 'healthy' : 'unhealthy');
};

/** Self-healing begins with the check: nobody is asked before it has ended. */
export const beginCheck = (draft: DebateDraft): void => {
  const { debate } = draft;
  const { execution, setup, workspace } = debate;
  const check = checkOf(debate);
  if (!execution || !check) return;
  want(draft, {
    type: 'check_health',
    workspace: workspace ?? setup.workspace.path,
    sandbox: setup.sandbox,
    ...timedTask(debate, checkTask(check)),
    round: execution.round,
  });
};

/** The check has ended, or could not be run: anything but an end as it should be is no health. */
export const takeHealth = (draft: DebateDraft, { outcome, reason, command }: CommandEnd): void => {
  const { debate, now } = draft;
  const { execution } = debate;
  const failure = execution && failureIn(execution);
  if (!execution || !failure) return;
  const { round } = execution;
  const report: HealthReport = {
    round,
    failed_task: failure.task_id,
    healthy: outcome === 'succeeded',
    reason,
    command,
  };
  debate.execution = { ...execution, checks: [...(execution.checks ?? []), report] };
  say(draft, { event: 'health', data: { ...report, at: iso(now) } });
};
