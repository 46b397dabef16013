import { z } from 'zod';
import { approvalOutcomes, feedbackBodySchema } from '../../contracts/feedback.js';
import type { Kind } from '../../contracts/work.js';
import { collectionOf } from '../../links.js';
import { type AnyRoute, type Ports, route } from '../route.js';
import type { FeedbackPort, WorkStatus } from '../work-port.js';
import { knownId } from './work-routes.js';

const receiptSchema = z
  .strictObject({
    request_id: z.string(),
    response: z.string(),
    outcome: z.enum([...approvalOutcomes, 'answered']).meta({
      description: 'Of the request as a whole: pending while more have to approve; answered where it is no approval.',
    }),
    approvals: z.number().int().min(0),
    needed: z.number().int().min(0),
  })
  .meta({ id: 'FeedbackReceipt' });

/** POST /v1/{kind}/{id}/feedback (spec 06, 10): one answer to what a piece of work waits for. */
export const feedbackRoute = (
  kind: Kind,
  exampleId: string,
  port: (ports: Ports) => FeedbackPort & { status(id: string): Promise<WorkStatus> },
): AnyRoute =>
  route({
    method: 'post',
    path: `/v1/${collectionOf(kind)}/{id}/feedback`,
    summary: `Answer what a ${kind} waits for`,
    description:
      'The request is the open one under `feedback` in the status. With `digest`, the answer counts only for exactly the ' +
      'content that was seen. With API keys the name of the key answers; without them `provided_by` does, and is recorded ' +
      'as unauthenticated. The first valid answer wins; the same answer again is no fault.',
    tag: collectionOf(kind),
    params: z.strictObject({ id: z.string().meta({ description: `Id of the ${kind}.`, example: exampleId }) }),
    query: z.strictObject({}),
    headers: z.object({
      'parley-client': z
        .enum(['cli', 'page'])
        .optional()
        .meta({ description: 'Sent by Parley’s own CLI and page; recorded as the source of the answer.' }),
    }),
    body: feedbackBodySchema,
    bodyExample: { request_id: 'fr-20261121-0a1b2c', response: 'approve', comment: 'Looks right.' },
    responses: {
      200: {
        description: 'It counts.',
        schema: receiptSchema,
        example: {
          request_id: 'fr-20261121-0a1b2c',
          response: 'approve',
          outcome: 'approved' as const,
          approvals: 1,
          needed: 1,
        },
      },
    },
    problems: [
      'invalid_json',
      'unauthorized',
      'forbidden',
      'not_found',
      'wrong_state',
      'conflict',
      'too_large',
      'unsupported_media_type',
      'invalid_request',
      'unavailable',
    ],
    access: 'api_key',
    needs: 'approve',
    owner: async ({ id }, ports) => ({
      tenant: (await port(ports).status(knownId(kind, id))).tenant,
      what: `${kind} ${id}`,
    }),
    handle: async ({ params: { id }, headers, body }, ports, { caller }) => {
      const { authenticated } = caller;
      const receipt = await port(ports).feedback(knownId(kind, id), {
        request_id: body.request_id,
        response: body.response,
        comment: body.comment ?? null,
        digest: body.digest ?? null,
        provided_by: authenticated ? caller.name : (body.provided_by ?? caller.name),
        authenticated,
        source: headers['parley-client'] ?? 'http',
      });
      return { status: 200, body: receipt };
    },
  });
