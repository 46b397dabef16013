import type { Adapter } from '../../contracts/adapter.js';
import type {
  AggregationStrategy,
  BarrierPolicy,
  ConflictResolution,
  FanOutPolicy,
  InputArtifact,
} from '../../contracts/fan-out.js';
import type { Json } from '../../contracts/frames.js';
import type { Criterion } from '../../contracts/rubric.js';
import type { AgreementPolicy } from '../../contracts/session.js';
import type { SessionContext } from '../../contracts/session-context.js';
import type { BoundedCall } from '../call-most.js';
import type { WebhookSetup } from '../webhook/setup.js';
import type { WorkLimits } from '../work-account.js';

/** Who is asked, with what it is likely to cost. */
export interface PricedAdapter extends BoundedCall {
  adapter: Adapter;
  adapterName: string;
}

/** An agent that tasks go to, with everything decided that depends on the operator. */
export interface WorkerAgent {
  agentId: string;
  /** null: each of its tasks brings its own adapter. */
  caller: PricedAdapter | null;
  /** As its template shapes them; "": none. */
  instructions: string;
  cognitiveMode: SessionContext['cognitive_mode'] | null;
  /** Under which its answer stands in the combined value; null: at the top. */
  outputKey: string | null;
  /** A JSON Schema that its answers have to fit; null: any answer does. */
  schema: Record<string, Json> | null;
  /** Whether its answers take part in fan-in (`aggregation_role` none: they do not). */
  takesPart: boolean;
  /** What of it stands in checkpoints (spec 10 "Agent template" `checkpoint`); left out: files up to 16 kB whole. */
  checkpoint?: CheckpointPolicy;
}

export interface CheckpointPolicy {
  /** After which of its turns there is one; null: after each. */
  triggers: ('on_complete' | 'on_error')[] | null;
  includeArtifacts: boolean;
  /** Files up to this many bytes stand there whole; larger ones stay references. */
  inlineBytes: number;
}

export interface WorkerTask {
  taskId: string;
  agentId: string;
  prompt: string;
  priority: number;
  inputs: InputArtifact[];
  /** In place of its agent's. */
  caller: PricedAdapter | null;
}

/** A call that serves the fan-in alone. */
export interface FanInCall extends PricedAdapter {
  agentId: string;
  instructions: string;
}

export interface FanInSetup {
  strategy: AggregationStrategy;
  resolution: ConflictResolution;
  functionName: string | null;
  agreement: AgreementPolicy;
  /** Who decides conflicts; null: nobody is asked. */
  orchestrator: FanInCall | null;
  quality: { critic: FanInCall; rubric: Criterion[]; threshold: number } | null;
}

export interface FanOutSetup {
  id: string;
  tenant: string;
  labels: Record<string, string>;
  /** 32 hex digits. */
  traceId: string;
  webUiUrl: string;
  strategy: FanOutPolicy['strategy'];
  maxConcurrent: number;
  overflow: FanOutPolicy['queue_overflow'];
  /** null: any number may wait. */
  queueLimit: number | null;
  agents: WorkerAgent[];
  tasks: WorkerTask[];
  barrier: BarrierPolicy;
  fanIn: FanInSetup;
  budget: WorkLimits;
  /** Who is told what becomes of it; left out: nobody. */
  webhooks?: WebhookSetup[];
}
