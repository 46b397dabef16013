import type { Json } from '../../contracts/frames.js';
import { takeCall } from './calls.js';
import { contextInfo } from './context/info.js';
import type { TeamDraft } from './draft.js';
import { refused, type TeamEvent } from './effects.js';
import { explorerOf } from './explore.js';
import { type AgentRecord, agentOf } from './state.js';
import { callAnswer, statusAnswer } from './tool-answers.js';
import { type ToolWork, workOf } from './tool-work.js';
import { unknownAgent } from './words.js';

type Command = Omit<Extract<TeamEvent, { type: 'COMMAND' }>, 'type'>;
type CallWork = Extract<ToolWork, { type: 'call' }>;

/** Does what a call comes to, and answers it: now, or with the wait that it has begun. */
const takeWork = (
  draft: TeamDraft,
  { agentId, run, callId }: Command,
  { call, waitsFor, notes }: CallWork,
): Json | null => {
  const { team } = draft;
  const answer = takeCall(draft, agentId, call);
  if (!answer.ok || waitsFor === null) return callAnswer(answer, notes);
  team.waits = team.waits.map((wait) =>
    wait.waitId === waitsFor ? { ...wait, call: { agentId, run, callId, notes: [...notes, ...answer.notes] } } : wait,
  );
  return null;
};

const contextAnswer = ({ team }: TeamDraft, agentId: string, includeStats: boolean): Json => {
  const info = contextInfo(team.contexts, agentId, includeStats);
  return info === null ? callAnswer(unknownAgent(team, agentId)) : { status: 'ok', ...info };
};

/** An explorer is an agent of its own below the one that asks, and is waited for. */
const explore = (
  draft: TeamDraft,
  command: Command,
  agent: AgentRecord,
  asked: Extract<ToolWork, { type: 'explore' }>,
  waitId: string,
): Json | null => {
  const { team } = draft;
  const plan = explorerOf(team, agent, asked);
  const spawned = takeCall(draft, agent.plan.agentId, { type: 'SPAWN', agents: [plan] });
  if (!spawned.ok) return callAnswer(spawned);
  const call = { type: 'WAIT' as const, waitId, ids: [plan.agentId], timeoutMs: null };
  return takeWork(draft, command, { type: 'call', call, waitsFor: waitId, notes: [] });
};

/** Carries out a call of one of the ten tools for agents (details 3.2) of an agent that is there; null: it waits for others. */
export const answerCommand = (draft: TeamDraft, asked: Command): Json | null => {
  const { team } = draft;
  const { agentId, run, callId, command } = asked;
  const agent = agentOf(team, agentId);
  if (!agent) return callAnswer(unknownAgent(team, agentId));
  if (!team.setup.subagentsEnabled)
    return callAnswer(refused('subagents_disabled', 'sub-agents are switched off for this team; do the work yourself'));
  const waitId = `${agentId}/${run}/${callId}`;
  const work = workOf(command, { agentId, plan: agent.plan, backgroundAllowed: team.setup.backgroundAllowed, waitId });
  switch (work.type) {
    case 'status':
      return statusAnswer(team, work.agentId, work.includeResult);
    case 'context_info':
      return contextAnswer(draft, work.agentId, work.includeStats);
    case 'explore':
      return explore(draft, asked, agent, work, waitId);
    case 'call':
      return takeWork(draft, asked, work);
  }
};

/** A turn calls a tool for agents among others. One of a turn that has ended is not answered. */
export const takeCommand = (draft: TeamDraft, asked: Command): void => {
  const { team, effects } = draft;
  const { agentId, run, callId } = asked;
  if (agentOf(team, agentId)?.turn?.run !== run) return void (team.dropped += 1);
  const answer = answerCommand(draft, asked);
  if (answer !== null) effects.push({ type: 'answer_call', agentId, run, callId, answer });
};
