import { noAmount } from '../budget.js';
import type { PathFault } from '../debate/set-up-debate.js';
import { openDraft } from './draft.js';
import type { TeamEvent } from './effects.js';
import type { AgentPlan, TeamSetup } from './setup.js';
import { spawn } from './spawn.js';
import { withAgentAccount } from './spending.js';
import { type AgentRecord, openTeamState, type TeamState } from './state.js';

/** An agent as it was, with what the fork's request says of it; whoever was cleaned up is nobody's parent any more. */
const replanned = (agent: AgentRecord, plan: AgentPlan | undefined): AgentRecord => ({
  ...agent,
  spent: noAmount,
  reserved: 0,
  openCall: null,
  leaving: [],
  ...(plan && { plan: { ...plan, adapter: plan.adapter ?? agent.plan.adapter, parent: agent.plan.parent } }),
});

/**
 * A team that begins from an earlier one (spec 08 "Fork with a question"), with a setup of its own: its agents with their contexts,
 * results and what they wait for. Whoever was at work is at work again; an agent whose prompt is another now is asked that; agents
 * that are new are spawned, and those that were cleaned up where they are asked something else. What an agent had used was paid by
 * the old team. `now`: epoch milliseconds.
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
      spawn: setup.agents.filter(
        ({ agentId, prompt }) => !known.has(agentId) && !(asked.has(agentId) && prompt === asked.get(agentId)),
      ),
      ask: anew.flatMap(({ agentId, prompt }) => (prompt === null ? [] : [{ agentId, content: prompt }])),
    },
  };
};

/**
 * Why the new agents of a fork cannot all be spawned, as its first step does it: the first of them that is refused, by its place
 * among the agents of the setup.
 */
export const forkFaults = (work: TeamState, setup: TeamSetup, now: number): PathFault[] => {
  const { work: forked, first } = forkTeam(work, setup, now);
  if (first.type !== 'FORKED') return [];
  const agents = first.spawn.map((plan) => ({ ...plan, prompt: null }));
  const answer = spawn(openDraft(forked, now), agents);
  if (answer.ok) return [];
  const refused = agents[answer.agentIds.length]?.agentId;
  const place = setup.agents.findIndex(({ agentId }) => agentId === refused);
  return [{ path: `agents[${place}]`, message: answer.message }];
};
