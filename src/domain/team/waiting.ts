import type { Waiting } from '../../contracts/work.js';
import { iso } from '../instant.js';
import { inLine } from './slot-use.js';
import { isOver, isSettled, type TeamState, type TeamWaiting } from './state.js';

const count = ({ agents }: TeamState, state: string): number => agents.filter((agent) => agent.state === state).length;

/** Why a team is not moving; null: it is over. */
export const waitingOn = (team: TeamState): TeamWaiting['on'] | null => {
  if (isOver(team)) return null;
  if (team.agents.every(isSettled) && team.patterns.length === 0) return 'open';
  if (count(team, 'RUNNING') > 0 || team.state === 'OPEN') {
    const paused = count(team, 'PAUSED');
    return paused > 0 && count(team, 'RUNNING') === 0 ? 'paused' : 'agents';
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
        detail: `${count(team, 'RUNNING')} agents run, ${count(team, 'PAUSED')} are paused, ${inQueue} wait for one of ${team.setup.maxConcurrent} slots`,
        who_can_unblock: 'the agents, or a cancel',
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
