import { z } from 'zod';
import { type Kind, kinds } from '../../contracts/work.js';
import { collectionOf } from '../../links.js';
import { answerOf, findRoute } from '../invoke.js';
import type { AnyRoute } from '../route.js';
import { bodySchemaOf } from './input-schema.js';
import { type McpTool, readGiven } from './tool.js';

/** Seconds that a tool waits at most: clients of MCP give a call up after a minute. */
export const maxWaitSeconds = 50;
export const waitSeconds = z
  .number()
  .min(0)
  .max(maxWaitSeconds)
  .default(0)
  .meta({ description: `Seconds to wait, 0 to ${maxWaitSeconds}.` });

const what: Record<Kind, string> = {
  session: 'Ask one question of several lanes (agents) in parallel and get one answer, with how far they agree.',
  debate: 'Have five roles argue a task, decide, and carry the plan out in a folder, with repair and rollback.',
  'fan-out': 'Give tasks to isolated workers and make one result of theirs.',
  refinement: 'Let a generator write and a critic score, round by round, until it is good enough.',
  team: 'Start a team of agents that work with tools and talk to each other.',
  run: 'Start a run: phases of steps, with gates at which a person decides.',
  coordinator: 'Start many runs as one, whose questions come in one report.',
};

const startTool = (kind: Kind, open: AnyRoute): McpTool => ({
  name: `start_${kind.replaceAll('-', '_')}`,
  description:
    `${what[kind]} Answers with its id at once, or with its status if it ends within wait_seconds; the follow tool tells how it ` +
    'goes on. The same id with the same content starts nothing twice.',
  inputSchema: () =>
    bodySchemaOf(open, {
      wait_seconds: z.toJSONSchema(waitSeconds, { io: 'input' }) as Record<string, unknown>,
    }),
  hints: { readOnlyHint: false, destructiveHint: kind === 'debate' || kind === 'run' || kind === 'coordinator' },
  run: async ({ wait_seconds, ...body }, { ports, call, headers }) => {
    const wait = readGiven(z.strictObject({ wait_seconds: waitSeconds }), { wait_seconds }).wait_seconds;
    const query = wait === 0 ? {} : { wait };
    return (await answerOf(open, { query, headers, body }, ports, call)).body;
  },
});

/** One for each kind of work that can be started over HTTP. */
export const startTools = (routes: readonly AnyRoute[]): McpTool[] =>
  kinds
    .map((kind) => ({ kind, path: `/v1/${collectionOf(kind)}` }))
    .filter(({ path }) => routes.some((route) => route.method === 'post' && route.path === path))
    .map(({ kind, path }) => startTool(kind, findRoute(routes, 'post', path)));
