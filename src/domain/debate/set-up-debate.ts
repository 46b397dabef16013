import type { OpenDebate, Role } from '../../contracts/debate.js';
import { approvalFaults } from '../approval.js';
import { micros, noAmount } from '../budget.js';
import { adapterKey, adapterName, type SetupIdentity } from '../set-up-session.js';
import type { Amount, Operator } from '../session-setup.js';
import { tierRank } from '../tier.js';
import type { Tier } from '../../contracts/session.js';
import { approvalFields, approvalTerms } from './approval-terms.js';
import { builtInInstructions } from './roles.js';
import type { DebateSetup, RoleSetup } from './setup.js';

export interface DebateIdentity extends SetupIdentity {
  /** Name of the key that started it; null: not known. */
  startedBy: string | null;
  /** Whether the gateway has keys, so that approvals are told apart by them. */
  requiresAuthentication: boolean;
}

/** What stands against a start, by path of the request. */
export interface PathFault {
  path: string;
  message: string;
}

/** Roles have no tier; estimates take the middle guard band. */
const tier: Tier = 'silver';
const tiers = Object.keys(tierRank) as Tier[];

/** Two lengths of prompt, to see what a longer one costs more. */
const sampleCharacters = 100_000;
const sample = 'x'.repeat(sampleCharacters);

const per1000 = (short: Amount, long: Amount): Amount => ({
  tokens: ((long.tokens - short.tokens) * 1000) / sampleCharacters,
  usdMicros: ((long.usdMicros - short.usdMicros) * 1000) / sampleCharacters,
});

/**
 * Everything about a debate that depends on the operator's configuration, decided once, so that the workflow needs none of it
 * and a replay sees what was true at the start. All five roles have to speak, so that one whose adapter is not allowed or has
 * no price stands against the start: every such fault is named, and nothing is started (spec 00).
 */
export const setUpDebate = (
  request: OpenDebate,
  identity: DebateIdentity,
  operator: Operator,
): { setup: DebateSetup } | { faults: PathFault[] } => {
  const { tenant, budget } = request;
  const faults: PathFault[] = [];

  const role = (name: Role): RoleSetup => {
    const { adapter, persona } = request.roles[name];
    const path = `roles.${name}.adapter`;
    const forbidden = tiers.map((of) => operator.policyFault(tenant, adapter, of));
    if (!forbidden.includes(null)) faults.push({ path, message: operator.policyFault(tenant, adapter, tier) ?? '' });
    const short = operator.estimate(adapter, '', tier);
    const long = operator.estimate(adapter, sample, tier);
    if ('unpriced' in short) faults.push({ path, message: short.unpriced });
    const isPriced = !('unpriced' in short) && !('unpriced' in long);
    return {
      role: name,
      personaId: persona?.persona_id ?? name,
      instructions: persona?.instructions ?? builtInInstructions[name],
      adapter,
      adapterName: adapterName(adapter),
      adapterKey: adapterKey(adapter, name),
      estimate: isPriced ? short : noAmount,
      per1000Characters: isPriced ? per1000(short, long) : noAmount,
    };
  };
  const setup: DebateSetup = {
    id: identity.id,
    traceId: identity.traceId,
    webUiUrl: identity.webUiUrl,
    startedBy: identity.startedBy,
    requiresAuthentication: identity.requiresAuthentication,
    tenant,
    labels: request.labels,
    task: request.task,
    workspace: request.workspace,
    roles: {
      analyst: role('analyst'),
      solution: role('solution'),
      critic: role('critic'),
      security: role('security'),
      optimizer: role('optimizer'),
    },
    limits: request.limits,
    sandbox: request.sandbox,
    approval: request.approval,
    plan: request.plan ?? { tasks: [] },
    budget: {
      maxTokens: budget.max_tokens,
      maxUsdMicros: budget.max_usd === undefined ? null : micros(budget.max_usd),
    },
  };
  if (request.approval.required) {
    const terms = approvalTerms(request.approval, identity.startedBy, identity.requiresAuthentication);
    for (const { field, message } of approvalFaults(terms)) {
      faults.push({ path: `approval.${approvalFields[field]}`, message });
    }
  }
  return faults.length > 0 ? { faults } : { setup };
};
