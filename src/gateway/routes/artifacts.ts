import { z } from 'zod';
import { artifactHashTextSchema } from '../../contracts/artifact.js';
import { tenantSchema } from '../../contracts/work.js';
import { ProblemError } from '../problem.js';
import { route } from '../route.js';

const nameSchema = z
  .string()
  .max(255)
  .regex(/^[^/\\\p{Cc}]+$/u, 'must be a file name without "/", "\\" and control characters');

const getArtifact = route({
  method: 'get',
  path: '/v1/artifacts/{sha256}',
  tag: 'artifacts',
  summary: 'Read an artifact',
  description:
    'The bytes whose sha256 is in the path, with or without `sha256:` before it; the status of work names them. They are checked ' +
    'while they are read: a corrupt artifact is a problem document or, once bytes have gone out, a connection cut before its end. ' +
    'Each tenant has artifacts of its own. `If-None-Match` with the digest in quotes is answered with 304.',
  params: z.strictObject({
    sha256: artifactHashTextSchema.meta({
      example: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
    }),
  }),
  query: z.strictObject({
    tenant: tenantSchema.default('default'),
    name: nameSchema.optional().meta({
      description: 'What to call the file; its ending decides the type of the content.',
      example: 'report.json',
    }),
  }),
  headers: z.object({}),
  body: null,
  bytes: true,
  responses: {
    200: {
      description: 'The content, as a file to keep.',
      schema: z.string().meta({ contentMediaType: 'application/octet-stream' }),
      headers: { ETag: 'The digest.' },
    },
  },
  problems: ['unauthorized', 'invalid_request', 'not_found', 'corrupt', 'unavailable'],
  access: 'api_key',
  handle: async ({ params: { sha256: hash }, query: { tenant, name } }, { artifacts }) => {
    const found = await artifacts.open(tenant, hash);
    if (found === null)
      throw new ProblemError(
        'not_found',
        `There is no artifact ${hash} of the tenant ${tenant}. The status of the work that made it names its digest.`,
      );
    const { content, size_bytes: sizeBytes } = found;
    return { status: 200, content, sizeBytes, name: name ?? hash.slice('sha256:'.length), etag: hash };
  },
});

export const artifactRoutes = [getArtifact];
