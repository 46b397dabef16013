import { z } from 'zod';
import { spawnAgentsSchema } from '../../contracts/team.js';
import {
  agentStatusSchema,
  type AgentStatus,
  contextInfoSchema,
  spawnedSchema,
  teamStatsSchema,
  type TeamStatus,
} from '../../contracts/team-status.js';
import type { TeamCall } from '../../domain/team/effects.js';
import { plansOf } from '../../domain/team/set-up-team.js';
import { eventsOfAgent } from '../agent-events.js';
import { invalidRequest, ProblemError } from '../problem.js';
import { teamOperator } from '../team-operator.js';
import { type AnyRoute, type Ports, route } from '../route.js';
import { idempotencyKey, knownId, lastRead, pathAlone, problemsOfBody, resumedEvents } from '../request-parts.js';
import { agentsOf, callTeam, withCallWaits, withTexts } from './team-calls.js';
import {
  agentStatusExample,
  contextInfoExample,
  openTeamExample,
  teamStartedExample,
  teamStatsExample,
} from './team-examples.js';
import { teamTenant, teamTerms } from './team-tenant.js';

const teamId = z.string().meta({ description: 'Id of the team.', example: teamStartedExample.id });
const teamParams = z.strictObject({ id: teamId });
const agentParams = z.strictObject({
  id: teamId,
  agent: z.string().meta({ description: 'Id of the agent.', example: agentStatusExample.agent_id }),
});
const owner = async ({ id }: { id: string }, { teams }: Ports) => ({
  tenant: await teamTenant(id, teams),
  what: `team ${id}`,
});
export const ofTeams = { tag: 'teams', access: 'api_key', owner } as const;
const keyed = z.object({
  'idempotency-key': idempotencyKey('Names the call: sent again, it is answered as before and changes nothing.'),
});
const noQuery = z.strictObject({});
/** What calls of a team's executor have alike: they take a body, and a key by which they are not made twice. */
export const callsOfTeam = {
  ...ofTeams,
  method: 'post',
  params: teamParams,
  query: noQuery,
  headers: keyed,
  problems: [...problemsOfBody, 'forbidden', 'not_found', 'conflict', 'wrong_state'],
} as const;
const agentResponse = { description: 'The agent.', schema: agentStatusSchema, example: agentStatusExample };

/** @throws ProblemError not_found, naming who there is */
const agentIn = async (id: string, agentId: string, { teams }: Pick<Ports, 'teams'>): Promise<AgentStatus> =>
  agentOf(await teams.status(knownId('team', id)), agentId);

const agentOf = ({ id, agents }: TeamStatus, agentId: string): AgentStatus => {
  const agent = agents.find(({ agent_id: each }) => each === agentId);
  if (agent) return agent;
  const there = agents.slice(0, 20).map(({ agent_id: each }) => each);
  const who =
    there.length === 0 ? 'it has none yet' : `it has ${there.join(', ')}${agents.length > 20 ? ' and more' : ''}`;
  throw new ProblemError('not_found', `There is no agent ${agentId.slice(0, 100)} in team ${id}; ${who}.`);
};

const spawn = route({
  ...callsOfTeam,
  path: '/v1/teams/{id}/agents',
  summary: 'Spawn agents',
  description:
    'One, or a list, in whose order they are spawned: those before a refused one stay. Over `max_concurrent` they wait in line.',
  body: spawnAgentsSchema,
  bodyExample: { ...openTeamExample.agents![0]!, agent_id: 'second' },
  responses: {
    201: {
      description: 'Those that were spawned, as they are now.',
      schema: spawnedSchema,
      example: { agents: [agentStatusExample], notes: [] },
    },
  },
  handle: async ({ params: { id }, headers, body }, ports) => {
    const bodies = Array.isArray(body) ? body : [body];
    const { tenant, cheaperModel } = await teamTerms(id, ports.teams);
    const path = (index: number): string => (Array.isArray(body) ? `[${index}]` : '');
    const planned = plansOf(bodies, tenant, teamOperator(ports), path, cheaperModel ?? undefined);
    if ('faults' in planned)
      throw invalidRequest(planned.faults.map((fault) => ({ ...fault, path: fault.path.replace(/^\./, '') })));
    const call: TeamCall = { type: 'SPAWN', agents: planned.plans };
    const { agentIds, notes } = await callTeam(id, { type: 'CALL', by: null, call }, ports, headers['idempotency-key']);
    return { status: 201, body: { agents: agentsOf(await ports.teams.status(id), agentIds), notes } };
  },
});

const show = route({
  ...ofTeams,
  method: 'get',
  path: '/v1/teams/{id}/agents/{agent}',
  summary: 'Status of an agent',
  description: 'With what it has said so far, while it streams, and what a call of its model waits for.',
  params: agentParams,
  ...pathAlone,
  responses: { 200: agentResponse },
  problems: ['unauthorized', 'not_found', 'unavailable'],
  handle: async ({ params: { id, agent } }, ports) => {
    const status = await withCallWaits(await ports.teams.status(knownId('team', id)), ports);
    const [body] = await withTexts(id, [agentOf(status, agent)], ports);
    return { status: 200, body: body! };
  },
});

const verbs = {
  pause: {
    type: 'PAUSE_AGENT',
    summary: 'Pause an agent',
    description: 'Only one that is RUNNING: before its next call of a model or a tool. It keeps its slot.',
  },
  resume: {
    type: 'RESUME_AGENT',
    summary: 'Resume an agent',
    description: 'Only one that is PAUSED: it goes on where it was.',
  },
  cancel: {
    type: 'CANCEL_AGENT',
    summary: 'Cancel an agent',
    description: 'With its model call, its tools, and the agents that it has spawned. What it had said is kept.',
  },
} as const;

const control = (verb: keyof typeof verbs): AnyRoute => {
  const { type, summary, description } = verbs[verb];
  return route({
    ...ofTeams,
    method: 'post',
    path: `/v1/teams/{id}/agents/{agent}/${verb}`,
    summary,
    description,
    params: agentParams,
    ...pathAlone,
    responses: { 200: agentResponse },
    problems: ['unauthorized', 'not_found', 'wrong_state', 'unavailable'],
    handle: async ({ params: { id, agent } }, ports) => {
      await callTeam(id, { type: 'CALL', by: null, call: { type, agentId: agent } }, ports);
      return { status: 200, body: await agentIn(id, agent, ports) };
    },
  });
};

const remove = route({
  ...ofTeams,
  method: 'delete',
  path: '/v1/teams/{id}/agents/{agent}',
  summary: 'Clean up an agent',
  description: 'Only one that has ended: its id is free again, and its children are its parent’s.',
  params: agentParams,
  ...pathAlone,
  responses: {
    200: {
      description: 'It is gone.',
      schema: z.strictObject({ agent_id: z.string(), removed: z.literal(true) }).meta({ id: 'RemovedAgent' }),
      example: { agent_id: agentStatusExample.agent_id, removed: true },
    },
  },
  problems: ['unauthorized', 'not_found', 'wrong_state', 'unavailable'],
  handle: async ({ params: { id, agent } }, ports) => {
    await callTeam(id, { type: 'CALL', by: null, call: { type: 'CLEAN_UP', agentId: agent } }, ports);
    return { status: 200, body: { agent_id: agent, removed: true as const } };
  },
});

const context = route({
  ...ofTeams,
  method: 'get',
  path: '/v1/teams/{id}/agents/{agent}/context',
  summary: 'What an agent’s window holds',
  description:
    'And who shares it. To share a window is to share its token limit: later messages of the other come by a sync, unless the session is shared, too.',
  params: agentParams,
  ...pathAlone,
  responses: { 200: { description: 'The window.', schema: contextInfoSchema, example: contextInfoExample } },
  problems: ['unauthorized', 'not_found', 'unavailable'],
  handle: async ({ params: { id, agent } }, ports) => {
    await agentIn(id, agent, ports);
    const body = await ports.teams.context(id, agent);
    if (!body) throw new ProblemError('not_found', `Agent ${agent} of team ${id} was cleaned up just now.`);
    return { status: 200, body };
  },
});

const events = route({
  ...ofTeams,
  method: 'get',
  path: '/v1/teams/{id}/agents/{agent}/events',
  summary: 'Follow an agent',
  description:
    'The team’s stream without what is about others: ids are those of the team, so that either can be resumed where the other ended.',
  params: agentParams,
  ...resumedEvents,
  problems: ['unauthorized', 'not_found', 'invalid_request', 'unavailable'],
  handle: async ({ params: { id, agent }, query, headers }, ports, { signal, draining }) => {
    await agentIn(id, agent, ports);
    const since = lastRead({ headers, query });
    const messages = await ports.hub.watch(ports.teams, id, since, { signal, draining });
    return { status: 200, messages: eventsOfAgent(messages, agent) };
  },
});

const stats = route({
  ...ofTeams,
  method: 'get',
  path: '/v1/teams/{id}/stats',
  summary: 'Counts, queue depth and latencies of a team',
  description: 'Latencies are those of the last 500 turns.',
  params: teamParams,
  ...pathAlone,
  responses: { 200: { description: 'The stats.', schema: teamStatsSchema, example: teamStatsExample } },
  problems: ['unauthorized', 'not_found', 'unavailable'],
  handle: async ({ params: { id } }, { teams }) => ({
    status: 200,
    body: (await teams.status(knownId('team', id))).stats,
  }),
});

export const agentRoutes: readonly AnyRoute[] = [
  spawn,
  show,
  control('pause'),
  control('resume'),
  control('cancel'),
  remove,
  context,
  events,
  stats,
];
