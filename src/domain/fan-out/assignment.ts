import type { FanOutAgent, FanOutPolicy, FanOutTask } from '../../contracts/fan-out.js';

type Request = { agents: readonly FanOutAgent[]; fan_out: FanOutPolicy };

/** The agent of every task by position, or why there is none. */
export type Assigned = { agentId: string } | { refused: string };

/** Whether an agent settles conflicts in fan-in; it is given no task but one that names it. */
export const isAggregator = ({ template }: FanOutAgent): boolean =>
  template?.parallel?.aggregation_role === 'aggregator';

const quoted = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(', ') || 'none';

/** Who tasks can go to in turn: the listed agents, else those that tasks name, in their order. */
const poolOf = ({ agents, fan_out }: Request): string[] =>
  agents.length > 0
    ? agents.filter((agent) => !isAggregator(agent)).map(({ agent_id }) => agent_id)
    : [...new Set(fan_out.tasks.flatMap(({ agent }) => (agent === undefined ? [] : [agent])))];

/** The least loaded of `candidates`, ties by their order; undefined of none. */
const leastLoaded = (candidates: readonly string[], load: ReadonlyMap<string, number>): string | undefined =>
  candidates.reduce<string | undefined>(
    (best, each) => (best === undefined || (load.get(each) ?? 0) < (load.get(best) ?? 0) ? each : best),
    undefined,
  );

/**
 * Which agent takes each task (spec 03 "Strategy", details 4.2), decided once, from the request alone. Load is the number of
 * tasks assigned so far.
 */
export const assign = (request: Request): Assigned[] => {
  const { agents, fan_out } = request;
  const pool = poolOf(request);
  const load = new Map<string, number>();
  const byDomain = new Map<string, string>();
  const isKnown = (name: string): boolean => agents.length === 0 || agents.some(({ agent_id }) => agent_id === name);

  const byTopic = ({ task_id, topic, domain, agent }: FanOutTask): Assigned => {
    const route =
      topic !== undefined && Object.hasOwn(fan_out.topic_routing, topic) ? fan_out.topic_routing[topic] : null;
    if (!route) {
      if (agent !== undefined && isKnown(agent)) return { agentId: agent };
      const why = topic === undefined ? 'it has no topic' : `its topic ${JSON.stringify(topic)} has no route`;
      const own = agent === undefined ? 'it names no agent' : `its agent ${JSON.stringify(agent)} is not in agents`;
      return {
        refused: `no agent can take task ${JSON.stringify(task_id)}: ${why} and ${own}; route the topic in fan_out.topic_routing, or name one of the agents ${quoted(pool)}`,
      };
    }
    const candidates = route.agents.filter(isKnown);
    const key = domain ?? topic ?? '';
    const kept = route.affinity === 'domain' ? byDomain.get(key) : undefined;
    const agentId = kept !== undefined && candidates.includes(kept) ? kept : leastLoaded(candidates, load);
    if (agentId === undefined) {
      return {
        refused: `no agent can take task ${JSON.stringify(task_id)}: of the route of its topic ${JSON.stringify(topic)}, ${quoted(route.agents)}, none is in agents`,
      };
    }
    if (route.affinity === 'domain') byDomain.set(key, agentId);
    return { agentId };
  };

  const inTurn = ({ task_id }: FanOutTask, index: number): Assigned => {
    const agentId = pool[index % pool.length];
    if (agentId !== undefined) return { agentId };
    return { refused: `no agent can take task ${JSON.stringify(task_id)}: there is none; list some in agents` };
  };

  const byCapability = ({ task_id, requires }: FanOutTask): Assigned => {
    const able = agents.filter(
      (agent) => !isAggregator(agent) && requires.every((needed) => agent.capabilities.includes(needed)),
    );
    const fewest = Math.min(...able.map(({ capabilities }) => capabilities.length));
    const specific = able.filter(({ capabilities }) => capabilities.length === fewest).map(({ agent_id }) => agent_id);
    const agentId = leastLoaded(specific, load);
    if (agentId !== undefined) return { agentId };
    const offered = agents.map(({ agent_id, capabilities }) => `${agent_id}: ${capabilities.join(', ') || 'nothing'}`);
    return {
      refused: `no agent can take task ${JSON.stringify(task_id)}: it requires ${quoted(requires)}; offered are ${offered.join('; ') || 'none, as agents lists nobody'}`,
    };
  };

  const choose = { topic_based: byTopic, round_robin: inTurn, capability_match: byCapability }[fan_out.strategy];
  return fan_out.tasks.map((task, index) => {
    const assigned = choose(task, index);
    if ('agentId' in assigned) load.set(assigned.agentId, (load.get(assigned.agentId) ?? 0) + 1);
    return assigned;
  });
};
