import { z } from 'zod';
import { comparisonSchema } from '../../contracts/time-travel.js';
import { workIdSchema } from '../../contracts/work.js';
import { differencesOf } from '../../domain/change.js';
import { type AnyStatus, compared, comparedRequest } from '../../domain/compared.js';
import { visibleTo } from '../access.js';
import { ProblemError } from '../problem.js';
import { type Call, type Ports, route } from '../route.js';
import type { Beginning } from '../work-port.js';

const statusOf = async ({ kind }: Beginning, id: string, ports: Ports): Promise<AnyStatus> => {
  switch (kind) {
    case 'session':
      return await ports.sessions.status(id);
    case 'debate':
      return await ports.debates.status(id);
    case 'fan-out':
      return await ports.fanOuts.status(id);
    case 'refinement':
      return await ports.refinements.status(id);
    case 'run':
      return await ports.runs.status(id);
    case 'coordinator':
      return await ports.coordinators.status(id);
    case 'team':
      return await ports.teams.status(id);
  }
};

const sideOf = async (id: string, ports: Ports, { caller }: Call) => {
  const beginning = await ports.checkpoints.beginning(id);
  if (!visibleTo(caller, beginning.tenant)) throw new ProblemError('not_found', `There is no work ${id}.`);
  const side = compared(await statusOf(beginning, id, ports), beginning.forkedFrom, Date.now());
  return { side, request: comparedRequest(beginning.kind, beginning.request) };
};

const side = {
  kind: 'session' as const,
  lifecycle: 'completed' as const,
  state: 'COMPLETE',
  answer: 'blue',
  agreement: 1,
  spend: { tokens: 24, usd: '0.0002' },
  elapsed_ms: 61,
  started_at: '2026-11-20T10:00:00.000Z',
  ended_at: '2026-11-20T10:00:00.061Z',
  forked_from: null,
};
const [a, b] = ['session-01JD8W3Z4X5Y6Z7A8B9C0D1E2F', 'session-01JD8W4A1B2C3D4E5F6G7H8J9K'];

export const compareRoute = route({
  method: 'get',
  path: '/v1/compare',
  summary: 'Compare two pieces of work',
  description:
    'Side by side: answer, agreement, cost and time, and where the bodies that they were started with differ; of a fork and ' +
    'its origin, or of any two. Of a run the answer is its outcome with the last output and the branch, of a coordinator its ' +
    'outcome with how many of its runs ended how, of a team the last result of each agent. Ids and receivers are not compared.',
  tag: 'work',
  params: z.strictObject({}),
  query: z.strictObject({
    a: workIdSchema.meta({ description: 'Id of the one.', example: a }),
    b: workIdSchema.meta({ description: 'Id of the other.', example: b }),
  }),
  headers: z.object({}),
  body: null,
  responses: {
    200: {
      description: 'Both sides.',
      schema: comparisonSchema,
      example: {
        a: { ...side, id: a },
        b: { ...side, id: b, answer: 'red', forked_from: { id: a, checkpoint: 2 } },
        differences: [{ path: 'lanes[b].persona.instructions', a: 'Be brief.', b: 'Doubt everything.' }],
        more_differences: 0,
      },
    },
  },
  problems: ['unauthorized', 'not_found', 'invalid_request', 'wrong_state', 'unavailable'],
  access: 'api_key',
  asksOwners: true,
  handle: async ({ query }, ports, call) => {
    const [left, right] = await Promise.all([sideOf(query.a, ports, call), sideOf(query.b, ports, call)]);
    const { differences, more } = differencesOf(left.request, right.request);
    return { status: 200, body: { a: left.side, b: right.side, differences, more_differences: more } };
  },
});
