// What a person has seen of a team so far, as plain data; the views only draw it.
import { appendText, emptyModel, emptyText, takeCommonEvent, takeCommonStatus } from './model.js';

export const collection = 'teams';
export const lookEveryMs = 3_000;
/** Teams up to this size are looked at with every agent that moves: answers and cost stand in the status alone. */
const smallTeam = 50;
const asking = new Set(['state', 'waiting', 'budget', 'agent_removed', 'pattern', 'final', 'restored']);
export const asksForStatus = ({ event }, { agents }) =>
  asking.has(event) || (event !== 'log' && agents.size <= smallTeam);

export const createModel = () => ({
  ...emptyModel('OPEN'),
  /** By id, in the order in which they were spawned. */
  agents: new Map(),
});

const newAgent = (agentId) => ({
  agentId,
  parent: null,
  role: 'agent',
  state: 'PENDING',
  /** Questions that it has begun to work on. */
  turns: 0,
  queued: 0,
  /** What it says, as it says it. */
  ...emptyText(),
  /** What its status has: the answer of its last turn, and its words, where the stream has not told them. */
  answer: null,
  rest: null,
  error: null,
  waitingFor: [],
  /** Why its next call is not made; null: it waits for nothing that is known. */
  waiting: null,
  spend: { tokens: 0, usd: '0' },
});

export const endedStates = new Set(['COMPLETED', 'FAILED', 'CANCELLED']);

/** Within a turn: at work, over, in line for the next. */
const stage = (state) => (endedStates.has(state) ? 1 : state === 'PENDING' ? 2 : 0);

/** Whether what is told of an agent is older than what is known: a status may come before events that it knows of, or after. */
const isOlder = (told, known) => {
  if (told.turns !== known.turns) return told.turns < known.turns;
  // One that waits can be cancelled as it waits.
  return stage(told.state) < stage(known.state) && !endedStates.has(told.state);
};

const agentIn = ({ agents }, agentId) => {
  const agent = agents.get(agentId) ?? newAgent(agentId);
  agents.set(agentId, agent);
  return agent;
};

/** What an agent says in a turn is not what it said in the one before. */
const beginTurn = (agent, turns) => {
  if (turns <= agent.turns) return;
  Object.assign(agent, { turns, text: '', answer: null, rest: null });
};

export const takeStatus = (model, status) => {
  for (const told of status.agents) {
    const agent = agentIn(model, told.agent_id);
    if (isOlder(told, agent)) continue;
    beginTurn(agent, told.turns);
    const { parent, role, state, queued, error, spend, text: rest, result: answer } = told;
    Object.assign(agent, { parent, role, state, queued, error, spend, rest, answer });
    agent.waitingFor = told.waiting_for;
    agent.waiting = told.waiting ?? null;
  }
  return takeCommonStatus(model, status);
};

/** What a status alone tells: how it was at a checkpoint. */
export const modelAt = (status) => takeStatus(createModel(), status);

/** Takes text of an agent; returns false when text before it is missing. What is no agent's is not shown. */
export const takePartial = ({ agents }, partial) => {
  const agent = agents.get(partial.lane_id);
  return !agent || appendText(agent, partial);
};

const takeAgent = (model, { agent_id: agentId, parent, role, state, turn, error }) => {
  const agent = agentIn(model, agentId);
  if (isOlder({ turns: turn, state }, agent)) return;
  // What it begins with is no longer in line; how much else is, the next status says.
  if (turn > agent.turns) agent.queued = Math.max(0, agent.queued - 1);
  beginTurn(agent, turn);
  Object.assign(agent, { parent, role, state, error });
  if (state !== 'RUNNING') Object.assign(agent, { waitingFor: [], waiting: null });
};

/** Its children are its parent's. */
const forget = ({ agents }, agentId) => {
  const parent = agents.get(agentId)?.parent ?? null;
  agents.delete(agentId);
  for (const agent of agents.values()) if (agent.parent === agentId) agent.parent = parent;
};

export const takeEvent = (model, event) => {
  takeCommonEvent(model, event);
  if (event.event === 'agent') takeAgent(model, event.data);
  if (event.event === 'agent_removed') forget(model, event.data.agent_id);
};

/** What agents and people have said to each other, and the work that they gave each other, in order. */
export const talkOf = ({ events }, agentId = null) =>
  events.filter(({ event, data }) => {
    if (event === 'message') return agentId === null || data.from === agentId || data.to === agentId;
    if (event === 'delegation') return agentId === null || data.parent === agentId || data.child === agentId;
    return event === 'pattern' && agentId === null;
  });
