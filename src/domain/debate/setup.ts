import type { DebateLimits, Healing, Locks, Role } from '../../contracts/debate.js';
import type { SandboxOptions } from '../../contracts/execution.js';
import type { ApprovalPolicy } from '../../contracts/feedback.js';
import type { Plan } from '../../contracts/plan.js';
import type { BoundedCall } from '../call-most.js';
import type { CallSetup } from '../session/setup.js';
import type { WebhookSetup } from '../webhook/setup.js';
import type { WorkLimits } from '../work-account.js';

/** A role with everything decided that depends on the operator's configuration, so that the workflow needs none of it. */
export interface RoleSetup extends BoundedCall, Omit<CallSetup, 'faults' | 'estimate'> {
  role: Role;
  personaId: string;
  /** Built-in, or the request's own, as the template shapes them. */
  instructions: string;
  /** After which of its calls there is a checkpoint (spec 10 "Agent template"); left out: after each. */
  checkpointTriggers?: ('on_complete' | 'on_error')[];
}

export interface DebateSetup {
  id: string;
  tenant: string;
  labels: Record<string, string>;
  /** 32 hex digits. */
  traceId: string;
  /** Where a person sees this debate in Temporal's Web UI. */
  webUiUrl: string;
  /** Name of the one who started it, who may not approve it; null: not known. */
  startedBy: string | null;
  /** Whether only people whose keys the gateway has checked may approve. */
  requiresAuthentication: boolean;
  task: string;
  workspace: { path: string; locks: Locks };
  roles: Record<Role, RoleSetup>;
  limits: DebateLimits;
  sandbox: SandboxOptions;
  approval: ApprovalPolicy;
  /** Left out: it began before healing had a time of its own, or a check. */
  healing?: Healing;
  /** The plan to start from; no tasks: the solution role proposes the first. */
  plan: Plan;
  budget: WorkLimits;
  /** A further pass is begun only where what is left is likely to pay for it. Left out: it began before that was asked. */
  passesArePaid?: true;
  /** The run that it is a step of, whose folder it works in, and where that is; left out: it is none. */
  ofRun?: { id: string; hostQueue: string };
  /** Who is told what becomes of it; left out: nobody. */
  webhooks?: WebhookSetup[];
}
