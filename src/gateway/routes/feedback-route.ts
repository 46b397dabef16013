import { z } from 'zod';
import {
  approvalOutcomes,
  feedbackBodySchema,
  type GivenFeedback,
  teamFeedbackBodySchema,
} from '../../contracts/feedback.js';
import type { Kind } from '../../contracts/work.js';
import { ParleyError } from '../../domain/errors.js';
import { answerReceipt, type FeedbackReceipt } from '../../domain/feedback-answer.js';
import { closedWords, isSameAnswer } from '../../domain/feedback.js';
import type { Asks } from '../../domain/inbox/asks.js';
import { collectionOf } from '../../links.js';
import { askingKinds } from '../asking-kinds.js';
import { type AnyRoute, type Ports, route } from '../route.js';
import type { FeedbackPort, WorkStatus } from '../work-port.js';
import { knownId, problemsOfBody } from '../request-parts.js';

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

/** What work that takes no answer any more had asked; null: that is not why it was refused. */
const asksIfEnded = async (error: unknown, kind: Kind, id: string, ports: Ports): Promise<Asks | null> => {
  if (!(error instanceof ParleyError) || error.code !== 'wrong_state') return null;
  const asks =
    (await askingKinds(ports)
      .find((asking) => asking.kind === kind)
      ?.asks(id)) ?? null;
  return asks?.isOver === true ? asks : null;
};

/**
 * The work may have ended over an answer: whoever gave it is told so again, and everybody else who was first, and when.
 * @throws the refusal, in these words where it can
 */
const closedReceipt = (error: unknown, given: GivenFeedback, asks: Asks | null): FeedbackReceipt => {
  const asked = asks?.requests.find(({ request }) => request.request_id === given.request_id);
  if (!asked || asked.state === 'open') throw error;
  if (isSameAnswer(asked, given)) return answerReceipt([asked], given);
  throw new ParleyError('wrong_state', `${given.request_id} ${closedWords(asked)}; nothing was changed.`);
};

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
    body: kind === 'team' ? teamFeedbackBodySchema : feedbackBodySchema,
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
    problems: [...problemsOfBody, 'forbidden', 'not_found', 'wrong_state', 'conflict'],
    access: 'api_key',
    needs: 'approve',
    owner: async ({ id }, ports) => ({
      tenant: (await port(ports).status(knownId(kind, id))).tenant,
      what: `${kind} ${id}`,
    }),
    handle: async ({ params: { id }, headers, body }, ports, { caller }) => {
      const { authenticated } = caller;
      const given: GivenFeedback = {
        request_id: body.request_id,
        response: body.response,
        comment: body.comment ?? null,
        digest: body.digest ?? null,
        ...('limits' in body && body.limits ? { limits: body.limits } : {}),
        provided_by: authenticated ? caller.name : (body.provided_by ?? caller.name),
        authenticated,
        source: headers['parley-client'] ?? 'http',
      };
      const receipt = await port(ports)
        .feedback(knownId(kind, id), given)
        .catch(async (error: unknown) => closedReceipt(error, given, await asksIfEnded(error, kind, id, ports)));
      return { status: 200, body: receipt };
    },
  });
