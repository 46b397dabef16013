import { z } from 'zod';
import { feedbackBodySchema } from '../../contracts/feedback.js';
import { type Kind, kindSchema, workIdSchema } from '../../contracts/work.js';
import { collectionOf } from '../../links.js';
import { visibleTo } from '../access.js';
import { answerOf, findRoute } from '../invoke.js';
import { portOf } from '../port-of.js';
import { ProblemError } from '../problem.js';
import type { AnyRoute } from '../route.js';
import { inputSchemaOf } from './input-schema.js';
import { waitSeconds } from './start-tools.js';
import { type McpTool, readGiven, type ToolCall } from './tool.js';

const reads = { readOnlyHint: true };

interface Definition<S extends z.ZodType> {
  name: string;
  description: string;
  input: S;
  hints: McpTool['hints'];
  run: (given: z.output<S>, circumstances: ToolCall) => Promise<unknown>;
}

const tool = <S extends z.ZodType>({ input, run, ...definition }: Definition<S>): McpTool => ({
  ...definition,
  inputSchema: () => inputSchemaOf(input),
  run: async (given, circumstances) => await run(readGiven(input, given), circumstances),
});

const kind = kindSchema.optional().meta({ description: 'Its kind; left out: it is looked up.' });
const work = { id: workIdSchema, kind };

/** What belongs to another tenant is of no kind. @throws ProblemError or ParleyError not_found */
const kindOf = async (given: { id: string; kind?: Kind | undefined }, { ports, call }: ToolCall): Promise<Kind> => {
  if (given.kind !== undefined) return given.kind;
  const { kind: found, tenant } = await ports.checkpoints.beginning(given.id);
  if (visibleTo(call.caller, tenant)) return found;
  throw new ProblemError('not_found', `There is no work ${given.id}.`);
};

/** The route of one kind under `/v1/{kind}/{id}`. @throws ProblemError wrong_state where that kind has none */
const ofKind = (routes: readonly AnyRoute[], method: AnyRoute['method'], of: Kind, verb = ''): AnyRoute => {
  const path = `/v1/${collectionOf(of)}/{id}${verb}`;
  const found = routes.find((route) => route.method === method && route.path === path);
  if (found) return found;
  throw new ProblemError(
    'wrong_state',
    `There is no ${method.toUpperCase()} ${path}: work of the kind ${of} knows none.`,
  );
};

const follow = tool({
  name: 'follow',
  description:
    'The status of a piece of work, and its events after number `after`; waits for new ones as long as wait_seconds says. Call ' +
    'it again with `after` set to `last_event_id` until `ended` is true.',
  input: z.strictObject({
    ...work,
    after: z
      .number()
      .int()
      .min(0)
      .default(0)
      .meta({ description: 'The last_event_id of the call before; 0: from the beginning.' }),
    wait_seconds: waitSeconds,
    include_events: z.boolean().default(true),
  }),
  hints: reads,
  run: async (given, circumstances) => {
    const { ports, call, routes } = circumstances;
    const of = await kindOf(given, circumstances);
    const status = async () =>
      (await answerOf(ofKind(routes, 'get', of), { params: { id: given.id } }, ports, call)).body as {
        ended_at?: string | null;
      };
    const first = await status(); // who may not know of it learns nothing of its events
    const wait = first.ended_at ? 0 : given.wait_seconds * 1_000;
    const seen = await ports.hub.look(portOf(of, ports), given.id, given.after, { waitMs: wait, signal: call.signal });
    return {
      status: seen.events.length === 0 && seen.endState === null ? first : await status(),
      events: given.include_events ? seen.events : [],
      last_event_id: seen.lastId,
      ended: seen.endState !== null,
    };
  },
});

const cancel = tool({
  name: 'cancel',
  description: 'Cancels running work of any kind, and answers with its status.',
  input: z.strictObject(work),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  run: async (given, circumstances) => {
    const { ports, call, routes } = circumstances;
    const route = ofKind(routes, 'post', await kindOf(given, circumstances), '/cancel');
    return (await answerOf(route, { params: { id: given.id } }, ports, call)).body;
  },
});

const answer = tool({
  name: 'answer',
  description:
    'Answers what a piece of work asks a person: the open request under `feedback` in its status, or in the inbox. Give the ' +
    'answer that the person gave. With `digest` it counts only for exactly the content that was seen.',
  input: feedbackBodySchema.extend(work),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  run: async ({ id, kind: named, ...body }, circumstances) => {
    const { ports, call, routes } = circumstances;
    const route = ofKind(routes, 'post', await kindOf({ id, kind: named }, circumstances), '/feedback');
    return (await answerOf(route, { params: { id }, body }, ports, call)).body;
  },
});

/** A tool that is one route: its members are the route's query. */
const ofQuery = (name: string, description: string, path: string, find: (path: string) => AnyRoute): McpTool => ({
  name,
  description,
  inputSchema: () => inputSchemaOf(find(path).query),
  hints: reads,
  run: async (query, { ports, call }) => (await answerOf(find(path), { query }, ports, call)).body,
});

/** What there is to do with work of every kind once it has been started. */
export const workTools = (routes: readonly AnyRoute[]): McpTool[] => {
  const get = (path: string): AnyRoute => findRoute(routes, 'get', path);
  const answers = findRoute(routes, 'post', '/v1/inbox/answers');
  const givenAnswers = z.strictObject({ answers: answers.body ?? z.unknown() });
  return [
    follow,
    answer,
    cancel,
    ofQuery('list', 'Lists work of every kind: running work first, then the newest.', '/v1/work', get),
    ofQuery(
      'inbox',
      'Lists every open question to a person, over all work: what is asked, and which answers are taken.',
      '/v1/inbox',
      get,
    ),
    {
      name: 'answer_inbox',
      description:
        'Gives many answers to questions of the inbox in one call. Each counts for itself; `errors` names those that changed nothing.',
      inputSchema: () => inputSchemaOf(givenAnswers),
      hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
      run: async (given, { ports, call, headers }) => {
        const { answers: body, ...others } = given;
        if (Object.keys(others).length > 0) readGiven(givenAnswers, given);
        return (await answerOf(answers, { body, headers }, ports, call)).body;
      },
    },
    ofQuery(
      'compare',
      'Compares two pieces of work: answer, agreement, cost, time, and where their bodies differ.',
      '/v1/compare',
      get,
    ),
  ];
};
