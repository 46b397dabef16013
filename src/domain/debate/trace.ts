import type { TraceRecord } from '../../contracts/memory.js';
import type { Plan } from '../../contracts/plan.js';
import { iso } from '../instant.js';
import { isHealthy } from './health.js';
import { rollbackReport } from './rollback.js';
import { eloChanges } from './ratings.js';
import { outcomeOf, reasonOf } from './result.js';
import { personasOf } from './roles.js';
import { type DebateState, memoryIdOf } from './state.js';

const cut = (text: string): string => (text.length > 10_000 ? `${text.slice(0, 9_999)}…` : text);

/** What was run in the end, repairs included; else what was judged. */
const lastPlan = (debate: DebateState): Plan => {
  const { plan, execution } = debate;
  if (!execution) return plan;
  const { done, tasks, round } = execution;
  const succeeded = done.map(({ task }) => task);
  if (execution.valid) return { tasks: succeeded };
  if (!isHealthy(debate)) return plan;
  // What a health check let stand is as much of the plan as was to be run last. The same task is another object once it was carried.
  const ofRound = new Set(done.flatMap((one) => (one.round === round ? [one.task.task_id] : [])));
  return { tasks: [...succeeded, ...tasks.filter(({ task_id: id }) => !ofRound.has(id))] };
};

/** What is remembered of a debate that is over but for its memory (spec 02 "Memory"); the same at every replay. */
export const traceOf = (debate: DebateState, now: number): TraceRecord => {
  const { setup, execution, statements, duels, context, decision } = debate;
  const outcome = outcomeOf(debate);
  const reports = execution?.reports ?? [];
  return {
    trace_id: memoryIdOf(debate),
    work_id: setup.id,
    kind: 'debate',
    tenant: setup.tenant,
    task: setup.task,
    // An aborted debate is not remembered, so that this one is not.
    outcome: outcome === 'aborted' ? 'blocked' : outcome,
    decision: decision?.decision ?? 'REJECT',
    consensus: debate.consensus,
    passes: Math.max(1, debate.pass),
    // A health check says that nothing is broken, not that the tasks did what they were meant to.
    verified: outcome === 'succeeded' && execution?.valid === true,
    summary: cut(reasonOf(debate)),
    plan: lastPlan(debate),
    votes: debate.votes.map(({ role, persona_id, stance, confidence, weight }) => ({
      role,
      persona_id,
      stance,
      confidence,
      weight,
    })),
    tags: debate.tags,
    report: execution && {
      tasks: new Set([...reports, ...execution.tasks].map(({ task_id: id }) => id)).size,
      succeeded: execution.done.length,
      failed: reports.filter(({ outcome: ended }) => ended !== 'succeeded').length,
      repairs: execution.repairs.length,
      diagnoses: execution.repairs.flatMap(({ diagnosis }) => (diagnosis === null ? [] : [cut(diagnosis)])),
      rolled_back: rollbackReport(debate) !== null,
    },
    elo_changes: eloChanges(duels, statements, personasOf(setup), context?.ratings ?? {}),
    created_at: iso(now),
  };
};
