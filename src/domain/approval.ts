import type {
  Approval,
  ApprovalOutcome,
  FeedbackAnswer,
  FeedbackOptionBody,
  GivenFeedback,
} from '../contracts/feedback.js';
import { digestOf } from './canonical-json.js';
import { ParleyError } from './errors.js';
import {
  checkFeedback,
  closeFeedback,
  type FeedbackRefusal,
  isExpired,
  isRefusal,
  isRepeat,
  openFeedback,
  sameWord,
  timeOf,
  withRefusal,
} from './feedback.js';

/** Who has to approve, and by when. */
export interface ApprovalTerms {
  /** How many different people have to approve, from 1. */
  needed: number;
  /** Names of those who may answer; null: whoever may approve at all. */
  approvers: readonly string[] | null;
  /** Name of the one who started the work, who may not approve it; null: not known. */
  startedBy: string | null;
  /** Whether only answers of people whose keys the gateway has checked count; a signal then does not. */
  requiresAuthentication: boolean;
  /** Milliseconds until it expires; null: never. */
  timeoutMs: number | null;
  /** Milliseconds after which `escalateTo` may answer too; null: never. */
  escalateAfterMs: number | null;
  escalateTo: readonly string[];
}

export interface OpenApproval extends ApprovalTerms {
  requestId: string;
  prompt: string;
  phase?: string | null;
  step?: string | null;
  /** Exactly what is approved, as JSON: a plan, arguments. */
  subject: object;
  /** Version of the rules it was judged by; new rules make an approval void. */
  policyVersion: string;
  /** Which of approve, request_changes and reject are offered; all of them where left out. */
  options?: readonly FeedbackOptionBody[];
}

/** The digest that an approval is bound to: of the subject and the version of the policy. */
export const approvalDigest = (subject: object, policyVersion: string): string =>
  digestOf({ policy_version: policyVersion, subject });

/**
 * What contradicts itself in the terms, by field; for the start of the work, where it can still be refused.
 * The one who started the work does not count among the approvers.
 */
export const approvalFaults = (terms: ApprovalTerms): { field: keyof ApprovalTerms; message: string }[] => {
  const { needed, approvers, startedBy, escalateAfterMs, escalateTo } = terms;
  const faults: { field: keyof ApprovalTerms; message: string }[] = [];
  const distinct = (names: readonly string[]): string[] =>
    names.filter(
      (name, index) =>
        names.findIndex((other) => sameWord(other, name)) === index &&
        !(startedBy !== null && sameWord(startedBy, name)),
    );
  if (!Number.isInteger(needed) || needed < 1)
    faults.push({ field: 'needed', message: `must be a whole number of at least 1; got ${needed}` });
  if (approvers !== null) {
    const able = distinct([...approvers, ...escalateTo]);
    if (needed > able.length) {
      const without = startedBy === null ? '' : `, not counting ${startedBy}, who started the work`;
      faults.push({
        field: 'needed',
        message: `must be at most the number of different approvers${without}: ${able.length}; got ${needed}`,
      });
    }
  }
  if (escalateTo.length > 0 && escalateAfterMs === null)
    faults.push({ field: 'escalateAfterMs', message: 'is missing: say after how long the others are asked' });
  if (escalateTo.length === 0 && escalateAfterMs !== null)
    faults.push({ field: 'escalateTo', message: 'is missing: say who else is asked then' });
  if (escalateAfterMs !== null && terms.timeoutMs !== null && escalateAfterMs >= terms.timeoutMs)
    faults.push({
      field: 'escalateAfterMs',
      message: `must be below the timeout of ${terms.timeoutMs} ms; got ${escalateAfterMs}`,
    });
  return faults;
};

/**
 * An approval that waits from `now` (ms since 1970) on (spec 08 "Approvals as evidence").
 * @throws ParleyError invalid_request when the terms contradict themselves; see `approvalFaults`
 */
export const openApproval = (open: OpenApproval, now: number): Approval => {
  const faults = approvalFaults(open);
  if (faults.length > 0) {
    const words = faults.map(({ field, message }) => `${field} ${message}`).join('; ');
    throw new ParleyError('invalid_request', `The terms of the approval have faults: ${words}.`);
  }
  const feedback = openFeedback(
    { ...open, type: 'approval', digest: approvalDigest(open.subject, open.policyVersion), onTimeout: 'reject' },
    now,
  );
  return {
    ...feedback,
    outcome: 'pending',
    policy_version: open.policyVersion,
    needed: open.needed,
    approvers: open.approvers === null ? null : [...open.approvers],
    started_by: open.startedBy,
    requires_authentication: open.requiresAuthentication,
    escalate_at: open.escalateAfterMs === null ? null : new Date(now + open.escalateAfterMs).toISOString(),
    escalate_to: [...open.escalateTo],
    escalated: false,
    used_at: null,
  };
};

export type ApprovalEvent =
  | { type: 'answer'; given: GivenFeedback }
  /** Time has passed. */
  | { type: 'tick' }
  /** What it was about is cancelled or has changed: the approval is void, and what it approved must be asked again. */
  | { type: 'void' };

export interface ApprovalStep {
  approval: Approval;
  outcome: ApprovalOutcome;
  /** Why the answer changed nothing; null when it counted, or there was none. */
  refused: FeedbackRefusal | null;
  /** The answer had counted before: an approver counts once, and sending an answer again is no fault. */
  repeated: boolean;
  /** Whether this step is the one in which the others were asked as well. */
  escalated: boolean;
}

const outcomes: Record<string, ApprovalOutcome> = {
  approve: 'approved',
  request_changes: 'changes_requested',
  reject: 'rejected',
};

/** Whoever may answer now, or null for whoever may approve at all. */
export const currentApprovers = ({ approvers, escalated, escalate_to: others }: Approval): string[] | null =>
  approvers === null ? null : escalated ? [...approvers, ...others] : approvers;

const list = (names: readonly string[]): string => names.join(', ');

/** Why this person's answer does not count, or null. Whoever started the work may still reject it or ask for changes. */
const personFault = (approval: Approval, answer: FeedbackAnswer): FeedbackRefusal | null => {
  const { provided_by: name, authenticated, source } = answer;
  const id = approval.request.request_id;
  if (approval.requires_authentication && !authenticated) {
    return {
      code: 'unauthenticated',
      message: `${id} takes only answers given with a key, by HTTP, the CLI or the page; this one came ${source === 'signal' ? 'as a signal' : 'without one'}.`,
    };
  }
  const startedBy = approval.started_by;
  if (answer.response === 'approve' && startedBy !== null && sameWord(startedBy, name)) {
    return {
      code: 'self_approval',
      message: `${name} started this work and may not approve it; someone else has to answer ${id}.`,
    };
  }
  const able = currentApprovers(approval);
  if (able !== null && !able.some((other) => sameWord(other, name))) {
    return {
      code: 'not_an_approver',
      message: `${name} is none of those who may answer ${id}: ${list(able)}.`,
    };
  }
  return null;
};

/** How many different people have approved so far. */
export const approvalsGiven = ({ answers }: Approval): number =>
  answers.filter(({ response }) => response === 'approve').length;

const decided = (approval: Approval, outcome: ApprovalOutcome, now: number): Approval =>
  closeFeedback(
    { ...approval, outcome },
    outcome === 'expired' ? 'expired' : outcome === 'void' ? 'void' : 'answered',
    now,
  );

/** What time alone does: it expires, or the others are asked too. */
const settled = (approval: Approval, now: number): Approval => {
  if (approval.state !== 'open') return approval;
  if (isExpired(approval, now)) return decided(approval, 'expired', now);
  const escalateAt = timeOf(approval.escalate_at);
  return escalateAt !== null && now >= escalateAt ? { ...approval, escalated: true } : approval;
};

const answered = (
  approval: Approval,
  given: GivenFeedback,
  now: number,
): Omit<ApprovalStep, 'outcome' | 'escalated'> => {
  if (isRepeat(approval, given)) return { approval, refused: null, repeated: true };
  const answer = checkFeedback(approval, given, now);
  const refused = isRefusal(answer) ? answer : personFault(approval, answer);
  if (refused !== null || isRefusal(answer)) {
    const why = refused ?? (answer as FeedbackRefusal);
    return { approval: withRefusal(approval, given, why, now), refused: why, repeated: false };
  }
  const counted: Approval = { ...approval, answers: [...approval.answers, answer] };
  const outcome = outcomes[answer.response] ?? 'pending';
  const isDecided = outcome !== 'approved' || approvalsGiven(counted) >= counted.needed;
  return { approval: isDecided ? decided(counted, outcome, now) : counted, refused: null, repeated: false };
};

/**
 * One answer, or the passing of time. The first reject or request for changes decides; `needed` different people approve
 * it together. Pure: the same events at the same times give the same approval.
 */
export const stepApproval = (before: Approval, event: ApprovalEvent, now: number): ApprovalStep => {
  const timely = settled(before, now);
  const escalated = timely.escalated && !before.escalated;
  const still = { refused: null, repeated: false };
  const step =
    event.type === 'answer'
      ? answered(timely, event.given, now)
      : {
          approval: event.type === 'void' && timely.state === 'open' ? decided(timely, 'void', now) : timely,
          ...still,
        };
  return { ...step, outcome: step.approval.outcome, escalated };
};

/**
 * Uses an approval for what is about to begin, once. Content that has changed since, a new policy, a second use and a use
 * after its time are refused.
 */
export const useApproval = (
  approval: Approval,
  { subject, policyVersion }: { subject: object; policyVersion: string },
  now: number,
): { approval: Approval; refused: string | null } => {
  const { request, outcome, used_at: usedAt } = approval;
  const id = request.request_id;
  const why = (): string | null => {
    if (outcome !== 'approved') return `${id} is ${outcome}, not approved.`;
    if (usedAt !== null) return `${id} was used at ${usedAt} and serves once; ask again.`;
    if (isExpired(approval, now)) return `${id} expired at ${request.expires_at}; ask again.`;
    const digest = approvalDigest(subject, policyVersion);
    return digest === request.digest
      ? null
      : `${id} approves the content with the digest ${request.digest}; this has ${digest}. The approval is void; ask again.`;
  };
  const refused = why();
  return refused === null
    ? { approval: { ...approval, used_at: new Date(now).toISOString() }, refused }
    : { approval, refused };
};

/** When the approval needs a tick (ms since 1970): its escalation, then its end; null: never. */
export const nextApprovalDue = (approval: Approval): number | null => {
  if (approval.state !== 'open') return null;
  const due = [approval.escalated ? null : timeOf(approval.escalate_at), timeOf(approval.request.expires_at)];
  const times = due.filter((time) => time !== null);
  return times.length > 0 ? Math.min(...times) : null;
};

/** Who can answer, in words, for the waiting record (spec 08). */
export const whoCanApprove = (approval: Approval): string => {
  const able = currentApprovers(approval);
  const starter = approval.started_by === null ? '' : ` (not ${approval.started_by}, who started it)`;
  const left = approval.needed - approvalsGiven(approval);
  const who = able === null ? `whoever may approve${starter}` : `${list(able)}${starter}`;
  return approval.needed > 1 ? `${left} more of: ${who}` : who;
};
