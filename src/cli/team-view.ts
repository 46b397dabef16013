import type { NumberedTeamEvent } from '../contracts/team-events.js';
import type { AgentStateName, TeamResult, TeamStateName } from '../contracts/team-status.js';
import type { Heard } from './follow.js';
import { headline } from './lines.js';
import { tail } from './screen.js';
import { treeName, treeOf } from './team-tree.js';

export interface AgentView {
  agent_id: string;
  parent: string | null;
  role: string;
  state: AgentStateName;
  turn: number;
  /** Of its stream; grows from one call of its model to the next. */
  attempt: number;
  text: string;
  reason: string | null;
}

/** What a person has heard of a team so far. */
export interface TeamView {
  state: TeamStateName;
  agents: Map<string, AgentView>;
  result: TeamResult | null;
}

export const emptyTeam = (): TeamView => ({ state: 'OPEN', agents: new Map(), result: null });

export const agentMarks: Record<AgentStateName, string> = {
  PENDING: '·',
  RUNNING: '▸',
  PAUSED: '‖',
  COMPLETED: '✓',
  FAILED: '✗',
  CANCELLED: '–',
};

const agentIn = ({ agents }: TeamView, agentId: string): AgentView => {
  let agent = agents.get(agentId);
  if (!agent) {
    agent = {
      agent_id: agentId,
      parent: null,
      role: 'agent',
      state: 'PENDING',
      turn: 0,
      attempt: 0,
      text: '',
      reason: null,
    };
    agents.set(agentId, agent);
  }
  return agent;
};

const endedAgent: ReadonlySet<AgentStateName> = new Set(['COMPLETED', 'FAILED', 'CANCELLED']);

/** Takes one thing heard into the view. What an agent says in a later call of its model begins anew. */
export const hearTeam = (view: TeamView, heard: Heard<NumberedTeamEvent>): void => {
  if (heard.type === 'dropped') return;
  if (heard.type === 'partial') {
    const { lane_id: agentId, attempt, text } = heard.partial;
    const agent = agentIn(view, agentId);
    if (attempt < agent.attempt) return;
    if (attempt > agent.attempt) Object.assign(agent, { attempt, text: '' });
    agent.text += text;
    return;
  }
  const { event, data } = heard.event;
  switch (event) {
    case 'state':
      view.state = data.to;
      return;
    case 'agent': {
      const { agent_id: agentId, parent, role, state, turn, error } = data;
      const agent = agentIn(view, agentId);
      if (turn > agent.turn) agent.text = '';
      Object.assign(agent, { parent, role, state, turn, reason: error && `${error.code}: ${error.message}` });
      return;
    }
    case 'agent_removed':
      view.agents.delete(data.agent_id);
      for (const agent of view.agents.values()) if (agent.parent === data.agent_id) agent.parent = null;
      return;
    case 'final':
      view.result = data;
      return;
    default:
      return;
  }
};

const agentLine = (agent: AgentView, name: string, width: number, columns: number): string => {
  const head = `${agentMarks[agent.state]} ${name.padEnd(width)} ${agent.state.padEnd(9)} `;
  const room = Math.max(10, columns - head.length - 1);
  const said = endedAgent.has(agent.state) ? headline(agent.text, room) : tail(agent.text, room);
  return head + (agent.reason === null ? said : headline(agent.reason, room));
};

/** A team as it stands, an agent a line, children below their parents; where there is no room, those that run are shown. */
export const teamFrame = (view: TeamView, columns: number, rows: number): string[] => {
  const placed = treeOf([...view.agents.values()]);
  const width = Math.max(4, ...placed.map((each) => treeName(each).length));
  const room = Math.max(1, rows - 4);
  const live = placed.filter(({ agent }) => !endedAgent.has(agent.state));
  const shown =
    placed.length <= room ? placed : [...live, ...placed.filter((each) => !live.includes(each))].slice(0, room);
  const running = live.filter(({ agent }) => agent.state === 'RUNNING').length;
  return [
    `${view.state}  ${running} of ${placed.length} agents run`,
    ...shown.map((each) => agentLine(each.agent, treeName(each), width, columns)),
    ...(shown.length < placed.length ? [`  … and ${placed.length - shown.length} more agents`] : []),
  ];
};
