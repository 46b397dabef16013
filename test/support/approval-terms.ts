import type { ApprovalTerms } from '../../src/domain/approval.js';

/** One of anybody, whenever. */
export const oneOfAnybody: ApprovalTerms = {
  needed: 1,
  approvers: null,
  startedBy: null,
  requiresAuthentication: false,
  timeoutMs: null,
  escalateAfterMs: null,
  escalateTo: [],
};
