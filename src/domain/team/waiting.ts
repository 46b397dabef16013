import type { Waiting } from '../../contracts/work.js';
import { whoCanApprove } from '../approval.js';
import { iso } from '../instant.js';
import { openRequest } from './permissions.js';
import { inLine } from './slot-use.js';
import { isOver, isSettled, type TeamState, type TeamWaiting } from './state.js';

const count = ({ agents }: TeamState, state: string): number => agents.filter((agent) => agent.state === state).length;

/** Why a team is not moving; null: it is over. */
export const waitingOn = (team: TeamState): TeamWaiting['on'] | null => {
  if (isOver(team)) return null;
  if (team.agents.every(isSettled) && team.patterns.length === 0) return 'open';
  if (openRequest(team)) return 'approval';
  const running = count(team, 'RUNNING');
  if (running > 0 || team.state === 'OPEN') {
    if (running === 0) return count(team, 'PAUSED') > 0 ? 'paused' : 'agents';
    return new Set(team.held.map(({ agentId }) => agentId)).size === running ? 'budget' : 'agents';
  }
  return 'paused';
};

/** The same in words (spec 08 "Why is it not moving?"). */
export const describeWaiting = (team: TeamState): Waiting | null => {
  if (!team.waiting) return null;
  const since = iso(team.waiting.since);
  const inQueue = inLine(team).length;
  switch (team.waiting.on) {
    case 'agents':
      return {
        for: 'lane',
        since,
        detail: `agents: ${count(team, 'RUNNING')} running, ${count(team, 'PAUSED')} paused, ${inQueue} waiting for one of ${team.setup.maxConcurrent} slots`,
        who_can_unblock: 'the agents, or a cancel',
      };
    case 'approval': {
      const open = openRequest(team);
      const more = team.asks.length > 1 ? `, and ${team.asks.length - 1} calls after it` : '';
      return {
        for: 'person',
        since,
        detail: `an answer to ${open?.request.request_id ?? ''}: whether agent ${team.asks[0]?.agentId ?? ''} may call ${team.asks[0]?.name ?? ''}${more}`,
        who_can_unblock: open ? whoCanApprove(open) : '',
      };
    }
    case 'budget':
      return {
        for: 'budget',
        since,
        detail: `${team.held.length} agents wait until what others hold of the budget is used or comes back`,
        who_can_unblock:
          'agents whose calls are open: those that are paused hold theirs until they are resumed or cancelled',
      };
    case 'paused':
      return {
        for: 'person',
        since,
        detail: `${count(team, 'PAUSED')} agents are paused, and ${inQueue} wait for a slot`,
        who_can_unblock: team.state === 'PAUSED' ? 'whoever resumes the team' : 'whoever resumes or cancels them',
      };
    case 'open':
      return {
        for: 'person',
        since,
        detail: 'no agent has anything to do, and the team is kept open',
        who_can_unblock: 'whoever asks an agent, adds one, or closes the team',
      };
  }
};
