import type { OpenRefinement, RefinementRole } from '../../contracts/refinement.js';
import { mostOfCalls } from '../call-most.js';
import { pricedCall } from '../priced-call.js';
import { adapterName, type SetupIdentity } from '../session/set-up-session.js';
import type { Operator } from '../session/setup.js';
import { shapedInstructions } from '../template.js';
import { workLimits } from '../work-account.js';
import { builtInInstructions } from './roles.js';
import { defaultRubric, normalised } from './rubric.js';
import type { AgentSetup, RefinementSetup } from './setup.js';

/**
 * Everything about a refinement that depends on the operator's configuration, decided once, so that the workflow needs none of
 * it. Both agents have to answer, so that one whose adapter is not allowed or has no price stands against the start: every such
 * fault is named by its path in the request, and nothing is started (spec 00).
 */
export const setUpRefinement = (
  request: OpenRefinement,
  identity: SetupIdentity,
  operator: Operator,
): { setup: RefinementSetup } | { faults: { path: string; message: string }[] } => {
  const { tenant, budget, generator, critic } = request;
  const faults: { path: string; message: string }[] = [];

  const agent = (role: RefinementRole): AgentSetup => {
    const { agent_id: agentId, adapter, instructions, temperature, template } = request[role];
    const { priced, faults: against } = pricedCall(operator, tenant, adapter);
    faults.push(...against.map((message) => ({ path: `${role}.adapter`, message })));
    return {
      agentId,
      adapter,
      adapterName: adapterName(adapter),
      instructions: shapedInstructions(template, instructions ?? builtInInstructions[role]),
      temperature: ('temperature' in adapter ? adapter.temperature : undefined) ?? temperature,
      ...(template?.checkpoint?.triggers && { checkpointTriggers: template.checkpoint.triggers }),
      ...priced,
      most: mostOfCalls(operator, tenant, adapter),
    };
  };
  const setup: RefinementSetup = {
    ...identity,
    tenant,
    labels: request.labels,
    task: request.task,
    generator: {
      ...agent('generator'),
      acceptsFeedback: generator.template?.quality_loop?.accepts_feedback ?? true,
    },
    critic: agent('critic'),
    rubric: normalised(critic.scoring.rubric ?? critic.template?.quality_loop?.scoring_rubric ?? defaultRubric),
    loop: request.loop_control,
    output: request.output,
    budget: workLimits(budget),
  };
  return faults.length > 0 ? { faults } : { setup };
};
