import { approximateTokens } from '../budget.js';
import { contextOf, messagesOf } from './context/book.js';
import { groupsOf, type NewMessage } from './context/message.js';
import { write } from './context/write.js';
import type { TeamEffect } from './effects.js';
import type { AgentRecord, TeamState } from './state.js';

type RunTurn = Extract<TeamEffect, { type: 'run_turn' }>;

/** Whether a turn of it is under way. */
export const isAtWork = ({ state, held, turn }: AgentRecord): boolean =>
  turn !== null && (state === 'RUNNING' || (state === 'PAUSED' && held === null));

const unanswered = { status: 'error', code: 'not_carried_out', message: 'the team went back to a point before this' };

/** Calls that nobody will answer any more have a result that says so: a model takes no call without one. */
const withResults = (team: TeamState, agentId: string): TeamState['contexts'] => {
  const { contexts } = team;
  if (!contextOf(contexts, agentId)) return contexts;
  const open = groupsOf(messagesOf(contexts, agentId)).filter(({ isComplete }) => !isComplete);
  const results = open.flatMap(({ messages }) => {
    const answered = new Set(messages.flatMap(({ resultOf }) => resultOf ?? []));
    return messages
      .flatMap(({ calls }) => calls)
      .filter((call) => !answered.has(call))
      .map((resultOf): NewMessage => ({ role: 'tool', resultOf, content: JSON.stringify(unanswered) }));
  });
  if (results.length === 0) return contexts;
  const written = write(contexts, agentId, results, approximateTokens);
  return written.ok ? written.book : contexts;
};

/**
 * A team that goes on from an earlier point, or as a fork: whoever was at work there is at work again, with its context as it was.
 * Waits of agents are gone, as their turns begin anew. `begun`: runs that begin there anyhow.
 */
export const turnsAgain = (
  before: TeamState,
  begun: ReadonlySet<number>,
): { team: TeamState; effects: TeamEffect[] } => {
  const team: TeamState = { ...before, held: [], asks: [], waits: before.waits.filter(({ by }) => by === null) };
  const effects: TeamEffect[] = [];
  for (const { plan, turn, state, ...agent } of team.agents) {
    if (!turn || !isAtWork({ plan, turn, state, ...agent })) continue;
    const { agentId } = plan;
    team.contexts = withResults(team, agentId);
    const messages = messagesOf(team.contexts, agentId);
    const asked: RunTurn['asked'] = { view: { ids: messages.map(({ messageId }) => messageId), add: messages } };
    const { run, content, by } = turn;
    if (!begun.has(run)) effects.push({ type: 'run_turn', agentId, run, content, by, asked });
    if (state === 'PAUSED') effects.push({ type: 'hold_turn', agentId, run });
  }
  return { team, effects };
};
