import { noAmount } from '../budget.js';
import { iso } from '../instant.js';
import { removeAgent } from './context/agents.js';
import { openContext } from './contexts.js';
import { replaceAgent, tellAgent, type TeamDraft } from './draft.js';
import { type CallAnswer, done, type Refusal, refused } from './effects.js';
import type { AgentPlan } from './setup.js';
import { closeAgentAccount, withAgentAccount } from './spending.js';
import { agentOf, ancestorsOf, hasEnded, type TeamState } from './state.js';
import { ask } from './turns.js';
import { quoted, unknownAgent } from './words.js';

/** Agents of a team at a time. */
export const maxAgents = 1_000;
/** Parents above an agent: an agent that spawns its like goes no deeper. */
export const maxDepth = 8;

/** Why an agent cannot be spawned; null: it can. Nothing has changed then (details 3.3). */
const refusalOf = (team: TeamState, plan: AgentPlan): Refusal | null => {
  const { agentId, parent, sharing } = plan;
  if (parent === agentId) return refused('invalid_request', `agent ${quoted(agentId)} cannot be its own parent`);
  const taken = agentOf(team, agentId) ?? team.setup.liteAgents.find(({ liteId }) => liteId === agentId);
  if (taken) {
    const way =
      'plan' in taken && hasEnded(taken)
        ? `it is ${taken.state}: ask it again, or clean it up first`
        : 'plan' in taken
          ? `it is ${taken.state}: give another id, or cancel it and clean it up first`
          : 'it is a lite agent: give another id';
    return refused('conflict', `the id ${quoted(agentId)} is in use; ${way}`);
  }
  for (const named of [parent, sharing.sessionOf, sharing.windowOf]) {
    if (named === agentId)
      return refused('invalid_request', `agent ${quoted(agentId)} cannot share with itself: it is not there yet`);
    if (named !== null && !agentOf(team, named)) return unknownAgent(team, named);
  }
  if (parent !== null && ancestorsOf(team, parent).length + 1 > maxDepth) {
    const message = `agent ${quoted(parent)} has ${maxDepth} agents above it and can have none below; do the work there, or spawn under another`;
    return refused('invalid_request', message);
  }
  if (plan.adapter === null && parent === null)
    return refused(
      'invalid_request',
      `agent ${quoted(agentId)} needs an adapter, or a parent whose adapter answers for it`,
    );
  if (team.agents.length >= maxAgents) {
    const message = `the team has ${maxAgents} agents already; clean up ended ones before spawning more`;
    return refused('conflict', message);
  }
  return null;
};

/** Adds one agent; it joins the line where it has a prompt. */
const add = (draft: TeamDraft, given: AgentPlan): void => {
  const { team, now } = draft;
  // Who answers for its parent now answers for it, whatever becomes of the parent.
  const parentPlan = given.parent === null ? undefined : agentOf(team, given.parent)?.plan;
  const { price, cheaper } = (given.adapter ? given : parentPlan) ?? given;
  const adapter = given.adapter ?? parentPlan?.adapter ?? null;
  const plan = { ...given, adapter, ...(price && { price }), ...(cheaper && { cheaper }) };
  team.spawned += 1;
  const agent = {
    plan,
    spawn: team.spawned,
    state: 'PENDING' as const,
    turn: null,
    queue: [],
    turns: 0,
    calls: 0,
    reserved: 0,
    openCall: null,
    spawnedAt: now,
    startedAt: null,
    endedAt: null,
    result: null,
    error: null,
    text: null,
    held: null,
    spent: noAmount,
  };
  team.agents = [...team.agents, agent];
  team.ledger = withAgentAccount(team, agent, now);
  tellAgent(draft, agent);
  const { prompt, parent, background } = plan;
  if (prompt !== null) ask(draft, agent, { content: prompt, by: parent, background });
};

/** Spawns in order; the first that is refused ends it, and those before stay (details 3.1). */
export const spawn = (draft: TeamDraft, plans: readonly AgentPlan[]): CallAnswer => {
  const spawned: string[] = [];
  for (const plan of plans) {
    const refusal = refusalOf(draft.team, plan) ?? openContext(draft, plan);
    if (refusal) return { ...refusal, agentIds: spawned };
    add(draft, plan);
    spawned.push(plan.agentId);
  }
  return done(spawned);
};

/** Takes an ended agent out: its id is free again, and its children are its parent's. */
export const cleanUp = (draft: TeamDraft, agentId: string): CallAnswer => {
  const { team, effects, events, now } = draft;
  const agent = agentOf(team, agentId);
  if (!agent) return unknownAgent(team, agentId);
  if (!hasEnded(agent)) {
    const message = `agent ${quoted(agentId)} is ${agent.state}: only an agent that has ended can be cleaned up; wait for it, or cancel it first`;
    return refused('wrong_state', message);
  }
  closeAgentAccount(draft, agent);
  for (const child of team.agents) {
    if (child.plan.parent === agentId)
      replaceAgent(draft, { ...child, plan: { ...child.plan, parent: agent.plan.parent } });
  }
  team.agents = team.agents.filter(({ plan }) => plan.agentId !== agentId);
  team.contexts = removeAgent(team.contexts, agentId);
  effects.push({ type: 'forget_agent', agentId });
  events.push({ event: 'agent_removed', data: { at: iso(now), agent_id: agentId } });
  return done([agentId]);
};
