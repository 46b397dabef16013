import { z } from 'zod';
import { feedbackBodySchema } from '../../contracts/feedback.js';
import { inboxAnsweredSchema, inboxAnswerListSchema, inboxListSchema } from '../../contracts/inbox.js';
import { kindSchema, tenantSchema } from '../../contracts/work.js';
import { repromptOf } from '../../domain/inbox/reprompt.js';
import { type AnswerDesk } from '../inbox-answers.js';
import { answerNamed } from '../inbox-named.js';
import type { Answerer } from '../inbox-meaning.js';
import { readTextAnswers } from '../inbox-text.js';
import { textNumber } from '../query-number.js';
import { type AnyRoute, route } from '../route.js';
import { idempotencyKey, problemsOfBody } from '../request-parts.js';
import { inboxAnsweredExample, inboxListExample } from './inbox-examples.js';

const filters = {
  kind: kindSchema.optional().meta({ description: 'Of this kind of work alone.' }),
  tenant: tenantSchema.optional(),
};

const answersBody = inboxAnswerListSchema.transform((answers) => ({ answers, text: null as string | null }));
const answersText = z
  .string()
  .refine((text) => text.trim() !== '', 'must hold one answer in a line, such as "#124: approve"; got nothing')
  .transform((text) => ({ answers: [] as z.output<typeof inboxAnswerListSchema>, text: text as string | null }));

const clientHeader = z
  .enum(['cli', 'page'])
  .optional()
  .meta({ description: 'Sent by Parley’s own CLI and page; recorded as the source of the answers.' });

const common = { params: z.strictObject({}), tag: 'inbox', access: 'api_key', asksOwners: true } as const;

/** The feedback inbox under one path (spec 08, 09). */
const routesAt = (path: string): AnyRoute[] => [
  route({
    ...common,
    method: 'get',
    path,
    summary: 'List every open request for feedback',
    description:
      'Of every kind of work that asks people: what is asked, since when and until when, who may answer, and exactly what is ' +
      'approved. Oldest first. What waits is found in Temporal’s visibility store, which may lag by a moment.',
    query: z.strictObject({
      ...filters,
      work_id: z.string().max(128).optional().meta({ description: 'What this piece of work asks, alone.' }),
      order: z.enum(['oldest', 'newest']).default('oldest').meta({ description: 'By when it was asked.' }),
      cursor: z.string().min(1).max(1024).optional().meta({ description: '`next_cursor` of the page before.' }),
      limit: textNumber(z.number().int().min(1).max(200)).default(50),
    }),
    headers: z.object({}),
    body: null,
    responses: { 200: { description: 'One page.', schema: inboxListSchema, example: inboxListExample } },
    problems: ['unauthorized', 'invalid_request', 'unavailable'],
    handle: async ({ query }, { inbox }) => ({
      status: 200,
      body: await (query.work_id === undefined ? inbox.list(query) : inbox.listOne(query.work_id, query)),
    }),
  }),
  route({
    ...common,
    method: 'get',
    path: `${path}/events`,
    summary: 'Follow the inbox',
    description:
      'Server-sent events: everything open as `added`, then `ready`, then `added`, `changed` and `removed` as it happens. After a ' +
      'reconnect everything open comes again; what is not among it is open no more.',
    query: z.strictObject(filters),
    headers: z.object({}),
    body: null,
    responses: { 200: { description: 'A stream of events.', schema: z.string() } },
    streams: true,
    problems: ['unauthorized', 'invalid_request'],
    handle: async ({ query }, { inboxWatch }, { signal, draining }) => ({
      status: 200,
      messages: inboxWatch.watch(query, { signal, draining }),
    }),
  }),
  route({
    ...common,
    method: 'post',
    path: `${path}/answers`,
    summary: 'Answer many requests at once',
    description:
      'A JSON list, or lines of text such as `#124: approve`. Each answer counts for itself: `errors` names those that changed ' +
      'nothing and why, `reprompt` asks them again. Sending the same again is safe. Without `request_id` the open request of the ' +
      'work is meant, or with `as_of` the latest that was open then. What this person answered last, said again with none of ' +
      'them, counts as that answer once more, and not for what was asked since: a warning says so. With an Idempotency-Key it is ' +
      'the key that tells. With API keys the name of the key answers.',
    query: z.strictObject({
      provided_by: feedbackBodySchema.shape.provided_by,
      as_of: z.iso.datetime().optional().meta({
        description: 'When the list was read that is answered: what was asked later is refused, not answered.',
      }),
    }),
    headers: z.object({
      'parley-client': clientHeader,
      'idempotency-key': idempotencyKey('Answers of the same person and key count once for each piece of work.'),
    }),
    asksOwners: true,
    body: answersBody,
    bodyExample: [{ work_id: 'debate-01JD8W3Z4X5Y6Z7A8B9C0D1E2F', response: 'approve', comment: 'Looks right.' }],
    textBody: { schema: answersText, example: '#124: approve\n#125: request_changes split the module\n' },
    responses: {
      200: { description: 'What became of each.', schema: inboxAnsweredSchema, example: inboxAnsweredExample },
    },
    problems: [...problemsOfBody, 'forbidden'],
    needs: 'approve',
    handle: async ({ query, headers, body }, { inbox, inboxWatch }, { caller }) => {
      const answerer: Answerer = {
        caller,
        providedBy: query.provided_by ?? null,
        source: headers['parley-client'] ?? 'http',
        asOf: query.as_of === undefined ? null : Date.parse(query.as_of),
        key: headers['idempotency-key'] ?? null,
      };
      const read =
        body.text === null
          ? { answers: body.answers, warnings: [], errors: [] }
          : await readTextAnswers(inbox, body.text, answerer);
      const desk: AnswerDesk = {
        kinds: inbox.kinds,
        item: (id) => inbox.item(id),
        patienceMs: inbox.givingMs,
        onAnswered: (work, requestId, outcome) => inboxWatch.takeAnswered(work, requestId, outcome !== 'pending'),
      };
      const answered = await answerNamed(desk, inbox, read.answers, answerer);
      const errors = [...read.errors, ...answered.errors];
      return {
        status: 200,
        body: {
          applied: answered.applied,
          warnings: [...read.warnings, ...answered.warnings],
          errors,
          reprompt: repromptOf(errors),
        },
      };
    },
  }),
];

/** The inbox, by its own name and by that of what it is about. */
export const inboxRoutes: readonly AnyRoute[] = ['/v1/inbox', '/v1/feedback'].flatMap(routesAt);
