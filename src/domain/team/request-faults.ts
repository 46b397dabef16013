import type { OpenTeam } from '../../contracts/team.js';
import { modelFaults, unservedInTeam } from '../template.js';
import { unknownTool } from './known-tools.js';

export interface RequestFault {
  path: (string | number)[];
  message: string;
}

type Request = Pick<OpenTeam, 'agents' | 'lite_agents' | 'keep_open'>;
type Agent = Request['agents'][number];

const quoted = (text: string): string => JSON.stringify(text);

/** Those whose id was given before; `first`: where. */
const repeated = (ids: readonly (string | undefined)[]): { index: number; first: number }[] =>
  ids.flatMap((id, index) => {
    const first = ids.indexOf(id);
    return id === undefined || first === index ? [] : [{ index, first }];
  });

/** Whom an agent names must stand before it: agents are spawned in the order of the request. */
const kinFaults = (agents: readonly Agent[], index: number): RequestFault[] => {
  const agent = agents[index];
  if (!agent) return [];
  const before = agents.slice(0, index).map(({ agent_id: id }) => id);
  const kin = ['parent', 'share_session_with', 'share_context_window_with'] as const;
  return kin.flatMap((name): RequestFault[] => {
    const id = agent[name];
    if (id === undefined || before.includes(id)) return [];
    const path = ['agents', index, name];
    if (id === agent.agent_id) return [{ path, message: 'must be another agent; it is the agent itself' }];
    const later = agents.findIndex(({ agent_id: other }) => other === id);
    const message =
      later === -1
        ? `${quoted(id)} is no agent of this team`
        : `${quoted(id)} must stand before it; it is agents[${later}]`;
    return [{ path, message }];
  });
};

/** Why an agent's wishes for its context cannot all be had; none: they can. */
const sharingFaults = (
  agent: Pick<
    Agent,
    'parent' | 'share_session' | 'share_context_window' | 'share_session_with' | 'share_context_window_with'
  >,
): RequestFault[] => {
  const { parent, share_session_with: session, share_context_window_with: window } = agent;
  const faults: RequestFault[] = [];
  if (parent === undefined) {
    for (const name of ['share_session', 'share_context_window'] as const) {
      if (agent[name]) faults.push({ path: [name], message: `needs a parent; or name an agent in ${name}_with` });
    }
  }
  if (agent.share_session && session !== undefined && session !== parent)
    faults.push({ path: ['share_session_with'], message: 'contradicts share_session, which is about the parent' });
  if (agent.share_context_window && window !== undefined && window !== parent)
    faults.push({
      path: ['share_context_window_with'],
      message: 'contradicts share_context_window, which is about the parent',
    });
  const whose = session ?? (agent.share_session ? parent : undefined);
  const looks = window ?? (agent.share_context_window ? parent : undefined);
  if (faults.length === 0 && whose !== undefined && looks !== undefined && whose !== looks) {
    const message = `must be ${quoted(whose)}, as who shares a session shares its window, or be left out; got ${quoted(looks)}`;
    faults.push({ path: ['share_context_window_with'], message });
  }
  return faults;
};

const isNotCalled = 'cannot be external: a worker has to answer a call';

/** Names that stand for no tool: what was meant would not be allowed, and what was to be asked about would not be. */
const toolFaults = ({ tools = [], approvals = [], template }: Agent): RequestFault[] => {
  const named: { path: (string | number)[]; name: string }[] = [
    ...tools.map((name, index) => ({ path: ['tools', index], name })),
    ...approvals.map(({ tool }, index) => ({ path: ['approvals', index, 'tool'], name: tool })),
    ...(template?.capabilities?.allowed_tools ?? []).map((name, index) => {
      return { path: ['template', 'capabilities', 'allowed_tools', index], name };
    }),
  ];
  return named.flatMap(({ path, name }) => {
    const message = unknownTool(name);
    return message === null ? [] : [{ path, message }];
  });
};

/** What is wrong with one agent by itself, wherever its body stands. */
export const agentBodyFaults = (agent: Agent): RequestFault[] => {
  const faults: RequestFault[] = [];
  if (agent.adapter?.kind === 'external') faults.push({ path: ['adapter', 'kind'], message: isNotCalled });
  const inTemplate = agent.template
    ? [...modelFaults(agent.template, agent.adapter), ...unservedInTeam(agent.template)]
    : [];
  faults.push(...inTemplate.map(({ path, message }) => ({ path: ['template', ...path], message })));
  return [...faults, ...toolFaults(agent), ...sharingFaults(agent)];
};

const agentFaults = (agents: readonly Agent[], index: number): RequestFault[] => {
  const agent = agents[index];
  if (!agent) return [];
  const under = (fault: RequestFault): RequestFault => ({ ...fault, path: ['agents', index, ...fault.path] });
  const missing =
    agent.adapter === undefined && agent.parent === undefined
      ? [{ path: ['adapter'], message: 'is missing: only an agent with a parent is answered for by its' }]
      : [];
  return [...kinFaults(agents, index), ...[...missing, ...agentBodyFaults(agent)].map(under)];
};

/** What contradicts itself in the body that starts a team, by path (spec 05, details 3.1 and 3.3). */
export const teamFaults = ({ agents, lite_agents: lite, keep_open: keepOpen }: Request): RequestFault[] => {
  const faults: RequestFault[] = [
    ...repeated(agents.map(({ agent_id: id }) => id)).map(({ index, first }) => ({
      path: ['agents', index, 'agent_id'],
      message: `${quoted(agents[index]?.agent_id ?? '')} is taken by agents[${first}]`,
    })),
    ...repeated(lite.map(({ agent_id: id }) => id)).map(({ index, first }) => ({
      path: ['lite_agents', index, 'agent_id'],
      message: `${quoted(lite[index]?.agent_id ?? '')} is taken by lite_agents[${first}]`,
    })),
    ...agents.flatMap((_, index) => agentFaults(agents, index)),
  ];
  lite.forEach(({ agent_id: id, adapter }, index) => {
    if (adapter.kind === 'external')
      faults.push({ path: ['lite_agents', index, 'adapter', 'kind'], message: isNotCalled });
    const taken = id === undefined ? -1 : agents.findIndex(({ agent_id: other }) => other === id);
    if (taken !== -1)
      faults.push({
        path: ['lite_agents', index, 'agent_id'],
        message: `${quoted(id ?? '')} is taken by agents[${taken}]`,
      });
  });
  if (!keepOpen && !agents.some(({ prompt }) => prompt !== undefined)) {
    const message = 'must hold an agent with a prompt, or the team would end at once; or set keep_open';
    faults.push({ path: ['agents'], message });
  }
  return faults;
};
