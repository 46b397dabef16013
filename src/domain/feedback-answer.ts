import type { Approval, GivenFeedback } from '../contracts/feedback.js';
import { approvalsGiven } from './approval.js';

/** What an answer that counts is answered with (spec 10 "Feedback"). */
export interface FeedbackReceipt {
  request_id: string;
  response: string;
  /** Of the request as a whole: pending while more people have to approve. */
  outcome: Approval['outcome'];
  approvals: number;
  needed: number;
}

/** The request that an answer names, else the latest. */
const named = (approvals: readonly Approval[], given: GivenFeedback): Approval | undefined =>
  approvals.find(({ request }) => request.request_id === given.request_id) ?? approvals.at(-1);

/** What became of an answer, once the work has taken it. */
export const answerReceipt = (approvals: readonly Approval[], given: GivenFeedback): FeedbackReceipt => {
  const approval = named(approvals, given);
  return {
    request_id: given.request_id,
    response: given.response,
    outcome: approval?.outcome ?? 'void',
    approvals: approval ? approvalsGiven(approval) : 0,
    needed: approval?.needed ?? 0,
  };
};
