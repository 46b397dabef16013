import type { Adapter } from '../../contracts/adapter.js';
import type { LoopControl, RefinementOutput } from '../../contracts/refinement.js';
import type { Criterion } from '../../contracts/rubric.js';
import type { BoundedCall } from '../call-most.js';
import type { WebhookSetup } from '../webhook/setup.js';
import type { WorkLimits } from '../work-account.js';

/** The generator or the critic with everything decided that depends on the operator's configuration. */
export interface AgentSetup extends BoundedCall {
  agentId: string;
  adapter: Adapter;
  /** What a person calls it. */
  adapterName: string;
  /** Built-in or the request's own, as the template shapes them. */
  instructions: string;
  /** 0 to 2: the adapter's own where it names one. */
  temperature: number;
  /** After which of its turns there is a checkpoint (spec 10 "Agent template"); left out: after each. */
  checkpointTriggers?: ('on_complete' | 'on_error')[];
}

export interface RefinementSetup {
  id: string;
  tenant: string;
  labels: Record<string, string>;
  /** 32 hex digits. */
  traceId: string;
  /** Where a person sees this refinement in Temporal's Web UI. */
  webUiUrl: string;
  task: string;
  generator: AgentSetup & {
    /** false: it is told neither scores nor feedback (spec 10 "Agent template"). */
    acceptsFeedback: boolean;
  };
  critic: AgentSetup;
  /** Weights sum to 1. */
  rubric: Criterion[];
  loop: LoopControl;
  output: RefinementOutput;
  budget: WorkLimits;
  /** Who is told what becomes of it; left out: nobody. */
  webhooks?: WebhookSetup[];
}
