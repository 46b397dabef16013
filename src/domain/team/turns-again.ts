import { approximateTokens } from '../budget.js';
import { contextOf, messagesOf } from './context/book.js';
import { groupsOf, type NewMessage } from './context/message.js';
import { write } from './context/write.js';
import { replaceAgent, type TeamDraft } from './draft.js';
import type { TeamEffect, TeamEvent } from './effects.js';
import { forgetAsks } from './permissions.js';
import { askOneLite } from './patterns.js';
import { offerCall, returnLite, returnOpen } from './spending.js';
import { type AgentRecord, agentOf, type TeamState } from './state.js';

/** Whether a turn of it is under way, or waits for its first call to be admitted. */
export const isAtWork = ({ state, held, turn }: AgentRecord): boolean =>
  turn !== null && (state === 'RUNNING' || (state === 'PAUSED' && held === null));

/** Runs whose workflow is there, by the state of their team; `heard`: what has come and was not taken yet. */
export const runsUnderWay = (
  team: Pick<TeamState, 'agents' | 'held'>,
  heard: readonly TeamEvent[],
): { agentId: string; run: number }[] => {
  const gone = endedRuns(heard);
  for (const { run, effect } of team.held) if (effect.type === 'run_turn') gone.add(run);
  return team.agents.flatMap((agent) =>
    agent.turn && isAtWork(agent) && !gone.has(agent.turn.run)
      ? [{ agentId: agent.plan.agentId, run: agent.turn.run }]
      : [],
  );
};

const endedRuns = (heard: readonly TeamEvent[]): Set<number> =>
  new Set(heard.flatMap((event) => (event.type === 'ENDED' ? event.run : [])));

/** What a turn that is begun anew does anew. */
const isOfTurn = (event: TeamEvent): event is Extract<TeamEvent, { type: 'READ' | 'COMMAND' | 'PERMISSION' }> =>
  event.type === 'READ' || event.type === 'COMMAND' || event.type === 'PERMISSION';

type Wanted = TeamEffect | { type: 'answered' };
type Heard = TeamEvent & { caller?: number };

/**
 * What a team that goes on from an earlier point does first. Turns of then are told nothing and heard no more, but for what had
 * ended by then; callers of then have gone. `resume`: what was wanted there, `inbox`: what had come there.
 */
export const afterGoingBack = (
  resume: readonly Wanted[],
  inbox: readonly Heard[],
): { resume: TeamEffect[]; inbox: TeamEvent[] } => {
  const begun = resume.flatMap((effect): TeamEffect[] =>
    effect.type === 'run_turn' && 'refused' in effect.asked ? [effect] : [],
  );
  const ended = endedRuns(inbox);
  const heard = inbox
    .filter(({ type }) => type !== 'PERSON_AWAITED')
    .filter((event) => !isOfTurn(event) || ended.has(event.run))
    .map((event): TeamEvent => {
      const { caller: _, ...kept } = event;
      return kept;
    });
  const known = [...ended, ...begun.flatMap((effect) => (effect.type === 'run_turn' ? effect.run : []))];
  // Where nothing had begun there is nothing to begin anew, and a fork does it in the step that makes it one.
  const hasBegun = !heard.some(({ type }) => type === 'START' || type === 'FORKED');
  return { resume: begun, inbox: [...(hasBegun ? [{ type: 'WENT_BACK' as const, known }] : []), ...heard] };
};

const unanswered = { status: 'error', code: 'not_carried_out', message: 'the team went back to a point before this' };

/** Calls that nobody will answer any more have a result that says so: a model takes no call without one. */
const missingResults = (team: TeamState, agentId: string): NewMessage[] => {
  const open = groupsOf(messagesOf(team.contexts, agentId)).filter(({ isComplete }) => !isComplete);
  return open.flatMap(({ messages }) => {
    const answered = new Set(messages.flatMap(({ resultOf }) => resultOf ?? []));
    return messages
      .flatMap(({ calls }) => calls)
      .filter((call) => !answered.has(call))
      .map((resultOf): NewMessage => ({ role: 'tool', resultOf, content: JSON.stringify(unanswered) }));
  });
};

const writeBack = (team: TeamState, agentId: string, messages: readonly NewMessage[]): void => {
  if (messages.length === 0) return;
  const written = write(team.contexts, agentId, messages, approximateTokens);
  if (written.ok) team.contexts = written.book;
};

/**
 * A team that goes on from an earlier point, or as a fork: whoever was at work there is at work again, with its context as it was
 * and what it had not read yet, as soon as the budget admits it and it is not paused. Waits of agents and what they asked
 * people are gone, as their turns begin anew. `known`: runs whose end is known already.
 */
export const beginAgain = (draft: TeamDraft, known: readonly number[]): void => {
  const { team } = draft;
  team.wentBack = (team.wentBack ?? 0) + 1;
  team.held = [];
  delete team.tenantWaits;
  forgetAsks(draft);
  team.waits = team.waits.filter(({ by }) => by === null);
  // What turns of then held of the budget is settled by nobody else.
  for (const { plan } of team.agents) returnOpen(draft, plan.agentId);
  returnLite(draft);
  for (const agent of team.agents) if (agent.read) replaceAgent(draft, { ...agent, read: null });
  for (const { plan } of team.agents) {
    const agent = agentOf(team, plan.agentId);
    if (!agent?.turn || !isAtWork(agent) || known.includes(agent.turn.run)) continue;
    const { agentId } = plan;
    const { run, content, by } = agent.turn;
    if (contextOf(team.contexts, agentId)) {
      writeBack(team, agentId, missingResults(team, agentId));
      writeBack(team, agentId, agent.mail ?? []);
      replaceAgent(draft, { ...agent, mail: [] });
    }
    const messages = messagesOf(team.contexts, agentId);
    const asked = { view: { ids: messages.map(({ messageId }) => messageId), add: messages } };
    offerCall(draft, { agentId, run, effect: { type: 'run_turn', agentId, run, content, by, asked } });
  }
  for (const { patternId, items } of team.patterns)
    for (const { lite, content } of items)
      for (const { liteId, answered } of lite) if (!answered) askOneLite(draft, { patternId, liteId, content });
};
