import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  patched,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertMemo,
  upsertSearchAttributes,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import type { Approval, Feedback } from '../src/contracts/feedback.js';
import type { DurableEvent } from '../src/contracts/events.js';
import { noAmount } from '../src/domain/budget.js';
import {
  boundariesOf,
  keptMarks,
  nextNumber,
  type Boundary,
  type CheckpointArtifact,
  type CheckpointMark,
  type EndedTurn,
  type Place,
} from '../src/domain/checkpoint.js';
import { ParleyError, type ErrorCode } from '../src/domain/errors.js';
import { type Asks, askedNote, noteMark } from '../src/domain/inbox/asks.js';
import { iso } from '../src/domain/instant.js';
import { awaitingNobody, type HasTenantWaits } from '../src/domain/tenant-waits.js';
import type { WebhookSetup } from '../src/domain/webhook/setup.js';
import type { WorkState } from '../src/domain/work-state.js';
import { shifted } from '../src/domain/shift.js';
import type { Amount } from '../src/domain/session/setup.js';
import { toFailure } from '../src/failure.js';
import { searchAttributes } from '../temporal/search-attributes.js';
import { endSignal, eventsQuery, inspectedNow, placeQuery, snapshotQuery, statusQuery } from './messages.js';
import { bus, trace, type WorkOutcome } from './options.js';
import { Webhooks } from './webhooks.js';

/**
 * Answers of many people to much work (decision 28): what is asked is noted in the memo, and of two answers in one task the
 * second is told who was first. Work that asked before there was this replays as it was.
 */
export const answersAtScale = 'answers-at-scale';

/** The pure side of one kind of work. */
export interface WorkKind<Work, Event, Effect, S extends WorkOutcome> {
  name: string;
  step(work: Work, event: Event, now: number): { work: Work; effects: Effect[]; events: DurableEvent[] };
  isOver(work: Work): boolean;
  /** The next moment at which time alone changes something, or null. */
  nextDue(work: Work): number | null;
  status(work: Work): S;
  /** What the Web UI shows of it, in words. */
  details(work: Work): string;
  /** What it waits for (`waiting.for` of spec 08), or null. */
  waitingFor(work: Work): string | null;
  /** Whose turns ended in a step, by the states around it alone. */
  turns(before: Work, after: Work, event: Event): EndedTurn[];
  /** How far the answer can be trusted so far, 0 to 1. */
  confidence(work: Work): number;
  /** The state after the n-th return to an earlier point, where it tells itself apart from the one of before. */
  restored?(work: Work, epoch: number): Work;
  /** What a restore to this point begins with; left out: this state, and all that is under way is done again. */
  restorePoint?(work: Work, underWay: readonly Effect[]): { work: Work; resume: Effect[] };
  /** What it asks people; left out: it never asks anybody. */
  asks?: { open(work: Work): Feedback | Approval | null; all(status: S): Asks };
  /** Whether people are asked; left out: when it waits for a person. */
  isAwaiting?(work: Work): boolean;
  /** Files that it has left so far. */
  artifacts?(work: Work): CheckpointArtifact[];
  tick: Event;
  cancel: Event;
}

/** What a workflow adds to the loop. */
export interface WorkRun<Event, Effect> {
  perform(effect: Effect): void;
  /** First of all, where a cancel from outside does not reach. */
  begin?(): void;
  /** Before the machine takes an event. */
  before?(event: Event): void;
  /** After the machine took an event. */
  after?(event: Event): void;
  /** After everything that had come was taken. */
  taken?(): void;
  /** Whether it has something under way that a new run would not know of. */
  isBusy?(): boolean;
  /** Moments of its own at which a tick is wanted. */
  dues?(): number[];
  /** Whether anything but open calls and the inbox stands against continuing as new, or for it. */
  wantsToContinue?(): boolean;
  /** Times of its own move by `passed` milliseconds, which went by between a checkpoint and the restore to it. */
  restored?(passed: number): void;
  /** First of all in a run that goes on from a checkpoint: the files of then are put back. It must not reject. */
  putBack?(): Promise<void>;
  /** Hands everything to a new run; never settles. */
  continueAsNew(): Promise<never>;
  /** After the end: what is still under way is waited for, or stopped. */
  close?(): Promise<void>;
  /** Whether its end is told only once it is closed: what it leaves is in its place then. */
  endsClosed?: boolean;
}

/**
 * The loop of every kind of work: handlers only record, one loop takes an event, steps the pure machine and performs what it
 * asks for. It keeps the durable events, the status, search attributes and details, one timer, and the end.
 */
export class WorkLoop<
  Work extends { state: string; error: { message: string } | null } & HasTenantWaits,
  Event extends { type: string },
  Effect,
  S extends WorkOutcome,
> {
  private armed: number | null = null;
  private readonly open = new Set<Effect>();
  private shown = { state: '', waiting: '', isAwaiting: false };
  /** Whether all that belongs to the end is done, as soon as the work is over. */
  private isClosed = true;
  /** What of the open request stands in the memo. */
  private shownAsked = '';
  /** Number of the last mark that a replay has told. */
  private toldMark = -1;
  private readonly webhooks: Webhooks;

  constructor(
    private readonly kind: WorkKind<Work, Event, Effect, S>,
    private readonly state: WorkState<Work, Event, Effect>,
    webhooks: readonly WebhookSetup[] = [],
  ) {
    this.webhooks = new Webhooks(webhooks);
    setHandler(statusQuery, () => kind.status(state.work), { description: 'The status of spec 10' });
    setHandler(snapshotQuery, () => state, { description: 'The whole state, as continue-as-new carries it' });
    setHandler(eventsQuery, (since: number) => ({
      events: state.events.slice(Math.max(0, since - state.eventsBefore)),
      firstId: state.eventsBefore + 1,
      previousRunId: state.previousRunId,
      lastId: state.eventsBefore + state.events.length,
      runId: workflowInfo().runId,
      ended: this.hasEnded,
    }));
    setHandler(placeQuery, () => this.place);
    setHandler(endSignal, () => this.push(kind.cancel));
  }

  get isOver(): boolean {
    return this.kind.isOver(this.state.work);
  }

  private get hasEnded(): boolean {
    return this.isOver && this.isClosed;
  }

  private get checkpoints(): CheckpointMark[] {
    return this.state.checkpoints ?? [];
  }

  private get place(): Place {
    const { restores = [], eventsBefore, events, watchers } = this.state;
    const told = { restores, epoch: this.epoch, lastEventId: eventsBefore + events.length };
    return { marks: this.checkpoints, ...told, ...(watchers && { watchers }) };
  }

  push(event: Event): void {
    this.state.inbox.push(event);
  }

  /**
   * Performs an effect whose outcome is an event; work does not continue as new meanwhile, and a checkpoint names it as under
   * way. It must not reject.
   */
  call(effect: Effect, work: () => Promise<Event>): void {
    this.open.add(effect);
    void work().then((event) => {
      this.open.delete(effect);
      this.push(event);
    });
  }

  /** How often this work went back to an earlier point: what is done again is not taken for what was done before. */
  get epoch(): number {
    return this.state.epoch ?? 0;
  }

  /** What a new run begins with: the events told so far stay with this one. */
  carried<State extends WorkState<Work, Event, Effect>>(state: State): State {
    return {
      ...state,
      events: [],
      eventsBefore: state.eventsBefore + state.events.length,
      previousRunId: workflowInfo().runId,
    };
  }

  /**
   * Runs the work to its end, whatever is cancelled from outside: a cancel is an event like any other.
   * @returns the status of completed work; @throws what closes the run as failed or cancelled
   */
  async run(run: WorkRun<Event, Effect>): Promise<S> {
    const root = CancellationScope.current();
    void root.cancelRequested.catch(() => this.push(this.kind.cancel));
    await CancellationScope.nonCancellable(async () => {
      this.isClosed = run.endsClosed !== true;
      run.begin?.();
      const { state } = this.state.work;
      if (this.checkpoints.length === 0) this.checkpoint({ agentId: this.kind.name, phase: state, error: null }, []);
      if (this.state.isRestored) await run.putBack?.();
      this.resume(run);
      this.takeEvents(run);
      while (!this.isOver) {
        this.armTimer(run);
        await condition(() => this.state.inbox.length > 0 || this.mustContinue(run));
        if (this.state.inbox.length > 0) this.takeEvents(run);
        else await run.continueAsNew();
      }
      await run.close?.();
      if (!this.isClosed) bus.hint('touched');
      this.isClosed = true;
      this.takeEvents(run);
      // What comes while it closes is answered, too.
      while (!allHandlersFinished()) {
        await condition(() => this.state.inbox.length > 0 || allHandlersFinished());
        this.takeEvents(run);
      }
      // What is not started when the run closes never is.
      if (!this.webhooks.isIdle) await condition(() => this.webhooks.isIdle);
    });
    return this.close(root.consideredCancelled);
  }

  private mustContinue(run: WorkRun<Event, Effect>): boolean {
    return (
      (workflowInfo().continueAsNewSuggested || run.wantsToContinue?.() === true) &&
      this.open.size === 0 &&
      this.state.inbox.length === 0 &&
      this.webhooks.isIdle &&
      run.isBusy?.() !== true &&
      !this.isOver &&
      allHandlersFinished()
    );
  }

  /** Says that the work went back, moves its times by what passed since, and does what was under way there. */
  private resume(run: WorkRun<Event, Effect>): void {
    const { state } = this;
    const restore = state.restores?.at(-1);
    if (state.isRestored && restore) {
      const left = this.checkpoints.at(-1)?.at ?? Date.now();
      const passed = Date.now() - left;
      state.work = shifted(state.work, passed);
      if (this.kind.restored) state.work = this.kind.restored(state.work, this.epoch);
      state.inbox = shifted(state.inbox, passed);
      run.restored?.(passed);
      const { checkpoint, reason, by } = restore;
      const data = { at: iso(Date.now()), checkpoint, reason, by };
      state.events.push({ event: 'restored', data, id: state.eventsBefore + state.events.length + 1 });
      bus.hint('touched');
    }
    // One that goes on from its own beginning has said so before.
    if (state.forkedFrom && !state.isRestored) {
      const { id, checkpoint } = state.forkedFrom;
      const data = { at: iso(Date.now()), message: `forked from checkpoint ${checkpoint} of ${id}` };
      state.events.push({ event: 'log', data, id: state.eventsBefore + state.events.length + 1 });
    }
    if (state.isRestored || state.forkedFrom) {
      const { work, inbox, hasWaited } = awaitingNobody(state.work, state.inbox);
      state.work = work;
      state.inbox = inbox;
      if (hasWaited) this.push(this.kind.tick);
    }
    delete state.isRestored;
    delete state.forkedFrom;
    const effects = state.resume ?? [];
    delete state.resume;
    for (const effect of effects) run.perform(effect);
  }

  private takeEvents(run: WorkRun<Event, Effect>): void {
    const { state, kind } = this;
    const before = state.events.length;
    for (let event = state.inbox.shift(); event !== undefined; event = state.inbox.shift()) {
      run.before?.(event);
      const step = kind.step(state.work, event, Date.now());
      const worked = state.work;
      state.work = step.work;
      for (const said of step.events) {
        const id = state.eventsBefore + state.events.length + 1;
        state.events.push({ ...said, id });
        if (said.event === 'feedback_requested')
          this.webhooks.asked(() => kind.status(step.work), id, said.data.request);
        // A report asks for many at once: what each run is asked stands in it.
        if (said.event === 'aggregation' && said.data.needs_feedback && !kind.isOver(step.work))
          this.webhooks.asked(() => kind.status(step.work), id, null);
      }
      for (const boundary of boundariesOf(kind.name, worked, step.work, kind.turns(worked, step.work, event)))
        this.checkpoint(boundary, step.effects);
      for (const effect of step.effects) run.perform(effect);
      run.after?.(event);
    }
    run.taken?.();
    if (this.hasEnded) this.webhooks.ended(() => kind.status(state.work), state.eventsBefore + state.events.length);
    if (state.events.length > before) bus.hint('touched');
    if (typeof inspectedNow() === 'number') {
      // Each mark once: they are many, and copied on their way out.
      const { marks, ...place } = this.place;
      trace.place({ ...place, marks: marks.filter(({ number }) => number > this.toldMark) });
      this.toldMark = marks.at(-1)?.number ?? -1;
    } else setCurrentDetails(kind.details(state.work));
    this.show();
    this.showAsked();
  }

  /** Numbers a boundary and notes where in the history it is. No command: recorded histories of before replay as they were. */
  private checkpoint(boundary: Boundary, wanted: readonly Effect[]): void {
    const { historyLength, runId } = workflowInfo();
    const mark: CheckpointMark = {
      ...boundary,
      number: nextNumber(this.checkpoints),
      id: uuid4(),
      at: Date.now(),
      eventId: historyLength,
      temporalRunId: runId,
    };
    this.state.checkpoints = keptMarks(this.checkpoints, mark);
    // Only who inspects pays for the state: any other replay would make it for nobody.
    const inspected = inspectedNow();
    if (inspected === 'all' || inspected === mark.number) {
      const underWay = [...this.open, ...wanted];
      const { work } = this.state;
      const point = this.kind.restorePoint?.(work, underWay) ?? { work, resume: underWay };
      trace.checkpoint({
        marks: this.checkpoints,
        status: this.kind.status(this.state.work),
        details: this.kind.details(this.state.work),
        confidence: this.kind.confidence(this.state.work),
        artifacts: this.kind.artifacts?.(this.state.work) ?? [],
        // A copy: what a sink is given leaves the workflow only when its task is done.
        carried: JSON.parse(JSON.stringify({ ...this.state, ...point, inbox: this.heard(), events: [] })),
        eventCount: this.state.eventsBefore + this.state.events.length,
      });
    }
  }

  /** What has come and was not taken yet, but for what only this run's clock or its caller said. */
  private heard(): Event[] {
    const { tick, cancel } = this.kind;
    return this.state.inbox.filter(({ type }) => type !== tick.type && type !== cancel.type);
  }

  /** One timer for whatever is due first. An earlier one is added, never moved: a late tick changes nothing. */
  private armTimer(run: WorkRun<Event, Effect>): void {
    const own = this.kind.nextDue(this.state.work);
    const dues = [...(own === null ? [] : [own]), ...(run.dues?.() ?? [])];
    if (dues.length === 0) return;
    const due = Math.min(...dues);
    if (this.armed !== null && this.armed <= due) return;
    this.armed = due;
    void sleep(Math.max(1, due - Date.now()), { summary: 'deadline, gap or expiry' }).then(() => {
      if (this.armed === due) this.armed = null;
      this.push(this.kind.tick);
    });
  }

  private show(): void {
    const { state } = this.state.work;
    const waiting = this.kind.waitingFor(this.state.work) ?? '';
    const { shown } = this;
    const isAwaiting = this.kind.isAwaiting?.(this.state.work) ?? waiting === 'person';
    if (shown.state === state && shown.waiting === waiting && shown.isAwaiting === isAwaiting) return;
    upsertSearchAttributes([
      { key: searchAttributes.state, value: state },
      { key: searchAttributes.waiting, value: waiting === '' ? null : waiting },
      ...(isAwaiting === shown.isAwaiting ? [] : [{ key: searchAttributes.awaiting, value: isAwaiting }]),
    ]);
    this.shown = { state, waiting, isAwaiting };
  }

  /** What is asked stands in the memo: a list of thousands reads it there and asks none of them (decision 28). */
  private showAsked(): void {
    const { asks } = this.kind;
    if (!asks || this.isOver) return;
    const { work } = this.state;
    const open = asks.open(work);
    const mark = open ? noteMark(open) : '';
    if (mark === this.shownAsked || !patched(answersAtScale)) return;
    this.shownAsked = mark;
    upsertMemo({ asked: open ? askedNote(asks.all(this.kind.status(work))) : null });
  }

  /** The outcome is the whole status: who asks later needs no worker to read it (but for a cancel, which carries nothing). */
  private close(isCancelled: boolean): S {
    const outcome = this.kind.status(this.state.work);
    trace.outcome(outcome);
    // What people have ended by an answer closes as it should: Temporal was asked to cancel nothing.
    if (outcome.lifecycle === 'completed' || (outcome.lifecycle === 'cancelled' && !isCancelled)) return outcome;
    if (outcome.lifecycle === 'cancelled') throw new CancelledFailure(`the ${this.kind.name} was cancelled`);
    const { code, message } = outcome.error ?? { code: 'EAGENTDOWN', message: `the ${this.kind.name} failed` };
    throw ApplicationFailure.create({ message, type: code, nonRetryable: true, details: [outcome] });
  }
}

export const refusal = (code: ErrorCode, message: string): ApplicationFailure =>
  toFailure(new ParleyError(code, message));

const causes = (error: unknown): Error[] => (error instanceof Error ? [error, ...causes(error.cause)] : []);
export const isTimeout = (error: unknown): boolean => causes(error).some((cause) => cause.name === 'TimeoutFailure');
/** What a call used that brought no answer: its activity says so with the failure. */
export const usageIn = (error: unknown): Amount => {
  for (const cause of causes(error)) {
    const used =
      cause instanceof ApplicationFailure ? (cause.details?.[0] as { usage?: Amount } | undefined) : undefined;
    if (used?.usage) return used.usage;
  }
  return noAmount;
};
/** What was wrong in the end, without what Temporal says around it. */
export const rootMessage = (error: unknown): string => causes(error).at(-1)?.message ?? String(error);
