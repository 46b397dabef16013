import type { OpenDebate, Role } from '../../contracts/debate.js';
import { approvalFaults } from '../approval.js';
import { mostOfCalls } from '../call-most.js';
import { pricedCall } from '../priced-call.js';
import { adapterKey, adapterName, type SetupIdentity } from '../session/set-up-session.js';
import type { Operator } from '../session/setup.js';
import { shapedInstructions } from '../template.js';
import { workLimits } from '../work-account.js';
import { approvalFields, approvalTerms } from './approval-terms.js';
import { presetHealing } from './health-check.js';
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
  const { tenant } = request;
  const faults: PathFault[] = [];

  const role = (name: Role): RoleSetup => {
    const { adapter, persona } = request.roles[name];
    const { priced, faults: against } = pricedCall(operator, tenant, adapter);
    faults.push(...against.map((message) => ({ path: `roles.${name}.adapter`, message })));
    return {
      role: name,
      personaId: persona?.persona_id ?? name,
      instructions: shapedInstructions(persona?.template, persona?.instructions ?? builtInInstructions[name]),
      adapter,
      adapterName: adapterName(adapter),
      adapterKey: adapterKey(adapter, name),
      ...priced,
      most: mostOfCalls(operator, tenant, adapter),
      ...(persona?.template?.checkpoint?.triggers && { checkpointTriggers: persona.template.checkpoint.triggers }),
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
    healing: request.healing ?? { timeout_ms: presetHealing.healingMs },
    plan: request.plan ?? { tasks: [] },
    budget: workLimits(request.budget),
    passesArePaid: true,
  };
  if (request.approval.required) {
    const terms = approvalTerms(request.approval, identity.startedBy, identity.requiresAuthentication);
    for (const { field, message } of approvalFaults(terms)) {
      faults.push({ path: `approval.${approvalFields[field]}`, message });
    }
  }
  return faults.length > 0 ? { faults } : { setup };
};
