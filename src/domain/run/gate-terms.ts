import type { GateBody } from '../../contracts/run.js';
import type { ApprovalTerms } from '../approval.js';
import type { GateSetup } from './setup.js';

/** Who has to approve at a gate, and by when. */
export const gateTerms = (
  gate: GateSetup,
  startedBy: string | null,
  requiresAuthentication: boolean,
): ApprovalTerms => ({
  needed: gate.needed ?? 1,
  approvers: gate.approvers ?? null,
  startedBy,
  requiresAuthentication,
  timeoutMs: gate.timeoutMs,
  escalateAfterMs: gate.escalateAfterMs ?? null,
  escalateTo: gate.escalateTo ?? [],
});

/** What a definition says of a gate, as it is set up. */
export const gateSetup = (gate: GateBody): GateSetup => ({
  type: gate.type,
  prompt: gate.prompt,
  options: gate.options ?? null,
  timeoutMs: gate.timeout_ms ?? null,
  onTimeout: gate.on_timeout ?? (gate.timeout_ms !== undefined && gate.type === 'approval' ? 'reject' : null),
  ...(gate.k !== undefined && { needed: gate.k }),
  ...(gate.approvers !== undefined && { approvers: gate.approvers }),
  ...(gate.escalate_after_ms !== undefined && { escalateAfterMs: gate.escalate_after_ms }),
  ...(gate.escalate_to !== undefined && { escalateTo: gate.escalate_to }),
});

/** Fields of a gate that only an approval has. */
export const approvalOnly = ['k', 'approvers', 'escalate_after_ms', 'escalate_to'] as const;

/** Where a fault of the terms stands in a gate. */
export const gateFields: Readonly<Record<keyof ApprovalTerms, keyof GateBody>> = {
  needed: 'k',
  approvers: 'approvers',
  startedBy: 'approvers',
  requiresAuthentication: 'approvers',
  timeoutMs: 'timeout_ms',
  escalateAfterMs: 'escalate_after_ms',
  escalateTo: 'escalate_to',
};
