import type { TeamStatus } from '../src/contracts/team-status.js';
import { closedTeam } from '../src/domain/team/closed-team.js';
import type { OutsideCall } from '../src/domain/team/effects.js';
import type { TeamSetup } from '../src/domain/team/setup.js';
import type { TeamsPort } from '../src/gateway/work-port.js';
import { contextQuery, teamUpdate, teamWorkflowType } from '../workflows/messages.js';
import { createTeamCallWaits } from './call-waits.js';
import { feedbackOf } from './feedback-update.js';
import { createWorkClient, firstWords, type WorkClientOptions, type WorkDefinition } from './work-client.js';

export const teamDefinition: WorkDefinition<TeamSetup, TeamStatus> = {
  kind: 'team',
  workflowType: teamWorkflowType,
  initialState: 'OPEN',
  summaryOf: ({ agents }) =>
    `team: ${agents.length} ${agents.length === 1 ? 'agent' : 'agents'}, ${firstWords(agents.map(({ agentId }) => agentId).join(', '))}`,
  closedFromOutside: closedTeam,
  // An agent that has ended may be asked again, and streams anew: its text goes with its next call.
  endedLane: () => null,
  texts: () => [],
};

/** Temporal knows an update by its id, also of a team that has ended; the team itself knows keys over all of its runs. */
const keyedId = (call: OutsideCall): string | null =>
  call.type === 'CALL' && call.once ? `key:${call.once.digest}:${call.once.key}` : null;

export const createTeamsClient = (options: WorkClientOptions): TeamsPort => {
  const teams = createWorkClient(teamDefinition, options);
  return {
    ...teams,
    feedback: feedbackOf(teams.update),
    call: (id, call) =>
      teams.update(id, 'take this call', (handle, updateId) =>
        handle.executeUpdate(teamUpdate, { args: [call], updateId: keyedId(call) ?? updateId }),
      ),
    callWaits: createTeamCallWaits(options.client),
    context: (id, agentId) => teams.ask(id, (handle) => handle.query(contextQuery, agentId)),
  };
};
