import type { Json } from '../../contracts/frames.js';
import { add, subtract } from '../budget.js';
import { canonicalJson } from '../canonical-json.js';
import type { Amount } from '../session/setup.js';
import type { ActionFault } from '../team/actions/registry.js';
import type { NewMessage } from '../team/context/message.js';
import type { ContextView } from '../team/contexts.js';
import { mailOf } from '../team/mail.js';
import type { TurnOutcome } from '../team/outcome.js';
import { approvalOf } from '../team/approvals.js';
import type { JsonObject } from '../model-json.js';
import type { Reading, TurnAction } from './reading.js';
import type { TurnEffect, TurnState } from './state.js';

/** What a turn hears. */
export type TurnEvent =
  | { type: 'START' }
  /** `model` answers the next call in place of its own. */
  | { type: 'VIEW'; step: number; view: ContextView; model?: string }
  /** It is asked no more: what it wrote has no room in its window, or the budget is used up. */
  | { type: 'NO_ROOM'; step: number; code: string; message: string }
  /** `answer` null: what was said as text is the answer. */
  | { type: 'SAID'; round: number; reading: Reading; answer: Json; usage: Amount }
  | { type: 'FAILED'; round: number; code: string; message: string; text: string | null; usage: Amount }
  | { type: 'CALLED'; callId: string; answer: Json }
  /** A person has approved this call. */
  | { type: 'ALLOWED'; callId: string }
  | { type: 'HOLD' }
  | { type: 'GO_ON' }
  | { type: 'STOP'; message: string | null; text: string | null }
  | { type: 'MAIL'; from: string | null; channel: string | null; content: string };

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

  read(): void {
    const { turn } = this;
    turn.phase = 'READING';
    turn.step += 1;
    const { step, wrote, messages } = turn;
    turn.wrote = [];
    const usage = subtract(turn.spent, turn.told);
    turn.told = turn.spent;
    this.want({ type: 'read', step, wrote, has: messages.map(({ messageId }) => messageId), usage });
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
    turn.wrote = closed(turn);
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
  if (event.type !== 'SAID' && event.type !== 'FAILED') return;
  turn.spent = add(turn.spent, event.usage);
  const text = event.type === 'SAID' ? event.reading.text : event.text;
  if (turn.outcome?.type === 'stopped' && text !== null && text !== '') turn.text = text;
};

const take = (draft: Draft, event: TurnEvent): void => {
  const { turn } = draft;
  switch (event.type) {
    case 'START':
      return turn.step === 0 && turn.round === 0 ? draft.ask() : undefined;
    case 'VIEW':
      return takeView(draft, event);
    case 'NO_ROOM':
      if (turn.phase !== 'READING' || event.step !== turn.step) return;
      return draft.end({ type: 'thrown', code: event.code, message: event.message });
    case 'SAID':
      return takeAnswer(draft, event);
    case 'FAILED': {
      if (turn.phase !== 'ASKING' || event.round !== turn.round) return;
      turn.spent = add(turn.spent, event.usage);
      turn.text = event.text;
      return draft.end({ type: 'thrown', code: event.code, message: event.message });
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

/** The context as it is now: messages that are gone are forgotten, new ones stand where the team has them. */
const takeView = (draft: Draft, { step, view, model }: Extract<TurnEvent, { type: 'VIEW' }>): void => {
  const { turn } = draft;
  const { ids, add: added } = view;
  if (turn.phase !== 'READING' || step !== turn.step) return;
  const known = new Map([...turn.messages, ...added].map((message) => [message.messageId, message]));
  turn.messages = ids.flatMap((id) => known.get(id) ?? []);
  delete turn.model;
  if (model !== undefined) turn.model = model;
  // What came while it was read is read before the model is asked.
  if (turn.wrote.length > 0) return draft.read();
  draft.ask();
};

/** An answer that asks for something is carried out; one that asks for nothing is the turn's. */
const takeAnswer = (draft: Draft, { round, reading, answer, usage }: Extract<TurnEvent, { type: 'SAID' }>): void => {
  const { turn } = draft;
  if (turn.phase !== 'ASKING' || round !== turn.round) return;
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
  if (turn.round >= turn.setup.maxRounds) {
    const message = `the agent called its model ${turn.round} times without coming to an answer; the most are ${turn.setup.maxRounds} (max_rounds)`;
    return draft.end({ type: 'thrown', code: 'round_limit', message });
  }
  turn.calls = actions.map((action) => ({ action, isFunction: functions.has(action.callId) }));
  if (actions.length === 0) return draft.read();
  turn.phase = 'CALLING';
  for (const action of actions) draft.want(callOf(turn, action));
};

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

const resultText = (answer: Json): string => (typeof answer === 'string' ? answer : canonicalJson(answer));

/** What was written, with a result for each call: one without would stand in the context for ever. */
const closed = ({ wrote, calls }: TurnState): NewMessage[] => {
  const answered = new Set(wrote.flatMap(({ resultOf }) => resultOf ?? []));
  const given = new Map(calls.map(({ action, answer }) => [action.callId, answer]));
  const missing = { status: 'error', code: 'not_carried_out', message: 'the turn ended before this was carried out' };
  return wrote.flatMap((message) => [
    message,
    ...(message.calls ?? [])
      .filter((callId) => !answered.has(callId))
      .map((callId): NewMessage => {
        return { role: 'tool', resultOf: callId, content: resultText(given.get(callId) ?? missing) };
      }),
  ]);
};

/** Results stand in the order of the calls, whoever was first. */
const takeResult = (draft: Draft, callId: string, answer: Json): void => {
  const { turn } = draft;
  if (turn.phase !== 'CALLING') return;
  turn.calls = turn.calls.map((call) =>
    call.action.callId === callId && call.answer === undefined ? { ...call, answer } : call,
  );
  if (turn.calls.some((call) => call.answer === undefined)) return;
  turn.wrote = closed(turn);
  turn.calls = [];
  draft.read();
};
