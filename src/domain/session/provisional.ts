import type { Json } from '../../contracts/frames.js';
import { answersAgree, type Agreement } from '../agreement.js';
import { iso } from '../instant.js';
import { answerBy, holds, presentAgreement } from './agreement.js';
import { note, type SessionDraft } from './draft.js';
import { isScored, type Session } from './state.js';
import { answerText, normalise } from '../text.js';

const isSameAnswer = (a: Json, b: Json): boolean => normalise(answerText(a)) === normalise(answerText(b));

/** Whether the leading answer is another than the provisional one (spec 01 "Provisional"). */
export const leaderChanged = (session: Session, { leader }: Agreement): boolean => {
  const { provisional, setup } = session;
  if (!provisional || !leader) return false;
  if (isScored(session)) return !leader.lanes.some((lane) => provisional.lanes.includes(lane));
  const answer = answerBy(session, leader.representative);
  // A text that makes no choice agrees with nobody, but it is still the same text.
  if (isSameAnswer(provisional.answer, answer)) return false;
  return !answersAgree(provisional.answer, answer, setup.policy.agreement);
};

export const emitProvisional = ({ session, now, events }: SessionDraft): void => {
  const { leader, value } = presentAgreement(session, now);
  if (!leader) return;
  const record = {
    number: (session.provisional?.number ?? 0) + 1,
    answer: answerBy(session, leader.representative),
    agreement: value,
    lanes: leader.lanes,
    at: now,
    expired: false,
    revised: false,
  };
  session.provisional = record;
  session.provisionalAt ??= now;
  const { expiry_ms } = session.setup.policy.provisional;
  events.push({ event: 'provisional', data: { ...record, at: iso(now), expiry_ms } });
};

/** Takes the provisional back; whoever was shown it is told why and what leads now. */
export const emitRevision = ({ session, now, events }: SessionDraft): void => {
  if (!session.provisional) return;
  session.provisional = { ...session.provisional, revised: true };
  session.earlyExited = false;
  const agreement = presentAgreement(session, now);
  const { leader, value } = agreement;
  events.push({
    event: 'revision',
    data: {
      at: iso(now),
      replaces: session.provisional.number,
      because: holds(session, agreement) ? 'leader_changed' : 'agreement_fell',
      agreement: value,
      answer: leader ? answerBy(session, leader.representative) : null,
    },
  });
};

/** A promise to the client, not a timer of the session: past it the provisional is marked, nothing else changes. */
export const expireProvisional = (draft: SessionDraft): void => {
  const { session, now } = draft;
  const due = provisionalDue(session);
  if (due === null || now < due || !session.provisional) return;
  session.provisional = { ...session.provisional, expired: true };
  note(draft, `provisional ${session.provisional.number} has expired; the session goes on`);
};

/** When the provisional expires, in epoch milliseconds; null where none stands that still can, or all is over. */
export const provisionalDue = ({ provisional, frozen, endedAt, setup }: Session): number | null => {
  if (!provisional || provisional.expired || provisional.revised || frozen || endedAt !== null) return null;
  return provisional.at + setup.policy.provisional.expiry_ms;
};
