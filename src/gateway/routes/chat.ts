import { z } from 'zod';
import {
  chatCompletionSchema,
  chatRequestSchema,
  modelListSchema,
  type Model,
  modelSchema,
} from '../../contracts/chat.js';
import type { Started } from '../../contracts/work.js';
import { cancelWhenGone } from '../cancel-when-gone.js';
import { answerOf, findRoute } from '../invoke.js';
import { completionOf } from '../openai/completion.js';
import { readConversation } from '../openai/conversation.js';
import { refusedSession, sessionBodyOf } from '../openai/session-body.js';
import { chatChunks } from '../openai/stream.js';
import { ProblemError } from '../problem.js';
import { type AnyRoute, type Ports, route } from '../route.js';
import { idempotencyKey, pathAlone, problemsOfBody, workerHeader } from '../request-parts.js';
import { sessionRoutes } from './sessions.js';

const openSession = findRoute(sessionRoutes, 'post', '/v1/sessions');

/** The longest that any session may take (its deadline, spec 10) and then some. */
const patienceMs = 87_000_000;

const exampleId = 'session-01JD8W3Z4X5Y6Z7A8B9C0D1E2F';

const complete = route({
  method: 'post',
  path: '/v1/chat/completions',
  summary: 'Ask a panel, as OpenAI’s API does',
  description:
    'For clients of OpenAI’s API: set their base URL to `/v1` of this gateway. `model` names a panel (`GET /v1/models`), which ' +
    'answers with the final of a session. System and developer messages are instructions for every lane; the other messages are ' +
    'the prompt. With `stream` the answer comes as `data:` chunks that end with `[DONE]`: the final is the one delta with content, ' +
    'and while lanes still run, provisional answers and revisions come as chunks with an empty delta and ' +
    '`"parley":{"event","session_id","text",…}`. Parameters that tune one model are ignored or go to the lanes that are models; what ' +
    'would change what an answer is (tools, images, several choices, JSON modes) is refused by name. The session is cancelled when the ' +
    'client goes away before its end, unless an `Idempotency-Key` came along, with which it can ask for the same again. Errors are ' +
    'those of OpenAI’s API: `{"error":{"message","type","code","param"}}`.',
  tag: 'chat',
  params: z.strictObject({}),
  query: z.strictObject({}),
  headers: z.object({
    'idempotency-key': idempotencyKey('The same key and body give the same session.'),
    'parley-worker': workerHeader,
  }),
  body: chatRequestSchema,
  bodyExample: { model: 'parley', messages: [{ role: 'user', content: 'Which colour is the sky?' }] },
  responses: {
    200: {
      description: 'The answer.',
      schema: chatCompletionSchema,
      headers: { 'Parley-Session': 'The id of the session that answered.' },
      example: {
        id: `chatcmpl-${exampleId}`,
        object: 'chat.completion',
        created: 1_795_428_000,
        model: 'parley',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'Blue.', refusal: null },
            logprobs: null,
            finish_reason: 'stop',
          },
        ],
        usage: { prompt_tokens: 60, completion_tokens: 2, total_tokens: 62 },
        parley: {
          session_id: exampleId,
          agreement: 1,
          for: [{ lane_id: 'sceptic', weight: 1 }],
          against: [],
          below_threshold: false,
          partial: false,
          ended_by: 'all_final',
        },
      },
    },
  },
  problems: [...problemsOfBody, 'model_not_found', 'conflict', 'work_failed'],
  access: 'api_key',
  asksOwners: true,
  handle: async ({ headers, body: request }, ports, call) => {
    const conversation = readConversation(request.messages);
    if (conversation.prompt.trim() === '')
      throw refusedSession([{ path: 'prompt', message: 'must have a message of the user that is not empty' }]);
    const panel = await ports.panels.panel(request.model, conversation.question);
    const body = sessionBodyOf(request, panel, conversation);
    const started = await answerOf(openSession, { headers, body }, ports, call).catch((error: unknown) => {
      const faults = error instanceof ProblemError ? error.options.errors : undefined;
      throw faults ? refusedSession(faults) : error;
    });
    const { id } = started.body as Started;
    // Whoever named it, or gave a key, can come back for it.
    const isKnown = headers['idempotency-key'] !== undefined || request.parley?.id !== undefined;
    const onEnd = isKnown ? (): void => undefined : cancelWhenGone(id, ports.sessions, call);
    const status = () => ports.sessions.status(id);
    const answerHeaders = { 'Parley-Session': id };
    if (request.stream === true) {
      const messages = await ports.hub.watch(ports.sessions, id, 0, call);
      return {
        status: 200,
        headers: answerHeaders,
        messages: chatChunks({ session: await status(), request, messages, status, onEnd }),
      };
    }
    const ended = await ports.sessions.awaitEnd(id, patienceMs, call.signal);
    onEnd();
    return { status: 200, headers: answerHeaders, body: completionOf(ended ?? (await status()), request) };
  },
});

const modelOf = ({ id, description }: Ports['panels']['names'][number]): Model => ({
  id,
  object: 'model',
  created: 0,
  owned_by: 'parley',
  description,
});

const modelExample: Model = {
  id: 'parley',
  object: 'model',
  created: 0,
  owned_by: 'parley',
  description: 'The models of this installation; simulated ones without any.',
};

const models = {
  method: 'get' as const,
  tag: 'chat',
  ...pathAlone,
  access: 'api_key' as const,
  asksOwners: true,
};

const listModels = route({
  ...models,
  path: '/v1/models',
  summary: 'List the panels that chat completions ask',
  description: '`parley` is the installation’s own; the file of `PARLEY_MODELS` defines others.',
  params: z.strictObject({}),
  responses: {
    200: { description: 'All of them.', schema: modelListSchema, example: { object: 'list', data: [modelExample] } },
  },
  problems: ['unauthorized'],
  handle: async (_input, { panels }) => ({
    status: 200,
    body: { object: 'list' as const, data: panels.names.map(modelOf) },
  }),
});

const getModel = route({
  ...models,
  path: '/v1/models/{model}',
  summary: 'One panel',
  params: z.strictObject({ model: z.string().meta({ description: 'Its name.', example: 'parley' }) }),
  responses: { 200: { description: 'It is there.', schema: modelSchema, example: modelExample } },
  problems: ['unauthorized', 'model_not_found'],
  handle: async ({ params: { model } }, { panels }) => {
    const found = panels.names.find(({ id }) => id === model);
    if (found) return { status: 200, body: modelOf(found) };
    const there = panels.names.map(({ id }) => id).join(', ');
    throw new ProblemError(
      'model_not_found',
      `There is no model ${JSON.stringify(model.slice(0, 200))}; there are ${there}.`,
    );
  },
});

export const chatRoutes: readonly AnyRoute[] = [complete, listModels, getModel];
