import { z } from 'zod';
import { openTeamSchema, teamStartedSchema } from '../../contracts/team.js';
import { teamStatusSchema } from '../../contracts/team-status.js';
import { openWork } from '../../domain/work-state.js';
import { forkFaults, forkTeam } from '../../domain/team/fork.js';
import { setUpTeam } from '../../domain/team/set-up-team.js';
import type { TeamState } from '../../domain/team/state.js';
import type { ToolPlace } from '../../domain/team/turn-start.js';
import { invalidRequest } from '../problem.js';
import { knownId, pathAlone } from '../request-parts.js';
import { teamOperator } from '../team-operator.js';
import { type AnyRoute, route } from '../route.js';
import { feedbackRoute } from './feedback-route.js';
import { callTeam, withCallWaits, withTexts } from './team-calls.js';
import { openTeamExample, teamStartedExample, teamStatusExample } from './team-examples.js';
import { workRoutes } from './work-routes.js';

/** Where the files of a team's agents are; undefined: none has needed a folder. */
const filesBefore = ({ setup }: TeamState, place: ToolPlace | undefined): object | undefined =>
  place?.hostQueue ? { teamId: setup.id, hostQueue: place.hostQueue } : undefined;

const common = workRoutes({
  kind: 'team',
  port: ({ teams }) => teams,
  body: openTeamSchema,
  bodyExample: openTeamExample,
  status: teamStatusSchema,
  statusExample: teamStatusExample,
  started: teamStartedSchema,
  startedExample: teamStartedExample,
  setUp: (body, identity, ports, { caller }) => {
    const startedBy = caller.authenticated ? caller.name : null;
    const who = { ...identity, startedBy, requiresAuthentication: caller.authenticated };
    const setUp = setUpTeam(body, who, teamOperator(ports));
    if ('faults' in setUp) throw invalidRequest(setUp.faults);
    return setUp.setup;
  },
  answer: (started) => ({ ...started, kind: 'team' }),
  fork: ({ work, place, filesOf }, setup, now) => {
    const faults = forkFaults(work as TeamState, setup, now);
    if (faults.length > 0) throw invalidRequest(faults.map((fault) => ({ ...fault, path: `change.${fault.path}` })));
    const forked = forkTeam(work as TeamState, setup, now);
    const files = filesBefore(work as TeamState, place as ToolPlace | undefined) ?? filesOf;
    return {
      ...openWork(forked.work, forked.first),
      ...(files !== undefined && !setup.workspace && { filesOf: files }),
    };
  },
  forkDescription:
    'Each agent has a copy of the files in its folder, as they are when the fork first needs a folder; a `workspace` is the same for both.',
  spanAttributes: ({ agents, maxConcurrent }) => ({ agents: agents.length, max_concurrent: maxConcurrent }),
  feedback: ({ teams }) => ({
    port: teams,
    openRequest: ({ feedback }) => feedback.find(({ state }) => state === 'open')?.request ?? null,
  }),
  enrich: async (status, ports) => {
    const told = await withCallWaits(status, ports);
    return { ...told, agents: await withTexts(status.id, told.agents, ports) };
  },
  cancelDescription: 'Stops every agent, its model calls and its tools. What each had said is kept.',
  whyNoPause: {
    description: {
      pause:
        'Every agent that runs is paused before its next call of a model or a tool, and none begins. Paused agents keep their slots; nothing is held open.',
      resume: 'Every paused agent goes on where it was, also those that had been paused by themselves.',
    },
    act: async (verb, id, ports) => {
      await callTeam(id, { type: verb === 'pause' ? 'PAUSE' : 'RESUME' }, ports);
    },
  },
});

const close = route({
  method: 'post',
  path: '/v1/teams/{id}/close',
  summary: 'Close a team',
  description:
    'Of one that is kept open: nobody from outside adds to it or asks any more, and it ends when all its agents have.',
  tag: 'teams',
  params: z.strictObject({ id: z.string().meta({ description: 'Id of the team.', example: teamStartedExample.id }) }),
  owner: async ({ id }, { teams }) => ({
    tenant: (await teams.status(knownId('team', id))).tenant,
    what: `team ${id}`,
  }),
  ...pathAlone,
  responses: { 200: { description: 'The status document.', schema: teamStatusSchema, example: teamStatusExample } },
  problems: ['unauthorized', 'not_found', 'wrong_state', 'unavailable'],
  access: 'api_key',
  handle: async ({ params: { id } }, ports) => {
    await callTeam(id, { type: 'CLOSE' }, ports);
    return { status: 200, body: await ports.teams.status(id) };
  },
});

export const teamRoutes: readonly AnyRoute[] = [
  ...common,
  feedbackRoute('team', teamStartedExample.id, ({ teams }) => teams),
  close,
];
