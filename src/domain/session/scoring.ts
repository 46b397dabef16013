import { admissionFaults } from './admission.js';
import { presentVotes } from './agreement.js';
import { inWords, note, type SessionDraft } from './draft.js';
import { isPastDeadline, isScored, scoreKey, type Session } from './state.js';
import type { SessionEvent } from './step.js';

/**
 * Whether it is known which of the answers so far agree: only a judge has to be asked first. What it is asked past the
 * deadline it is asked last.
 */
export const scoreOf = (session: Session, now: number): 'known' | 'asked' | 'unasked' => {
  if (!isScored(session) || session.setup.judge === null || session.scored?.late) return 'known';
  const votes = presentVotes(session, now);
  if (votes.length < 2 || session.scored?.key === scoreKey(votes)) return 'known';
  return session.scoring === null ? 'unasked' : 'asked';
};

/** Asks the judge; one that may not be asked leaves the decision to equal texts. */
export const askScorer = (draft: SessionDraft): void => {
  const { session, now } = draft;
  const { judge } = session.setup;
  if (judge === null) return;
  const asked = { key: scoreKey(presentVotes(session, now)), late: isPastDeadline(session, now) };
  const faults = admissionFaults(session, judge, now);
  if (faults.length > 0) {
    session.scored = { ...asked, partition: null };
    note(draft, `the judge is not asked, equal texts decide instead: ${inWords(faults)}`);
    return;
  }
  session.scoring = asked;
  draft.effects.push({ type: 'score', key: asked.key });
};

/** Takes what the judge said; what it says of other answers than it was asked about is dropped. */
export const takeScore = (draft: SessionDraft, event: Extract<SessionEvent, { type: 'SCORED' }>): void => {
  const { session } = draft;
  const { scoring } = session;
  if (scoring?.key !== event.key) {
    session.dropped += 1;
    return;
  }
  session.scoring = null;
  session.scored = { ...scoring, partition: event.partition };
  if (event.message) note(draft, event.message);
};
