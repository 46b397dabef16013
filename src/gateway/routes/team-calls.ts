import { waitingForCalls } from '../../domain/call-wait.js';
import { ParleyError } from '../../domain/errors.js';
import { callKey } from '../../domain/team/call-keys.js';
import type { Done, OutsideCall } from '../../domain/team/effects.js';
import type { AgentStatus, TeamStatus } from '../../contracts/team-status.js';
import { liveTexts } from '../live-texts.js';
import { knownId } from '../request-parts.js';
import type { Ports } from '../route.js';

/** The code of a refusal on the wire: from outside there are no sub-agents that could be switched off. */
const codeOf = {
  not_found: 'not_found',
  conflict: 'conflict',
  wrong_state: 'wrong_state',
  invalid_request: 'invalid_request',
  subagents_disabled: 'wrong_state',
} as const;

/** One call of a team's executor. @throws ParleyError what the executor refuses it with, naming what was done before */
export const callTeam = async (
  id: string,
  call: OutsideCall,
  { teams }: Pick<Ports, 'teams'>,
  key?: string,
): Promise<Done> => {
  const named = key !== undefined && call.type === 'CALL' ? { ...call, once: callKey(key, call.call) } : call;
  const answer = await teams.call(knownId('team', id), named);
  if (answer.ok) return answer;
  const done = answer.agentIds.length === 0 ? '' : `; done before that: ${answer.agentIds.join(', ')}`;
  throw new ParleyError(codeOf[answer.code], `${answer.message}${done}`);
};

/** A paused agent may be in the middle of a call, which comes to its end. */
const maySpeak = ({ state }: AgentStatus): boolean => state === 'RUNNING' || state === 'PAUSED';

/** With what agents at work have said so far. */
export const withTexts = async <A extends AgentStatus>(
  id: string,
  agents: readonly A[],
  { bus }: Pick<Ports, 'bus'>,
): Promise<A[]> => {
  if (!agents.some(maySpeak)) return [...agents];
  const texts = await liveTexts(bus, id);
  return agents.map((agent) => {
    const text = texts.get(agent.agent_id);
    return text === undefined || !maySpeak(agent) ? agent : { ...agent, streaming: true, text };
  });
};

/** With what the calls of running agents wait for, which their team does not know; `waiting` says so of the team, too. */
export const withCallWaits = async (status: TeamStatus, { teams }: Pick<Ports, 'teams'>): Promise<TeamStatus> => {
  if (status.waiting?.for !== 'lane' || !status.agents.some(({ state }) => state === 'RUNNING')) return status;
  const waits = await teams.callWaits(status.id);
  if (waits.size === 0) return status;
  const agents = status.agents.map((agent) => {
    const waiting = waitingForCalls(null, waits.get(agent.agent_id) ?? []);
    // Its team knows of one that waits for a person.
    return waiting === null || agent.waiting || agent.state !== 'RUNNING' ? agent : { ...agent, waiting };
  });
  return { ...status, agents, waiting: waitingForCalls(status.waiting, [...waits.values()].flat()) };
};

/** Those that were asked for, in that order; unknown ones are left out. */
export const agentsOf = ({ agents }: TeamStatus, ids: readonly string[]): AgentStatus[] =>
  ids.flatMap((id) => agents.find(({ agent_id: agentId }) => agentId === id) ?? []);

/** Nothing of it is under way, nor waits to be. */
export const isSettled = ({ state, queued }: AgentStatus): boolean =>
  queued === 0 && state !== 'RUNNING' && state !== 'PAUSED';
