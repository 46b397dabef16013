import type { AuditEntry } from '../../contracts/audit.js';
import { askedEntries, type EntryOf } from '../approval-entries.js';
import { digestOf } from '../canonical-json.js';
import { aborts, executionReport } from './execution.js';
import { checkOf } from './health.js';
import { outcomeOf, reasonOf } from './result.js';
import { type DebateState, memoryIdOf } from './state.js';

/**
 * What the audit log gets of a debate: what was decided, who approved it, what was done and taken back. Commands stand there by
 * their digests alone, as arguments may hold secrets; each entry is written once by its key.
 */
export const auditEntries = (debate: DebateState): AuditEntry[] => {
  const { setup, execution, approvals } = debate;
  const check = checkOf(debate);
  // Whoever asked for changes wanted another decision, and a debate that was aborted in the next pass has none.
  const isUndecided = aborts(debate) && approvals.at(-1)?.outcome === 'changes_requested';
  const decision = isUndecided ? null : debate.decision;
  const entry: EntryOf = (name, type, data) => ({
    key: `${setup.id} ${memoryIdOf(debate)} ${name}`,
    work_id: setup.id,
    kind: 'debate',
    tenant: setup.tenant,
    trace_id: setup.traceId,
    type,
    data,
  });
  const report = executionReport(debate);
  return [
    entry('decided', 'debate.decided', {
      decision: decision?.decision ?? null,
      why: decision?.why ?? null,
      consensus: debate.consensus,
      passes: debate.pass,
      plan: digestOf(debate.plan),
      ...(check && { health_check: digestOf(check) }),
      votes: debate.votes.map(({ role, persona_id, stance, confidence, weight }) => ({
        role,
        persona_id,
        stance,
        confidence,
        weight,
      })),
      findings: debate.statements
        .filter(({ role, pass }) => role === 'security' && pass === debate.pass)
        .flatMap(({ findings }) => findings.map(({ rule, where, confidence }) => ({ rule, where, confidence }))),
    }),
    ...askedEntries(approvals, entry),
    ...(report && execution
      ? [
          entry('executed', 'debate.executed', {
            valid: report.valid,
            repairs: report.repairs,
            ...(report.checks && {
              checks: report.checks.map(({ round, failed_task, healthy, command }) => ({
                round,
                failed_task,
                healthy,
                exit_code: command?.exit_code ?? null,
              })),
            }),
            tasks: report.tasks.map(({ task_id, round, outcome, argv, command, attempt }) => ({
              task_id,
              round,
              outcome,
              attempt,
              argv: digestOf(argv),
              exit_code: command?.exit_code ?? null,
            })),
          }),
        ]
      : []),
    ...(report?.rollback
      ? [
          entry('rolled back', 'debate.rolled_back', {
            restored: report.rollback.restored,
            undone: report.rollback.undone.map(({ task_id, outcome }) => ({ task_id, outcome })),
            manual: report.rollback.manual.length,
            workspace_before: report.rollback.workspace_before,
            workspace_after: report.rollback.workspace_after,
          }),
        ]
      : []),
    entry('ended', 'debate.ended', {
      outcome: debate.cancelled ? 'cancelled' : outcomeOf(debate),
      reason: reasonOf(debate),
    }),
  ];
};
