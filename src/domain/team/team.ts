import { add, noAmount } from '../budget.js';
import { iso } from '../instant.js';
import { step } from '../machine.js';
import { takeTenantWait } from '../tenant-waits.js';
import { noteBudgetAsks } from './budget-asks.js';
import { answeredBefore, keepAnswer } from './call-keys.js';
import { takeCall } from './calls.js';
import { setClocks, tellClocks } from './clocks.js';
import { cancelAll, cancelOne, pauseAll, resumeAll } from './control.js';
import { followTurns } from './delegation.js';
import { takeCommand } from './commands.js';
import { leaveInContext, leaveQuestion } from './contexts.js';
import { readMail } from './mail.js';
import { openDraft, replaceAgent, say, type TeamDraft, type TeamStep } from './draft.js';
import { type CallAnswer, done, refused, type TeamEvent } from './effects.js';
import { followAsks, takeAnswer, takeAsk } from './permissions.js';
import { classifyOutcome, type TurnEnd } from './outcome.js';
import { followPatterns, hearLite } from './patterns.js';
import { teamResult } from './result.js';
import { isTaken, takeRead } from './reads.js';
import { fillSlots } from './slots.js';
import { spawn } from './spawn.js';
import { offerHeld, settleOpen, spendUnowned } from './spending.js';
import { type AgentRecord, agentOf, hasEnded, isIdle, isOver, isSettled, type TeamState } from './state.js';
import { type TeamActionName, type TeamEventName, type TeamFacts, teamMachine } from './team-machine.js';
import { endTurn, takeNext } from './turns.js';
import { beginAgain } from './turns-again.js';
import { describeWaiting, waitingOn } from './waiting.js';
import { decideWaits } from './waits.js';

/** One event of a team (spec 05): pure, so that a replay decides the same. `now`: epoch milliseconds. */
export const stepTeam = (team: TeamState, event: TeamEvent, now: number): TeamStep => {
  const draft = openDraft(team, now);
  tellClocks(draft);
  const answer = take(draft, event);
  settle(draft);
  setClocks(draft);
  const { team: after, effects, events } = draft;
  return { team: after, effects, events, answer };
};

const take = (draft: TeamDraft, event: TeamEvent): CallAnswer | null => {
  const { team } = draft;
  switch (event.type) {
    case 'START':
      return spawn(draft, team.setup.agents);
    case 'WENT_BACK':
      beginAgain(draft, event.known);
      return null;
    case 'FORKED': {
      beginAgain(draft, []);
      const answer = spawn(draft, event.spawn);
      for (const { agentId, content } of event.ask) takeCall(draft, null, { type: 'ASK', agentId, content });
      return answer;
    }
    case 'CALL':
      return takeOnce(draft, event);
    case 'PAUSE':
    case 'RESUME':
    case 'CLOSE':
    case 'CANCEL':
      return whole(draft, event.type);
    case 'ENDED':
      takeEnd(draft, event);
      return null;
    case 'READ':
      takeRead(draft, event);
      return null;
    case 'PERMISSION':
      takeAsk(draft, event);
      return null;
    case 'FEEDBACK':
      takeAnswer(draft, event.given);
      return null;
    case 'COMMAND':
      takeCommand(draft, event);
      return null;
    case 'LITE_ANSWERED':
      spendUnowned(draft, event.usage ?? noAmount, event.held);
      if (!hearLite(draft, event)) team.dropped += 1;
      return null;
    case 'PERSON_AWAITED':
      takeTenantWait(team, event, draft.now);
      return null;
    case 'TICK':
      return null;
  }
};

/** A call, unless it has been answered before. */
const takeOnce = (draft: TeamDraft, { by, call, once }: Extract<TeamEvent, { type: 'CALL' }>): CallAnswer => {
  const before = once && answeredBefore(draft.team, once);
  if (before) return before;
  const answer = takeCall(draft, by, call);
  if (once) keepAnswer(draft.team, once, answer);
  return answer;
};

/** What completed stands under the template's `output_key`, where there is one (spec 10 "Agent template"). */
const kept = ({ plan }: AgentRecord, end: TurnEnd): TurnEnd => {
  const key = plan.template?.state?.output_key;
  return end.as === 'completed' && key !== undefined
    ? { ...end, result: Object.fromEntries([[key, end.result]]) }
    : end;
};

/** A turn came back. One that has ended otherwise changes nothing but what was spent; one that was cancelled keeps its text. */
const takeEnd = (
  draft: TeamDraft,
  { agentId, run, outcome, text, calls = 0, ...event }: Extract<TeamEvent, { type: 'ENDED' }>,
): void => {
  const { team } = draft;
  const asked = agentOf(team, agentId);
  const sent = event.sent && !(asked && isTaken(asked, run, event.sent.step)) ? event.sent : null;
  const usage = sent ? add(event.usage, sent.usage) : event.usage;
  const wrote = [...(sent?.wrote ?? []), ...(event.wrote ?? [])];
  if (asked) settleOpen(draft, { agentId, run, usage });
  else spendUnowned(draft, usage);
  const found = agentOf(team, agentId);
  const agent = found && replaceAgent(draft, { ...found, calls: found.calls + calls });
  if (!agent || agent.turn?.run !== run) return void (team.dropped += 1);
  leaveQuestion(draft, agentId);
  // What came too late for the turn stands in the context for what is asked next.
  leaveInContext(draft, agentId, wrote);
  leaveInContext(draft, agentId, readMail(draft, agentId, wrote));
  const ended = replaceAgent(draft, { ...agent, mail: [] });
  if (ended.state === 'RUNNING' || (ended.state === 'PAUSED' && !ended.held))
    return endTurn(draft, ended, kept(ended, classifyOutcome(outcome)), text);
  if (ended.state === 'CANCELLED' && ended.text === null && text !== null) replaceAgent(draft, { ...ended, text });
  else team.dropped += 1;
};

const factsOf = ({ agents, closed }: TeamState): TeamFacts => ({
  isClosed: closed,
  hasCompleted: agents.some(({ state }) => state === 'COMPLETED'),
  hasFailed: agents.some(({ state }) => state === 'FAILED'),
  wasAsked: agents.some(({ turn }) => turn !== null),
});

const wholeRefusals = {
  PAUSE: 'only an OPEN team can be paused',
  RESUME: 'only a PAUSED team can be resumed',
  CLOSE: 'it is closed already',
  CANCEL: 'there is nothing left to cancel',
} as const;

/** A call about the whole team. */
const whole = (draft: TeamDraft, on: keyof typeof wholeRefusals): CallAnswer => {
  const { team } = draft;
  const takes =
    on === 'PAUSE'
      ? team.state === 'OPEN'
      : on === 'RESUME'
        ? team.state === 'PAUSED'
        : !isOver(team) && !(on === 'CLOSE' && team.closed);
  if (!takes) {
    const why = on === 'CLOSE' && isOver(team) ? 'it has ended' : wholeRefusals[on];
    return refused('wrong_state', `team ${team.setup.id} is ${team.state}: ${why}`);
  }
  const live = team.agents.filter((agent) => !hasEnded(agent)).map(({ plan }) => plan.agentId);
  transition(draft, on);
  return done(on === 'CLOSE' ? [] : live);
};

const transition = (draft: TeamDraft, on: TeamEventName): void => {
  const { team, now } = draft;
  const { from, to, actions } = step(teamMachine, team.state, on, factsOf(team));
  team.state = to;
  say(draft, { event: 'state', data: { at: iso(now), machine: 'team', from, to, on, actions: [...actions] } });
  if (isOver(team)) team.endedAt = now;
  for (const action of actions) perform(draft, action);
};

/** Does what a row of the table names. */
const perform = (draft: TeamDraft, action: TeamActionName): void => {
  const { team, now } = draft;
  switch (action) {
    case 'close':
      team.closed = true;
      return;
    case 'pause_agents':
      return pauseAll(draft);
    case 'resume_agents':
      return resumeAll(draft);
    case 'stop_agents':
      cancelAll(draft, 'its team was cancelled');
      return;
    case 'emit_final':
      team.result = teamResult(team);
      return say(draft, { event: 'final', data: team.result });
    case 'name_reasons': {
      team.result = teamResult(team);
      const failed = team.agents.filter(({ state }) => state === 'FAILED');
      const why = failed.map(({ plan, error }) => `${plan.agentId}: ${error?.message ?? 'no reason given'}`);
      team.error = { code: 'EAGENTDOWN', message: `no agent completed. ${why.slice(0, 20).join('; ')}` };
      return say(draft, { event: 'error', data: { at: iso(now), ...team.error } });
    }
  }
};

/** Lets everything follow from what was taken, until nothing more does. */
const settle = (draft: TeamDraft): void => {
  const { team } = draft;
  follow(draft);
  if (!isOver(team) && hasNothingLeft(team)) {
    for (const agent of team.agents.filter(isIdle)) cancelOne(draft, agent, 'the team ended before anybody asked it');
    transition(draft, 'ALL_ENDED');
    follow(draft);
  }
  noteWaiting(draft);
};

const follow = (draft: TeamDraft): void => {
  followTurns(draft);
  followPatterns(draft);
  // What ended and began until here has been followed; slots that are filled now begin more.
  draft.ended.length = 0;
  draft.began.length = 0;
  takeNext(draft);
  decideWaits(draft);
  fillSlots(draft);
  offerHeld(draft);
  noteBudgetAsks(draft);
  // What time or the end of a turn has done to a question about a budget lets its calls go on, or refuses them.
  if (followAsks(draft)) offerHeld(draft);
  followTurns(draft);
  draft.began.length = 0;
};

/** A team ends when all its agents have and, with `keep_open`, when it is closed, too (spec 05). */
const hasNothingLeft = ({ setup, closed, agents, patterns }: TeamState): boolean =>
  (!setup.keepOpen || closed) && patterns.length === 0 && agents.every(isSettled);

const noteWaiting = (draft: TeamDraft): void => {
  const { team, now } = draft;
  const on = waitingOn(team);
  if (on === (team.waiting?.on ?? null)) return;
  team.waiting = on === null ? null : { on, since: now };
  say(draft, { event: 'waiting', data: describeWaiting(team) });
};
