import type { Approval, GivenFeedback, RefusedFeedback } from '../contracts/feedback.js';
import { approvalsGiven, stepApproval } from './approval.js';
import { type ErrorCode, ParleyError } from './errors.js';

/** What an answer that counts is answered with (spec 10 "Feedback"). */
export interface FeedbackReceipt {
  request_id: string;
  response: string;
  /** Of the request as a whole: pending while more people have to approve. */
  outcome: Approval['outcome'];
  approvals: number;
  needed: number;
}

const codes: Record<RefusedFeedback['code'], ErrorCode> = {
  other_request: 'wrong_state',
  closed: 'wrong_state',
  expired: 'wrong_state',
  changed_content: 'conflict',
  unknown_option: 'invalid_request',
  no_response: 'invalid_request',
  not_an_approver: 'forbidden',
  self_approval: 'forbidden',
  unauthenticated: 'forbidden',
};

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
  return refused && new ParleyError(codes[refused.code], refused.message, { details: { reason: refused.code } });
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
