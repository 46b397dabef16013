import type { PathFault } from '../debate/set-up-debate.js';
import { openDraft } from './draft.js';
import type { TeamSetup } from './setup.js';
import { spawn } from './spawn.js';
import { openTeamState } from './state.js';

/**
 * Why the agents of a team cannot all be spawned, as its first step does it: the first of them that is refused. A team of the others
 * would be none that anybody has asked for.
 */
export const startFaults = (setup: TeamSetup): PathFault[] => {
  // What they are asked first has no part in it, and takes most of the time.
  const agents = setup.agents.map((plan) => ({ ...plan, prompt: null }));
  const answer = spawn(openDraft(openTeamState(setup, 0), 0), agents);
  return answer.ok ? [] : [{ path: `agents[${answer.agentIds.length}]`, message: answer.message }];
};
