import type { DurableEvent } from '../contracts/events.js';
import type { Json } from '../contracts/frames.js';
import type { LaneReason, SessionErrorBody } from '../contracts/session.js';
import { admit } from './admission.js';
import { agreementOf, isDecided, type Agreement } from './agreement.js';
import { add, ledgerOf, usd } from './budget.js';
import { escalationReason } from './escalation.js';
import { applyReport, isRunning, openLane, stepLane, type Lane, type LaneReport, type LaneStep } from './lane.js';
import type { LaneEventName } from './lane-machine.js';
import { isTerminal, step, type Machine } from './machine.js';
import { above, atLeast } from './numbers.js';
import type { Amount, PlannedCall } from './plan.js';
import {
  sessionMachine,
  simpleSessionMachine,
  type SessionActionName,
  type SessionEventName,
  type SessionFacts,
} from './session-machine.js';
import { needsMergeCall, sessionResult } from './session-result.js';
import {
  allEnded,
  countedVotes,
  currentAgreement,
  hasAnswer,
  isScored,
  reconcilableVotes,
  reserved,
  running,
  scoreKey,
  spent,
  votesOf,
  type CallRecord,
  type Session,
} from './session-state.js';
import { describeWaiting, waitingFor } from './waiting.js';
import { effectiveWindow } from './window.js';

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
  session.plan.policy.profile === 'simple' ? simpleSessionMachine : sessionMachine;

export const isOver = (session: Session): boolean => isTerminal(machineOf(session), session.state);

/**
 * Takes one event and follows every transition it makes possible: pure, so that a replay, a test and a diagram see the
 * same session (spec 01). `now` is epoch milliseconds.
 */
export const stepSession = (session: Session, event: SessionEvent, now: number): SessionStep => {
  const run = new SessionRun({ ...session, lanes: [...session.lanes] }, now);
  run.take(event);
  return { session: run.session, effects: run.effects, events: run.events };
};

/** The next moment at which time alone changes something, or null. Lanes outside keep their own timers. */
export const nextDue = (session: Session): number | null => {
  if (isOver(session)) return null;
  const due: number[] = [];
  if (session.deadlineAt !== null && session.frozen === null) due.push(session.deadlineAt);
  const { provisional, plan } = session;
  if (provisional && !provisional.expired && !provisional.revised && session.frozen === null) {
    due.push(provisional.at + plan.policy.provisional.expiry_ms);
  }
  return due.length > 0 ? Math.min(...due) : null;
};

class SessionRun {
  readonly effects: SessionEffect[] = [];
  readonly events: DurableEvent[] = [];
  /** Agreement of these very lanes; a lane that changes makes the list another one. */
  private computed: { lanes: Lane[]; late: boolean; scored: Session['scored']; agreement: Agreement } | null = null;

  constructor(
    public session: Session,
    private readonly now: number,
  ) {}

  take(event: SessionEvent): void {
    switch (event.type) {
      case 'FAN_OUT':
        this.transition('FAN_OUT');
        this.fanOut();
        break;
      case 'REPORTS':
        for (const report of event.reports) this.report(report);
        break;
      case 'GROUP_ENDED':
        for (const lane of running(this.session)) {
          if (lane.group !== event.group) continue;
          const { plan, attempt } = lane;
          const failure = { code: 'EAGENTDOWN', message: event.message, usage: lane.usage };
          this.report({ type: 'FAIL', lane: plan.laneId, at: this.now, attempt, ...failure });
        }
        break;
      case 'SCORED':
        this.scored(event);
        break;
      case 'ARBITER_RESULT':
        this.session.arbiter = event.record;
        this.session.overhead = add(this.session.overhead, event.record.usage);
        if (this.session.state === 'ARBITER') this.transition('ARBITER_RESULT');
        else this.session.dropped += 1;
        break;
      case 'MERGED':
        this.session.merge = event.record;
        this.session.overhead = add(this.session.overhead, event.record.usage);
        break;
      case 'CANCEL':
        if (isOver(this.session)) this.session.dropped += 1;
        else {
          this.transition('CANCEL');
          this.cancelLanes('session_cancelled', 'the session was cancelled');
        }
        break;
      case 'TICK':
        this.expireProvisional();
        break;
    }
    this.settle();
    this.noteWaiting();
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
    const order = (tier: Lane['plan']['tier']): number => ['gold', 'silver', 'bronze'].indexOf(tier);
    const byTier = [...this.session.lanes].sort((a, b) => order(a.plan.tier) - order(b.plan.tier) || a.order - b.order);
    for (const lane of byTier) this.admitLane(lane);
    this.dispatch(this.session.lanes.filter((lane) => lane.state === 'ADMITTED'));
  }

  /** Every guard that fails is named (spec 01 "Lane machine"); gold is admitted first (details 1.6). */
  private admitLane(lane: Lane): void {
    const faults = this.admissionFaults(lane.plan);
    const has = (...codes: string[]): boolean => faults.some((fault) => codes.includes(fault.code));
    const facts = {
      budgetOk: !has('EBUDGET'),
      windowOk: !has('EWINDOW', 'EDRAINING'),
      policyOk: !has('ESEC'),
    };
    const [first] = faults;
    const change: Partial<Lane> = first
      ? { reason: { ...first, ...(faults.length > 1 ? { all: faults } : {}) } }
      : { reserved: lane.plan.estimate };
    const taken = stepLane(lane, 'ADMIT', this.now, change, facts);
    this.replaceLane(taken.lane);
    this.laneEvent(taken.lane, taken.step);
  }

  private admissionFaults(call: PlannedCall): { code: string; message: string }[] {
    const { session } = this;
    const inFlight = running(session).filter((lane) => lane.state !== 'INIT');
    const sibling = session.lanes.findLast((lane) => lane.plan.adapterKey === call.adapterKey && lane.control !== null);
    const control = sibling?.control ?? null;
    const grace = session.plan.policy.pause_grace_ms;
    return admit({
      estimate: call.estimate,
      ledger: ledgerOf(session.plan.budget, reserved(session), spent(session)),
      window: effectiveWindow(session.plan.window, control, this.now, grace),
      inFlight: inFlight.length,
      used: add(reserved(session), spent(session)),
      faults: call.faults,
      control,
    });
  }

  /** External lanes are open at once; the others go to a worker as one group. */
  private dispatch(lanes: Lane[]): void {
    const called = lanes.filter((lane) => lane.plan.adapter.kind !== 'external');
    if (called.length > 0) {
      const group = `lanes-${this.session.lanes.filter((lane) => lane.group !== null).length === 0 ? 1 : this.session.escalations + 1}`;
      for (const lane of called) this.replaceLane({ ...lane, group });
      this.effects.push({ type: 'run_lanes', group, lanes: called.map((lane) => lane.plan.laneId) });
    }
    for (const lane of lanes) {
      if (lane.plan.adapter.kind !== 'external') continue;
      this.report({ type: 'DISPATCH_OK', lane: lane.plan.laneId, at: this.now, attempt: 1 });
    }
  }

  private report(report: LaneReport): void {
    const lane = this.session.lanes.find((candidate) => candidate.plan.laneId === report.lane);
    if (!lane) {
      this.session.dropped += 1;
      return;
    }
    const taken = applyReport(lane, report);
    if (taken.dropped) this.session.dropped += 1;
    this.replaceLane(taken.lane);
    if (!taken.step) return;
    if (report.type === 'DISPATCH_OK') {
      // A worker's clock may run ahead of the server's: the deadline never starts in the future.
      this.session.dispatchedAt ??= Math.min(report.at, this.now);
    }
    if (report.type === 'PARTIAL') this.session.firstPartialAt ??= report.at;
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
    const { policy } = session.plan;
    switch (session.state) {
      case 'DISPATCHED':
        if (session.dispatchedAt !== null) return 'DISPATCH_OK';
        return allEnded(session) ? 'DISPATCH_ERR' : null;
      case 'STREAMING': {
        if (policy.profile === 'simple') return this.nextSimple();
        if (session.lanes.some((lane) => lane.state === 'FINALIZED')) return 'FINAL';
        if (session.lanes.some((lane) => lane.delivered && isRunning(lane))) return 'PARTIAL';
        if (allEnded(session)) return 'NO_ANSWER';
        if (this.deadlinePassed) return this.noAnswerByDeadline();
        return null;
      }
      case 'BUFFERING':
        if (policy.profile === 'simple') return 'RECONCILE';
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
    if (session.plan.policy.provisional.enabled) return 'QUORUM_REACHED';
    return this.leaderHasFinal(agreement) ? 'QUORUM_REACHED' : null;
  }

  private nextProvisional(): SessionEventName | null {
    const { session } = this;
    const { policy } = session.plan;
    if (!hasAnswer(session) && allEnded(session)) return 'NO_ANSWER';
    if (this.awaitsScore()) return null;
    const agreement = this.updateAgreement();
    if (!atLeast(agreement.value, policy.threshold) || this.leaderChanged(agreement)) return 'REVISION';
    if (!allEnded(session) && policy.early_exit.enabled) {
      const quorum = this.hasQuorum(agreement) && atLeast(agreement.value, policy.early_exit.threshold);
      if (quorum && !session.earlyExited && this.leaderHasFinal(agreement)) return 'EARLY_EXIT';
      if (!session.earlyExited && this.decided()) return 'DECIDED';
    }
    if (allEnded(session)) return 'ALL_ENDED';
    return this.deadlinePassed ? 'DEADLINE' : null;
  }

  private noAnswerByDeadline(): SessionEventName {
    this.timeOutLanes();
    return 'NO_ANSWER';
  }

  private timeOutLanes(): void {
    const message = `no final by the session's deadline of ${this.session.plan.policy.deadline_ms} ms`;
    for (const lane of running(this.session)) this.endLane(lane, 'TIMEOUT', { code: 'ETIMEOUT', message });
  }

  private facts(): SessionFacts {
    const { session } = this;
    const { policy, arbiter } = session.plan;
    const agreement = this.updateAgreement();
    const holds = atLeast(agreement.value, policy.threshold);
    const asksArbiter = policy.arbiter.allowed && arbiter !== null && !holds && session.state === 'DEADLINE';
    return {
      agreementHolds: holds && !(session.state === 'BUFFERING' && allEnded(session) && this.escalation() !== null),
      quorum: this.hasQuorum(agreement),
      provisionalEnabled: policy.provisional.enabled,
      lanesRunning: !allEnded(session),
      premiumRunning: running(session).some((lane) => lane.plan.tier !== 'bronze'),
      waitForPremium: policy.early_exit.wait_for_premium,
      mayEscalate: this.escalation() !== null,
      arbiterAllowed: asksArbiter && this.arbiterHasMoney(arbiter),
    };
  }

  private transition(on: SessionEventName): void {
    const machine = machineOf(this.session);
    const facts = this.facts();
    const taken = step(machine, this.session.state, on, facts);
    if (taken.from === 'DEADLINE' && on === 'ESCALATE') this.log(`escalated: ${this.escalation() ?? ''}`);
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
    if (isTerminal(machine, taken.to)) this.session.endedAt = this.now;
  }

  private perform(action: SessionActionName, on: SessionEventName): void {
    const { session } = this;
    switch (action) {
      case 'start_timers':
        session.deadlineAt = (session.dispatchedAt ?? this.now) + session.plan.policy.deadline_ms;
        return;
      case 'emit_provisional':
        this.emitProvisional();
        return;
      case 'emit_revision':
        this.emitRevision();
        return;
      case 'cancel_bronze':
        this.cancelLanes('early_exit', 'the others agree enough', (lane) => lane.plan.tier === 'bronze');
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
      // Performed where the event was taken: lanes are allocated, reserved, reassembled and settled with their own steps.
      case 'allocate_lanes':
      case 'reserve_budget':
      case 'reassemble':
      case 'update_consensus':
      case 'log':
        return;
    }
  }

  // Agreement

  private updateAgreement(): Agreement {
    const { session } = this;
    if (session.frozen) {
      const { votes, partition } = session.frozen;
      return agreementOf(votes, session.plan.policy.agreement, partition ?? undefined);
    }
    const late = this.isLate;
    const { computed } = this;
    if (computed?.lanes === session.lanes && computed.late === late && computed.scored === session.scored) {
      return computed.agreement;
    }
    const agreement = currentAgreement(session, late ? reconcilableVotes(session) : this.votes());
    this.computed = { lanes: session.lanes, late, scored: session.scored, agreement };
    session.agreement = agreement.value;
    return agreement;
  }

  /** No lane can finalise any more, or none is waited for: what there is has to do. */
  private get isLate(): boolean {
    return this.session.state === 'DEADLINE' || allEnded(this.session) || this.deadlinePassed;
  }

  /** A judge is paid for each look: it is shown finals, and partial answers only when there will be nothing else. */
  private votes(): ReturnType<typeof countedVotes> {
    return isScored(this.session) ? votesOf(this.session, false) : countedVotes(this.session);
  }

  private awaitsScore(): boolean {
    const { session } = this;
    if (!isScored(session) || session.plan.judge === null) return false;
    const votes = this.isLate ? reconcilableVotes(session) : this.votes();
    if (votes.length < 2) return false;
    const key = scoreKey(votes);
    if (session.scored?.key === key) return false;
    if (session.scoring === null) {
      session.scoring = key;
      this.effects.push({ type: 'score', key });
    }
    return true;
  }

  private scored(event: Extract<SessionEvent, { type: 'SCORED' }>): void {
    const { session } = this;
    session.scoring = null;
    session.scored = { key: event.key, partition: event.partition };
    session.overhead = add(session.overhead, event.usage);
    if (event.message) this.log(event.message);
  }

  /** Quorum (spec 01): agreement at or above the threshold with enough lanes that have delivered anything. */
  private hasQuorum(agreement: Agreement): boolean {
    const { policy } = this.session.plan;
    if (!atLeast(agreement.value, policy.threshold)) return false;
    if (allEnded(this.session)) return true;
    const delivered = this.session.lanes.filter(
      (lane) => lane.delivered && (isRunning(lane) || lane.state === 'FINALIZED'),
    );
    return delivered.length >= policy.quorum_min;
  }

  /**
   * Tentative votes make a provisional but never end a session before its deadline: two streams that have begun with the
   * same words are no answer yet.
   */
  private leaderHasFinal(agreement: Agreement): boolean {
    return agreement.leader !== null && above(agreement.leader.finalWeight, 0);
  }

  private leaderChanged(agreement: Agreement): boolean {
    const { provisional, plan } = this.session;
    if (!provisional || !agreement.leader) return false;
    const { leader } = agreement;
    const answer = this.answerBy(leader.representative);
    if (isScored(this.session)) return !leader.lanes.some((lane) => provisional.lanes.includes(lane));
    const votes = [provisional.answer, answer].map((value, order) => ({
      laneId: String(order),
      order,
      weight: 1,
      tier: 'silver' as const,
      answer: value,
      final: true,
      endedAt: 0,
    }));
    return agreementOf(votes, plan.policy.agreement).groups.length > 1;
  }

  private answerBy(laneId: string): Json {
    const vote = votesOf(this.session, true).find((candidate) => candidate.laneId === laneId);
    return vote?.answer ?? '';
  }

  private decided(): boolean {
    const { session } = this;
    const { policy } = session.plan;
    return isDecided({
      votes: votesOf(session, false),
      runningWeight: running(session).reduce((sum, lane) => sum + lane.plan.weight, 0),
      policy: policy.agreement,
      reconciliation: policy.reconciliation,
      threshold: policy.threshold,
    });
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
    const expiry_ms = session.plan.policy.provisional.expiry_ms;
    this.events.push({ event: 'provisional', data: { ...record, at: iso(this.now), expiry_ms } });
  }

  private emitRevision(): void {
    const { session } = this;
    if (!session.provisional) return;
    session.provisional = { ...session.provisional, revised: true };
    session.earlyExited = false;
    const { leader, value } = this.updateAgreement();
    const fell = !atLeast(value, session.plan.policy.threshold);
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
    const { provisional, plan } = this.session;
    if (!provisional || provisional.expired || provisional.revised || this.session.frozen) return;
    if (this.now < provisional.at + plan.policy.provisional.expiry_ms) return;
    this.session.provisional = { ...provisional, expired: true };
    this.log(`provisional ${provisional.number} has expired; the session goes on`);
  }

  // Ends

  private freeze(on: SessionEventName): void {
    const { session } = this;
    session.endedBy = session.earlyExited
      ? 'early_exit'
      : on === 'QUORUM_REACHED'
        ? 'quorum'
        : on === 'DECIDED'
          ? 'decided'
          : this.deadlinePassed && !allEnded(session)
            ? 'deadline'
            : 'all_final';
    session.frozen = { votes: reconcilableVotes(session), partition: session.scored?.partition ?? null };
    const agreement = agreementOf(
      session.frozen.votes,
      session.plan.policy.agreement,
      session.frozen.partition ?? undefined,
    );
    session.agreement = agreement.value;
    if (needsMergeCall(session)) this.effects.push({ type: 'merge_texts' });
  }

  private escalation(): 'low_confidence' | 'disagreement' | null {
    const { session } = this;
    const { escalation } = session.plan.policy;
    if (!escalation.allowed || !session.plan.escalation || session.escalations >= escalation.limit) return null;
    if (this.deadlinePassed || !allEnded(session)) return null;
    if (this.admissionFaults(session.plan.escalation).length > 0) return null;
    const agreement = this.updateAgreement();
    return escalationReason({
      agreement: agreement.value,
      groups: agreement.groups.length,
      threshold: session.plan.policy.threshold,
      onDisagreement: escalation.on_disagreement,
      answered: hasAnswer(session),
    });
  }

  private addPremiumLane(): void {
    const { session } = this;
    const planned = session.plan.escalation;
    if (!planned) return;
    session.escalations += 1;
    const laneId = session.escalations === 1 ? planned.laneId : `${planned.laneId}#${session.escalations}`;
    const lane = openLane({ ...planned, laneId, clone: session.escalations }, session.lanes.length);
    session.lanes = [...session.lanes, lane];
    this.admitLane(lane);
    this.dispatch(
      session.lanes.filter((candidate) => candidate.order === lane.order && candidate.state === 'ADMITTED'),
    );
  }

  /** `arbiter.max_usd` and the session's budget are looked at before the call (details 1.4). */
  private arbiterHasMoney(arbiter: PlannedCall): boolean {
    const { policy } = this.session.plan;
    const used = this.session.arbiter?.usage.usdMicros ?? 0;
    const maximum = policy.arbiter.max_usd * 1e6;
    const enough =
      used < maximum && arbiter.estimate.usdMicros <= maximum && this.admissionFaults(arbiter).length === 0;
    if (!enough && this.session.arbiter === null) {
      this.session.arbiter = { usage: { tokens: 0, usdMicros: 0 }, outcome: 'budget', answer: null };
      this.log('the arbiter is not asked: no money left for it');
    }
    return enough;
  }

  private reallocate(): void {
    const { session } = this;
    const premium = running(session).filter((lane) => lane.plan.tier !== 'bronze');
    const freed = session.lanes
      .filter((lane) => lane.reason?.code === 'early_exit')
      .reduce((sum, lane) => sum + Math.max(0, lane.plan.estimate.tokens - lane.usage.tokens), 0);
    const share = Math.floor(freed / Math.max(1, premium.length));
    for (const lane of premium) {
      this.replaceLane({ ...lane, reserved: { ...lane.reserved, tokens: lane.reserved.tokens + share } });
    }
    const to = premium.map((lane) => lane.plan.laneId);
    this.events.push({
      event: 'budget',
      data: { at: iso(this.now), action: 'reallocate_budget', freed_tokens: freed, to },
    });
  }

  private nameReasons(on: SessionEventName): void {
    const { session } = this;
    const lanes = session.lanes.map((lane) => ({
      lane_id: lane.plan.laneId,
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
        lane_id: lane.plan.laneId,
        from: taken.from,
        to: taken.to,
        on: taken.on,
        attempt: lane.attempt,
        tier: lane.plan.tier,
        ...(lane.state === 'FINALIZED' ? { answer: lane.answer } : {}),
        ...(ended ? { reason: lane.reason, usage: { tokens: lane.usage.tokens, usd: usd(lane.usage.usdMicros) } } : {}),
      },
    });
  }

  private log(message: string): void {
    this.events.push({ event: 'log', data: { at: iso(this.now), message } });
  }
}

export const iso = (ms: number): string => new Date(ms).toISOString();
