import type { DurableEvent } from '../contracts/events.js';
import type { Json } from '../contracts/frames.js';
import type { LaneReason, SessionErrorBody } from '../contracts/session.js';
import { answersAgree, isDecided, type Agreement, type Vote } from './agreement.js';
import { add, noAmount, subtract, usd } from './budget.js';
import { escalationReason } from './escalation.js';
import {
  answerOf,
  applyReport,
  contributes,
  isRunning,
  openLane,
  stepLane,
  type Lane,
  type LaneReport,
  type LaneStep,
} from './lane.js';
import type { LaneEventName } from './lane-machine.js';
import { isTerminal, step, type Machine } from './machine.js';
import { above, atLeast } from './numbers.js';
import type { Amount } from './session-setup.js';
import { admissionFaults, arbiterFaults, refusedCall } from './session-admission.js';
import { agreementBy } from './session-agreement.js';
import {
  sessionMachine,
  simpleSessionMachine,
  type SessionActionName,
  type SessionEventName,
  type SessionFacts,
} from './session-machine.js';
import { needsMergeCall, reconciled, reconciliationOf, sessionResult } from './session-result.js';
import {
  allEnded,
  countedVotes,
  currentAgreement,
  hasAnswer,
  isEscalation,
  isScored,
  reconcilableVotes,
  running,
  scoreKey,
  votesOf,
  type CallRecord,
  type Session,
} from './session-state.js';
import { answerText, isEmptyAnswer, normalise } from './text.js';
import { admissionOrder } from './tier.js';
import { describeWaiting, waitingFor } from './waiting.js';

/** What can happen to a session, from outside the pure code. */
export type SessionEvent =
  | { type: 'FAN_OUT' }
  /** What happened in one instant, as far as its reporter can tell: the lanes take all of it, then the session decides. */
  | { type: 'REPORTS'; reports: readonly LaneReport[] }
  /** The activity that ran a group ended; lanes it left open have lost their agent. */
  | { type: 'GROUP_ENDED'; group: string; message: string }
  | { type: 'TICK' }
  | { type: 'SCORED'; key: string; partition: string[][] | null; usage: Amount; message?: string }
  | { type: 'ARBITER_RESULT'; record: CallRecord }
  | { type: 'MERGED'; record: CallRecord }
  | { type: 'CANCEL' };

/** What a session wants done; the workflow performs it. */
export type SessionEffect =
  | { type: 'run_lanes'; group: string; lanes: string[] }
  /** Running lanes must ask again what they are to do. */
  | { type: 'direct_lanes' }
  | { type: 'score'; key: string }
  | { type: 'arbitrate' }
  | { type: 'merge_texts' };

export interface SessionStep {
  session: Session;
  effects: SessionEffect[];
  events: DurableEvent[];
}

export const machineOf = (
  session: Session,
): Machine<Session['state'], SessionEventName, SessionFacts, SessionActionName> =>
  session.setup.policy.profile === 'simple' ? simpleSessionMachine : sessionMachine;

export const isOver = (session: Session): boolean => isTerminal(machineOf(session), session.state);

/**
 * Takes one event and follows every transition it makes possible: pure, so that a replay, a test and a diagram see the
 * same session (spec 01). `now` is epoch milliseconds.
 */
export const stepSession = (session: Session, event: SessionEvent, now: number): SessionStep => {
  const run = new SessionRun({ ...session, steppedAt: Math.max(session.steppedAt, now) }, now);
  run.take(event);
  return { session: run.session, effects: run.effects, events: run.events };
};

/**
 * The next moment at which time alone changes something, or null. What was due at the last step has had its say: while a
 * judge still thinks, a deadline that has passed is not due again and again. Lanes outside keep their own timers.
 */
export const nextDue = (session: Session): number | null => {
  if (isOver(session)) return null;
  const due: number[] = [];
  if (session.deadlineAt !== null && session.frozen === null) due.push(session.deadlineAt);
  const { provisional, setup } = session;
  if (provisional && !provisional.expired && !provisional.revised && session.frozen === null) {
    due.push(provisional.at + setup.policy.provisional.expiry_ms);
  }
  const ahead = due.filter((at) => at > session.steppedAt);
  return ahead.length > 0 ? Math.min(...ahead) : null;
};

class SessionRun {
  readonly effects: SessionEffect[] = [];
  readonly events: DurableEvent[] = [];
  /** What the bronze lanes that this step cancelled had left of their reservations. */
  private freed: Amount = noAmount;

  constructor(
    public session: Session,
    private readonly now: number,
  ) {}

  take(event: SessionEvent): void {
    this.expireProvisional();
    switch (event.type) {
      case 'FAN_OUT':
        // What comes after the end is counted; anywhere else the table's refusal stands.
        if (isOver(this.session)) this.session.dropped += 1;
        else {
          this.transition('FAN_OUT');
          this.fanOut();
        }
        break;
      case 'REPORTS':
        for (const report of event.reports) this.report(report);
        break;
      case 'GROUP_ENDED':
        for (const lane of running(this.session)) {
          if (lane.group !== event.group) continue;
          const { setup, attempt } = lane;
          const failure = { code: 'EAGENTDOWN', message: event.message, usage: lane.usage };
          this.report({ type: 'FAIL', lane: setup.laneId, at: this.now, attempt, ...failure });
        }
        break;
      case 'SCORED':
        this.scored(event);
        break;
      case 'ARBITER_RESULT':
        this.pay(event.record.usage);
        if (this.session.state === 'ARBITER') {
          this.session.arbiter = answered(event.record);
          this.transition('ARBITER_RESULT');
        } else this.session.dropped += 1;
        break;
      case 'MERGED':
        this.pay(event.record.usage);
        if (this.session.state === 'RECONCILING' && this.session.merge === null)
          this.session.merge = answered(event.record);
        else this.session.dropped += 1;
        break;
      case 'CANCEL':
        if (isOver(this.session)) this.session.dropped += 1;
        else {
          this.transition('CANCEL');
          this.cancelLanes('session_cancelled', 'the session was cancelled');
        }
        break;
      case 'TICK':
        break;
    }
    this.settle();
    this.noteWaiting();
  }

  /** Money that a call of the session's own has used is spent, even when nobody waits for its answer any more. */
  private pay(usage: Amount): void {
    this.session.overhead = add(this.session.overhead, usage);
  }

  private noteWaiting(): void {
    const waiting = waitingFor(this.session);
    const before = this.session.waiting;
    if (waiting?.for === before?.for && waiting?.on === before?.on) return;
    this.session.waiting = waiting && { ...waiting, since: this.now };
    this.events.push({ event: 'waiting', data: describeWaiting(this.session) });
  }

  // Lanes

  private replaceLane(lane: Lane): void {
    this.session.lanes = this.session.lanes.map((other) => (other.order === lane.order ? lane : other));
  }

  private fanOut(): void {
    const tiered = this.session.lanes.map((lane) => ({ tier: lane.setup.tier, lane }));
    for (const { lane } of admissionOrder(tiered)) this.admitLane(lane);
    this.dispatch(this.session.lanes.filter((lane) => lane.state === 'ADMITTED'));
  }

  /** Every guard that fails is named (spec 01 "Lane machine"); gold is admitted first (details 1.6). */
  private admitLane(lane: Lane): void {
    const faults = admissionFaults(this.session, lane.setup, this.now);
    const has = (...codes: string[]): boolean => faults.some((fault) => codes.includes(fault.code));
    const facts = {
      budgetOk: !has('EBUDGET'),
      windowOk: !has('EWINDOW', 'EDRAINING'),
      policyOk: !has('ESEC'),
    };
    const [first] = faults;
    const change: Partial<Lane> = first
      ? { reason: { ...first, ...(faults.length > 1 ? { all: faults } : {}) } }
      : { reserved: lane.setup.estimate };
    const taken = stepLane(lane, 'ADMIT', this.now, change, facts);
    this.replaceLane(taken.lane);
    this.laneEvent(taken.lane, taken.step);
  }

  /** External lanes are open at once; the others go to a worker as one group. */
  private dispatch(lanes: Lane[]): void {
    const called = lanes.filter((lane) => lane.setup.adapter.kind !== 'external');
    if (called.length > 0) {
      const group = `lanes-${this.session.lanes.filter((lane) => lane.group !== null).length === 0 ? 1 : this.session.escalations + 1}`;
      for (const lane of called) this.replaceLane({ ...lane, group });
      this.effects.push({ type: 'run_lanes', group, lanes: called.map((lane) => lane.setup.laneId) });
    }
    for (const lane of lanes) {
      if (lane.setup.adapter.kind !== 'external') continue;
      this.report({ type: 'DISPATCH_OK', lane: lane.setup.laneId, at: this.now, attempt: 1 });
    }
  }

  private report(told: LaneReport): void {
    const lane = this.session.lanes.find((candidate) => candidate.setup.laneId === told.lane);
    if (!lane) {
      this.session.dropped += 1;
      return;
    }
    // Workers' clocks differ from the server's: nothing happened before the session began, nor after it was told.
    const report = { ...told, at: Math.min(Math.max(told.at, this.session.startedAt), this.now) };
    const taken = applyReport(lane, report);
    if (taken.dropped) this.session.dropped += 1;
    this.replaceLane(taken.lane);
    if (!taken.step) return;
    if (report.type === 'DISPATCH_OK') this.session.dispatchedAt ??= report.at;
    if (report.type === 'PARTIAL')
      this.session.firstPartialAt = Math.min(this.session.firstPartialAt ?? Infinity, report.at);
    if (report.type !== 'PARTIAL' || lane.firstAt === null) this.laneEvent(taken.lane, taken.step);
  }

  private endLane(lane: Lane, on: LaneEventName, reason: LaneReason): void {
    const taken = stepLane(lane, on, this.now, { reason });
    this.replaceLane(taken.lane);
    this.laneEvent(taken.lane, taken.step);
    if (lane.group !== null) this.directLanes();
  }

  private directLanes(): void {
    if (!this.effects.some((effect) => effect.type === 'direct_lanes')) this.effects.push({ type: 'direct_lanes' });
  }

  private cancelLanes(code: string, message: string, which: (lane: Lane) => boolean = () => true): void {
    for (const lane of running(this.session)) {
      if (lane.state !== 'INIT' && which(lane)) this.endLane(lane, 'CANCEL', { code, message });
    }
  }

  // The session machine

  /** Follows every transition the facts allow, one at a time, until nothing more can happen without a new event. */
  private settle(): void {
    for (let next = this.next(); next !== null; next = this.next()) this.transition(next);
  }

  private get deadlinePassed(): boolean {
    return this.session.deadlineAt !== null && this.now >= this.session.deadlineAt;
  }

  /** The event that the facts alone raise in this state, or null. The order is the specification's. */
  private next(): SessionEventName | null {
    const { session } = this;
    const { policy } = session.setup;
    switch (session.state) {
      case 'DISPATCHED':
        if (session.dispatchedAt !== null) return 'DISPATCH_OK';
        return allEnded(session) ? 'DISPATCH_ERR' : null;
      case 'STREAMING': {
        if (policy.profile === 'simple') return this.nextSimple();
        if (session.lanes.some((lane) => lane.state === 'FINALIZED')) return 'FINAL';
        if (session.lanes.some((lane) => lane.delivered)) return 'PARTIAL';
        if (allEnded(session)) return 'NO_ANSWER';
        if (this.deadlinePassed) return this.noAnswerByDeadline();
        return null;
      }
      case 'BUFFERING':
        if (policy.profile === 'simple') return this.awaitsScore() ? null : 'RECONCILE';
        return this.nextBuffering();
      case 'PROVISIONAL':
        return this.nextProvisional();
      case 'DEADLINE':
        if (!hasAnswer(session)) return this.noAnswerByDeadline();
        if (this.awaitsScore()) return null;
        return this.escalation() === null ? 'RECONCILE' : 'ESCALATE';
      case 'RECONCILING':
        if (needsMergeCall(session) && session.merge === null) return null;
        return 'RECONCILED';
      default:
        return null;
    }
  }

  private nextSimple(): SessionEventName | null {
    if (this.deadlinePassed) this.timeOutLanes();
    if (!allEnded(this.session)) return null;
    return hasAnswer(this.session) ? 'ALL_ENDED' : 'NO_ANSWER';
  }

  private nextBuffering(): SessionEventName | null {
    const { session } = this;
    if (allEnded(session)) {
      if (!hasAnswer(session)) return 'NO_ANSWER';
      return this.awaitsScore() ? null : 'ALL_ENDED';
    }
    if (this.deadlinePassed) return hasAnswer(session) ? 'DEADLINE' : this.noAnswerByDeadline();
    if (this.awaitsScore()) return null;
    const agreement = this.updateAgreement();
    if (!this.hasQuorum(agreement)) return null;
    if (session.setup.policy.provisional.enabled) return 'QUORUM_REACHED';
    return this.leaderHasFinal(agreement) && !this.awaitsPremium ? 'QUORUM_REACHED' : null;
  }

  private nextProvisional(): SessionEventName | null {
    const { session } = this;
    if (!hasAnswer(session) && allEnded(session)) return 'NO_ANSWER';
    if (this.awaitsScore()) return null;
    const agreement = this.updateAgreement();
    if (!this.holds(agreement) || this.leaderChanged(agreement)) return 'REVISION';
    if (allEnded(session)) return 'ALL_ENDED';
    if (session.setup.policy.early_exit.enabled && !session.earlyExited && !this.awaitsPremium) {
      if (this.exitsEarly(agreement)) return 'EARLY_EXIT';
      if (this.decided()) return 'DECIDED';
    }
    return this.deadlinePassed ? 'DEADLINE' : null;
  }

  /** A premium lane that was called in because of doubt is heard out: what made it necessary must not end it. */
  private get awaitsPremium(): boolean {
    return running(this.session).some((lane) => isEscalation(this.session, lane));
  }

  /**
   * Agreement at the early-exit threshold, and still there without the tentative votes of the bronze lanes that the exit
   * cancels: a cancelled lane counts no more, and an answer must not lose its footing by being given.
   */
  private exitsEarly(agreement: Agreement): boolean {
    const { policy } = this.session.setup;
    const suffices = (of: Agreement): boolean =>
      atLeast(of.value, policy.early_exit.threshold) && this.leaderHasFinal(of) && !this.leaderChanged(of);
    if (!this.hasQuorum(agreement) || !suffices(agreement)) return false;
    return suffices(
      currentAgreement(
        this.session,
        this.votes().filter((vote) => vote.final || vote.tier !== 'bronze'),
      ),
    );
  }

  private noAnswerByDeadline(): SessionEventName {
    this.timeOutLanes();
    return 'NO_ANSWER';
  }

  private timeOutLanes(): void {
    const message = `no final by the session's deadline of ${this.session.setup.policy.deadline_ms} ms`;
    for (const lane of running(this.session)) this.endLane(lane, 'TIMEOUT', { code: 'ETIMEOUT', message });
  }

  private facts(): SessionFacts {
    const { session } = this;
    const { policy, arbiter } = session.setup;
    const agreement = this.updateAgreement();
    const holds = this.holds(agreement);
    return {
      agreementHolds: holds && !(session.state === 'BUFFERING' && allEnded(session) && this.escalation() !== null),
      quorum: this.hasQuorum(agreement),
      provisionalEnabled: policy.provisional.enabled,
      lanesRunning: !allEnded(session),
      premiumRunning: running(session).some((lane) => lane.setup.tier !== 'bronze'),
      waitForPremium: policy.early_exit.wait_for_premium,
      mayEscalate: this.escalation() !== null,
      arbiterAllowed: this.wantsArbiter && arbiter !== null && arbiterFaults(session, arbiter, this.now).length === 0,
    };
  }

  private transition(on: SessionEventName): void {
    const machine = machineOf(this.session);
    const facts = this.facts();
    const taken = step(machine, this.session.state, on, facts);
    if (on === 'ESCALATE') this.log(`escalated: ${this.escalation() ?? ''}`);
    if (on === 'RECONCILE' && taken.to === 'RECONCILING') this.noteUnaskedArbiter();
    this.session.state = taken.to;
    this.events.push({
      event: 'state',
      data: {
        at: iso(this.now),
        machine: 'session',
        from: taken.from,
        to: taken.to,
        on,
        actions: [...taken.actions],
        agreement: this.session.agreement,
      },
    });
    for (const action of taken.actions) this.perform(action, on);
    if (taken.to === 'RECONCILING') this.startMerge();
    if (isTerminal(machine, taken.to)) this.session.endedAt = this.now;
  }

  private perform(action: SessionActionName, on: SessionEventName): void {
    const { session } = this;
    switch (action) {
      case 'start_timers':
        session.deadlineAt = (session.dispatchedAt ?? this.now) + session.setup.policy.deadline_ms;
        return;
      case 'emit_provisional':
        this.emitProvisional();
        return;
      case 'emit_revision':
        this.emitRevision();
        return;
      case 'cancel_bronze':
        this.freed = running(session)
          .filter((lane) => lane.setup.tier === 'bronze')
          .reduce((sum, lane) => add(sum, subtract(lane.reserved, lane.usage)), noAmount);
        this.cancelLanes('early_exit', 'the others agree enough', (lane) => lane.setup.tier === 'bronze');
        session.earlyExited = true;
        return;
      case 'reallocate_budget':
        this.reallocate();
        return;
      case 'freeze_inputs':
        this.freeze(on);
        return;
      case 'add_premium_lane':
        this.addPremiumLane();
        return;
      case 'route_to_arbiter':
        this.effects.push({ type: 'arbitrate' });
        return;
      case 'merge':
        if (session.arbiter?.outcome === 'answered') session.endedBy = 'arbiter';
        return;
      case 'emit_final':
        session.result = sessionResult(session, this.now);
        this.events.push({ event: 'final', data: session.result });
        return;
      case 'cancel_lanes':
        if (on === 'RECONCILED') this.cancelLanes('session_complete', 'the session has its answer');
        return;
      case 'name_reasons':
        this.nameReasons(on);
        return;
      case 'roll_back_budget':
        this.events.push({ event: 'budget', data: { at: iso(this.now), action } });
        return;
      case 'log':
        this.log('no lane could be dispatched');
        return;
      // Performed where the event was taken: lanes are allocated, reserved, reassembled and settled with their own steps.
      case 'allocate_lanes':
      case 'reserve_budget':
      case 'reassemble':
      case 'update_consensus':
        return;
    }
  }

  // Agreement

  private updateAgreement(): Agreement {
    const { session } = this;
    const { frozen, setup } = session;
    if (frozen) return agreementBy(frozen.votes, setup.policy.agreement, frozen.partition ?? undefined);
    const agreement = currentAgreement(session, this.votes());
    session.agreement = agreement.value;
    return agreement;
  }

  /** No lane can finalise any more, or none is waited for: what there is has to do. */
  private get isLate(): boolean {
    return this.session.state === 'DEADLINE' || allEnded(this.session) || this.deadlinePassed;
  }

  /** A judge is paid for each look: it is shown finals, and partial answers only when there will be nothing else. */
  private votes(): Vote[] {
    if (this.isLate) return reconcilableVotes(this.session);
    return isScored(this.session) ? votesOf(this.session, false) : countedVotes(this.session);
  }

  /** A threshold of 0 is no leave to answer with nothing. */
  private holds({ leader, value }: Agreement): boolean {
    return leader !== null && atLeast(value, this.session.setup.policy.threshold);
  }

  private awaitsScore(): boolean {
    const { session } = this;
    const { judge } = session.setup;
    if (!isScored(session) || judge === null || session.scored?.late) return false;
    const votes = this.votes();
    if (votes.length < 2) return false;
    const key = scoreKey(votes);
    if (session.scored?.key === key) return false;
    if (session.scoring !== null) return true;
    const asked = { key, late: this.deadlinePassed };
    const faults = admissionFaults(session, judge, this.now);
    if (faults.length > 0) {
      session.scored = { ...asked, partition: null };
      this.log(`the judge is not asked, equal texts decide instead: ${inWords(faults)}`);
      return false;
    }
    session.scoring = asked;
    this.effects.push({ type: 'score', key });
    return true;
  }

  private scored(event: Extract<SessionEvent, { type: 'SCORED' }>): void {
    const { session } = this;
    const { scoring } = session;
    this.pay(event.usage);
    if (scoring?.key !== event.key || isOver(session)) {
      session.dropped += 1;
      return;
    }
    session.scoring = null;
    session.scored = { ...scoring, partition: event.partition };
    if (event.message) this.log(event.message);
  }

  /** Quorum (spec 01): agreement at or above the threshold with enough lanes that have delivered anything. */
  private hasQuorum(agreement: Agreement): boolean {
    if (!this.holds(agreement)) return false;
    if (allEnded(this.session)) return true;
    const delivered = this.session.lanes.filter((lane) => contributes(lane) && answerOf(lane) !== null);
    return delivered.length >= this.session.setup.policy.quorum_min;
  }

  /**
   * Tentative votes make a provisional but never end a session before its deadline: two streams that have begun with the
   * same words are no answer yet.
   */
  private leaderHasFinal({ leader }: Pick<Agreement, 'leader'>): boolean {
    return leader !== null && above(leader.finalWeight, 0);
  }

  private leaderChanged(agreement: Agreement): boolean {
    const { provisional, setup } = this.session;
    if (!provisional || !agreement.leader) return false;
    const { leader } = agreement;
    const answer = this.answerBy(leader.representative);
    if (isScored(this.session)) return !leader.lanes.some((lane) => provisional.lanes.includes(lane));
    // A text that makes no choice agrees with nobody, but it is still the same text.
    if (isSameAnswer(provisional.answer, answer)) return false;
    return !answersAgree(provisional.answer, answer, setup.policy.agreement);
  }

  private answerBy(laneId: string): Json {
    const vote = votesOf(this.session, true).find((candidate) => candidate.laneId === laneId);
    return vote?.answer ?? '';
  }

  private decided(): boolean {
    const { session } = this;
    const { policy } = session.setup;
    const votes = votesOf(session, false);
    const weigh = (weights: number[]): number => weights.reduce((sum, weight) => sum + weight, 0);
    const firm = weigh(votes.map((vote) => vote.weight));
    const runningWeight = weigh(running(session).map((lane) => lane.setup.weight));
    // All finals together would not do: no need to compare them.
    if (!atLeast(firm / (firm + runningWeight), policy.threshold)) return false;
    const reconciliation = reconciliationOf(session);
    return isDecided({ votes, runningWeight, policy: policy.agreement, reconciliation, threshold: policy.threshold });
  }

  private emitProvisional(): void {
    const { session } = this;
    const { leader, value } = this.updateAgreement();
    if (!leader) return;
    const number = (session.provisional?.number ?? 0) + 1;
    const record = {
      number,
      answer: this.answerBy(leader.representative),
      agreement: value,
      lanes: leader.lanes,
      at: this.now,
      expired: false,
      revised: false,
    };
    session.provisional = record;
    session.provisionalAt ??= this.now;
    const expiry_ms = session.setup.policy.provisional.expiry_ms;
    this.events.push({ event: 'provisional', data: { ...record, at: iso(this.now), expiry_ms } });
  }

  private emitRevision(): void {
    const { session } = this;
    if (!session.provisional) return;
    session.provisional = { ...session.provisional, revised: true };
    session.earlyExited = false;
    const agreement = this.updateAgreement();
    const { leader, value } = agreement;
    const fell = !this.holds(agreement);
    this.events.push({
      event: 'revision',
      data: {
        at: iso(this.now),
        replaces: session.provisional.number,
        because: fell ? 'agreement_fell' : 'leader_changed',
        agreement: value,
        answer: leader ? this.answerBy(leader.representative) : null,
      },
    });
  }

  /** A promise to the client, not a timer of the session: past it the provisional is marked, nothing else changes. */
  private expireProvisional(): void {
    const { provisional, setup } = this.session;
    if (!provisional || provisional.expired || provisional.revised || this.session.frozen) return;
    if (this.now < provisional.at + setup.policy.provisional.expiry_ms) return;
    this.session.provisional = { ...provisional, expired: true };
    this.log(`provisional ${provisional.number} has expired; the session goes on`);
  }

  // Ends

  private freeze(on: SessionEventName): void {
    const { session } = this;
    session.endedBy = this.reasonToEnd(on);
    session.frozen = { votes: reconcilableVotes(session), partition: session.scored?.partition ?? null };
    session.agreement = this.agreementBehindAnswer();
  }

  private reasonToEnd(on: SessionEventName): NonNullable<Session['endedBy']> {
    const { lanes, deadlineAt, earlyExited } = this.session;
    if (on === 'QUORUM_REACHED') return 'quorum';
    if (on === 'DECIDED') return 'decided';
    if (on === 'EARLY_EXIT') return 'early_exit';
    const wasCutOff = lanes.some(
      (lane) =>
        isRunning(lane) || (lane.reason?.code === 'ETIMEOUT' && (lane.endedAt ?? 0) >= (deadlineAt ?? Infinity)),
    );
    if (this.deadlinePassed && wasCutOff) return 'deadline';
    return earlyExited ? 'early_exit' : 'all_final';
  }

  /**
   * That of the leading group; but finals alone are reconciled, so where the leaders are all still streaming at the
   * deadline, their agreement says nothing of the answer that is given: its own share does.
   */
  private agreementBehindAnswer(): number {
    const { value, leader, groups, total } = this.updateAgreement();
    if (leader === null || this.leaderHasFinal({ leader }) || groups.every((group) => group.finalWeight === 0))
      return value;
    const { representative } = reconciled(this.session);
    const own = groups.find((group) => representative !== null && group.lanes.includes(representative));
    return own ? own.weight / total : value;
  }

  private startMerge(): void {
    const { session } = this;
    const { merge } = session.setup;
    if (merge === null || !needsMergeCall(session)) return;
    const faults = admissionFaults(session, merge, this.now);
    if (faults.length === 0) {
      this.effects.push({ type: 'merge_texts' });
      return;
    }
    session.merge = refusedCall(faults);
    this.log(`nobody is asked to merge the answers, they are joined: ${inWords(faults)}`);
  }

  private escalation(): 'low_confidence' | 'disagreement' | null {
    const { session } = this;
    const { escalation } = session.setup.policy;
    if (!escalation.allowed || !session.setup.escalation || session.escalations >= escalation.limit) return null;
    if (this.deadlinePassed || !allEnded(session)) return null;
    if (admissionFaults(session, session.setup.escalation, this.now).length > 0) return null;
    const agreement = this.updateAgreement();
    return escalationReason({
      agreement: agreement.value,
      groups: agreement.groups.length,
      threshold: session.setup.policy.threshold,
      onDisagreement: escalation.on_disagreement,
      answered: hasAnswer(session),
    });
  }

  private addPremiumLane(): void {
    const { session } = this;
    const prepared = session.setup.escalation;
    if (!prepared) return;
    session.escalations += 1;
    const laneId = session.escalations === 1 ? prepared.laneId : `${prepared.laneId}#${session.escalations}`;
    const lane = openLane({ ...prepared, laneId, clone: session.escalations }, session.lanes.length);
    session.lanes = [...session.lanes, lane];
    this.admitLane(lane);
    this.dispatch(
      session.lanes.filter((candidate) => candidate.order === lane.order && candidate.state === 'ADMITTED'),
    );
  }

  /** Results that converge need no arbiter, and a single one never diverges (details 1.4). */
  private get wantsArbiter(): boolean {
    const { state, setup } = this.session;
    return state === 'DEADLINE' && setup.policy.arbiter.allowed && !this.holds(this.updateAgreement());
  }

  private noteUnaskedArbiter(): void {
    const { arbiter } = this.session.setup;
    if (arbiter === null || !this.wantsArbiter) return;
    const faults = arbiterFaults(this.session, arbiter, this.now);
    this.session.arbiter = refusedCall(faults);
    this.log(`the arbiter is not asked: ${inWords(faults)}`);
  }

  private reallocate(): void {
    const { session } = this;
    const premium = running(session).filter((lane) => lane.setup.tier !== 'bronze');
    const part = (amount: number): number => Math.floor(amount / Math.max(1, premium.length));
    const share = { tokens: part(this.freed.tokens), usdMicros: part(this.freed.usdMicros) };
    for (const lane of premium) this.replaceLane({ ...lane, reserved: add(lane.reserved, share) });
    const to = premium.map((lane) => lane.setup.laneId);
    this.events.push({
      event: 'budget',
      data: {
        at: iso(this.now),
        action: 'reallocate_budget',
        freed_tokens: this.freed.tokens,
        freed_usd: usd(this.freed.usdMicros),
        to,
      },
    });
  }

  private nameReasons(on: SessionEventName): void {
    const { session } = this;
    const lanes = session.lanes.map((lane) => ({
      lane_id: lane.setup.laneId,
      state: lane.state,
      reason: lane.reason ?? { code: 'ECONSENSUS', message: 'ended without an answer' },
    }));
    const what = on === 'DISPATCH_ERR' ? 'no lane could be dispatched' : 'no lane gave an answer';
    const said = lanes.map((lane) => `${lane.lane_id}: ${lane.reason.code} ${lane.reason.message}`).join('; ');
    const error: SessionErrorBody = { code: 'ECONSENSUS', message: `${what}: ${said}`, lanes };
    session.error = error;
    this.events.push({ event: 'error', data: { ...error, at: iso(this.now) } });
  }

  private laneEvent(lane: Lane, taken: LaneStep): void {
    const ended = !isRunning(lane);
    this.events.push({
      event: 'lane',
      data: {
        at: iso(lane.endedAt ?? this.now),
        lane_id: lane.setup.laneId,
        from: taken.from,
        to: taken.to,
        on: taken.on,
        attempt: lane.attempt,
        tier: lane.setup.tier,
        ...(lane.state === 'FINALIZED' ? { answer: lane.answer } : {}),
        ...(ended ? { reason: lane.reason, usage: { tokens: lane.usage.tokens, usd: usd(lane.usage.usdMicros) } } : {}),
      },
    });
  }

  private log(message: string): void {
    this.events.push({ event: 'log', data: { at: iso(this.now), message } });
  }
}

/** An empty answer is none: whoever gave it has failed. */
const answered = (record: CallRecord): CallRecord =>
  record.outcome === 'answered' && isEmptyAnswer(record.answer ?? undefined)
    ? { ...record, outcome: 'failed', answer: null }
    : record;

const isSameAnswer = (a: Json, b: Json): boolean => normalise(answerText(a)) === normalise(answerText(b));
const inWords = (faults: readonly { message: string }[]): string => faults.map(({ message }) => message).join('; ');

export const iso = (ms: number): string => new Date(ms).toISOString();
