import type { Json } from '../../contracts/frames.js';
import { add, subtract } from '../budget.js';
import type { Amount } from '../session/setup.js';
import type { ActionFault } from '../team/actions/registry.js';
import type { ContextMessage, NewMessage } from '../team/context/message.js';
import type { ContextView } from '../team/contexts.js';
import { mailOf } from '../team/mail.js';
import type { TurnOutcome } from '../team/outcome.js';
import { approvalOf } from '../team/approvals.js';
import type { JsonObject } from '../model-json.js';
import type { Reading, TurnAction } from './reading.js';
import { closed, resultText } from './results.js';
import type { TurnCall, TurnEffect, TurnRead, TurnState } from './state.js';

/** What its model is asked with next. */
export interface View {
  type: 'VIEW';
  /** Of the read that it answers. */
  step: number;
  view: ContextView;
  /** Answers that call in place of its own. */
  model?: string;
  /** That the call may take, by the budget; left out: no limit. */
  timeLeftMs?: number;
}

/** What a turn hears. */
export type TurnEvent =
  | { type: 'START' }
  | View
  /** It is asked no more: what it wrote has no room in its window, or the budget is used up. */
  | { type: 'NO_ROOM'; step: number; code: string; message: string }
  /** What it told is heard; a view, or why there is none, comes later. */
  | { type: 'LATER'; step: number }
  /** Calls that it told of are under way: each is answered by itself, and it reads again then. */
  | { type: 'WAITS'; step: number }
  /**
   * `answer` null: what was said as text is the answer. `asked`: what was read for this call; left out: nothing. `timeLeftMs`: that
   * the budget leaves to what it asks for, here and below; left out: no limit.
   */
  | {
      type: 'SAID';
      round: number;
      reading: Reading;
      answer: Json;
      usage: Amount;
      asked?: View;
      timeLeftMs?: number;
    }
  | {
      type: 'FAILED';
      round: number;
      code: string;
      message: string;
      text: string | null;
      usage: Amount;
      asked?: View;
      /** Whether asking it again can help; left out: that is not known. */
      retryable?: boolean;
      /** It took the time that the budget had left. */
      isOutOfTime?: true;
      /** Nothing of that was left, so that its model was not asked. */
      isUnasked?: true;
    }
  | { type: 'CALLED'; callId: string; answer: Json }
  /** A person has approved this call. */
  | { type: 'ALLOWED'; callId: string; timeLeftMs?: number }
  | { type: 'HOLD' }
  | { type: 'GO_ON'; timeLeftMs?: number }
  | { type: 'STOP'; message: string | null; text: string | null }
  | { type: 'MAIL'; from: string | null; channel: string | null; content: string };

/** What an event says that the budget leaves to tools; undefined: nothing. What a view says is its call's, and most of it is gone after that. */
export const timeForTools = (event: TurnEvent): number | undefined =>
  event.type === 'SAID' || event.type === 'ALLOWED' || event.type === 'GO_ON' ? event.timeLeftMs : undefined;

export interface TurnStep {
  turn: TurnState;
  effects: TurnEffect[];
}

/** What waits until a held turn goes on: it is paid for, or changes something. A read does neither. */
const isSafePoint = ({ type }: TurnEffect): boolean => type === 'ask_model' || type === 'call';

class Draft {
  readonly effects: TurnEffect[] = [];
  constructor(readonly turn: TurnState) {}

  want(effect: TurnEffect): void {
    if (this.turn.isHeld && isSafePoint(effect)) this.turn.kept = [...this.turn.kept, effect];
    else this.effects.push(effect);
  }

  /** Its model is asked with what is read, unless nothing may be asked now: its team knows what it has used all the same. */
  read(commands: TurnRead['commands'] = []): void {
    const { turn } = this;
    turn.phase = 'READING';
    turn.step += 1;
    turn.sent = { step: turn.step, wrote: turn.wrote, usage: subtract(turn.spent, turn.told) };
    turn.wrote = [];
    turn.told = turn.spent;
    const has = turn.messages.map(({ messageId }) => messageId);
    const read: TurnRead = { ...turn.sent, has, ...(commands.length > 0 && { commands }) };
    this.want(turn.isHeld ? { type: 'read', ...read } : { type: 'ask_model', round: turn.round + 1, read });
  }

  ask(): void {
    const { turn } = this;
    turn.phase = 'ASKING';
    turn.round += 1;
    turn.text = null;
    this.want({ type: 'ask_model', round: turn.round });
  }

  end(outcome: TurnOutcome): void {
    const { turn } = this;
    const answers = answersOf(turn.calls);
    turn.wrote = closed(turn.wrote, answers);
    if (turn.sent) turn.sent = { ...turn.sent, wrote: closed(turn.sent.wrote, answers) };
    turn.phase = 'OVER';
    turn.outcome = outcome;
    turn.kept = [];
    turn.calls = [];
  }
}

/** One event of a turn: pure, so that a replay decides the same. What comes out of its order, or late, changes nothing. */
export const stepTurn = (before: TurnState, event: TurnEvent): TurnStep => {
  const draft = new Draft({ ...before });
  if (before.phase === 'OVER') takeLate(draft.turn, event);
  else take(draft, event);
  return { turn: draft.turn, effects: draft.effects };
};

/** A call that was under way when the turn ended: what it used is spent, and what it had said is kept. */
const takeLate = (turn: TurnState, event: TurnEvent): void => {
  if (isHeard(turn, event)) turn.sent = null;
  if (event.type !== 'SAID' && event.type !== 'FAILED') return;
  turn.spent = add(turn.spent, event.usage);
  const text = event.type === 'SAID' ? event.reading.text : event.text;
  if (turn.outcome?.type === 'stopped' && text !== null && text !== '') turn.text = text;
};

/** Whether the team says that it has taken what it was told last. */
const isHeard = ({ sent }: TurnState, event: TurnEvent): boolean => {
  if (event.type === 'SAID' || event.type === 'FAILED') return event.asked !== undefined;
  return (event.type === 'LATER' || event.type === 'VIEW' || event.type === 'NO_ROOM') && event.step === sent?.step;
};

const take = (draft: Draft, event: TurnEvent): void => {
  const { turn } = draft;
  switch (event.type) {
    case 'START':
      return turn.step === 0 && turn.round === 0 ? draft.ask() : undefined;
    case 'VIEW':
      return takeView(draft, event);
    case 'LATER':
      if (isHeard(turn, event)) turn.sent = null;
      return;
    case 'WAITS':
      return takeWaits(draft, event.step);
    case 'NO_ROOM':
      if (turn.phase !== 'READING' || event.step !== turn.step) return;
      turn.sent = null;
      return draft.end({ type: 'thrown', code: event.code, message: event.message });
    case 'SAID':
      return takeAnswer(draft, event);
    case 'FAILED': {
      // One that has not even read what it is asked with has failed as well.
      const isUnread = turn.phase === 'READING' && event.round === turn.round + 1 && !event.asked;
      if (!isUnread && !isAsked(turn, event)) return;
      turn.spent = add(turn.spent, event.usage);
      turn.text = event.text;
      const { code, message, retryable } = event;
      if (!event.isOutOfTime)
        return draft.end({ type: 'thrown', code, message, ...(retryable !== undefined && { retryable }) });
      // Its team knows what follows of that: an end, or more time that a person gives.
      if (event.isUnasked) turn.round -= 1;
      else turn.brokenOff = (turn.brokenOff ?? 0) + 1;
      return draft.read();
    }
    case 'ALLOWED': {
      const call =
        turn.phase === 'CALLING' ? turn.calls.find(({ action }) => action.callId === event.callId) : undefined;
      if (call && call.answer === undefined) draft.want({ type: 'call', action: call.action });
      return;
    }
    case 'CALLED':
      return takeResult(draft, event.callId, event.answer);
    case 'HOLD':
      turn.isHeld = true;
      return;
    case 'GO_ON': {
      const { kept } = turn;
      turn.isHeld = false;
      turn.kept = [];
      for (const effect of kept) draft.want(effect);
      return;
    }
    case 'STOP':
      turn.text = event.text ?? turn.text;
      draft.effects.push({ type: 'stop' });
      return draft.end({ type: 'stopped', message: event.message });
    case 'MAIL':
      turn.wrote = [...turn.wrote, mailOf(event)];
  }
};

/** Messages as a view shows them: those that are gone are forgotten, new ones stand where the team has them. */
export const viewed = (messages: readonly ContextMessage[], { ids, add: added }: ContextView): ContextMessage[] => {
  const known = new Map([...messages, ...added].map((message) => [message.messageId, message]));
  return ids.flatMap((id) => known.get(id) ?? []);
};

const isWanted = ({ phase, step }: TurnState, view: View): boolean => phase === 'READING' && view.step === step;

const see = (turn: TurnState, { view, model, timeLeftMs }: View): void => {
  turn.messages = viewed(turn.messages, view);
  delete turn.model;
  delete turn.timeLeftMs;
  if (model !== undefined) turn.model = model;
  if (timeLeftMs !== undefined) turn.timeLeftMs = timeLeftMs;
  turn.sent = null;
  turn.calls = [];
};

/** Whether a model has spoken that was asked now; what was read for that is the turn's. */
const isAsked = (turn: TurnState, { round, asked }: { round: number; asked?: View }): boolean => {
  if (asked && isWanted(turn, asked) && round === turn.round + 1) {
    see(turn, asked);
    turn.phase = 'ASKING';
    turn.round = round;
  }
  return turn.phase === 'ASKING' && round === turn.round;
};

const takeView = (draft: Draft, view: View): void => {
  const { turn } = draft;
  if (!isWanted(turn, view)) return;
  see(turn, view);
  // What came while it was read is read before the model is asked.
  if (turn.wrote.length > 0) return draft.read();
  draft.ask();
};

/** An answer that asks for something is carried out; one that asks for nothing is the turn's. */
const takeAnswer = (draft: Draft, event: Extract<TurnEvent, { type: 'SAID' }>): void => {
  const { turn } = draft;
  if (!isAsked(turn, event)) return;
  const { reading, answer, usage } = event;
  const { text, made, actions, faults } = reading;
  turn.spent = add(turn.spent, usage);
  turn.text = text;
  const functions = new Set(made.map(({ callId }) => callId));
  const ids = [...new Set([...functions, ...actions.map(({ callId }) => callId)])];
  const said: NewMessage = { role: 'assistant', content: text, calls: ids, ...(made.length > 0 && { made }) };
  if (ids.length === 0 && faults.length === 0) {
    // Mail that came meanwhile would be lost on nobody: it stands in the context for what is asked next.
    turn.wrote = [said, ...turn.wrote];
    return draft.end({ type: 'returned', value: answer ?? text });
  }
  const told = faults.map(({ callId, fault }) => faultMessage(callId, fault));
  turn.wrote = [said, ...told, ...turn.wrote];
  const rounds = turn.round - (turn.brokenOff ?? 0);
  if (rounds >= turn.setup.maxRounds) {
    const message = `the agent called its model ${rounds} times without coming to an answer; the most are ${turn.setup.maxRounds} (max_rounds)`;
    return draft.end({ type: 'thrown', code: 'round_limit', message });
  }
  turn.calls = actions.map((action) => ({ action, isFunction: functions.has(action.callId) }));
  if (actions.length === 0) return draft.read();
  const commands = commandsOf(turn, actions);
  if (commands.length === actions.length && !turn.isHeld) return draft.read(commands);
  turn.phase = 'CALLING';
  for (const action of actions) draft.want(callOf(turn, action));
};

/** Calls that the team itself answers, and nobody else has to be asked about. */
const commandsOf = (turn: TurnState, actions: readonly TurnAction[]): NonNullable<TurnRead['commands']> =>
  actions.flatMap((action) =>
    'command' in action && callOf(turn, action).type === 'call'
      ? [{ callId: action.callId, command: action.command }]
      : [],
  );

/** A call, or the question whether it may be made. */
const callOf = ({ setup }: TurnState, action: TurnAction): TurnEffect => {
  const { callId, name } = action;
  const given: JsonObject = 'given' in action ? action.given : { ...action.command.given };
  return approvalOf(setup.approvals, name, given) === 'ask'
    ? { type: 'ask_person', callId, name, given }
    : { type: 'call', action };
};

/** What of an answer was not carried out, told to the model: a function call by its result, a tag in words. */
const faultMessage = (callId: string | null, { code, message }: ActionFault): NewMessage =>
  callId === null
    ? { role: 'user', category: 'tool', content: message }
    : { role: 'tool', resultOf: callId, content: resultText({ status: 'error', code, message }) };

const answersOf = (calls: readonly TurnCall[]): Map<string, Json> =>
  new Map(calls.flatMap(({ action, answer }) => (answer === undefined ? [] : [[action.callId, answer] as const])));

/** Of what it told, nothing is written yet: that goes with the next read. */
const takeWaits = (draft: Draft, step: number): void => {
  const { turn } = draft;
  const { sent } = turn;
  if (turn.phase !== 'READING' || sent?.step !== step) return;
  turn.phase = 'CALLING';
  turn.wrote = [...sent.wrote, ...turn.wrote];
  turn.told = subtract(turn.told, sent.usage);
  turn.sent = null;
  readWhenAnswered(draft);
};

const takeResult = (draft: Draft, callId: string, answer: Json): void => {
  const { turn } = draft;
  turn.calls = turn.calls.map((call) =>
    call.action.callId === callId && call.answer === undefined ? { ...call, answer } : call,
  );
  // Answers may overtake the word that they come one by one.
  if (turn.phase === 'CALLING') readWhenAnswered(draft);
};

const readWhenAnswered = (draft: Draft): void => {
  const { turn } = draft;
  if (turn.calls.some((call) => call.answer === undefined)) return;
  turn.wrote = closed(turn.wrote, answersOf(turn.calls));
  turn.calls = [];
  draft.read();
};
