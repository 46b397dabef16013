import { explorerRights } from './inherited.js';
import { messagesOf } from './context/book.js';
import type { TurnEnd } from './outcome.js';
import type { AgentPlan } from './setup.js';
import { type AgentRecord, agentOf, type TeamState } from './state.js';

/** Tools of an explorer: it looks, and changes nothing (spec 05). */
export const exploreTools: readonly string[] = ['list_files', 'read_file', 'search_files'];

const instructions = (
  maxRounds: number,
): string => `You explore files for another agent. List, read and search as much as you need, several at once where you can. You cannot change anything.
End with a summary that answers what was asked: what you found, where (path and line), and what you did not find.
${
  maxRounds === 1
    ? 'You are asked once: this answer has to be that summary.'
    : `You are asked at most ${maxRounds} times: the last answer has to be that summary. Say with every call what you have found so far.`
}`;

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
  instructions: instructions(maxRounds),
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

/** What an agent has said last in its context; null: nothing. */
const saidLast = ({ contexts }: Pick<TeamState, 'contexts'>, agentId: string): string | null =>
  messagesOf(contexts, agentId).findLast(({ role, content }) => role === 'assistant' && content.trim() !== '')
    ?.content ?? null;

/**
 * How an explorer's turn ends for whoever asked it: what it had found by its last round is its answer, marked as unfinished, where it
 * has said anything; of one that failed otherwise what it had said is kept beside the error. What it leaves stands in its context.
 */
export const explored = (
  team: Pick<TeamState, 'contexts'>,
  { plan }: AgentRecord,
  { end, text }: { end: TurnEnd; text: string | null },
): { end: TurnEnd; text: string | null } => {
  if (!plan.explores || end.as === 'completed') return { end, text };
  const said = text !== null && text.trim() !== '' ? text : saidLast(team, plan.agentId);
  if (said === null || end.error.code !== 'round_limit') return { end, text: said };
  const result = `${said}\n\n[unfinished: it was asked ${plan.maxRounds === 1 ? 'once' : `${plan.maxRounds} times`}, the most that it may be, and still wanted to look further]`;
  return { end: { as: 'completed', result }, text: null };
};
