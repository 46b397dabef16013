import type { DebateOutcome, DebateResult } from '../../contracts/debate-status.js';
import { usd } from '../budget.js';
import { aborts, executionReport } from './execution.js';
import { isHealthy } from './health.js';
import { needsHands, rollbackReport } from './rollback.js';
import { type DebateState, memoryIdOf } from './state.js';

/** How a debate that is over, or about to be remembered, came out (spec 02, 10). */
export const outcomeOf = (debate: DebateState): DebateOutcome => {
  if (debate.state === 'ABORTED' || aborts(debate)) return 'aborted';
  if (!debate.execution) return 'blocked';
  if (debate.execution.valid || isHealthy(debate)) return 'succeeded';
  return needsHands(debate) ? 'rollback_incomplete' : 'rolled_back';
};

const healed = ({ execution }: DebateState): string => {
  const repairs = execution?.repairs.filter(({ healed: mended }) => mended).length ?? 0;
  return repairs === 0
    ? ''
    : `, after ${execution?.repairs.length} ${execution?.repairs.length === 1 ? 'repair' : 'repairs'}`;
};

/** Success by the health check is no success of the plan, and is not told as one. */
const healthyReason = ({ execution }: DebateState, faults: string): string =>
  `the health check found nothing to heal after task ${execution?.checks?.at(-1)?.failed_task ?? ''} had failed, so that what was done stays: ${faults}`;

/** In a sentence, why it ended so. */
export const reasonOf = (debate: DebateState): string => {
  const { decision, execution, error, cancelled } = debate;
  // Each is a sentence of its own in the report.
  const faults = (execution?.faults ?? []).map((fault) => fault.replace(/\.$/, '')).join('; ');
  const left = rollbackReport(debate)?.manual.join('; ') ?? '';
  switch (outcomeOf(debate)) {
    case 'succeeded':
      if (isHealthy(debate)) return healthyReason(debate, faults);
      return execution?.done.length === 1
        ? `its one task succeeded, and what it declares holds${healed(debate)}`
        : `all ${execution?.done.length ?? 0} tasks succeeded, and what they declare holds${healed(debate)}`;
    case 'blocked':
      return decision?.why ?? 'the plan was blocked';
    case 'rolled_back':
      return `the execution is not valid, and ${rollbackReport(debate) ? 'was rolled back' : 'nothing was run'}: ${faults}`;
    case 'rollback_incomplete':
      return `the execution is not valid (${faults}), and could not be rolled back entirely: ${left}`;
    case 'aborted':
      if (error) return `${error.code}: ${error.message}`;
      if (!cancelled) return 'the debate was aborted';
      return left === ''
        ? 'the debate was cancelled'
        : `the debate was cancelled, and could not be rolled back entirely: ${left}`;
  }
};

const limitsNote = ({ maxTokens, maxUsdMicros, maxMs }: DebateState['setup']['budget']): string =>
  [
    `max_tokens ${maxTokens ?? 'none'}`,
    ...(maxUsdMicros === null ? [] : [`max_usd ${usd(maxUsdMicros)}`]),
    ...(maxMs === undefined ? [] : [`max_seconds ${maxMs / 1000}`]),
  ].join(', ');

const budgetNote = ({ unheard, setup }: DebateState): string | null =>
  unheard.length === 0
    ? null
    : `for want of budget (${limitsNote(setup.budget)}) these did not speak: ${unheard.join(', ')}`;

/** The result of spec 10; complete once the debate is over. */
export const debateResult = (debate: DebateState): DebateResult => ({
  decision: debate.decision?.decision ?? null,
  outcome: outcomeOf(debate),
  reason: reasonOf(debate),
  consensus: debate.consensus,
  passes: debate.pass,
  votes: debate.votes,
  duels: debate.duels,
  report: executionReport(debate),
  trace_id: memoryIdOf(debate),
  memory: debate.memory,
  audit: debate.audit === 'failed' ? null : debate.audit,
  budget_note: budgetNote(debate),
  notes: debate.notes,
});
