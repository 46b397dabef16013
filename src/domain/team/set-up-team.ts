import type { Adapter } from '../../contracts/adapter.js';
import type { OpenTeam, TeamAgentBody } from '../../contracts/team.js';
import { approvalFaults } from '../approval.js';
import { approvalFields, approvalTerms } from '../debate/approval-terms.js';
import type { DebateIdentity, PathFault } from '../debate/set-up-debate.js';
import { pricedCall } from '../priced-call.js';
import type { Operator } from '../session/setup.js';
import type { CallPrice } from './accounts.js';
import { answering } from './answering.js';
import { type AgentPlan, limitsOf, liteAgentsOf, maxConcurrentOf, planOf, type TeamSetup } from './setup.js';

/** What the operator's configuration says of teams. */
export interface TeamOperator extends Operator {
  /** Agents at once where a request names no number (PARLEY_MAX_CONCURRENT_TASKS). */
  maxConcurrent: number;
  backgroundAllowed: boolean;
  windowTokens: number | null;
  explorer: Adapter | null;
}

/** Scripts, simulations and hosted models end where they are told to; of whoever else answers nobody knows what it will use. */
const capped: readonly Adapter['kind'][] = ['scripted', 'simulated', 'openai', 'anthropic', 'openai-compatible'];

/** What calls of an agent's model may use, as a rule and at most. */
const priceOf = (operator: Operator, tenant: string, adapter: Adapter): CallPrice => ({
  likely: pricedCall(operator, tenant, adapter).priced,
  // The answer at its longest: its mean and two deviations.
  most: pricedCall(operator, tenant, adapter, 'gold').priced,
  isCapped: capped.includes(adapter.kind),
});

const adapterFaults = (operator: Operator, tenant: string, adapter: Adapter | undefined, path: string): PathFault[] =>
  adapter === undefined
    ? []
    : pricedCall(operator, tenant, adapter).faults.map((message) => ({ path: `${path}.adapter`, message }));

/** Agents that are to be spawned, or every fault by its path within `path`. */
export const plansOf = (
  bodies: readonly TeamAgentBody[],
  tenant: string,
  operator: Operator,
  path: (index: number) => string,
): { plans: AgentPlan[] } | { faults: PathFault[] } => {
  const faults = bodies.flatMap(({ adapter, model_overrides: overrides }, index) =>
    adapterFaults(operator, tenant, adapter && answering(adapter, overrides), path(index)),
  );
  return faults.length > 0
    ? { faults }
    : {
        plans: bodies.map((body) => {
          const plan = planOf(body);
          if (!body.adapter) return plan;
          return { ...plan, price: priceOf(operator, tenant, answering(body.adapter, body.model_overrides)) };
        }),
      };
};

/**
 * Everything about a team that depends on the operator's configuration, decided once; each fault stands against the start (spec 00),
 * by path.
 */
export const setUpTeam = (
  request: OpenTeam,
  { startedBy, requiresAuthentication, ...identity }: DebateIdentity,
  operator: TeamOperator,
): { setup: TeamSetup } | { faults: PathFault[] } => {
  const { tenant, budget, workspace, sandbox } = request;
  const agents = plansOf(request.agents, tenant, operator, (index) => `agents[${index}]`);
  const policy = { ...request.approval, required: true };
  const approval = approvalTerms(policy, startedBy, requiresAuthentication);
  const faults = [
    ...approvalFaults(approval).map(({ field, message }) => ({ path: `approval.${approvalFields[field]}`, message })),
    ...('faults' in agents ? agents.faults : []),
    ...request.lite_agents.flatMap(({ adapter }, index) =>
      adapterFaults(operator, tenant, adapter, `lite_agents[${index}]`),
    ),
  ];
  if ('faults' in agents || faults.length > 0) return { faults };
  return {
    setup: {
      ...identity,
      tenant,
      labels: request.labels,
      maxConcurrent: maxConcurrentOf(request.max_concurrent, operator.maxConcurrent),
      keepOpen: request.keep_open,
      subagentsEnabled: request.subagents_enabled,
      backgroundAllowed: operator.backgroundAllowed,
      windowTokens: operator.windowTokens,
      explorer: operator.explorer,
      ...(operator.explorer && { explorerPrice: priceOf(operator, tenant, answering(operator.explorer, {})) }),
      agents: agents.plans,
      liteAgents: liteAgentsOf(request.lite_agents),
      budget: limitsOf(budget),
      approval,
      ...(workspace && { workspace: { path: workspace.path, isReadOnly: workspace.read_only } }),
      ...(sandbox && { sandbox }),
    },
  };
};
