import type { Adapter } from '../../contracts/adapter.js';
import type { SandboxOptions } from '../../contracts/execution.js';
import type { Json } from '../../contracts/frames.js';
import type { ApprovalRule, LiteAgentBody, TeamAgentBody, TeamBudgetBody } from '../../contracts/team.js';
import type { AgentTemplate } from '../../contracts/template.js';
import { micros } from '../budget.js';
import { ParleyError } from '../errors.js';
import type { ApprovalTerms } from '../approval.js';
import type { CallPrice, CheaperModel, TeamBudget } from './accounts.js';
import type { WebhookSetup } from '../webhook/setup.js';

/** How an agent stands to the context of others; ids are those of agents, null: of nobody. */
export interface SharingPlan {
  sessionOf: string | null;
  windowOf: string | null;
  /** Limit that a window of its own is asked to have, in tokens; null: that of its parent. */
  maxTokens: number | null;
}

/** An agent as it is to be spawned. */
export interface AgentPlan {
  agentId: string;
  role: string;
  /** null: no agent of the team. */
  parent: string | null;
  /** null: who answers for its parent. */
  adapter: Adapter | null;
  instructions: string;
  /** What it is given to know; left out: nothing. */
  context?: string[];
  template: AgentTemplate | null;
  /** That it may call; null: those by which agents concern each other. */
  tools: string[] | null;
  /** Calls that a person is asked about first; left out: none is. */
  approvals?: ApprovalRule[];
  /** null: it has nothing to do until it is asked. */
  prompt: string | null;
  background: boolean;
  /** Calls of its model for one question. */
  maxRounds: number;
  overrides: Record<string, Json>;
  metadata: Record<string, Json>;
  sharing: SharingPlan;
  /** What its calls may use; left out: nothing that is known before. */
  price?: CallPrice;
  /** What it is asked with once a budget is nearly used up; left out: its own model. */
  cheaper?: CheaperModel;
  /** Of the agent and those that it spawns together; left out: no limit of their own. */
  budget?: TeamBudget;
  /** The agent whose folder its tools work in; left out: its own. */
  folderOf?: string;
  /** It explores for its parent, and is cleaned up once that has its answer; left out: it stays until somebody cleans it up. */
  explores?: true;
}

export interface LiteAgent {
  liteId: string;
  role: string;
  adapter: Adapter;
  /** Of a call; left out: of a team of before it was held. */
  price?: CallPrice;
}

export interface TeamSetup {
  id: string;
  tenant: string;
  labels: Record<string, string>;
  /** 32 hex digits. */
  traceId: string;
  webUiUrl: string;
  /** At least 1. */
  maxConcurrent: number;
  keepOpen: boolean;
  subagentsEnabled: boolean;
  /** Whether agents may work in the background (PARLEY_USE_BACKGROUND_AGENTS). */
  backgroundAllowed: boolean;
  /** Most tokens that the context window of an agent without a parent holds; null: no limit. */
  windowTokens: number | null;
  /** Who explores for agents; null: who answers for the agent that asks. */
  explorer: Adapter | null;
  explorerPrice?: CallPrice;
  /** In the order in which they are spawned at the start. */
  agents: AgentPlan[];
  liteAgents: LiteAgent[];
  budget: TeamBudget;
  /** Who has to approve calls of tools that a person is asked about, and by when. */
  approval: ApprovalTerms;
  /** The folder that all agents work in; left out: each has its own. */
  workspace?: { path: string; isReadOnly: boolean };
  /** The run whose folder the workspace is, and where that is; left out: it is of no run. */
  ofRun?: { id: string; hostQueue: string };
  /** Of the commands of agents; left out: as the worker chooses, without network. */
  sandbox?: SandboxOptions;
  /** Who is told what becomes of it; left out: nobody. */
  webhooks?: WebhookSetup[];
  /** Events after which it and its turns continue as new even if Temporal does not suggest it; left out: when Temporal does. */
  continueAfterEvents?: number;
}

/** Agents at once where nobody says (spec 05). */
export const presetConcurrent = 10;

/**
 * Agents at once: of the request or else of the environment.
 * @throws ParleyError invalid_request, for a number below 1: nothing would ever run.
 */
export const maxConcurrentOf = (requested: number | undefined, fromEnvironment: number = presetConcurrent): number => {
  const chosen = requested ?? fromEnvironment;
  if (Number.isInteger(chosen) && chosen >= 1) return chosen;
  const whose = requested === undefined ? 'PARLEY_MAX_CONCURRENT_TASKS' : 'max_concurrent';
  throw new ParleyError('invalid_request', `${whose} must be a whole number of at least 1; got ${chosen}`);
};

const percent = (share: number): number => Math.round(share * 100);

/** A body's budget. */
export const budgetOf = (budget: TeamBudgetBody): TeamBudget => ({
  maxTokens: budget.max_tokens ?? null,
  maxUsdMicros: budget.max_usd === undefined ? null : micros(budget.max_usd),
  ...(budget.max_seconds !== undefined && { maxMs: budget.max_seconds * 1_000 }),
  ...(budget.warn_at !== undefined && { warnPercent: percent(budget.warn_at) }),
  ...(budget.cheaper_at !== undefined && { cheaperPercent: percent(budget.cheaper_at) }),
  ...(budget.cheaper_model !== undefined && { cheaperModel: budget.cheaper_model }),
  ...(budget.when_used_up === 'ask' && { asks: true }),
});

/** An agent of a body as it is spawned; `parent`: where the body names none. */
export const planOf = (body: TeamAgentBody, parent: string | null = null): AgentPlan => {
  const of = body.parent ?? parent;
  const sessionOf = body.share_session_with ?? (body.share_session ? of : null);
  // Who shares a session shares its window (details 3.2).
  const windowOf = sessionOf ?? body.share_context_window_with ?? (body.share_context_window ? of : null);
  return {
    agentId: body.agent_id,
    role: body.role,
    parent: of,
    adapter: body.adapter ?? null,
    instructions: body.instructions ?? '',
    ...(body.context && body.context.length > 0 && { context: body.context }),
    template: body.template ?? null,
    tools: body.tools ?? null,
    ...(body.approvals !== undefined && { approvals: body.approvals }),
    prompt: body.prompt ?? null,
    background: body.background ?? true,
    maxRounds: body.max_rounds,
    overrides: body.model_overrides,
    metadata: body.metadata,
    sharing: { sessionOf, windowOf, maxTokens: body.shared_context_window_max_tokens ?? null },
    ...(body.budget && { budget: budgetOf(body.budget) }),
  };
};

/** Lite agents with their ids: those that were given none are lite-<role>-<n>, n counting per role from 1 (details 3.4). */
export const liteAgentsOf = (bodies: readonly LiteAgentBody[]): LiteAgent[] => {
  const taken = new Set(bodies.flatMap(({ agent_id: id }) => id ?? []));
  const counts = new Map<string, number>();
  const nextId = (role: string): string => {
    const count = (counts.get(role) ?? 0) + 1;
    counts.set(role, count);
    const id = `lite-${role}-${count}`;
    return taken.has(id) ? nextId(role) : id;
  };
  return bodies.map(({ agent_id: id, role, adapter }) => ({ liteId: id ?? nextId(role), role, adapter }));
};
