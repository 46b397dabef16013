import type { Json } from '../../contracts/frames.js';
import type { AgentStatus, TeamStatus, WaitAnswer } from '../../contracts/team-status.js';
import type { Lifecycle } from '../../contracts/work.js';
import { usd } from '../budget.js';
import { iso } from '../instant.js';
import { teamAccount } from './accounts.js';
import { askedBudget, budgetStatus } from './budget-view.js';
import { delegationOnWire } from './delegation.js';
import type { WaitOutcome } from './effects.js';
import { type AgentRecord, agentOf, type TeamState, type TeamWaiting } from './state.js';
import { openRequest } from './permissions.js';
import { accountIdOf } from './spending.js';
import { teamStats } from './stats.js';
import { agentWaiting, describeWaiting } from './waiting.js';
import { waitsOf } from './waits.js';

/** Whether agents work while a person is asked. */
const goesOn = ({ agents, asks, held }: TeamState): boolean => {
  const asking = new Set([
    ...asks.flatMap((ask) => ('agentId' in ask ? ask.agentId : [])),
    ...held.map(({ agentId }) => agentId),
  ]);
  return agents.some(({ state, plan }) => state === 'RUNNING' && !asking.has(plan.agentId));
};

const isAsked = (on: TeamWaiting['on'] | undefined): boolean => on === 'approval' || on === 'limit';

const lifecycleOf = (team: TeamState): Lifecycle => {
  const { state, waiting } = team;
  switch (state) {
    case 'COMPLETED':
      return 'completed';
    case 'FAILED':
      return 'failed';
    case 'CANCELLED':
      return 'cancelled';
    default:
      return waiting?.on === 'agents' || waiting?.on === 'tenant_budget' || (isAsked(waiting?.on) && goesOn(team))
        ? 'running'
        : 'waiting';
  }
};

const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at));

/** An agent as the wire has it (spec 10). */
export const agentStatus = (team: TeamState, agent: AgentRecord): AgentStatus => {
  const { plan, spent } = agent;
  const waiting = agentWaiting(team, agent);
  const budget = plan.budget && budgetStatus(team, accountIdOf(agent), plan.cheaper?.model);
  return {
    agent_id: plan.agentId,
    state: agent.state,
    result: agent.result,
    error: agent.error,
    metadata: plan.metadata,
    role: plan.role,
    parent: plan.parent,
    turns: agent.turns,
    queued: agent.queue.length + (agent.state === 'PENDING' && agent.turn !== null ? 1 : 0),
    streaming: false,
    text: agent.text,
    waiting_for: waitsOf(team, plan.agentId),
    ...(waiting && { waiting }),
    spend: { tokens: spent.tokens, usd: usd(spent.usdMicros) },
    ...(budget && { budget }),
    spawned_at: iso(agent.spawnedAt),
    started_at: isoOrNull(agent.startedAt),
    ended_at: isoOrNull(agent.endedAt),
  };
};

/** One agent's status; null: there is none of this id (details 3.1). */
export const agentStatusOf = (team: TeamState, agentId: string): AgentStatus | null => {
  const agent = agentOf(team, agentId);
  return agent ? agentStatus(team, agent) : null;
};

/** What a wait answers outside: unknown agents are left out, a failed one has its error and no result. */
export const waitAnswer = (team: TeamState, { status, agentIds, elapsedMs }: WaitOutcome): WaitAnswer => ({
  status,
  agents: agentIds.flatMap((id) => agentStatusOf(team, id) ?? []),
  elapsed_ms: elapsedMs,
});

const named = 10;

/** What the Web UI shows of a team, in words. */
export const teamDetails = (team: TeamState): string => {
  const atWork = team.agents.filter(({ state }) => state === 'RUNNING' || state === 'PAUSED');
  const lines = atWork.slice(0, named).map(({ plan, state, turns }) => `- ${plan.agentId}: ${state}, turn ${turns}`);
  const rest = atWork.length > named ? [`- and ${atWork.length - named} more`] : [];
  const waiting = describeWaiting(team);
  return [
    `${team.state}: ${team.agents.length} agents`,
    ...(waiting ? [`waiting for ${waiting.for}: ${waiting.detail}`] : []),
    ...lines,
    ...rest,
  ].join('\n');
};

/** The call that people are asked about now. */
const askedCall = (team: TeamState): TeamStatus['asked_call'] => {
  const open = openRequest(team);
  const [ask] = team.asks;
  if (!open || !ask || 'accountId' in ask) return null;
  const { agentId, run, callId, name, given } = ask;
  return {
    request_id: open.request.request_id,
    agent_id: agentId,
    turn: run,
    call_id: callId,
    tool: name,
    arguments: given as Record<string, Json>,
  };
};

/** The status of spec 10, a projection of the one state. */
export const teamStatus = (team: TeamState): TeamStatus => {
  const { setup } = team;
  const budget = budgetStatus(team, teamAccount, setup.budget.cheaperModel);
  const asked = askedBudget(team);
  return {
    id: setup.id,
    kind: 'team',
    tenant: setup.tenant,
    labels: setup.labels,
    lifecycle: lifecycleOf(team),
    state: team.state,
    keep_open: setup.keepOpen,
    closed: team.closed,
    subagents_enabled: setup.subagentsEnabled,
    agents: team.agents.map((agent) => agentStatus(team, agent)),
    delegations: team.delegations.map(delegationOnWire),
    stats: teamStats(team),
    feedback: team.feedback,
    asked_call: askedCall(team),
    ...(asked && { asked_budget: asked }),
    ...(budget && { budget }),
    waiting: describeWaiting(team),
    result: team.result,
    error: team.error,
    spend: { tokens: team.spent.tokens, usd: usd(team.spent.usdMicros) },
    dropped_events: team.dropped,
    started_at: iso(team.startedAt),
    ended_at: isoOrNull(team.endedAt),
    links: { self: `/v1/teams/${setup.id}`, events: `/v1/teams/${setup.id}/events`, web_ui: setup.webUiUrl },
  };
};
