import type { GivenFeedback } from '../src/contracts/feedback.js';
import { readFeedbackSignal } from '../src/domain/feedback.js';

/** What was sent by hand to the workflow itself: what is no answer is refused like one, and seen in the status (spec 06). */
export const signalled = (sent: unknown): GivenFeedback => {
  const read = readFeedbackSignal(sent);
  if (typeof read !== 'string') return read;
  const nothing = { request_id: '', response: '', digest: null, provided_by: 'unknown' };
  return { ...nothing, comment: read, authenticated: false, source: 'signal' };
};
