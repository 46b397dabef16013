import type { DebateStatus } from '../../contracts/debate-status.js';
import type { Lifecycle } from '../../contracts/work.js';
import { iso } from '../instant.js';
import { inSeconds, spentOf, timeUsed } from '../work-account.js';
import { executionReport } from './execution.js';
import { repairOnWire } from './healing.js';
import { roleOrder } from './roles.js';
import { spend } from './rounds.js';
import type { DebateState } from './state.js';
import { describeWaiting } from './waiting.js';

const lifecycleOf = ({ state, cancelled }: DebateState): Lifecycle => {
  if (state === 'DONE') return 'completed';
  if (state === 'ABORTED') return cancelled ? 'cancelled' : 'failed';
  return state === 'AWAITING_APPROVAL' ? 'waiting' : 'running';
};

const timeOf = ({ ledger, endedAt, steppedAt }: DebateState): DebateStatus['time'] =>
  timeUsed(ledger, endedAt ?? steppedAt, endedAt !== null);

/** The status of spec 10, a projection of the one state. */
export const debateStatus = (debate: DebateState): DebateStatus => {
  const { setup, context, statements } = debate;
  const time = timeOf(debate);
  return {
    id: setup.id,
    kind: 'debate',
    tenant: setup.tenant,
    labels: setup.labels,
    lifecycle: lifecycleOf(debate),
    state: debate.state,
    task: setup.task,
    workspace: { path: debate.workspace ?? setup.workspace.path, locks: setup.workspace.locks },
    limits: setup.limits,
    sandbox: setup.sandbox,
    ...(setup.healing && { healing: setup.healing }),
    roles: roleOrder.map((role) => {
      const { personaId, adapterName } = setup.roles[role];
      return {
        role,
        persona_id: personaId,
        adapter: adapterName,
        elo: context?.ratings[personaId]?.elo ?? null,
        calls: debate.calls[role],
        usage: spend(debate.usage[role]),
      };
    }),
    pass: debate.pass,
    refinements: debate.refinements,
    tags: debate.tags,
    statements: statements.map((statement) => ({
      ...statement,
      usage: spend(statement.usage),
      at: iso(statement.at),
    })),
    plan: debate.plan,
    plan_from_pass: debate.planFromPass,
    consensus: debate.consensus,
    votes: debate.votes,
    duels: debate.duels,
    feedback: debate.approvals,
    report: executionReport(debate),
    repairs: debate.execution?.repairs.map(repairOnWire) ?? [],
    waiting: describeWaiting(debate),
    result: debate.result,
    error: debate.error,
    spend: spend(spentOf(debate.ledger)),
    ...(time && { time }),
    dropped_events: debate.dropped,
    started_at: iso(debate.startedAt),
    ended_at: debate.endedAt === null ? null : iso(debate.endedAt),
    links: {
      self: `/v1/debates/${setup.id}`,
      events: `/v1/debates/${setup.id}/events`,
      web_ui: setup.webUiUrl,
    },
  };
};

const short = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|');
  return line.length > 160 ? `${line.slice(0, 157)}…` : line;
};

/** What Temporal's Web UI shows of a debate, in markdown: enough to tell what it is doing without Parley's page. */
export const debateDetails = (debate: DebateState): string => {
  const { state, pass, consensus, statements, result, error, setup } = debate;
  const waiting = describeWaiting(debate);
  const time = timeOf(debate);
  const report = executionReport(debate);
  const lines = [
    `**${state}**, pass ${pass}, consensus ${consensus.toFixed(2)} (proceed from ${setup.limits.proceed})`,
    ...(waiting ? [`Waiting for ${waiting.for}: ${waiting.detail}. Who can unblock: ${waiting.who_can_unblock}.`] : []),
    ...(time ? [`Time: ${inSeconds(time.elapsed_ms)} of ${inSeconds(time.max_ms)}.`] : []),
  ];
  if (statements.length > 0) {
    lines.push('', '| pass | role | stance | confidence | position |', '|---|---|---|---|---|');
    for (const { pass: of, role, stance, confidence, position, failure } of statements) {
      const said = stance === 'abstain' && failure ? `${failure.code}: ${failure.message}` : position;
      lines.push(`| ${of} | ${role} | ${stance} | ${confidence} | ${short(said)} |`);
    }
  }
  if (report && report.tasks.length > 0) {
    lines.push('', '| task | round | outcome | why |', '|---|---|---|---|');
    for (const { task_id: id, round, outcome, reason } of report.tasks) {
      lines.push(`| ${id} | ${round} | ${outcome} | ${short(reason ?? '')} |`);
    }
  }
  for (const { failed_task: failed, healthy, reason } of report?.checks ?? []) {
    lines.push('', `Health check after ${failed}: ${healthy ? 'nothing to heal' : short(reason ?? 'not healthy')}`);
  }
  if (result) lines.push('', `${result.decision ?? 'no decision'}, ${result.outcome}: ${short(result.reason)}`);
  if (error) lines.push('', `${error.code}: ${short(error.message)}`);
  return lines.join('\n');
};
