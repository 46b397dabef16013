import type { LaneReason } from '../../contracts/session-status.js';
import { answerFault } from '../answer-limit.js';
import { noAmount, subtract, usd } from '../budget.js';
import { iso } from '../instant.js';
import type { LedgerState } from '../ledger/state.js';
import type { LaneEventName } from '../lane-machine.js';
import {
  applyReport,
  bytesAfter,
  hasEnded,
  isRunning,
  openLane,
  stepLane,
  type Lane,
  type LaneReport,
  type LaneStep,
} from '../lane.js';
import { admissionFaults } from './admission.js';
import { note, type SessionDraft } from './draft.js';
import type { Amount, LaneSetup } from './setup.js';
import { running, type Session } from './state.js';
import { admissionOrder } from '../tier.js';
import { endCall, holdCall, pay, useSoFar } from '../work-account.js';

/** A lane that runs holds what it has used so far, and more than that while its reservation is; what has ended is spent. */
const booked = (ledger: LedgerState, before: Lane, after: Lane): LedgerState => {
  if (after.call !== undefined) return useSoFar(ledger, after.call, after.usage);
  if (before.call !== undefined) return endCall(ledger, before.call, after.usage);
  return pay(ledger, subtract(after.usage, before.usage));
};

const replaceLane = ({ session }: SessionDraft, lane: Lane): void => {
  const before = session.lanes.find((other) => other.order === lane.order);
  if (before) session.ledger = booked(session.ledger, before, lane);
  session.lanes = session.lanes.map((other) => (other === before ? lane : other));
};

const tellOfLane = (draft: SessionDraft, lane: Lane, taken: LaneStep): void => {
  const ended = !isRunning(lane);
  draft.events.push({
    event: 'lane',
    data: {
      at: iso(lane.endedAt ?? draft.now),
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
};

/** Admits every lane, gold first (details 1.6), and dispatches those that fit. */
export const fanOut = (draft: SessionDraft): void => {
  const { session } = draft;
  const ended = session.lanes.filter(hasEnded).map(({ setup }) => setup.laneId);
  if (ended.length > 0) note(draft, `kept as they ended before the fork, and not asked again: ${ended.join(', ')}`);
  const tiered = running(session).map((lane) => ({ tier: lane.setup.tier, lane }));
  for (const { lane } of admissionOrder(tiered)) admitLane(draft, lane);
  dispatch(
    draft,
    session.lanes.filter((lane) => lane.state === 'ADMITTED'),
  );
};

/** Id of the lane that the `count`-th escalation adds, from 1. */
export const premiumLaneId = ({ laneId }: LaneSetup, count: number): string =>
  count === 1 ? laneId : `${laneId}#${count}`;

/** The lane that the next escalation would add, where it ended already in the work that this one was forked from. */
export const keptPremium = ({ setup, escalations, premiums = [] }: Session): Lane | undefined => {
  const { escalation } = setup;
  return escalation === null
    ? undefined
    : premiums.find((lane) => lane.setup.laneId === premiumLaneId(escalation, escalations + 1));
};

/** One lane more, of those prepared for an escalation (spec 01 "Escalation"). */
export const addPremiumLane = (draft: SessionDraft): void => {
  const { session } = draft;
  const prepared = session.setup.escalation;
  if (!prepared) return;
  const kept = keptPremium(session);
  session.escalations += 1;
  const laneId = premiumLaneId(prepared, session.escalations);
  const opened = openLane({ ...prepared, laneId, clone: session.escalations }, session.lanes.length);
  const lane = kept ? { ...kept, setup: opened.setup, order: opened.order } : opened;
  session.lanes = [...session.lanes, lane];
  if (kept) return note(draft, `kept as it ended before the fork, and not asked again: ${laneId}`);
  admitLane(draft, lane);
  dispatch(
    draft,
    session.lanes.filter((candidate) => candidate.order === lane.order && candidate.state === 'ADMITTED'),
  );
};

/** Holds what a lane is likely to use, that has been found to fit. */
const hold = ({ session }: SessionDraft, estimate: Amount): Pick<Lane, 'call'> => {
  const held = holdCall(session.ledger, estimate);
  if ('faults' in held) return {};
  session.ledger = held.ledger;
  return { call: held.call };
};

/** Every guard that fails is named (spec 01 "Lane machine"). */
const admitLane = (draft: SessionDraft, lane: Lane): void => {
  const faults = admissionFaults(draft.session, lane.setup, draft.now);
  const has = (...codes: string[]): boolean => faults.some((fault) => codes.includes(fault.code));
  const facts = {
    budgetOk: !has('EBUDGET'),
    windowOk: !has('EWINDOW', 'EDRAINING'),
    policyOk: !has('ESEC'),
  };
  const [first] = faults;
  const change: Partial<Lane> = first
    ? { reason: { ...first, ...(faults.length > 1 ? { all: faults } : {}) } }
    : hold(draft, lane.setup.estimate);
  const taken = stepLane(lane, 'ADMIT', draft.now, change, facts);
  replaceLane(draft, taken.lane);
  tellOfLane(draft, taken.lane, taken.step);
};

/** External lanes are open at once; the others go to a worker as one group. */
const dispatch = (draft: SessionDraft, lanes: readonly Lane[]): void => {
  const { session } = draft;
  const called = lanes.filter((lane) => lane.setup.adapter.kind !== 'external');
  if (called.length > 0) {
    const isFirst = session.lanes.every((lane) => lane.group === null);
    const group = `lanes-${isFirst ? 1 : session.escalations + 1}`;
    for (const lane of called) replaceLane(draft, { ...lane, group });
    draft.effects.push({ type: 'run_lanes', group, lanes: called.map((lane) => lane.setup.laneId) });
  }
  for (const lane of lanes) {
    if (lane.setup.adapter.kind !== 'external') continue;
    takeReport(draft, { type: 'DISPATCH_OK', lane: lane.setup.laneId, at: draft.now, attempt: 1 });
  }
};

/** What a lane says counts only if the session can still be held as a whole; else its lane fails. */
const fitting = ({ lanes, setup }: Session, lane: Lane, report: LaneReport): LaneReport => {
  if (report.type !== 'PARTIAL' && report.type !== 'FINAL') return report;
  const others = lanes.reduce((sum, other) => (other === lane ? sum : sum + other.bytes), 0);
  const message = answerFault(setup.prompt, others + bytesAfter(lane, report));
  if (message === null) return report;
  const { lane: laneId, at, attempt, usage = noAmount, counts } = report;
  return { type: 'FAIL', lane: laneId, at, attempt, code: 'EPROTO', message, usage, ...(counts && { counts }) };
};

/** Takes what happened to one lane; of no lane of this session, or come too late, it is counted as dropped (details 6.4). */
export const takeReport = (draft: SessionDraft, told: LaneReport): void => {
  const { session } = draft;
  const lane = session.lanes.find((candidate) => candidate.setup.laneId === told.lane);
  if (!lane) {
    session.dropped += 1;
    return;
  }
  // Workers' clocks differ from the server's: nothing happened before the session began, nor after it was told.
  const report = fitting(session, lane, {
    ...told,
    at: Math.min(Math.max(told.at, session.startedAt), draft.now),
  });
  const taken = applyReport(lane, report);
  if (taken.dropped) session.dropped += 1;
  replaceLane(draft, taken.lane);
  if (!taken.step) return;
  if (report.type === 'DISPATCH_OK') session.dispatchedAt ??= report.at;
  if (report.type === 'PARTIAL') session.firstPartialAt = Math.min(session.firstPartialAt ?? Infinity, report.at);
  if (report.type !== 'PARTIAL' || lane.firstAt === null) tellOfLane(draft, taken.lane, taken.step);
};

/** The lanes that a group left open have lost their agent. */
export const endGroup = (draft: SessionDraft, group: string, message: string): void => {
  for (const { setup, attempt, usage } of running(draft.session).filter((lane) => lane.group === group)) {
    const report = { lane: setup.laneId, at: draft.now, attempt, code: 'EAGENTDOWN', message, usage };
    takeReport(draft, { type: 'FAIL', ...report });
  }
};

const endLane = (draft: SessionDraft, lane: Lane, on: LaneEventName, reason: LaneReason): void => {
  const taken = stepLane(lane, on, draft.now, { reason });
  replaceLane(draft, taken.lane);
  tellOfLane(draft, taken.lane, taken.step);
  if (lane.group === null || draft.effects.some((effect) => effect.type === 'direct_lanes')) return;
  draft.effects.push({ type: 'direct_lanes' });
};

/** Cancels what runs; a lane that was never admitted has nothing to cancel. */
export const cancelLanes = (
  draft: SessionDraft,
  reason: LaneReason,
  which: (lane: Lane) => boolean = () => true,
): void => {
  for (const lane of running(draft.session)) {
    if (lane.state !== 'INIT' && which(lane)) endLane(draft, lane, 'CANCEL', reason);
  }
};

/** Nobody waits for these lanes any more: the deadline is over. */
export const timeOutLanes = (draft: SessionDraft): void => {
  const message = `no final by the session's deadline of ${draft.session.setup.policy.deadline_ms} ms`;
  for (const lane of running(draft.session)) endLane(draft, lane, 'TIMEOUT', { code: 'ETIMEOUT', message });
};
