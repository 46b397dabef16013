import { z } from 'zod';
import { checkpointListSchema, checkpointSchema } from '../../contracts/checkpoint.js';
import type { Kind } from '../../contracts/work.js';
import { collectionOf } from '../../links.js';
import { ProblemError } from '../problem.js';
import { pathAlone } from '../request-parts.js';
import { type AnyRoute, route } from '../route.js';
import { withContents } from '../checkpoint-artifacts.js';
import { checkpointExample, checkpointItemExample } from './checkpoint-examples.js';
import type { Owner } from './kind-routes.js';

const common = { ...pathAlone, method: 'get' as const, access: 'api_key' as const };

/** What cannot be a number of a checkpoint is not known either. @throws ProblemError not_found */
const knownNumber = (kind: Kind, id: string, text: string): number => {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new ProblemError(
    'not_found',
    `There is no checkpoint ${text.slice(0, 32)} of ${kind} ${id}; they are numbered from 0.`,
  );
};

/** List and inspect checkpoints of one kind. `owner` finds the work, and throws where there is none of that kind. */
export const checkpointRoutes = (kind: Kind, exampleId: string, owner: Owner): AnyRoute[] => {
  const collection = collectionOf(kind);
  const path = `/v1/${collection}/{id}/checkpoints`;
  const id = z.string().meta({ description: `Id of the ${kind}.`, example: exampleId });
  return [
    route({
      ...common,
      path,
      summary: `List the checkpoints of a ${kind}`,
      description:
        'Named points of its history, while it runs and after it has ended: number 0 stands before the first step, then one ' +
        'for each turn of an agent, step or phase that ended. The latest 100 are kept.',
      tag: collection,
      params: z.strictObject({ id }),
      owner,
      responses: {
        200: {
          description: 'The checkpoints, oldest first.',
          schema: checkpointListSchema,
          example: { items: [checkpointItemExample(exampleId, kind)], restores: [] },
        },
      },
      problems: ['unauthorized', 'not_found', 'wrong_state', 'unavailable'],
      handle: async ({ params }, ports) => {
        await owner(params, ports);
        return { status: 200, body: await ports.checkpoints.list(kind, params.id) };
      },
    }),
    route({
      ...common,
      path: `${path}/{n}`,
      summary: `Inspect a checkpoint of a ${kind}`,
      description:
        'The state at that point, computed by replaying the history: nothing is called, written or charged again. `gone` once ' +
        'newer checkpoints, or the retention of Temporal’s namespace, have pushed it out.',
      tag: collection,
      params: z.strictObject({ id, n: z.string().meta({ description: 'Its `sequence_num`.', example: '0' }) }),
      owner,
      responses: {
        200: { description: 'The checkpoint.', schema: checkpointSchema, example: checkpointExample(exampleId, kind) },
      },
      problems: ['unauthorized', 'not_found', 'wrong_state', 'gone', 'unavailable'],
      handle: async ({ params }, ports) => {
        const { tenant } = await owner(params, ports);
        const number = knownNumber(kind, params.id, params.n);
        const checkpoint = await ports.checkpoints.inspect(kind, params.id, number);
        const artifacts = await withContents(checkpoint.artifacts, tenant, ports.artifacts);
        return { status: 200, body: { ...checkpoint, artifacts } };
      },
    }),
  ];
};
