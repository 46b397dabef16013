import type { AgentCommand } from '../../contracts/agent-tools.js';
import type { Json } from '../../contracts/frames.js';
import type { ApprovalRule } from '../../contracts/team.js';
import type { JsonObject } from '../model-json.js';
import type { ContextMessage, NewMessage } from '../team/context/message.js';
import type { ContextView } from '../team/contexts.js';
import type { TurnOutcome } from '../team/outcome.js';
import { noAmount } from '../budget.js';
import type { Amount } from '../session/setup.js';
import type { TurnAction } from './reading.js';

/** One question to one agent, as its workflow is started with it. */
export interface TurnSetup {
  teamId: string;
  agentId: string;
  run: number;
  /** Calls of its model. */
  maxRounds: number;
  /** Calls of tools that a person is asked about first. */
  approvals: ApprovalRule[];
}

/** What a turn has told its team and does not know to be heard. */
export interface TurnSent {
  /** Counts its reads. */
  step: number;
  wrote: NewMessage[];
  /** By its calls since it told before. */
  usage: Amount;
}

/** A turn adds to its context, and asks what its model is asked with next. */
export interface TurnRead extends TurnSent {
  /** Messages that it holds. */
  has: number[];
  /** Calls of tools for agents, whose results are written, too; left out: none. */
  commands?: { callId: string; command: AgentCommand }[];
}

/** A call of a tool; `answer` undefined: it is under way, or waits until the turn may go on. */
export interface TurnCall {
  action: TurnAction;
  /** Whether the model made it as a function call, else as a tag. */
  isFunction: boolean;
  answer?: Json;
}

/**
 * A turn of an agent as plain JSON (spec 05): it reads its context, asks its model, calls tools, and reads again, until an answer
 * asks for nothing more.
 */
export interface TurnState {
  setup: TurnSetup;
  phase: 'READING' | 'ASKING' | 'CALLING' | 'OVER';
  /** Reads so far, and calls of the model. */
  step: number;
  round: number;
  /** What it is asked with, as it was read last. */
  messages: ContextMessage[];
  /** That answers in place of its own, as its team said with that; left out: its own. */
  model?: string;
  /** That its next call may take, as its team said with that; left out: no limit. */
  timeLeftMs?: number;
  /** Calls of the model, of those in `round`, that took all the time that the budget had left; left out: none. */
  brokenOff?: number;
  /** What is written with the next read, or with the end. */
  wrote: NewMessage[];
  /** What is told with the read that is under way; null: none is. */
  sent: TurnSent | null;
  /** Of the latest answer. */
  calls: TurnCall[];
  /** Nothing is asked or called until it goes on; what is under way comes to its end. */
  isHeld: boolean;
  /** What was held back: it is done when the turn goes on. */
  kept: TurnEffect[];
  /** What the latest answer said, as far as it has come. */
  text: string | null;
  spent: Amount;
  /** Of that, what its team knows of. */
  told: Amount;
  outcome: TurnOutcome | null;
}

/** What a turn wants done. */
export type TurnEffect =
  /** A read alone, as nothing may be asked now. */
  | ({ type: 'read' } & TurnRead)
  /** `read`: first, and the model is asked with what it brings; left out: with what the turn holds. */
  | { type: 'ask_model'; round: number; read?: TurnRead }
  | { type: 'call'; action: TurnAction }
  /** Whether a person lets it make this call: answered by ALLOWED, or by CALLED where not. */
  | { type: 'ask_person'; callId: string; name: string; given: JsonObject }
  /** Whatever is under way is stopped. */
  | { type: 'stop' };

/** `view`: its context, with what it is asked. */
export const openTurn = (
  setup: TurnSetup,
  view: ContextView,
  { model, timeLeftMs }: Pick<TurnState, 'model' | 'timeLeftMs'> = {},
): TurnState => ({
  setup,
  phase: 'READING',
  step: 0,
  round: 0,
  messages: view.add,
  ...(model !== undefined && { model }),
  ...(timeLeftMs !== undefined && { timeLeftMs }),
  wrote: [],
  sent: null,
  calls: [],
  isHeld: false,
  kept: [],
  text: null,
  spent: noAmount,
  told: noAmount,
  outcome: null,
});

/** What a budget leaves, as it was said at `at`, epoch milliseconds. */
export interface TimeLeft {
  leftMs: number;
  at: number;
}

/** Milliseconds of it that are left now. */
export const leftAt = ({ leftMs, at }: TimeLeft, now: number): number => Math.max(0, leftMs - Math.max(0, now - at));

/**
 * Milliseconds that are left to the call that is made now; undefined: no limit. Of the first what came before it is gone: the turn's own
 * start, and a pause. One that comes too late asks its team anew, which says what is left from then on.
 * @param workedMs that a call has taken which is made again
 */
export const timeLeftNow = (
  { step, timeLeftMs }: Pick<TurnState, 'step' | 'timeLeftMs'>,
  sinceStartMs: number,
  workedMs = 0,
): number | undefined => timeLeftMs && Math.max(0, timeLeftMs - (step > 0 ? workedMs : sinceStartMs));
