import type { ApprovalPolicy } from '../../contracts/feedback.js';
import type { ApprovalTerms } from '../approval.js';

/** What a request says of its human gate, as the terms of an approval. */
export const approvalTerms = (
  policy: ApprovalPolicy,
  startedBy: string | null,
  requiresAuthentication: boolean,
): ApprovalTerms => ({
  needed: policy.k,
  approvers: policy.approvers ?? null,
  startedBy,
  requiresAuthentication,
  timeoutMs: policy.timeout_ms,
  escalateAfterMs: policy.escalate_after_ms ?? null,
  escalateTo: policy.escalate_to ?? [],
});

/** Where a fault of the terms stands in the request. */
export const approvalFields: Readonly<Record<keyof ApprovalTerms, keyof ApprovalPolicy>> = {
  needed: 'k',
  approvers: 'approvers',
  startedBy: 'approvers',
  requiresAuthentication: 'approvers',
  timeoutMs: 'timeout_ms',
  escalateAfterMs: 'escalate_after_ms',
  escalateTo: 'escalate_to',
};
