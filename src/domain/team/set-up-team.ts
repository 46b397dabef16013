import type { Adapter } from '../../contracts/adapter.js';
import type { OpenTeam, TeamAgentBody } from '../../contracts/team.js';
import { approvalFaults } from '../approval.js';
import { usualCharacters } from '../budget.js';
import { approvalFields, approvalTerms } from '../debate/approval-terms.js';
import type { DebateIdentity, PathFault } from '../debate/set-up-debate.js';
import { pricedCall } from '../priced-call.js';
import type { Operator } from '../session/setup.js';
import type { CallPrice, CheaperModel } from './accounts.js';
import { answering } from './answering.js';
import { isHosted } from './overrides.js';
import { type AgentPlan, budgetOf, liteAgentsOf, maxConcurrentOf, planOf, type TeamSetup } from './setup.js';
import { startFaults } from './start-faults.js';
import { backgroundIsOff } from './words.js';

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
  ...((adapter.kind === 'scripted' || adapter.kind === 'simulated') && { leastCharacters: usualCharacters }),
});

const adapterFaults = (operator: Operator, tenant: string, adapter: Adapter | undefined, path: string): PathFault[] =>
  adapter === undefined
    ? []
    : pricedCall(operator, tenant, adapter).faults.map((message) => ({ path: `${path}.adapter`, message }));

/** A model by the path at which it is named. */
interface NamedModel {
  model: string;
  path: string;
}

/** The cheaper model of an agent: its own, else that of the nearest agent above it in the same request, else that of the team. */
const cheaperNamed = (
  bodies: readonly TeamAgentBody[],
  { index, path, ofTeam }: { index: number; path: (index: number) => string; ofTeam: NamedModel | null },
): NamedModel | null => {
  const body = bodies[index];
  const model = body?.budget?.cheaper_model;
  if (model !== undefined) return { model, path: `${path(index)}.budget.cheaper_model` };
  // A parent stands before its children.
  const parent = bodies.findIndex(({ agent_id: id }) => id === body?.parent);
  return parent === -1 || parent >= index ? ofTeam : cheaperNamed(bodies, { index: parent, path, ofTeam });
};

/** What an agent is asked with in place of its own model, with its price; null: its own. */
const cheaperOf = (
  operator: Operator,
  tenant: string,
  { adapter, model_overrides: overrides }: Pick<TeamAgentBody, 'adapter' | 'model_overrides'>,
  named: NamedModel | null,
): { cheaper: CheaperModel | null; faults: PathFault[] } => {
  if (!named || !adapter || !isHosted(adapter)) return { cheaper: null, faults: [] };
  const { model, path } = named;
  const asked = answering(adapter, { ...overrides, model });
  const faults = pricedCall(operator, tenant, asked).faults.map((message) => ({ path, message }));
  return { cheaper: { model, price: priceOf(operator, tenant, asked) }, faults };
};

/** One that names a model of its own and is answered for by its parent, whoever that is. */
const orphanFaults = ({ adapter, budget }: TeamAgentBody, path: string): PathFault[] =>
  adapter === undefined && budget?.cheaper_model !== undefined
    ? [
        {
          path: `${path}.budget.cheaper_model`,
          message: 'needs an adapter beside it, whose model it takes the place of',
        },
      ]
    : [];

const backgroundFaults = (
  { background }: TeamAgentBody,
  { backgroundAllowed }: Pick<TeamOperator, 'backgroundAllowed'>,
  path: string,
): PathFault[] =>
  background && !backgroundAllowed
    ? [{ path: `${path}.background`, message: `must be false, or be left out: ${backgroundIsOff}` }]
    : [];

/** Each fault once, however many agents have it. */
const distinct = (faults: readonly PathFault[]): PathFault[] =>
  faults.filter(
    ({ path, message }, index) =>
      faults.findIndex((other) => other.path === path && other.message === message) === index,
  );

/** Agents that are to be spawned, or every fault by its path within `path`; `cheaperModel`: of their team, at `budget.cheaper_model`. */
export const plansOf = (
  bodies: readonly TeamAgentBody[],
  tenant: string,
  operator: Operator & Pick<TeamOperator, 'backgroundAllowed'>,
  path: (index: number) => string,
  cheaperModel?: string,
): { plans: AgentPlan[] } | { faults: PathFault[] } => {
  const ofTeam = cheaperModel === undefined ? null : { model: cheaperModel, path: 'budget.cheaper_model' };
  const cheapers = bodies.map((body, index) =>
    cheaperOf(operator, tenant, body, cheaperNamed(bodies, { index, path, ofTeam })),
  );
  const faults = bodies.flatMap((body, index) => [
    ...adapterFaults(operator, tenant, body.adapter && answering(body.adapter, body.model_overrides), path(index)),
    ...orphanFaults(body, path(index)),
    ...backgroundFaults(body, operator, path(index)),
  ]);
  faults.push(...distinct(cheapers.flatMap((cheaper) => cheaper.faults)));
  return faults.length > 0
    ? { faults }
    : {
        plans: bodies.map((body, index) => {
          const plan = { ...planOf(body), background: body.background ?? operator.backgroundAllowed };
          if (!body.adapter) return plan;
          const price = priceOf(operator, tenant, answering(body.adapter, body.model_overrides));
          const cheaper = cheapers[index]?.cheaper;
          return { ...plan, price, ...(cheaper && { cheaper }) };
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
  const { cheaper_model: cheaperModel } = budget;
  const agents = plansOf(request.agents, tenant, operator, (index) => `agents[${index}]`, cheaperModel);
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
  const setup: TeamSetup = {
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
    liteAgents: liteAgentsOf(request.lite_agents).map((lite) => ({
      ...lite,
      price: priceOf(operator, tenant, lite.adapter),
    })),
    budget: budgetOf(budget),
    approval,
    ...(workspace && { workspace: { path: workspace.path, isReadOnly: workspace.read_only } }),
    ...(sandbox && { sandbox }),
  };
  const refused = startFaults(setup);
  return refused.length > 0 ? { faults: refused } : { setup };
};
