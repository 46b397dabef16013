import { iso } from '../instant.js';
import { hasEnded } from '../lane.js';
import { isTerminal, step, type Machine } from '../machine.js';
import { presentAgreement } from './agreement.js';
import { note, openDraft, type SessionDraft } from './draft.js';
import { cancelBronze, reallocateBudget } from './early-exit.js';
import { emitFinal, freeze, nameReasons, noteUnaskedArbiter, startMerge, unlessEmpty } from './end.js';
import { escalationOf, factsOf } from './facts.js';
import { addPremiumLane, cancelLanes, endGroup, fanOut, takeReport, timeOutLanes } from './lanes.js';
import {
  sessionMachine,
  simpleSessionMachine,
  type SessionActionName,
  type SessionEventName,
  type SessionFacts,
} from './machine.js';
import { nextMove } from './next.js';
import { emitProvisional, emitRevision, expireProvisional, provisionalDue } from './provisional.js';
import { askForRatings, weigh } from './reputation.js';
import { askScorer, scoreOf, takeScore } from './scoring.js';
import { allEnded, type Session } from './state.js';
import type { SessionEffect, SessionEvent, SessionStep } from './step.js';
import { describeWaiting, waitingFor } from '../waiting.js';
import { pay } from '../work-account.js';

export const machineOf = (
  session: Session,
): Machine<Session['state'], SessionEventName, SessionFacts, SessionActionName> =>
  session.setup.policy.profile === 'simple' ? simpleSessionMachine : sessionMachine;

export const isOver = (session: Session): boolean => isTerminal(machineOf(session), session.state);

/**
 * Takes one event and follows every transition it makes possible: pure, so that a replay, a test and a diagram see the
 * same session (spec 01). `now` is epoch milliseconds.
 * @throws InvalidTransitionError for a second FAN_OUT while the session runs; nothing has changed then.
 */
export const stepSession = (session: Session, event: SessionEvent, now: number): SessionStep => {
  const draft = openDraft(session, now);
  expireProvisional(draft);
  take(draft, event);
  settle(draft);
  leaveOutEnded(draft);
  noteWaiting(draft);
  return { session: draft.session, effects: draft.effects, events: draft.events };
};

/**
 * The next moment at which time alone changes something, or null. What was due at the last step has had its say: while a
 * judge still thinks, a deadline that has passed is not due again and again. Lanes outside keep their own timers.
 */
export const nextDue = (session: Session): number | null => {
  if (isOver(session)) return null;
  const deadline = session.frozen === null ? session.deadlineAt : null;
  const ahead = [deadline, provisionalDue(session)].filter((at) => at !== null && at > session.steppedAt);
  return ahead.length > 0 ? Math.min(...(ahead as number[])) : null;
};

const take = (draft: SessionDraft, event: SessionEvent): void => {
  const { session } = draft;
  switch (event.type) {
    case 'FAN_OUT':
      // What comes after the end is counted; anywhere else the table's refusal stands.
      if (isOver(session)) session.dropped += 1;
      else if (session.state === 'INIT' && session.setup.policy.elo_weights) askForRatings(draft);
      else {
        transition(draft, 'FAN_OUT');
        fanOut(draft);
      }
      return;
    case 'RATINGS':
      if (session.state !== 'INIT') session.dropped += 1;
      else {
        weigh(draft, event);
        transition(draft, 'FAN_OUT');
        fanOut(draft);
      }
      return;
    case 'REPORTS':
      for (const report of event.reports) takeReport(draft, report);
      // A fork that has answers already has left DISPATCHED before any lane was dispatched.
      if (session.deadlineAt === null && session.dispatchedAt !== null && session.state !== 'DISPATCHED')
        startTimers(draft);
      return;
    case 'GROUP_ENDED':
      endGroup(draft, event.group, event.message);
      return;
    // Money that a call of the session's own has used is spent, even when nobody waits for its answer any more.
    case 'SCORED':
      session.ledger = pay(session.ledger, event.usage);
      if (isOver(session)) session.dropped += 1;
      else takeScore(draft, event);
      return;
    case 'ARBITER_RESULT':
      session.ledger = pay(session.ledger, event.record.usage);
      if (session.state === 'ARBITER') {
        session.arbiter = unlessEmpty(event.record);
        transition(draft, 'ARBITER_RESULT');
      } else session.dropped += 1;
      return;
    case 'MERGED':
      session.ledger = pay(session.ledger, event.record.usage);
      if (session.state === 'RECONCILING' && session.merge === null) session.merge = unlessEmpty(event.record);
      else session.dropped += 1;
      return;
    case 'CANCEL':
      if (isOver(session)) session.dropped += 1;
      else {
        transition(draft, 'CANCEL');
        cancelLanes(draft, { code: 'session_cancelled', message: 'the session was cancelled' });
      }
      return;
    case 'TICK':
      return;
  }
};

/** Follows every transition the facts allow, one at a time, until nothing more can happen without a new event. */
const settle = (draft: SessionDraft): void => {
  const { session, now } = draft;
  for (let move = nextMove(session, now); move !== null; move = nextMove(session, now)) {
    switch (move.type) {
      case 'raise':
        transition(draft, move.on);
        break;
      case 'ask_scorer':
        askScorer(draft);
        break;
      case 'time_out_lanes':
        timeOutLanes(draft);
        break;
    }
  }
  // While a judge compares new answers, the agreement shown is still that of the old ones.
  const isOpen = session.state === 'BUFFERING' || session.state === 'PROVISIONAL';
  if (isOpen && scoreOf(session, now) === 'known') session.agreement = presentAgreement(session, now).value;
};

const transition = (draft: SessionDraft, on: SessionEventName): void => {
  const { session, now } = draft;
  const machine = machineOf(session);
  if (session.frozen === null) session.agreement = presentAgreement(session, now).value;
  const taken = step(machine, session.state, on, factsOf(session, now));
  if (on === 'ESCALATE') note(draft, `escalated: ${escalationOf(session, now) ?? ''}`);
  if (on === 'RECONCILE' && taken.to === 'RECONCILING') noteUnaskedArbiter(draft);
  session.state = taken.to;
  draft.events.push({
    event: 'state',
    data: {
      at: iso(now),
      machine: 'session',
      from: taken.from,
      to: taken.to,
      on,
      actions: [...taken.actions],
      agreement: session.agreement,
    },
  });
  for (const action of taken.actions) perform(draft, action, on);
  if (taken.to === 'RECONCILING') startMerge(draft);
  if (isTerminal(machine, taken.to)) session.endedAt = now;
};

const perform = (draft: SessionDraft, action: SessionActionName, on: SessionEventName): void => {
  const { session, now, effects, events } = draft;
  switch (action) {
    case 'start_timers':
      return startTimers(draft);
    case 'emit_provisional':
      return emitProvisional(draft);
    case 'emit_revision':
      return emitRevision(draft);
    case 'cancel_bronze':
      return cancelBronze(draft);
    case 'reallocate_budget':
      return reallocateBudget(draft);
    case 'freeze_inputs':
      return freeze(draft, on);
    case 'add_premium_lane':
      return addPremiumLane(draft);
    case 'route_to_arbiter':
      effects.push({ type: 'arbitrate' });
      return;
    case 'merge':
      if (session.arbiter?.outcome === 'answered') session.endedBy = 'arbiter';
      return;
    case 'emit_final':
      return emitFinal(draft);
    case 'cancel_lanes':
      if (on === 'RECONCILED') cancelLanes(draft, { code: 'session_complete', message: 'the session has its answer' });
      return;
    case 'name_reasons':
      return nameReasons(draft, on);
    case 'roll_back_budget':
      events.push({ event: 'budget', data: { at: iso(now), action } });
      return;
    case 'log':
      return note(draft, 'no lane could be dispatched');
    // Performed where the event was taken: lanes are allocated, reserved, reassembled and settled with their own steps.
    case 'allocate_lanes':
    case 'reserve_budget':
    case 'reassemble':
    case 'update_consensus':
      return;
  }
};

/** From the first dispatch on; a fork whose lanes have all ended has nobody to wait for. */
const startTimers = ({ session, now }: SessionDraft): void => {
  const from = session.dispatchedAt ?? (allEnded(session) ? now : null);
  if (from !== null) session.deadlineAt = from + session.setup.policy.deadline_ms;
};

/** What is answered by kept lanes alone needs no lane that was admitted in the very same step: nobody is asked. */
const leaveOutEnded = (draft: SessionDraft): void => {
  const ended = new Set(draft.session.lanes.filter(hasEnded).map(({ setup }) => setup.laneId));
  const left = draft.effects.flatMap((effect): SessionEffect[] => {
    if (effect.type !== 'run_lanes') return [effect];
    const lanes = effect.lanes.filter((lane) => !ended.has(lane));
    return lanes.length === 0 ? [] : [{ ...effect, lanes }];
  });
  const isUnasked = left.length < draft.effects.length;
  draft.effects.splice(0, Infinity, ...left.filter(({ type }) => !(isUnasked && type === 'direct_lanes')));
};

const noteWaiting = ({ session, now, events }: SessionDraft): void => {
  const waiting = waitingFor(session);
  const before = session.waiting;
  if (waiting?.for === before?.for && waiting?.on === before?.on) return;
  session.waiting = waiting && { ...waiting, since: now };
  events.push({ event: 'waiting', data: describeWaiting(session) });
};
