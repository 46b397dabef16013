import type { SandboxOptions } from '../../contracts/execution.js';
import type { FeedbackOptionBody } from '../../contracts/feedback.js';
import type { Json } from '../../contracts/frames.js';
import type { Task } from '../../contracts/plan.js';
import type { DebateSetup } from '../debate/setup.js';
import type { FanOutSetup } from '../fan-out/setup.js';
import type { RefinementSetup } from '../refinement/setup.js';
import type { SessionSetup } from '../session/setup.js';
import type { TeamSetup } from '../team/setup.js';
import type { WebhookSetup } from '../webhook/setup.js';
import type { WorkLimits } from '../work-account.js';

/** A piece of work of its own that a step starts, with everything decided that its start decides. */
interface Started<Kind extends string, Setup> {
  kind: Kind;
  /** With the id of the first try; a later one has its number added. */
  setup: Setup;
  /** The body that would start it by itself. */
  request: Json;
  bodyHash: string;
  /** What an operator sees in a list. */
  summary: string;
}

export type StartedWork =
  | Started<'session', SessionSetup>
  | Started<'debate', DebateSetup>
  | Started<'fan-out', FanOutSetup>
  | Started<'refinement', RefinementSetup>
  | Started<'team', TeamSetup>;
export type StartedKind = StartedWork['kind'];

/** What a step does. */
export type StepWork = StartedWork | { kind: 'command'; task: Task; sandbox: SandboxOptions } | { kind: 'gate' };

export interface GateSetup {
  type: 'approval' | 'choice' | 'input';
  prompt: string;
  /** null: those of the type. */
  options: FeedbackOptionBody[] | null;
  /** null: it waits for ever. */
  timeoutMs: number | null;
  /** What a timeout counts as; null: there is none. */
  onTimeout: string | null;
  /** Of an approval: how many people have to give it; left out: one. */
  needed?: number;
  /** Who may answer; left out: whoever may approve at all. */
  approvers?: string[];
  /** Milliseconds after which `escalateTo` may answer too; left out: never. */
  escalateAfterMs?: number;
  escalateTo?: string[];
}

export interface StepSetup {
  phase: string;
  name: string;
  work: StepWork;
  onError: 'fail' | 'ask';
  gate: GateSetup | null;
}

/** Where a run works: a worktree of a repository on its branch, a copy of a folder, or an empty folder. */
export type RunWorkspace =
  | { from: 'repo'; repo: string; branch: string }
  | { from: 'copy'; path: string }
  | { from: 'nothing' };

export interface RunSetup {
  id: string;
  tenant: string;
  labels: Record<string, string>;
  /** 32 hex digits; the work that its steps start has the same. */
  traceId: string;
  webUiUrl: string;
  /** What it works on, as people name it. */
  workId: string;
  workspace: RunWorkspace;
  /** Of all phases, in order. */
  steps: StepSetup[];
  budget: WorkLimits;
  /** Name of the key that started it, who may not approve its gates; null: not known. */
  startedBy: string | null;
  /** Whether only approvals given with a key count. */
  requiresAuthentication: boolean;
  /** Of the coordinator that has started it, which is told where it stands; left out: nobody has. */
  coordinatorId?: string;
  /** Who is told what becomes of it; left out: nobody. */
  webhooks?: WebhookSetup[];
}
