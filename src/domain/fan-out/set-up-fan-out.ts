import type { Adapter } from '../../contracts/adapter.js';
import type { FanOutAgent, OpenFanOut } from '../../contracts/fan-out.js';
import type { AgreementPolicy } from '../../contracts/session.js';
import type { AgentTemplate } from '../../contracts/template.js';
import { mostOfCalls } from '../call-most.js';
import type { PathFault } from '../debate/set-up-debate.js';
import { pricedCall } from '../priced-call.js';
import { defaultRubric } from '../refinement/rubric.js';
import type { Operator } from '../session/setup.js';
import { adapterName, type SetupIdentity } from '../session/set-up-session.js';
import { shapedInstructions } from '../template.js';
import { workLimits } from '../work-account.js';
import { assign, isAggregator } from './assignment.js';
import type { CheckpointPolicy, FanInSetup, FanOutSetup, PricedAdapter, WorkerAgent } from './setup.js';

export interface FanOutOperator extends Operator {
  /** Workers that one fan-out may have at once (PARLEY_MAX_FAN_OUT). */
  maxFanOut: number;
}

const presetAgreement: AgreementPolicy = { method: 'similarity', similarity_threshold: 0.85 };

const orchestratorInstructions = [
  'Several workers have given different values for the same members of one result. Decide each by what is most likely right.',
  'Answer with one JSON object and nothing else: {"decisions":[{"pointer":"<JSON pointer>","task_id":"<whose value stands>"}]}.',
].join('\n');
const criticInstructions = [
  'You score the combined result of several workers, strictly and without politeness.',
  'Answer with one JSON object and nothing else: {"scores":{"<criterion>":<0 to 1>},"feedback":"<what is missing>","issues":[]}.',
].join('\n');

/**
 * Everything about a fan-out that depends on the operator's configuration, decided once; each fault stands against the start
 * (spec 00), by path.
 */
export const setUpFanOut = (
  request: OpenFanOut,
  identity: SetupIdentity,
  operator: FanOutOperator,
): { setup: FanOutSetup } | { faults: PathFault[] } => {
  const { tenant, agents, fan_out: policy, barrier, budget } = request;
  const faults: PathFault[] = [];
  if (policy.max_concurrent > operator.maxFanOut) {
    faults.push({
      path: 'fan_out.max_concurrent',
      message: `must be from 1 to ${operator.maxFanOut}, the ceiling that the operator has set by PARLEY_MAX_FAN_OUT; got ${policy.max_concurrent}`,
    });
  }
  const caller = (adapter: Adapter, path: string): PricedAdapter => {
    const { priced, faults: against } = pricedCall(operator, tenant, adapter);
    faults.push(...against.map((message) => ({ path, message })));
    return {
      adapter,
      adapterName: adapterName(adapter),
      ...priced,
      most: mostOfCalls(operator, tenant, adapter),
    };
  };

  const assigned = assign(request);
  const agentIdOf = (index: number): string => {
    const to = assigned[index];
    if (to && 'agentId' in to) return to.agentId;
    faults.push({ path: `fan_out.tasks[${index}]`, message: to?.refused ?? 'goes to no agent' });
    return '';
  };
  const tasks = policy.tasks.map((task, index): FanOutSetup['tasks'][number] => ({
    taskId: task.task_id,
    agentId: agentIdOf(index),
    prompt: task.prompt ?? task.task_id,
    priority: task.priority,
    inputs: task.input_artifacts,
    caller: task.adapter ? caller(task.adapter, `fan_out.tasks[${index}].adapter`) : null,
  }));

  const worker = ({ agent_id, adapter, template }: FanOutAgent, index: number): WorkerAgent => ({
    agentId: agent_id,
    caller: adapter ? caller(adapter, `agents[${index}].adapter`) : null,
    instructions: shapedInstructions(template, ''),
    cognitiveMode: template?.identity?.cognitive_mode ?? null,
    outputKey: template?.state?.output_key ?? null,
    schema: template?.state?.schema ?? null,
    takesPart: template?.parallel?.aggregation_role !== 'none',
    ...(template?.checkpoint && { checkpoint: checkpointPolicy(template.checkpoint) }),
  });
  const listed = agents.map(worker);
  const unlisted = [...new Set(tasks.map(({ agentId }) => agentId))]
    .filter((id) => !agents.some(({ agent_id }) => agent_id === id))
    .map((agent_id) => worker({ agent_id, capabilities: [] }, -1));

  const fanIn = setUpFanIn(request, caller);
  if (faults.length > 0) return { faults };
  return {
    setup: {
      ...identity,
      tenant,
      labels: request.labels,
      strategy: policy.strategy,
      maxConcurrent: policy.max_concurrent,
      overflow: policy.queue_overflow,
      queueLimit: policy.queue_limit ?? null,
      agents: [...listed, ...unlisted],
      tasks,
      barrier,
      fanIn,
      budget: workLimits(budget),
    },
  };
};

/** Files up to 16 kB stand in checkpoints whole (spec 07), unless a template says less or more. */
const inlineKb = 16;

const checkpointPolicy = ({
  triggers,
  include_artifacts: includes,
  max_size_kb: kilobytes,
}: NonNullable<AgentTemplate['checkpoint']>): CheckpointPolicy => ({
  triggers: triggers ?? null,
  includeArtifacts: includes ?? true,
  inlineBytes: (kilobytes ?? inlineKb) * 1024,
});

const setUpFanIn = (
  { agents, fan_in: fanIn }: OpenFanOut,
  caller: (adapter: Adapter, path: string) => PricedAdapter,
): FanInSetup => {
  const aggregator = agents.find((agent) => isAggregator(agent) && agent.adapter);
  const resolution = fanIn.conflict_resolution ?? (aggregator ? 'orchestrator_decides' : 'first_wins');
  const decider = fanIn.adapter ?? aggregator?.adapter;
  const { quality } = fanIn;
  return {
    strategy: fanIn.aggregation_strategy,
    resolution,
    functionName: fanIn.function ?? null,
    agreement: fanIn.agreement ?? presetAgreement,
    orchestrator:
      resolution === 'orchestrator_decides' && decider
        ? {
            agentId: fanIn.adapter ? 'orchestrator' : (aggregator?.agent_id ?? 'orchestrator'),
            instructions: shapedInstructions(
              fanIn.adapter ? undefined : aggregator?.template,
              orchestratorInstructions,
            ),
            ...caller(decider, 'fan_in.adapter'),
          }
        : null,
    quality: quality
      ? {
          critic: {
            agentId: quality.critic.agent_id,
            instructions: criticInstructions,
            ...caller(quality.critic.adapter, 'fan_in.quality.critic.adapter'),
          },
          rubric: [...(quality.critic.scoring ?? defaultRubric)],
          threshold: quality.threshold,
        }
      : null,
  };
};
