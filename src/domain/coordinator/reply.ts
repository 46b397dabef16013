import type { RefusedFeedback } from '../../contracts/feedback.js';
import type { FeedbackReceipt } from '../feedback-answer.js';
import type { CoordinatorEvent } from './effects.js';

/** What a run said to its answer, or why nobody could tell it. */
export type AnswerReply =
  | { type: 'receipt'; receipt: Pick<FeedbackReceipt, 'outcome' | 'approvals' | 'needed'> }
  | { type: 'refused'; code: RefusedFeedback['code']; message: string }
  /** It has ended, by itself or by somebody else, and what it was asked is open no more. */
  | { type: 'ended'; message: string }
  | { type: 'failed'; message: string };

type Replied = Extract<CoordinatorEvent, { requestId: string }>;

/** Refusals of who answers, and of what they have looked at: the request stays open for another answer. */
const stillOpen: ReadonlySet<RefusedFeedback['code']> = new Set([
  'unknown_option',
  'no_response',
  'changed_content',
  'not_an_approver',
  'self_approval',
  'unauthenticated',
]);

/** What became of an answer as the coordinator takes it (spec 06 step 7): the first valid answer wins, whoever gave it. */
export const replyEvent = (runId: string, requestId: string, reply: AnswerReply): Replied => {
  const about = { runId, requestId };
  switch (reply.type) {
    case 'receipt': {
      const { outcome, approvals, needed } = reply.receipt;
      if (outcome === 'pending')
        return { ...about, type: 'COUNTED', message: `the answer counts: ${approvals} of ${needed} approvals` };
      if (outcome === 'expired' || outcome === 'void')
        return { ...about, type: 'ANSWERED_ELSEWHERE', message: `${requestId} is ${outcome}` };
      return { ...about, type: 'RESUMED' };
    }
    case 'refused':
      return {
        ...about,
        type: stillOpen.has(reply.code) ? 'STILL_ASKS' : 'ANSWERED_ELSEWHERE',
        message: reply.message,
      };
    case 'ended':
      return { ...about, type: 'ANSWERED_ELSEWHERE', message: reply.message };
    case 'failed':
      return { ...about, type: 'RESUME_FAILED', message: reply.message };
  }
};
