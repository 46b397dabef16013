import type { SessionErrorBody } from '../../contracts/session-status.js';
import { iso } from '../instant.js';
import { isRunning } from '../lane.js';
import { admissionFaults, arbiterFaults, refusedCall } from './admission.js';
import { leaderHasFinal, presentAgreement } from './agreement.js';
import { inWords, note, type SessionDraft } from './draft.js';
import { wantsArbiter } from './facts.js';
import type { SessionEventName } from './machine.js';
import { needsMergeCall, reconciled, sessionResult } from './result.js';
import { isPastDeadline, reconcilableVotes, type CallRecord, type Session } from './state.js';
import { isEmptyAnswer } from '../text.js';

/** From here on the answers stand: what lanes still say changes nothing. */
export const freeze = ({ session, now }: SessionDraft, on: SessionEventName): void => {
  session.endedBy = reasonToEnd(session, now, on);
  session.frozen = { votes: reconcilableVotes(session), partition: session.scored?.partition ?? null };
  session.agreement = agreementBehindAnswer(session, now);
};

const reasonToEnd = (session: Session, now: number, on: SessionEventName): NonNullable<Session['endedBy']> => {
  const { lanes, deadlineAt, earlyExited } = session;
  if (on === 'QUORUM_REACHED') return 'quorum';
  if (on === 'DECIDED') return 'decided';
  if (on === 'EARLY_EXIT') return 'early_exit';
  const wasCutOff = lanes.some(
    (lane) => isRunning(lane) || (lane.reason?.code === 'ETIMEOUT' && (lane.endedAt ?? 0) >= (deadlineAt ?? Infinity)),
  );
  if (isPastDeadline(session, now) && wasCutOff) return 'deadline';
  return earlyExited ? 'early_exit' : 'all_final';
};

/**
 * That of the leading group; but finals alone are reconciled, so where the leaders are all still streaming at the
 * deadline, their agreement says nothing of the answer that is given: its own share does.
 */
const agreementBehindAnswer = (session: Session, now: number): number => {
  const { value, leader, groups, total } = presentAgreement(session, now);
  if (leader === null || leaderHasFinal({ leader }) || groups.every((group) => group.finalWeight === 0)) return value;
  const { representative } = reconciled(session);
  const own = groups.find((group) => representative !== null && group.lanes.includes(representative));
  return own ? own.weight / total : value;
};

/** An arbiter that is wanted and cannot be asked counts as one that did not answer, and the log says why. */
export const noteUnaskedArbiter = (draft: SessionDraft): void => {
  const { session, now } = draft;
  const { arbiter } = session.setup;
  if (arbiter === null || !wantsArbiter(session, now)) return;
  const faults = arbiterFaults(session, arbiter, now);
  session.arbiter = refusedCall(faults);
  note(draft, `the arbiter is not asked: ${inWords(faults)}`);
};

/** Has the texts merged by an adapter where one is needed; one that may not be asked leaves them to be joined. */
export const startMerge = (draft: SessionDraft): void => {
  const { session, now, effects } = draft;
  const { merge } = session.setup;
  if (merge === null || !needsMergeCall(session)) return;
  const faults = admissionFaults(session, merge, now);
  if (faults.length === 0) {
    effects.push({ type: 'merge_texts' });
    return;
  }
  session.merge = refusedCall(faults);
  note(draft, `nobody is asked to merge the answers, they are joined: ${inWords(faults)}`);
};

/** An empty answer of an arbiter or a merge is none: whoever gave it has failed. */
export const unlessEmpty = (record: CallRecord): CallRecord =>
  record.outcome === 'answered' && isEmptyAnswer(record.answer ?? undefined)
    ? { ...record, outcome: 'failed', answer: null }
    : record;

export const emitFinal = ({ session, now, events }: SessionDraft): void => {
  session.result = sessionResult(session, now);
  events.push({ event: 'final', data: session.result });
};

/** ECONSENSUS, with every lane's reason (spec 01). */
export const nameReasons = ({ session, now, events }: SessionDraft, on: SessionEventName): void => {
  const lanes = session.lanes.map((lane) => ({
    lane_id: lane.setup.laneId,
    state: lane.state,
    reason: lane.reason ?? { code: 'ECONSENSUS', message: 'ended without an answer' },
  }));
  const what = on === 'DISPATCH_ERR' ? 'no lane could be dispatched' : 'no lane gave an answer';
  const said = lanes.map((lane) => `${lane.lane_id}: ${lane.reason.code} ${lane.reason.message}`).join('; ');
  const error: SessionErrorBody = { code: 'ECONSENSUS', message: `${what}: ${said}`, lanes };
  session.error = error;
  events.push({ event: 'error', data: { ...error, at: iso(now) } });
};
