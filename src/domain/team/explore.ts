import { explorerRights } from './inherited.js';
import type { AgentPlan } from './setup.js';
import { type AgentRecord, agentOf, type TeamState } from './state.js';

/** Tools of an explorer: it looks, and changes nothing (spec 05). */
export const exploreTools: readonly string[] = ['list_files', 'read_file', 'search_files'];

const instructions = `You explore files for another agent. List, read and search as much as you need, several at once where you can. You cannot change anything.
End with a summary that answers what was asked: what you found, where (path and line), and what you did not find.`;

interface Asked {
  task: string;
  directory: string | null;
  maxRounds: number;
}

const freeId = (team: TeamState): string => {
  for (let number = team.spawned + 1; ; number += 1) {
    const id = `explore-${number}`;
    if (!agentOf(team, id)) return id;
  }
};

/** The agent that explores for another: a small, cheap model where the team names one, else who answers for the asker. */
export const explorerOf = (
  team: TeamState,
  { plan }: AgentRecord,
  { task, directory, maxRounds }: Asked,
): AgentPlan => ({
  agentId: freeId(team),
  role: 'explorer',
  parent: plan.agentId,
  adapter: team.setup.explorer,
  ...(team.setup.explorerPrice && { price: team.setup.explorerPrice }),
  instructions,
  ...explorerRights(plan),
  tools: [...exploreTools],
  prompt: directory === null ? task : `${task}\n\nLook in ${directory}.`,
  background: false,
  maxRounds,
  overrides: {},
  metadata: {},
  sharing: { sessionOf: null, windowOf: null, maxTokens: null },
  folderOf: plan.folderOf ?? plan.agentId,
  explores: true,
});
