import type { Waiting } from '../../contracts/work.js';
import { whoCanApprove } from '../approval.js';
import { iso } from '../instant.js';
import { describeTenantWaits, type TenantWait, tenantWaitOf } from '../tenant-waits.js';
import { openGate } from './gate.js';
import type { DebateState, DebateWaiting, Pending } from './state.js';

/** The wait of the call under way for a person who answers for its tenant's budget; null: it does not wait so. */
export const awaitedBy = (debate: Pick<DebateState, 'pending' | 'tenantWaits'>): TenantWait | null =>
  debate.pending && tenantWaitOf(debate, String(debate.pending.id));

/** The one helper that says why a debate is not moving; null: it is over, or has not begun. */
export const waitingFor = (debate: DebateState): Omit<DebateWaiting, 'since'> | null => {
  const { state, pending, approvals } = debate;
  if (state === 'AWAITING_APPROVAL') return { for: 'person', on: 'approval', id: approvals.length };
  if (pending === null) return null;
  if (awaitedBy(debate)) return { for: 'person', on: 'tenant_budget', id: pending.id };
  return { for: pending.type === 'ask' ? 'lane' : 'worker', on: pending.type, id: pending.id };
};

const ofEffect = (pending: Pending): { detail: string; who: string } => {
  const worker = 'an operator: a worker has to be running';
  switch (pending.type) {
    case 'verify_identity':
      return { detail: 'a worker has not said yet whether it is the right one', who: worker };
    case 'load_context':
      return { detail: 'the memory is being read', who: worker };
    case 'ask': {
      const again = pending.attempt === 2 ? ', asked again as its answer could not be read' : '';
      const what = pending.purpose === 'statement' ? `statement in pass ${pending.pass}` : pending.purpose;
      return { detail: `the ${what} of ${pending.role}${again}`, who: 'its agent, its time limit, or a cancel' };
    }
    case 'take_snapshot':
      return { detail: 'the workspace is being snapshotted, as soon as no other work changes it', who: worker };
    case 'run_task':
      return { detail: `task ${pending.task.task_id} runs`, who: 'the task, its time limit, or a cancel' };
    case 'check_health':
      return { detail: 'the health check runs', who: 'the check, its time limit, or a cancel' };
    case 'undo_task':
      return { detail: `task ${pending.task.task_id} is being undone`, who: 'the undo, or its time limit' };
    case 'restore_snapshot':
      return { detail: 'the workspace is being restored', who: worker };
    case 'store_trace':
      return { detail: 'the debate is being remembered', who: worker };
    case 'mirror_trace':
      return { detail: 'the shared memory is being written', who: worker };
    case 'audit':
      return { detail: 'the audit log is being written', who: worker };
  }
};

export const describeWaiting = (debate: DebateState): Waiting | null => {
  const { waiting, pending } = debate;
  if (!waiting) return null;
  const awaited = awaitedBy(debate);
  if (waiting.on === 'tenant_budget' && awaited) return describeTenantWaits([awaited]);
  const gate = openGate(debate);
  const { detail, who } =
    waiting.on === 'approval' && gate
      ? { detail: `approval ${gate.request.request_id}, until ${gate.request.expires_at}`, who: whoCanApprove(gate) }
      : pending
        ? ofEffect(pending)
        : { detail: '', who: '' };
  return { for: waiting.for, since: iso(waiting.since), detail, who_can_unblock: who };
};
