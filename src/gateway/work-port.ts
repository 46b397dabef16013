import type { NumberedEvent, PartialEvent } from '../contracts/events.js';
import type { CoordinatorAnswer } from '../contracts/coordinator.js';
import type { CoordinatorReport, CoordinatorStatus } from '../contracts/coordinator-status.js';
import type { DebateStatus } from '../contracts/debate-status.js';
import type { GivenFeedback } from '../contracts/feedback.js';
import type { FanOutStatus } from '../contracts/fan-out-status.js';
import type { Frame, FramesAnswer, Json } from '../contracts/frames.js';
import type { RefinementStatus } from '../contracts/refinement-status.js';
import type { RunStatus } from '../contracts/run-status.js';
import type { ContextInfo, TeamStatus } from '../contracts/team-status.js';
import type { SessionStatus } from '../contracts/session-status.js';
import type { AskedItem } from '../contracts/inbox.js';
import type { Checkpoint, CheckpointList } from '../contracts/checkpoint.js';
import type { CallWait } from '../contracts/call-wait.js';
import type { Kind, Lifecycle, WorkItem, WorkList } from '../contracts/work.js';
import type { CheckpointArtifact, ForkOrigin } from '../domain/checkpoint.js';
import type { GivenResponses } from '../domain/coordinator/effects.js';
import type { CoordinatorStart } from '../domain/coordinator/state.js';
import type { DebateSetup } from '../domain/debate/setup.js';
import type { FanOutSetup } from '../domain/fan-out/setup.js';
import type { RefinementSetup } from '../domain/refinement/setup.js';
import type { FeedbackReceipt } from '../domain/feedback-answer.js';
import type { RunSetup } from '../domain/run/setup.js';
import type { SessionSetup } from '../domain/session/setup.js';
import type { CallAnswer, OutsideCall } from '../domain/team/effects.js';
import type { TeamSetup } from '../domain/team/setup.js';
import type { WebhookSetup } from '../domain/webhook/setup.js';
import type { EventsAnswer } from '../../workflows/messages.js';

export interface WorkFilter {
  kind?: Kind | undefined;
  state?: string | undefined;
  awaiting?: boolean | undefined;
  /** Whether only work is listed that has not been closed. */
  isOpen?: boolean | undefined;
  tenant?: string | undefined;
  /** What people call it: the work_id of a run. */
  name?: string | undefined;
  cursor?: string | undefined;
  /** 1–200. */
  limit: number;
}

/** What every kind's setup has: its identity, made by the gateway. */
export interface WorkSetup {
  id: string;
  tenant: string;
  /** 32 hex digits. */
  traceId: string;
  webhooks?: WebhookSetup[];
}

/** What every kind's status has, as far as the gateway looks at it. */
export interface WorkStatus {
  id: string;
  tenant: string;
  lifecycle: Lifecycle;
  state: string;
}

/** What the gateway's event hub asks of one kind of work. */
export interface EventSource {
  readonly kind: Kind;
  /**
   * Durable events after `since`, from the newest run or from `runId`.
   * @throws ParleyError not_found, unavailable
   */
  events(id: string, since: number, runId?: string): Promise<EventsAnswer>;
  status(id: string): Promise<WorkStatus>;
  /** How the work was closed from outside (terminated, timed out), or null while it runs or when it ended by itself. */
  closedAs(id: string): Promise<string | null>;
  /** The newest run: another one than before when the work was restored. */
  latestRun(id: string): Promise<string>;
  /** The lane whose text a durable event ends, or null. */
  endedLane: (event: NumberedEvent) => string | null;
  /** Texts so far that no worker streams: the workflow alone has them. */
  texts(id: string): Promise<PartialEvent[]>;
}

/** How a start is made. */
export interface StartOptions {
  isRepeatable: boolean;
  /** The body that asked for it, as it was read: what a fork changes and an export shows. */
  request: Json;
  /** What a fork begins with, in place of the beginning. */
  carried?: CarriedState;
}

/** The state of a run at a checkpoint as the workflow hands it over: what the machine knows, and what was around it. */
export interface CarriedState {
  work: unknown;
  [name: string]: unknown;
}

/** One kind of work as the gateway needs it; `temporal/work-client.ts` is the one on Temporal. */
export interface WorkPort<Setup extends WorkSetup, Status extends WorkStatus> extends EventSource {
  /**
   * Starts a piece of work once. `bodyHash` tells whether a second start with the id asks for the same. `isRepeatable`: the
   * caller knows the id or its key and can ask again; a start of any other id that cannot be confirmed is withdrawn.
   * @returns whether this call started it or it was there before.
   * @throws ParleyError conflict (the id is taken by other content), unavailable (nothing was started)
   */
  start(setup: Setup, bodyHash: string, options: StartOptions): Promise<'started' | 'replayed'>;
  /** @throws ParleyError not_found, unavailable */
  status(id: string): Promise<Status>;
  /** Resolves with the status once the work has ended, with null after `milliseconds` or when `signal` aborts. */
  awaitEnd(id: string, milliseconds: number, signal: AbortSignal): Promise<Status | null>;
  /** Asks live work to cancel. @throws ParleyError not_found, wrong_state (naming the state it ended in) */
  cancel(id: string): Promise<void>;
}

export interface SessionsPort extends WorkPort<SessionSetup, SessionStatus> {
  /** @throws ParleyError not_found, wrong_state, EWINDOW_AGENT (with retryAfterMs), invalid_request */
  frames(id: string, lane: string, frames: Frame[]): Promise<FramesAnswer>;
}

/** Work that asks people, by whatever route. */
export interface FeedbackPort {
  /**
   * Answers an open request of running work. Sending the same answer again is no fault. `key` names this giving of it: with the
   * same key it is given once, and whoever waits for it waits on, for `withinMs` milliseconds where that is given.
   * @throws ParleyError not_found, wrong_state (closed, expired, another request), conflict (the content has changed),
   * forbidden (this person may not), invalid_request (no such option)
   */
  feedback(id: string, given: GivenFeedback, key?: string, withinMs?: number): Promise<FeedbackReceipt>;
}

export interface DebatesPort extends WorkPort<DebateSetup, DebateStatus>, FeedbackPort {}

export interface RunsPort extends WorkPort<RunSetup, RunStatus>, FeedbackPort {}

export interface CoordinatorsPort extends WorkPort<CoordinatorStart, CoordinatorStatus>, FeedbackPort {
  /**
   * Answers for the runs of a coordinator: what became of each.
   * @throws ParleyError not_found, wrong_state (it has ended, or has shown no report yet)
   */
  respond(id: string, given: GivenResponses): Promise<CoordinatorAnswer>;
  /** The report with this number, from 1; null: there is none. @throws ParleyError not_found, unavailable */
  report(id: string, number: number): Promise<CoordinatorReport | null>;
}

export interface TeamsPort extends WorkPort<TeamSetup, TeamStatus>, FeedbackPort {
  /**
   * One call of a team's executor. One with a key (`once`) is answered as before where it is given again.
   * @throws ParleyError not_found, wrong_state (the team has ended), unavailable; what the executor itself refuses is its answer
   */
  call(id: string, call: OutsideCall): Promise<CallAnswer>;
  /** What an agent's window holds; null: there is no such agent. @throws ParleyError not_found, unavailable */
  context(id: string, agentId: string): Promise<ContextInfo | null>;
  /** What calls of its agents wait for before they may be made, by agent, as of a moment ago. */
  callWaits(id: string): Promise<ReadonlyMap<string, readonly CallWait[]>>;
}

export type FanOutsPort = WorkPort<FanOutSetup, FanOutStatus>;

export type RefinementsPort = WorkPort<RefinementSetup, RefinementStatus>;

/** Named points of a piece of work's history, for every kind (spec 07). */
export interface CheckpointsPort {
  /** Those that are kept and every return to one, both oldest first. @throws ParleyError not_found, unavailable */
  list(kind: Kind, id: string): Promise<CheckpointList>;
  /**
   * The state at that point, without any side effect.
   * @throws ParleyError not_found, gone (retention), wrong_state (the history does not replay in this version), unavailable
   */
  inspect(kind: Kind, id: string, number: number): Promise<Checkpoint>;
  /**
   * Runs the work on from that point, under the same id; what runs is stopped. @throws as `inspect`
   * @returns the run that goes on, and whether an earlier request with the same `key` had done it
   */
  restore(kind: Kind, id: string, number: number, asked: AskedRestore): Promise<{ runId: string; isReplayed: boolean }>;
  /** What a fork begins from: the state at that point, and the body that the work was started with. @throws as `inspect` */
  origin(kind: Kind, id: string, number: number): Promise<{ request: Json; carried: CarriedState }>;
  /** How a piece of work of any kind began. @throws ParleyError not_found, unavailable */
  beginning(id: string): Promise<Beginning>;
}

export interface AskedRestore {
  reason: string;
  by: string;
  /** Names the request; null: it is not to be recognised again. */
  key: string | null;
  /** Whether it can go on from there, and the files of then be put back; called before anything is stopped. It rejects where they cannot. */
  check: (artifacts: CheckpointArtifact[], carried: CarriedState) => Promise<void>;
  /** Tells whether a second request with the key asks for the same. */
  hash: string;
  /** Takes back what was done, before it is stopped; left out: it stays. */
  rollBack?: () => Promise<void>;
}

export interface Beginning {
  kind: Kind;
  tenant: string;
  /** null: it was started before bodies were kept. */
  request: Json;
  forkedFrom: ForkOrigin | null;
}

/** Open work that waits for a person, with what it has noted of what it asks; null: it has to be asked itself. */
export interface WaitingWork {
  work: WorkItem;
  asked: AskedItem | null;
}

/** How far work is, as those tell it who know no kinds: what has begun in earnest is at work. */
export type Stage = 'submitted' | 'working' | 'completed' | 'failed' | 'cancelled';

export interface RecentFilter {
  kind: Kind;
  tenant?: string | undefined;
  /** The conversation that it belongs to; work of none is one by itself, by its id. */
  context?: string | undefined;
  stage?: Stage | undefined;
  /** Only what has begun or ended since, in milliseconds since 1970. */
  sinceMs?: number | undefined;
  cursor?: string | undefined;
  /** 1–200. */
  limit: number;
}

/** Work with the conversation that it belongs to, if any. */
export interface RecentWork {
  work: WorkItem;
  context: string | null;
}

export interface RecentPage {
  items: RecentWork[];
  next_cursor: string | null;
  /** On all pages. */
  total: number;
}

/** All kinds together. */
export interface WorkIndex {
  /** @throws ParleyError invalid_request for a cursor that is none of ours */
  list(filter: WorkFilter): Promise<WorkList>;
  /** One page of what has begun or ended last, that first. @throws as `list` */
  recent(filter: RecentFilter): Promise<RecentPage>;
  /** One page of what waits for a person. @throws as `list` */
  waiting(
    filter: Pick<WorkFilter, 'kind' | 'tenant' | 'cursor'>,
  ): Promise<{ items: WaitingWork[]; next_cursor: string | null }>;
  /** Whether Temporal answers. */
  isReachable(): Promise<boolean>;
}
