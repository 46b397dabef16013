import type { AgentEventName } from './agent-machine.js';
import { askInContext, leaveQuestion } from './contexts.js';
import { moveAgent, replaceAgent, type TeamDraft } from './draft.js';
import { explored } from './explore.js';
import type { TurnEnd } from './outcome.js';
import { offerCall } from './spending.js';
import { type AgentRecord, hasEnded, isIdle, type Turn } from './state.js';

const keptLatencies = 500;

export interface Question {
  content: string;
  by: string | null;
  background: boolean;
  channel?: string;
}

const fresh = { result: null, error: null, text: null, held: null, mail: [], startedAt: null, endedAt: null };

/** A call of the turn before, which was cancelled, stays open until that has told what it used. */
const withTurn = ({ turn: before, openCall, leaving = [] }: AgentRecord, turn: Turn): Partial<AgentRecord> => ({
  ...fresh,
  turn,
  ...(before && openCall !== null && { openCall: null, leaving: [...leaving, { run: before.run, number: openCall }] }),
});

/** Asks an agent: at once where it has nothing to do, else after what it has been asked before. Returns the number of the run. */
export const ask = (draft: TeamDraft, agent: AgentRecord, question: Question): number => {
  const { team, now } = draft;
  team.runs += 1;
  const turn: Turn = { run: team.runs, ...question, askedAt: now };
  if (isIdle(agent) || hasEnded(agent)) moveAgent(draft, agent, 'ASK', withTurn(agent, turn));
  else replaceAgent(draft, { ...agent, queue: [...agent.queue, turn] });
  return turn.run;
};

/** Gives an agent a slot. */
export const begin = (draft: TeamDraft, agent: AgentRecord): void => {
  const { team, now, began } = draft;
  const { turn, plan } = agent;
  if (!turn) return;
  moveAgent(draft, agent, 'START', { startedAt: now, turns: agent.turns + 1 });
  team.slotWaits = [...team.slotWaits, now - turn.askedAt].slice(-keptLatencies);
  began.push(turn.run);
  const { run, content, by } = turn;
  const asked = askInContext(draft, plan.agentId, turn);
  const { agentId } = plan;
  offerCall(draft, { agentId, run, effect: { type: 'run_turn', agentId, run, content, by, asked } });
};

const eventOf = { completed: 'COMPLETE', failed: 'FAIL', cancelled: 'ABORT' } as const satisfies Record<
  TurnEnd['as'],
  AgentEventName
>;

/** A turn has ended by itself: held where the agent is paused, else followed by what was asked meanwhile. */
export const endTurn = (draft: TeamDraft, agent: AgentRecord, how: TurnEnd, said: string | null): void => {
  const { end, text } = explored(draft.team, agent, { end: how, text: said });
  const kept = end.as === 'completed' ? null : text;
  if (agent.state === 'PAUSED') {
    moveAgent(draft, agent, eventOf[end.as], { held: end, text: kept });
    return;
  }
  finish(draft, agent, eventOf[end.as], end, { text: kept });
};

/** The event ends the agent's turn as `end` says. */
export const finish = (
  draft: TeamDraft,
  agent: AgentRecord,
  on: AgentEventName,
  end: TurnEnd,
  change: Partial<AgentRecord> = {},
): void => {
  const { team, now, ended } = draft;
  const { turn, startedAt } = agent;
  moveAgent(draft, agent, on, {
    ...change,
    held: null,
    endedAt: now,
    result: end.as === 'completed' ? end.result : null,
    error: end.as === 'completed' ? null : end.error,
  });
  leaveQuestion(draft, agent.plan.agentId);
  // Nobody is left to be told what it waited for.
  team.waits = team.waits.filter(({ by }) => by !== agent.plan.agentId);
  if (startedAt !== null) team.latencies = [...team.latencies, now - startedAt].slice(-keptLatencies);
  if (turn) ended.push({ run: turn.run, end });
};

/** Whoever has ended and was asked for more joins the line again, behind those that wait already by the number of the run. */
export const takeNext = (draft: TeamDraft): void => {
  for (const agent of draft.team.agents) {
    const [turn, ...queue] = agent.queue;
    if (turn && hasEnded(agent)) moveAgent(draft, agent, 'ASK', { ...withTurn(agent, turn), queue });
  }
};
