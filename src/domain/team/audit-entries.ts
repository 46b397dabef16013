import type { AuditEntry } from '../../contracts/audit.js';
import type { Json } from '../../contracts/frames.js';
import type { Approval } from '../../contracts/feedback.js';
import { approvalEntries, type EntryOf } from '../approval-entries.js';
import type { AccountLimits } from '../ledger/state.js';
import { limitsOnWire } from './budget-asks.js';
import { ownerOf } from './spending.js';
import type { BudgetAsk, TeamState, ToolAsk } from './state.js';

/** What was asked about. Arguments of a call stand there by the digest alone, as they may hold secrets. */
const about = (ask: ToolAsk | BudgetAsk | null, granted: AccountLimits | null): AuditEntry['data'] => {
  if (!ask) return {};
  if ('accountId' in ask)
    return {
      about: 'budget',
      agent_id: ownerOf(ask.accountId),
      ...(ask.asked && { asked: ask.asked as Json }),
      granted: granted && limitsOnWire(granted),
    };
  const { agentId, run, callId, name } = ask;
  return { about: 'call', agent_id: agentId, turn: run, call_id: callId, tool: name };
};

/**
 * What the audit log gets of one request of a team that is closed: what was approved, under which rules and by whom (spec 08 "Approvals as
 * evidence"). Each entry is written once by its key, which is another one after a return to an earlier point.
 */
export const auditOf = (
  { setup, wentBack = 0 }: TeamState,
  approval: Approval,
  ask: ToolAsk | BudgetAsk | null,
  granted: AccountLimits | null,
): AuditEntry[] => {
  const { request_id: id } = approval.request;
  const more = about(ask, granted);
  const entry: EntryOf = (name, type, data) => ({
    key: `${setup.id} ${setup.traceId} ${wentBack} ${id} ${name}`,
    work_id: setup.id,
    kind: 'team',
    tenant: setup.tenant,
    trace_id: setup.traceId,
    type,
    data: { ...data, ...more },
  });
  return approvalEntries(approval, 1, entry);
};
