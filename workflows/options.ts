import { proxyActivities, proxySinks, type ActivityInterfaceFor, type Sinks } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { PartialEvent } from '../src/contracts/events.js';
import type { Kind, Lifecycle, Spend } from '../src/contracts/work.js';

/** What every kind's status has (spec 10 "Status, for every kind"), as far as a run and its worker look at it. */
export interface WorkOutcome {
  id: string;
  kind: Kind;
  tenant: string;
  lifecycle: Lifecycle;
  state: string;
  error: { code: string; message: string } | null;
  spend: Spend;
  started_at: string;
  ended_at: string | null;
}

export interface ParleySinks extends Sinks {
  bus: {
    /** Tells watchers that durable events may have grown, or lanes that their directives changed. A hint, never a fact. */
    hint(type: 'touched' | 'directed'): void;
    /** Text of an external lane, which no worker streams. */
    partial(piece: PartialEvent): void;
  };
  trace: {
    /** How a run ended; called during replay too, so that a replay can be compared with what was recorded. */
    outcome(status: WorkOutcome): void;
  };
}
export const { bus, trace } = proxySinks<ParleySinks>();

/**
 * Lanes beat about every 8 s of these 10 (a beat of 1 s kills living work on a busy server: bench figures); a dead worker on
 * the same host is found at start-up instead. A day and an hour: longer than any deadline a session can have.
 */
export const lanes = proxyActivities<Pick<Activities, 'runLanes'>>({
  startToCloseTimeout: '25 hours',
  heartbeatTimeout: '10 seconds',
  retry: {
    initialInterval: '200 milliseconds',
    backoffCoefficient: 2,
    maximumInterval: '5 seconds',
    maximumAttempts: 20,
  },
});

type Calls = Pick<Activities, 'askAgent' | 'judgeAnswers'>;
/** A call that is paid for: once more when the worker died under it, not when the agent refused. */
export const calls = (timeoutMs: number): ActivityInterfaceFor<Calls> =>
  proxyActivities<Calls>({
    startToCloseTimeout: timeoutMs,
    scheduleToCloseTimeout: timeoutMs,
    heartbeatTimeout: '10 seconds',
    retry: { maximumAttempts: 2 },
  });
