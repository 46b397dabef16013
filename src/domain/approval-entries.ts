import type { AuditEntry } from '../contracts/audit.js';
import type { Approval, Feedback } from '../contracts/feedback.js';

/** Makes an entry of one piece of work; the name makes its key. */
export type EntryOf = (name: string, type: string, data: AuditEntry['data']) => AuditEntry;

const isApproval = (asked: Feedback | Approval): asked is Approval => 'outcome' in asked;

const given = ({ answers }: Feedback): AuditEntry['data'][string] =>
  answers.map(({ response, provided_by, authenticated, source, parsed_at }) => ({
    response,
    provided_by,
    authenticated,
    source,
    parsed_at,
  }));

/** What was asked, and what became of it. */
export const approvalEntries = (approval: Approval, number: number, entry: EntryOf): AuditEntry[] => {
  const { request, outcome, used_at: usedAt } = approval;
  return [
    entry(`approval ${number} requested`, 'approval.requested', {
      request_id: request.request_id,
      digest: request.digest,
      at: request.opened_at,
      policy_version: approval.policy_version,
      needed: approval.needed,
      approvers: approval.approvers,
      started_by: approval.started_by,
    }),
    entry(`approval ${number} closed`, 'approval.closed', {
      request_id: request.request_id,
      digest: request.digest,
      outcome,
      used_at: usedAt,
      escalated_to: approval.escalated ? approval.escalate_to : [],
      answers: given(approval),
    }),
  ];
};

/**
 * What the audit log gets of what people were asked: of an approval all that shows offline what was approved, under which
 * rules and by whom (spec 08 "Approvals as evidence"); of any other request how it was answered.
 */
export const askedEntries = (asked: readonly (Feedback | Approval)[], entry: EntryOf): AuditEntry[] =>
  asked.flatMap((one, index) => {
    if (isApproval(one)) return approvalEntries(one, index + 1, entry);
    const { request, state } = one;
    return [
      entry(`request ${index + 1} closed`, 'feedback.closed', {
        request_id: request.request_id,
        asked: request.type,
        at: request.opened_at,
        state,
        counted_as: state === 'expired' ? request.on_timeout : null,
        answers: given(one),
      }),
    ];
  });
