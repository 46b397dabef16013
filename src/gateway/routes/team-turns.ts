import { z } from 'zod';
import { type TeamTurns, teamTurnsSchema } from '../../contracts/export.js';
import { knownId, pathAlone } from '../request-parts.js';
import { type AnyRoute, route } from '../route.js';
import { documentParts, exportReply } from './export-route.js';
import { ofTeams } from './team-agents.js';
import { teamStartedExample } from './team-examples.js';

const example = {
  items: [
    { id: `${teamStartedExample.id}.agent.reader.3`, agent_id: 'reader', started_at: '2026-11-20T10:00:02.000Z' },
  ],
} satisfies TeamTurns;

const teamId = z.string().meta({ description: 'Id of the team.', example: teamStartedExample.id });
const list = route({
  ...ofTeams,
  ...pathAlone,
  method: 'get',
  path: '/v1/teams/{id}/turns',
  summary: 'List turns under way',
  description: 'Each is the workflow that answers one question to an agent; newest first, 50 at most.',
  params: z.strictObject({ id: teamId }),
  responses: { 200: { description: 'The turns.', schema: teamTurnsSchema, example } },
  problems: ['unauthorized', 'not_found', 'unavailable'],
  handle: async ({ params: { id } }, { exports }) => ({
    status: 200,
    body: { items: await exports.turns(knownId('team', id)) },
  }),
});

const exportTurn = route({
  ...ofTeams,
  ...documentParts,
  method: 'get',
  path: '/v1/teams/{id}/turns/{turn}/export',
  summary: 'Export a turn',
  description: 'As the export of a team, of one turn of an agent, under way or ended.',
  params: z.strictObject({
    id: teamId,
    turn: z.string().max(256).meta({ description: 'Id of the turn.', example: example.items[0]!.id }),
  }),
  problems: ['unauthorized', 'forbidden', 'not_found', 'invalid_request', 'wrong_state', 'unavailable'],
  handle: async ({ params: { id, turn } }, { exports }) =>
    exportReply(turn, await exports.exportTurn(knownId('team', id), turn)),
});

export const turnRoutes: readonly AnyRoute[] = [list, exportTurn];
