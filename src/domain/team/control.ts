import { replaceAgent, moveAgent, type TeamDraft } from './draft.js';
import { type CallAnswer, done, refused } from './effects.js';
import type { TurnEnd } from './outcome.js';
import { type AgentRecord, agentOf, descendantsOf, hasEnded, isIdle } from './state.js';
import { timeForTools } from './spending.js';
import { finish } from './turns.js';
import { overKin, unknownAgent, wrongState } from './words.js';

const cancelled = (message: string): TurnEnd => ({ as: 'cancelled', error: { code: 'cancelled', message } });

/** Ends one live agent and what it was asked besides; its turn is stopped where there is one. */
export const cancelOne = (draft: TeamDraft, agent: AgentRecord, message: string): void => {
  const { plan, turn, queue } = agent;
  const wasUnderWay = agent.state === 'RUNNING' || agent.state === 'PAUSED';
  const end = agent.held ? { ...agent.held } : null;
  finish(draft, replaceAgent(draft, { ...agent, queue: [] }), 'CANCEL', cancelled(message));
  for (const { run } of queue) draft.ended.push({ run, end: cancelled(message) });
  // A turn that has ended already has nothing to stop.
  if (wasUnderWay && turn && !end) draft.effects.push({ type: 'stop_turn', agentId: plan.agentId, run: turn.run });
};

const cancelWords = (by: string | null): string =>
  by === null ? 'it was cancelled' : `it was cancelled by agent "${by}"`;

/** Cancels an agent and all that it has spawned, as far as they live (details 3.6: a cancel reaches children). */
export const cancelAgent = (draft: TeamDraft, agentId: string, by: string | null): CallAnswer => {
  const { team } = draft;
  const agent = agentOf(team, agentId);
  if (!agent) return unknownAgent(team, agentId);
  const kin = overKin(team, by, agentId, 'cancel');
  if (kin) return kin;
  if (hasEnded(agent)) return wrongState(agent, 'there is nothing left to cancel');
  const below = descendantsOf(team, agentId).filter((child) => !hasEnded(child) && !isIdle(child));
  cancelOne(draft, agent, cancelWords(by));
  for (const child of below)
    cancelOne(draft, child, `it was cancelled with agent "${agentId}", which it was spawned under`);
  return done([agentId, ...below.map(({ plan }) => plan.agentId)]);
};

/** Cancels every live agent; how many they were is the length of the answer's list. */
export const cancelAll = (draft: TeamDraft, message: string): string[] => {
  const live = draft.team.agents.filter((agent) => !hasEnded(agent));
  for (const agent of live) cancelOne(draft, agent, message);
  return live.map(({ plan }) => plan.agentId);
};

const pauseOne = (draft: TeamDraft, agent: AgentRecord): void => {
  moveAgent(draft, agent, 'PAUSE');
  if (agent.turn) draft.effects.push({ type: 'hold_turn', agentId: agent.plan.agentId, run: agent.turn.run });
};

/** What ended meanwhile ends now, without another call; else the turn goes on where it was. */
const resumeOne = (draft: TeamDraft, agent: AgentRecord): void => {
  if (agent.held) return finish(draft, agent, 'RESUME', agent.held);
  moveAgent(draft, agent, 'RESUME');
  const { turn, plan } = agent;
  if (turn) draft.effects.push({ type: 'go_on', agentId: plan.agentId, run: turn.run, ...timeForTools(draft, agent) });
};

export const pauseAgent = (draft: TeamDraft, agentId: string): CallAnswer => {
  const agent = agentOf(draft.team, agentId);
  if (!agent) return unknownAgent(draft.team, agentId);
  if (agent.state !== 'RUNNING') return wrongState(agent, 'only a RUNNING agent can be paused');
  pauseOne(draft, agent);
  return done([agentId]);
};

export const resumeAgent = (draft: TeamDraft, agentId: string): CallAnswer => {
  const { team } = draft;
  const agent = agentOf(team, agentId);
  if (!agent) return unknownAgent(team, agentId);
  if (agent.state !== 'PAUSED') return wrongState(agent, 'only a PAUSED agent can be resumed');
  if (team.state === 'PAUSED')
    return refused('wrong_state', `agent "${agentId}" stays PAUSED while its whole team is; resume the team`);
  resumeOne(draft, agent);
  return done([agentId]);
};

export const pauseAll = (draft: TeamDraft): void => {
  for (const agent of draft.team.agents) if (agent.state === 'RUNNING') pauseOne(draft, agent);
};
export const resumeAll = (draft: TeamDraft): void => {
  for (const agent of draft.team.agents) if (agent.state === 'PAUSED') resumeOne(draft, agent);
};

/**
 * stop_sub_agent (details 3.2): cancels work in the background, also while it is paused, and pauses what somebody waits for.
 * What is waited for and has not begun is cancelled: there is nothing to pause.
 */
export const stopAgent = (draft: TeamDraft, agentId: string, by: string | null): CallAnswer => {
  const { team } = draft;
  const agent = agentOf(team, agentId);
  if (!agent) return unknownAgent(team, agentId);
  const kin = overKin(team, by, agentId, 'stop');
  if (kin) return kin;
  if (hasEnded(agent) || isIdle(agent)) return wrongState(agent, 'it has nothing under way that could be stopped');
  if (agent.turn?.background === true || agent.state === 'PENDING') {
    const answer = cancelAgent(draft, agentId, by);
    return answer.ok ? { ...answer, stoppedBy: 'cancel' } : answer;
  }
  if (agent.state === 'PAUSED') return wrongState(agent, 'it is stopped already; resume it, or cancel it');
  const answer = pauseAgent(draft, agentId);
  return answer.ok ? { ...answer, stoppedBy: 'pause' } : answer;
};
