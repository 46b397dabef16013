import type { Waiting } from '../../contracts/work.js';
import { iso } from '../instant.js';
import { describeTenantWaits, type TenantWait, tenantWaitOf } from '../tenant-waits.js';
import { callDue } from './calls.js';
import { roleOf } from './effects.js';
import type { RefinementState } from './state.js';

/** The wait of the call under way for a person who answers for its tenant's budget; null: it does not wait so. */
export const awaitedBy = (refinement: Pick<RefinementState, 'pending' | 'tenantWaits'>): TenantWait | null =>
  refinement.pending && tenantWaitOf(refinement, String(refinement.pending.id));

/** Why a refinement is not moving; null: it is over, or has not begun (spec 08). */
export const describeWaiting = (refinement: RefinementState): Waiting | null => {
  const { pending, waitingSince, setup } = refinement;
  if (pending === null || waitingSince === null) return null;
  const awaited = awaitedBy(refinement);
  if (awaited) return describeTenantWaits([awaited]);
  const role = roleOf(pending);
  const again = pending.attempt === 2 ? ', asked again as its answer held no valid score' : '';
  return {
    for: 'lane',
    since: iso(waitingSince),
    detail: `the ${role} "${setup[role].agentId}" in iteration ${pending.iteration}${again}, until ${iso(callDue(refinement))}`,
    who_can_unblock: 'its agent, its time limit, or a cancel',
  };
};
