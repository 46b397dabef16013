import type { CoordinatorAnswer } from '../../contracts/coordinator.js';
import type {
  Aggregation,
  CoordinatedStatus,
  CoordinatorResult,
  CoordinatorStateName,
  FeedbackHistory,
  RunFault,
} from '../../contracts/coordinator-status.js';
import type { Feedback, FeedbackRequest, GivenFeedback } from '../../contracts/feedback.js';
import type { Json } from '../../contracts/frames.js';
import type { RunSetup } from '../run/setup.js';
import type { WebhookSetup } from '../webhook/setup.js';

/** A run that a coordinator is to have. */
export interface PlannedRun {
  runId: string;
  workId: string;
  origin: 'started' | 'adopted';
  /** Which of the given bodies it is started with, from 0; null: it is adopted, or has the one body for all work ids. */
  body: number | null;
}

export interface CoordinatorSetup {
  id: string;
  tenant: string;
  labels: Record<string, string>;
  /** 32 hex digits. */
  traceId: string;
  webUiUrl: string;
  runs: PlannedRun[];
  /** How long all runs may take to come to a stop until it asks; null: for ever. */
  waitTimeoutMs: number | null;
  /** Events of its history after which it goes on in a new run of the workflow; left out: when Temporal suggests it. */
  continueAfterEvents?: number;
}

/** Everything that a run is started with. */
export interface RunStart {
  setup: RunSetup;
  /** The body that would start it by itself. */
  request: Json;
  /** Tells whether a second start with the id asks for the same. */
  hash: string;
}

/** What a coordinator is started with: the bodies of its runs stay out of the state that it carries along. */
export interface CoordinatorStart extends CoordinatorSetup {
  /** By the number that a planned run names. */
  bodies: RunStart[];
  /** For the work ids of the list: that of one of them; null: there is no list. */
  shared: RunStart | null;
  /** Who is told what becomes of it; left out: nobody. */
  webhooks?: WebhookSetup[];
}

/** A run as its coordinator knows it. */
export interface TrackedRun extends PlannedRun {
  /** Whether it has been read, or found unreadable. */
  isTracked: boolean;
  /** Of the last word that counted. */
  seq: number;
  status: CoordinatedStatus;
  branch: string | null;
  outcome: string | null;
  artifacts: Record<string, string> | null;
  /** What people are asked about it: its own request, or one made for a failed run that has none. */
  request: FeedbackRequest | null;
  error: RunFault | null;
  /** Why it is unknown or could not be resumed. */
  reason: string | null;
  /** The answer that it has not taken yet, and where it stood when that was given. */
  resuming: ResumedRun | null;
  /** Answers that were handed to it through here: their number names each. */
  handed: number;
  /** Number of the report that first showed what it asks; 0: none has. */
  shownIn: number;
}

/** A run on its way on with an answer: `request` is what was answered. */
export interface ResumedRun extends Pick<TrackedRun, 'status' | 'error' | 'seq'> {
  request: FeedbackRequest;
  requestId: string;
  given: GivenFeedback;
  /** Epoch milliseconds. */
  givenAt: number;
  /** Number of the call that it came with. */
  call: number;
}

/** What an Idempotency-Key stands for. */
export interface CallKey {
  key: string;
  /** Of the answers and of who gave them. */
  digest: string;
}

/** A call whose answers are with their runs: what became of it is told once each run has said so. */
export interface OpenCall {
  /** From 1. */
  number: number;
  /** Its Idempotency-Key; null: it has none. */
  key: CallKey | null;
  /** By which callers wait for it. */
  callers: number[];
  /** As far as it is known. */
  answer: CoordinatorAnswer;
  /** Ids of the runs that it answers, in its order. */
  runIds: string[];
  /** Those that have not said what they make of it. */
  left: string[];
  /** Those that wrong answers meant, and those that refused theirs: they are asked again. */
  again: string[];
}

/** What the responses of one call said, until they are distributed. */
export interface ParsedResponses {
  runs: { runId: string; given: GivenFeedback }[];
  answer: CoordinatorAnswer;
  /** Ids of the runs that its wrong answers meant. */
  again: string[];
  /** By which the caller waits for it; null: nobody does. */
  caller: number | null;
  key: CallKey | null;
}

/** A whole coordinator as plain JSON: what continue-as-new carries. */
export interface CoordinatorState {
  setup: CoordinatorSetup;
  state: CoordinatorStateName;
  startedAt: number;
  endedAt: number | null;
  runs: TrackedRun[];
  /** The latest report; the ones before are told as events, and stand in `reports` by their counts. */
  aggregation: Aggregation | null;
  /** Whether the events of this run of the workflow tell it, so that the next one can tell what changed; left out: they do not. */
  isReportTold?: boolean;
  reports: Pick<Aggregation, 'report' | 'aggregated_at' | 'summary'>[];
  /** A run has said something new since the latest report. */
  hasChanged: boolean;
  history: FeedbackHistory[];
  /** Questions of the coordinator itself; the last may be open. */
  questions: Feedback[];
  parsed: ParsedResponses | null;
  /** Answers that are to be handed to their runs once they are distributed. */
  queued: ParsedResponses['runs'];
  /** Calls that came so far. */
  calls: number;
  /** Those whose answers are on their way. */
  openCalls: OpenCall[];
  /** What became of the latest calls with an Idempotency-Key, so that each counts once. */
  keyed: (CallKey & { answer: CoordinatorAnswer })[];
  lastAnswer: CoordinatorAnswer | null;
  /** From when on the wait for all runs counts. */
  waitingFrom: number;
  /** How often, since then, runs under way were read again. */
  looks: number;
  /** Since when it waits for what it waits for now, and what that is. */
  waiting: { since: number; on: string } | null;
  result: CoordinatorResult | null;
  /** What fails is a run, and stands in its place. */
  error: null;
  /** Events that came where nothing takes them. */
  dropped: number;
}

export const openCoordinatorState = (setup: CoordinatorSetup, now: number): CoordinatorState => ({
  setup,
  state: 'S0',
  startedAt: now,
  endedAt: null,
  runs: setup.runs.map((run) => ({
    ...run,
    isTracked: false,
    seq: 0,
    status: 'pending',
    branch: null,
    outcome: null,
    artifacts: null,
    request: null,
    error: null,
    reason: null,
    resuming: null,
    handed: 0,
    shownIn: 0,
  })),
  aggregation: null,
  reports: [],
  hasChanged: false,
  history: [],
  questions: [],
  parsed: null,
  queued: [],
  calls: 0,
  openCalls: [],
  keyed: [],
  lastAnswer: null,
  waitingFrom: now,
  looks: 0,
  waiting: null,
  result: null,
  error: null,
  dropped: 0,
});
