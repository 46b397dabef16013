import type { FanOutAgent, OpenFanOut } from '../../contracts/fan-out.js';
import { rubricFaults } from '../refinement/rubric.js';
import { modelFaults, unservedFaults } from '../template.js';
import { assign, isAggregator } from './assignment.js';

export interface RequestFault {
  path: (string | number)[];
  message: string;
}

type Request = Pick<OpenFanOut, 'id' | 'workflow_id' | 'agents' | 'fan_out' | 'fan_in'>;

const external = 'cannot be external: a worker has to answer a call';

const repeated = (ids: readonly string[]): { index: number; first: number; id: string }[] => {
  const seen = new Map<string, number>();
  return ids.flatMap((id, index) => {
    const first = seen.get(id);
    if (first === undefined) seen.set(id, index);
    return first === undefined ? [] : [{ index, first, id }];
  });
};

const agentFaults = (agents: readonly FanOutAgent[]): RequestFault[] => [
  ...repeated(agents.map(({ agent_id }) => agent_id)).map(({ index, first, id }) => ({
    path: ['agents', index, 'agent_id'],
    message: `${JSON.stringify(id)} is taken by agents[${first}]`,
  })),
  ...agents.flatMap(({ agent_id, adapter, template }, index): RequestFault[] => [
    ...(adapter?.kind === 'external' ? [{ path: ['agents', index, 'adapter', 'kind'], message: external }] : []),
    ...(template?.parallel?.supports_isolation === false
      ? [
          {
            path: ['agents', index, 'template', 'parallel', 'supports_isolation'],
            message: `agent ${JSON.stringify(agent_id)} does not support isolation; every worker of a fan-out is isolated`,
          },
        ]
      : []),
    ...(template ? [...modelFaults(template, adapter), ...unservedFaults(template, 'fan-out', agent_id)] : []).map(
      ({ path, message }) => ({ path: ['agents', index, 'template', ...path], message }),
    ),
  ]),
];

const taskFaults = ({ agents, fan_out }: Request): RequestFault[] => {
  const { tasks, strategy, topic_routing: routing } = fan_out;
  const byId = new Map(agents.map((agent) => [agent.agent_id, agent]));
  return [
    ...repeated(tasks.map(({ task_id }) => task_id)).map(({ index, first, id }) => ({
      path: ['fan_out', 'tasks', index, 'task_id'],
      message: `${JSON.stringify(id)} is taken by fan_out.tasks[${first}]`,
    })),
    ...(strategy !== 'topic_based' || agents.length === 0
      ? []
      : Object.entries(routing).flatMap(([topic, route]) =>
          route.agents.flatMap((name, index) =>
            byId.has(name)
              ? []
              : [
                  {
                    path: ['fan_out', 'topic_routing', topic, 'agents', index],
                    message: `${JSON.stringify(name)} is none of the agents ${[...byId.keys()].join(', ')}`,
                  },
                ],
          ),
        )),
    ...assign({ agents, fan_out }).flatMap((assigned, index): RequestFault[] => {
      const path = ['fan_out', 'tasks', index];
      if ('refused' in assigned) return [{ path, message: assigned.refused }];
      const own = tasks[index]?.adapter;
      if (own?.kind === 'external') return [{ path: [...path, 'adapter', 'kind'], message: external }];
      if (own ?? byId.get(assigned.agentId)?.adapter) return [];
      return [
        {
          path,
          message: `task ${JSON.stringify(tasks[index]?.task_id)} goes to agent ${JSON.stringify(assigned.agentId)}, which has no adapter; give one to the agent or to the task`,
        },
      ];
    }),
    ...tasks.flatMap(({ input_artifacts: inputs }, index) =>
      repeated(inputs.map((input) => (typeof input === 'string' ? input : input.path))).map(
        ({ index: at, first, id }) => ({
          path: ['fan_out', 'tasks', index, 'input_artifacts', at],
          message: `${JSON.stringify(id)} is there already, as input_artifacts[${first}]`,
        }),
      ),
    ),
  ];
};

const fanInFaults = ({ agents, fan_in }: Request): RequestFault[] => {
  const { aggregation_strategy: strategy, conflict_resolution: resolution, adapter, agreement, quality } = fan_in;
  const faults: RequestFault[] = [];
  const fault = (path: (string | number)[], message: string): void => {
    faults.push({ path: ['fan_in', ...path], message });
  };
  const aggregators = agents.filter(isAggregator);
  if (resolution === 'orchestrator_decides' && !adapter && !aggregators.some((agent) => agent.adapter)) {
    fault(
      ['adapter'],
      'orchestrator_decides needs an adapter that decides, or an agent with one whose template has aggregation_role aggregator',
    );
  }
  if (aggregators.length > 1) {
    fault(
      ['conflict_resolution'],
      `one agent may settle conflicts; ${aggregators.map(({ agent_id }) => agent_id).join(', ')} have aggregation_role aggregator`,
    );
  }
  if (adapter?.kind === 'external') fault(['adapter', 'kind'], external);
  if (quality?.critic.adapter.kind === 'external') fault(['quality', 'critic', 'adapter', 'kind'], external);
  for (const { path, message } of rubricFaults(quality?.critic.scoring ?? [])) {
    fault(['quality', 'critic', 'scoring', ...path], message);
  }
  if (strategy === 'custom' && fan_in.function === undefined) {
    fault(['function'], 'aggregation_strategy custom needs the name of a function that the operator has registered');
  }
  if (strategy !== 'custom' && fan_in.function !== undefined) {
    fault(['function'], `goes with aggregation_strategy custom; got ${strategy}`);
  }
  if (agreement?.method === 'judge') {
    fault(['agreement', 'method'], 'must be exact, choice or similarity; a fan-in has no judge');
  }
  if (agreement?.method === 'choice' && !agreement.choice) {
    fault(['agreement', 'choice'], 'method choice needs a pointer, a regex or a schema');
  }
  return faults;
};

/** What contradicts itself in a request, and every task that no agent can take (spec 03 "Strategy"), by path. */
export const requestFaults = (request: Request): RequestFault[] => [
  ...(request.id !== undefined && request.workflow_id !== undefined && request.id !== request.workflow_id
    ? [
        {
          path: ['workflow_id'],
          message: `is the id of the fan-out: leave id out, or give it the same; got ${request.workflow_id} and ${request.id}`,
        },
      ]
    : []),
  ...agentFaults(request.agents),
  ...taskFaults(request),
  ...fanInFaults(request),
];
