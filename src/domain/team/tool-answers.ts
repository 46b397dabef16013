import type { Json } from '../../contracts/frames.js';
import type { CallAnswer, WaitOutcome } from './effects.js';
import { type AgentRecord, agentOf, type TeamState } from './state.js';
import { teamStats } from './stats.js';
import { unknownAgent } from './words.js';

type Answer = Record<string, Json>;

const errorAnswer = (code: string, message: string): Answer => ({ status: 'error', code, message });

/** An agent as tools tell of it; its result where it is asked for, its error wherever there is one. */
const told = (agent: AgentRecord, includeResult: boolean): Answer => ({
  id: agent.plan.agentId,
  state: agent.state,
  ...(includeResult && agent.state === 'COMPLETED' && { result: agent.result }),
  ...(agent.error && { error: agent.error.message }),
  ...(includeResult && agent.text !== null && { partial_text: agent.text }),
});

/** What a tool answers to a call that nobody waits for. */
export const callAnswer = (answer: CallAnswer, notes: readonly string[] = []): Answer => {
  if (!answer.ok) {
    const error = errorAnswer(answer.code, answer.message);
    return answer.agentIds.length === 0 ? error : { ...error, done: answer.agentIds };
  }
  const all = [...notes, ...answer.notes];
  return {
    status: answer.delegationId === undefined ? 'ok' : 'started',
    agents: answer.agentIds,
    ...(answer.delegationId !== undefined && { delegation_id: answer.delegationId }),
    ...(answer.stoppedBy && {
      action: answer.stoppedBy === 'cancel' ? 'cancelled' : 'paused',
      background_task_cancelled: answer.stoppedBy === 'cancel',
    }),
    ...(answer.synced && { ...answer.synced }),
    ...(all.length > 0 && { notes: all }),
  };
};

/**
 * What `wait_for_agents` and a delegation that was waited for answer (details 3.2): unknown agents are `not_found` and hold nobody up; after
 * a timeout there are results of those alone that completed.
 */
export const toolWaitAnswer = (
  team: TeamState,
  { status, agentIds, elapsedMs }: WaitOutcome,
  notes: readonly string[] = [],
): Answer => ({
  status,
  agents: agentIds.map((id) => {
    const agent = agentOf(team, id);
    return agent ? told(agent, true) : { id, state: 'not_found' };
  }),
  waited_ids: agentIds,
  elapsed_seconds: elapsedMs / 1_000,
  ...(notes.length > 0 && { notes: [...notes] }),
});

/** What `get_agent_status` answers: one agent, or all with stats; without results unless they are asked for. */
export const statusAnswer = (team: TeamState, agentId: string | null, includeResult: boolean): Answer => {
  if (agentId === null) {
    const agents = team.agents.map((agent) => told(agent, includeResult));
    return { status: 'ok', agents, stats: { ...teamStats(team) } };
  }
  const agent = agentOf(team, agentId);
  if (agent) return { status: 'ok', agent: told(agent, includeResult) };
  const { code, message } = unknownAgent(team, agentId);
  return errorAnswer(code, message);
};
