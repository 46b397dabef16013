import type { Json, Window } from '../contracts/frames.js';
import type { LaneReason, LaneState } from '../contracts/session-status.js';
import { jsonBytes, textBytes } from './answer-limit.js';
import { add, noAmount } from './budget.js';
import { laneMachine, type LaneActionName, type LaneEventName, type LaneFacts } from './lane-machine.js';
import { isTerminal, match, step, type Step } from './machine.js';
import type { Amount, LaneSetup } from './session/setup.js';
import { isEmptyAnswer } from './text.js';
import type { AdapterControl } from './window.js';

/** Counters of what did not arrive in order (spec 01 "Frames"); totals, so that a repeated report changes nothing. */
export interface FrameCounts {
  lost: number;
  late: number;
  duplicates: number;
  refused: number;
}

/** What happened to a lane, in the words of its machine; `at` is epoch milliseconds where it happened. */
export type LaneReport = { lane: string; at: number; attempt: number; counts?: FrameCounts } & (
  | { type: 'DISPATCH_OK' }
  /** `retryable` false: asking it again cannot help; left out: that is not known. */
  | { type: 'DISPATCH_ERR'; code: string; message: string; retryable?: boolean }
  | { type: 'PARTIAL'; text: string; usage?: Amount }
  | { type: 'FINAL'; text?: string; answer?: Json; usage: Amount }
  | { type: 'FAIL'; code: string; message: string; retryable?: boolean; usage: Amount }
  | { type: 'TIMEOUT'; message: string; usage: Amount }
  | { type: 'PAUSE' | 'BACKPRESSURE' | 'RESUME'; control: AdapterControl; window: Window }
  | { type: 'CANCEL'; reason: LaneReason; usage: Amount }
  /** No step of the machine: the adapter said DRAINING or suggested a window while streaming. */
  | { type: 'CONTROL'; control: AdapterControl; window: Window }
  /** No step of the machine: what a lane that has ended turned out to have used. */
  | { type: 'SETTLE'; usage: Amount }
);

/** One lane of a session as the workflow carries it: plain JSON. */
export interface Lane {
  setup: LaneSetup;
  order: number;
  state: LaneState;
  attempt: number;
  /** The group (activity) that runs it; null: an external lane, or not dispatched yet. */
  group: string | null;
  /** Text delivered so far, of the current attempt. */
  text: string;
  /** The final, once there is one. */
  answer: Json | null;
  /** Of the text, or of the final that replaced it, as JSON. */
  bytes: number;
  /** Whether it delivered anything at all; counts for quorum_min. */
  delivered: boolean;
  dispatchedAt: number | null;
  firstAt: number | null;
  endedAt: number | null;
  reason: LaneReason | null;
  /** Number of the call that holds a part of the session's budget; left out: none does. */
  call?: number;
  usage: Amount;
  /** Of `usage`, what earlier attempts used: a worker's death gives no money back. */
  earlier: Amount;
  counts: FrameCounts;
  control: AdapterControl | null;
  window: Window | null;
  /** It ended in the work that this one was forked from, which paid for it; left out: it is this work's own. */
  isKept?: true;
}

export const openLane = (setup: LaneSetup, order: number): Lane => ({
  setup,
  order,
  state: 'INIT',
  attempt: 1,
  group: null,
  text: '',
  answer: null,
  bytes: 0,
  delivered: false,
  dispatchedAt: null,
  firstAt: null,
  endedAt: null,
  reason: null,
  usage: noAmount,
  earlier: noAmount,
  counts: { lost: 0, late: 0, duplicates: 0, refused: 0 },
  control: null,
  window: null,
});

export const hasEnded = (lane: Lane): boolean => isTerminal(laneMachine, lane.state);
export const isRunning = (lane: Lane): boolean => !hasEnded(lane);
/** Rejected, failed and cancelled lanes contribute nothing, are in no denominator, and block nobody (spec 01). */
export const contributes = (lane: Lane): boolean =>
  lane.state === 'FINALIZED' || lane.state === 'STREAMING' || lane.state === 'PAUSED';

/** A lane's answer is its final, or its text so far; an empty one is none. */
export const answerOf = (lane: Lane): Json | null => {
  const answer = lane.state === 'FINALIZED' ? lane.answer : lane.text;
  return answer === null || isEmptyAnswer(answer) ? null : answer;
};

const noFacts: LaneFacts = { budgetOk: true, windowOk: true, policyOk: true, restarted: false };

export type LaneStep = Step<LaneState, LaneEventName, LaneActionName>;

/** A step of the lane machine that needs no report: admission, cancel, timeout. @throws InvalidTransitionError */
export const stepLane = (
  lane: Lane,
  on: LaneEventName,
  now: number,
  change: Partial<Lane> = {},
  facts: Partial<LaneFacts> = {},
): { lane: Lane; step: LaneStep } => {
  const taken = step(laneMachine, lane.state, on, { ...noFacts, ...facts });
  const next: Lane = { ...lane, ...change, state: taken.to };
  if (isTerminal(laneMachine, taken.to)) {
    next.endedAt = now;
    delete next.call;
  }
  return { lane: next, step: taken };
};

const reasonOf = (report: LaneReport): LaneReason | null => {
  switch (report.type) {
    case 'DISPATCH_ERR':
    case 'FAIL': {
      const { code, message, retryable } = report;
      return { code, message, ...(retryable !== undefined && { retryable }) };
    }
    case 'TIMEOUT':
      return { code: 'ETIMEOUT', message: report.message };
    case 'CANCEL':
      return report.reason;
    default:
      return null;
  }
};

const max = (a: Amount, b: Amount): Amount => ({
  tokens: Math.max(a.tokens, b.tokens),
  usdMicros: Math.max(a.usdMicros, b.usdMicros),
});

/** Usage of one attempt is told as a total; what is told twice counts once, and attempts add up. */
const usageAfter = (lane: Lane, report: LaneReport): Pick<Lane, 'usage' | 'earlier'> => {
  const { usage, earlier, attempt } = lane;
  if (report.attempt < attempt || !('usage' in report) || !report.usage) return { usage, earlier };
  const before = report.attempt > attempt ? usage : earlier;
  return { usage: max(usage, add(before, report.usage)), earlier: before };
};

/** Bytes of what a lane has said once it has said this as well. */
export const bytesAfter = (lane: Lane, report: LaneReport & { type: 'PARTIAL' | 'FINAL' }): number => {
  if (report.type === 'FINAL' && report.answer !== undefined) return jsonBytes(report.answer);
  return (report.attempt > lane.attempt ? 0 : lane.bytes) + textBytes(report.text ?? '');
};

/**
 * Takes one report. `step` is null where the report was data only, or where the machine takes no such event any more:
 * then `dropped` is true, and only counters and usage are kept (what comes after a terminal state is counted).
 */
export const applyReport = (
  lane: Lane,
  report: LaneReport,
): { lane: Lane; step: LaneStep | null; dropped: boolean } => {
  const isStale = report.attempt < lane.attempt;
  const restarted = report.attempt > lane.attempt;
  const counts = (isStale ? null : report.counts) ?? lane.counts;
  const used = usageAfter(lane, report);
  // A lane that still runs takes a new attempt with its step alone; one that has ended only pays for it.
  const kept: Lane = restarted
    ? hasEnded(lane) && 'usage' in report
      ? { ...lane, counts, ...used, attempt: report.attempt }
      : lane
    : { ...lane, counts, ...used };
  if (report.type === 'SETTLE') return { lane: kept, step: null, dropped: false };
  if (report.type === 'CONTROL') {
    return { lane: { ...kept, control: report.control, window: report.window }, step: null, dropped: false };
  }
  if (isStale || !match(laneMachine, lane.state, report.type, { ...noFacts, restarted })) {
    return { lane: kept, step: null, dropped: true };
  }
  const change: Partial<Lane> = { counts, ...used, reason: reasonOf(report), attempt: report.attempt };
  if (restarted) Object.assign(change, { text: '', bytes: 0, delivered: false, earlier: lane.usage });
  const text = restarted ? '' : lane.text;
  switch (report.type) {
    case 'DISPATCH_OK':
      change.dispatchedAt = lane.dispatchedAt ?? report.at;
      break;
    case 'PARTIAL':
      Object.assign(change, {
        text: text + report.text,
        bytes: bytesAfter(lane, report),
        delivered: true,
        firstAt: lane.firstAt ?? report.at,
      });
      break;
    case 'FINAL': {
      const whole = text + (report.text ?? '');
      Object.assign(change, {
        text: whole,
        answer: report.answer === undefined ? whole : report.answer,
        bytes: bytesAfter(lane, report),
        delivered: true,
      });
      break;
    }
    case 'PAUSE':
    case 'BACKPRESSURE':
    case 'RESUME':
      Object.assign(change, { control: report.control, window: report.window });
      break;
    default:
      break;
  }
  return { ...stepLane(lane, report.type, report.at, change, { restarted }), dropped: false };
};
