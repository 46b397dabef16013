import type { Approval, Feedback, GivenFeedback } from '../../contracts/feedback.js';
import type { AppliedAnswer, AskedItem, InboxItem } from '../../contracts/inbox.js';
import type { Kind, Links } from '../../contracts/work.js';
import { approvalDigest, approvalsGiven, currentApprovers } from '../approval.js';
import { canonicalJson } from '../canonical-json.js';
import { sha256 } from '../sha256.js';

/** What a piece of work of any kind has asked people, as its status tells it. */
export interface Asks {
  workId: string;
  kind: Kind;
  tenant: string;
  /** What people call it beside its id; null: nothing else. */
  name: string | null;
  state: string;
  /** Whether it has ended, so that nothing that it asked can be answered any more. */
  isOver: boolean;
  about: string;
  links: Links;
  /** Oldest first. */
  requests: readonly (Feedback | Approval)[];
  /** What an approval is about, as far as the status shows it; null: it does not. */
  subject: object | null;
}

const isApproval = (asked: Feedback | Approval): asked is Approval => 'outcome' in asked;

/** The request that people are asked at the moment, or null. */
export const openRequest = ({ requests, isOver }: Pick<Asks, 'requests' | 'isOver'>): Feedback | Approval | null =>
  isOver ? null : (requests.findLast(({ state }) => state === 'open') ?? null);

/**
 * The open request as the inbox shows it, but for its age; null: it asks nothing. The content stands there only where
 * the digest of the request is its digest: what is shown is what is approved, or nothing is shown.
 */
export const askedItem = (asks: Asks): AskedItem | null => {
  const asked = openRequest(asks);
  if (!asked) return null;
  const { request } = asked;
  const approval = isApproval(asked) ? asked : null;
  const isWhole =
    approval !== null &&
    asks.subject !== null &&
    approvalDigest(asks.subject, approval.policy_version) === request.digest;
  const given = asked.answers.filter(({ response }) => response === 'approve');
  return {
    work_id: asks.workId,
    kind: asks.kind,
    tenant: asks.tenant,
    name: asks.name,
    about: asks.about,
    request,
    content: isWhole ? (JSON.parse(JSON.stringify(asks.subject)) as AskedItem['content']) : null,
    policy_version: approval?.policy_version ?? null,
    approvals: given.length,
    needed: approval?.needed ?? 1,
    approved_by: given.map(({ provided_by }) => provided_by),
    may_answer: approval ? currentApprovers(approval) : null,
    may_not_approve: approval?.started_by ?? null,
    asked_before: asks.requests.indexOf(asked),
    links: asks.links,
  };
};

/** An item at `now` (ms since 1970). */
export const agedItem = (asked: AskedItem, now: number): InboxItem => ({
  ...asked,
  age_ms: ageOf(asked.request.opened_at, now),
});

/** The open request as the inbox shows it, at `now` (ms since 1970); null: it asks nothing. */
export const inboxItem = (asks: Asks, now: number): InboxItem | null => {
  const asked = askedItem(asks);
  return asked ? agedItem(asked, now) : null;
};

/** Most characters of an item that is noted in a memo, which is copied at each step of the work: what is larger, it is asked for. */
const notedChars = 16_000;

/** What a piece of work notes of its open request, so that a list need not ask it; null: nothing, or it is too large. */
export const askedNote = (asks: Asks): AskedItem | null => {
  const asked = askedItem(asks);
  return asked && JSON.stringify(asked).length <= notedChars ? asked : null;
};

/** An item as it was noted, with its content only where that is what the digest of the request is made of: `hash` is sha256. */
export const readNote = (noted: AskedItem, hash: (text: string) => string = sha256): AskedItem => {
  const { content, policy_version: version, request } = noted;
  const isWhole =
    typeof content === 'object' &&
    content !== null &&
    version !== null &&
    hash(canonicalJson({ policy_version: version, subject: content })) === request.digest;
  return isWhole ? noted : { ...noted, content: null };
};

/** What of an open request may change while it is open: a note of it is written anew then. */
export const noteMark = (asked: Feedback | Approval): string =>
  JSON.stringify([asked.request.request_id, asked.answers.length, isApproval(asked) && asked.escalated]);

/** Milliseconds since then; a clock that is behind another's gives 0. */
export const ageOf = (since: string, now: number): number => Math.max(0, now - Date.parse(since));

/** What became of an answer, from the request as it stands now. */
export const appliedAnswer = (
  workId: string,
  asked: Feedback | Approval,
  given: GivenFeedback,
  repeated: boolean,
): AppliedAnswer => ({
  work_id: workId,
  request_id: asked.request.request_id,
  response: given.response,
  repeated,
  outcome: isApproval(asked) ? asked.outcome : asked.state === 'open' ? 'pending' : 'answered',
  approvals: isApproval(asked) ? approvalsGiven(asked) : asked.answers.length,
  needed: isApproval(asked) ? asked.needed : 1,
});
