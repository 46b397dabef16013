import type { Approval, GivenFeedback } from '../contracts/feedback.js';
import { approvalsGiven, stepApproval } from './approval.js';
import { ParleyError } from './errors.js';
import { refusalError } from './feedback.js';

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

/**
 * Why an answer would change nothing at `now`, or null: an answer to a closed or other request and an unknown option are
 * refused with what would be right (spec 06).
 */
export const answerError = (
  approvals: readonly Approval[],
  given: GivenFeedback,
  now: number,
  work: string,
): ParleyError | null => {
  const approval = named(approvals, given);
  if (!approval) return new ParleyError('wrong_state', `${work} has asked nothing so far; look at its status.`);
  const { refused } = stepApproval(approval, { type: 'answer', given }, now);
  return refused && refusalError(refused);
};

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
