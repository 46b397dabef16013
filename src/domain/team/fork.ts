import { noAmount } from '../budget.js';
import type { TeamEvent } from './effects.js';
import type { AgentPlan, TeamSetup } from './setup.js';
import { withAgentAccount } from './spending.js';
import { type AgentRecord, openTeamState, type TeamState } from './state.js';

/** An agent as it was, with what the fork's request says of it. */
const replanned = (agent: AgentRecord, plan: AgentPlan | undefined): AgentRecord => ({
  ...agent,
  spent: noAmount,
  reserved: 0,
  openCall: null,
  leaving: [],
  ...(plan && { plan: { ...plan, adapter: plan.adapter ?? agent.plan.adapter } }),
});

/**
 * A team that begins from an earlier one (spec 08 "Fork with a question"), with a setup of its own: its agents with their contexts,
 * results and what they wait for. Whoever was at work is at work again; an agent whose prompt is another now is asked that; agents
 * that are new are spawned. What an agent had used was paid by the old team. `now`: epoch milliseconds.
 */
export const forkTeam = (work: TeamState, setup: TeamSetup, now: number): { work: TeamState; first: TeamEvent } => {
  const plans = new Map(setup.agents.map((plan) => [plan.agentId, plan]));
  const asked = new Map(work.setup.agents.map(({ agentId, prompt }) => [agentId, prompt]));
  const agents = work.agents.map((agent) => replanned(agent, plans.get(agent.plan.agentId)));
  const known = new Set(agents.map(({ plan }) => plan.agentId));
  const anew = setup.agents.filter(({ agentId, prompt }) => known.has(agentId) && prompt !== asked.get(agentId));
  const opened = { ...openTeamState(setup, now), wentBack: work.wentBack ?? 0 };
  let { ledger } = opened;
  for (const agent of agents) ledger = withAgentAccount({ ledger, agents }, agent, now);
  return {
    work: {
      ...opened,
      // Its paused agents go on together, as those of its origin would.
      state: work.state === 'PAUSED' ? 'PAUSED' : 'OPEN',
      agents,
      ledger,
      contexts: work.contexts,
      spawned: work.spawned,
      runs: work.runs,
      delegations: work.delegations,
      rotation: work.rotation,
      waits: work.waits,
      patterns: work.patterns,
    },
    first: {
      type: 'FORKED',
      spawn: setup.agents.filter(({ agentId }) => !known.has(agentId)),
      ask: anew.flatMap(({ agentId, prompt }) => (prompt === null ? [] : [{ agentId, content: prompt }])),
    },
  };
};
