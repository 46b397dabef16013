import type { OpenFanOutBody } from '../../src/contracts/fan-out.js';

type TaskBody = OpenFanOutBody['fan_out']['tasks'][number];
type AgentBody = NonNullable<OpenFanOutBody['agents']>[number];

export const scripted = (final: unknown, after_ms = 0) => ({
  kind: 'scripted' as const,
  script: [{ after_ms, final: final as string }],
});
export const failing = (message: string, after_ms = 0) => ({
  kind: 'scripted' as const,
  script: [{ after_ms, fail: { message } }],
});
export const aTask = (task_id: string, over: Partial<TaskBody> = {}): TaskBody => ({
  task_id,
  input_artifacts: [],
  ...over,
});
export const anAgent = (agent_id: string, over: Partial<AgentBody> = {}): AgentBody => ({
  agent_id,
  adapter: scripted(agent_id),
  ...over,
});
/** `t1` to `tN`. */
export const tasks = (count: number, over: Partial<TaskBody> = {}): TaskBody[] =>
  Array.from({ length: count }, (_, index) => aTask(`t${index + 1}`, over));

type FanOutOver = Partial<Omit<OpenFanOutBody, 'fan_out' | 'fan_in'>> & {
  fan_out?: Partial<OpenFanOutBody['fan_out']>;
  fan_in?: Partial<OpenFanOutBody['fan_in']>;
};

/** A fan-out that is right: three tasks for one agent; the test names only the field that decides. */
export const aFanOut = ({ fan_out, fan_in, ...over }: FanOutOver = {}): OpenFanOutBody => ({
  agents: [anAgent('a')],
  barrier: {},
  ...over,
  fan_out: { strategy: 'round_robin', tasks: tasks(3), ...fan_out },
  fan_in: { aggregation_strategy: 'merge', ...fan_in },
});
