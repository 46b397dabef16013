import type { Adapter } from '../../contracts/adapter.js';
import type { ErrorCode } from '../errors.js';
import type { LaneSpec, OpenSession, SessionPolicy, Tier } from '../../contracts/session.js';
import type { WebhookSetup } from '../webhook/setup.js';

/** Money in millionths of a US dollar: whole numbers add up without rounding. */
export interface Amount {
  tokens: number;
  usdMicros: number;
}

/** Why a call is not allowed, in words that say what would be. */
export interface SetupFault {
  code: ErrorCode;
  message: string;
}

/** One call of an agent, with everything decided that depends on the operator's configuration. */
export interface CallSetup {
  adapter: Adapter;
  /** What a person calls it: "scripted", "openai gpt-…", "command grep". */
  adapterName: string;
  /** Lanes of one agent share its control status (DRAINING refuses the next call to it). */
  adapterKey: string;
  estimate: Amount;
  /** Why it is refused whatever the window and the budget: policy (ESEC), no price (EBUDGET); []: allowed. */
  faults: SetupFault[];
}

/** A lane with everything decided that depends on the operator's configuration, so that the workflow needs none of it. */
export interface LaneSetup extends CallSetup {
  laneId: string;
  /** 1 for the first or only clone. */
  clone: number;
  personaId: string;
  /** The request's own, as the template shapes them. */
  instructions: string | null;
  /** After which of its ends there is a checkpoint (spec 10 "Agent template"); left out: after each. */
  checkpointTriggers?: ('on_complete' | 'on_error')[];
  diversitySeed: number;
  tier: Tier;
  /** Persona weight x tier weight, and once memory was asked x reputation (spec 01 "Agreement and answers"). */
  weight: number;
  timeoutMs: number | null;
}

/** The window the operator grants a session; Infinity does not survive JSON, so null is "no limit". */
export interface WindowLimits {
  maxParallel: number | null;
  maxTokens: number | null;
  maxUsdMicros: number | null;
}

export interface SessionSetup {
  id: string;
  tenant: string;
  labels: Record<string, string>;
  traceId: string;
  prompt: string;
  policy: SessionPolicy;
  budget: { maxTokens: number | null; maxUsdMicros: number | null };
  window: WindowLimits;
  lanes: LaneSetup[];
  escalation: LaneSetup | null;
  judge: CallSetup | null;
  arbiter: CallSetup | null;
  merge: CallSetup | null;
  /** Where a person sees this session in Temporal's Web UI. */
  webUiUrl: string;
  /** Who is told what becomes of it; left out: nobody. */
  webhooks?: WebhookSetup[];
}

/** The operator's side of planning; the gateway makes one from its configuration. */
export interface Operator {
  /** Why `tenant` may not use this adapter at this tier, or null (spec 01 policy_ok). */
  policyFault(tenant: string, adapter: Adapter, tier: Tier): string | null;
  /** What one call is likely to use, guard-banded by tier (details 1.6), or why it cannot be priced. */
  estimate(adapter: Adapter, prompt: string, tier: Tier): Amount | { unpriced: string };
  window(tenant: string): WindowLimits;
}

export type { LaneSpec, OpenSession };
