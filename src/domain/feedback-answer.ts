import type { Approval, Feedback, GivenFeedback } from '../contracts/feedback.js';
import { approvalsGiven } from './approval.js';

/** What an answer that counts is answered with (spec 10 "Feedback"). */
export interface FeedbackReceipt {
  request_id: string;
  response: string;
  /** Of the request as a whole: pending while more people have to approve; answered where it is no approval. */
  outcome: Approval['outcome'] | 'answered';
  approvals: number;
  needed: number;
}

/** The request that an answer names, else the latest. */
const named = <F extends Feedback>(requests: readonly F[], given: GivenFeedback): F | undefined =>
  requests.find(({ request }) => request.request_id === given.request_id) ?? requests.at(-1);

const isApproval = (asked: Feedback | Approval): asked is Approval => 'outcome' in asked;

/** What became of an answer, once the work has taken it. */
export const answerReceipt = (requests: readonly (Feedback | Approval)[], given: GivenFeedback): FeedbackReceipt => {
  const asked = named(requests, given);
  const common = { request_id: given.request_id, response: given.response };
  if (asked && !isApproval(asked)) {
    const outcome = asked.state === 'open' ? 'pending' : asked.state;
    return { ...common, outcome, approvals: asked.answers.length, needed: 1 };
  }
  return {
    ...common,
    outcome: asked?.outcome ?? 'void',
    approvals: asked ? approvalsGiven(asked) : 0,
    needed: asked?.needed ?? 0,
  };
};
