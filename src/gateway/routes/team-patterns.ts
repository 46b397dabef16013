import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { broadcastSchema, roleChainSchema, roundRobinSchema, sendToRoleSchema } from '../../contracts/team-patterns.js';
import { type PatternAnswer, patternAnsweredSchema, patternStartedSchema } from '../../contracts/team-status.js';
import type { PatternKind } from '../../domain/team/pattern-state.js';
import { textNumber } from '../query-number.js';
import { type AnyRoute, type Call, type Ports, route } from '../route.js';
import { knownId } from '../request-parts.js';
import { callsOfTeam } from './team-agents.js';
import { callTeam } from './team-calls.js';
import { patternExamples } from './team-examples.js';

const patternQuery = z.strictObject({
  wait: textNumber(z.number().min(0).max(60))
    .default(60)
    .meta({ description: 'Seconds to wait for the answer, 0 to 60.', example: 10 }),
});

const exampleId = '0f8fad5b-d9cb-469f-a165-70867728950e';

/** @param example what such a pattern comes to, in the story of the examples */
const patternResponses = (example: PatternAnswer) => ({
  200: {
    description: 'What it came to.',
    schema: patternAnsweredSchema,
    example: { pattern_id: exampleId, ...example },
  },
  202: {
    description: 'It goes on: the event `pattern` with this id tells what it came to.',
    schema: patternStartedSchema,
    example: { pattern_id: exampleId, status: 'running' as const },
  },
});

/** Begins a pattern and waits for its event. */
const runPattern = async (
  id: string,
  pattern: PatternKind,
  { waitSeconds, key }: { waitSeconds: number; key: string | undefined },
  ports: Ports,
  { signal, draining }: Call,
) => {
  // The same key is the same pattern, so that a call that is sent again finds its answer.
  const patternId = key ?? randomUUID();
  // One that is new is answered from now on; what a key names may have been answered long ago.
  const since = key === undefined ? Number.MAX_SAFE_INTEGER : 0;
  const enough = new AbortController();
  const watch = { signal: AbortSignal.any([signal, enough.signal]), draining };
  try {
    const stream = await ports.hub.watch(ports.teams, knownId('team', id), since, watch);
    const call = { type: 'PATTERN', patternId, pattern } as const;
    await callTeam(id, { type: 'CALL', by: null, call }, ports, key);
    const late = setTimeout(() => enough.abort(), Math.max(1, waitSeconds * 1_000));
    watch.signal.addEventListener('abort', () => clearTimeout(late));
    for await (const { event, data } of stream) {
      const told = event === 'pattern' ? patternAnsweredSchema.loose().safeParse(data) : null;
      if (!told?.success || told.data.pattern_id !== patternId) continue;
      const { pattern_id, status, answer, lineage } = told.data;
      return { status: 200 as const, body: { pattern_id, status, answer, lineage } };
    }
    return { status: 202 as const, body: { pattern_id: patternId, status: 'running' as const } };
  } finally {
    enough.abort();
  }
};

const roundRobin = route({
  ...callsOfTeam,
  path: '/v1/teams/{id}/round-robin',
  summary: 'Ask the agents of a role in turn',
  description: 'Prompt by prompt, round and round; the answers stand in the order of the prompts.',
  query: patternQuery,
  body: roundRobinSchema,
  bodyExample: { prompts: ['Read chapter 1.', 'Read chapter 2.'], role: 'reader' },
  responses: patternResponses(patternExamples.round_robin),
  handle: ({ params: { id }, query: { wait: waitSeconds }, headers, body }, ports, call) =>
    runPattern(id, { kind: 'round_robin', ...body }, { waitSeconds, key: headers['idempotency-key'] }, ports, call),
});

const roleChain = route({
  ...callsOfTeam,
  path: '/v1/teams/{id}/role-chain',
  summary: 'Ask role after role',
  description:
    'Each is given what the one before it has answered. `lineage` says who handled which role; "none" where nobody has it.',
  query: patternQuery,
  body: roleChainSchema,
  bodyExample: { content: 'Add an index to orders.', roles: ['planner', 'implementer', 'reviewer'] },
  responses: patternResponses(patternExamples.role_chain),
  handle: ({ params: { id }, query: { wait: waitSeconds }, headers, body }, ports, call) =>
    runPattern(id, { kind: 'role_chain', ...body }, { waitSeconds, key: headers['idempotency-key'] }, ports, call),
});

const sendToRole = route({
  ...callsOfTeam,
  path: '/v1/teams/{id}/send-to-role',
  summary: 'Ask one agent of a role',
  description:
    'The next one in turn, as round robin has it. Where no agent has the role, all of its lite agents are asked: `answer` has what they say, line by line, without those that fail or say nothing; null where none is left, or nobody has the role.',
  query: patternQuery,
  body: sendToRoleSchema,
  bodyExample: { content: 'Is it safe to add an index to orders?', role: 'reviewer' },
  responses: patternResponses(patternExamples.send_to_role),
  handle: ({ params: { id }, query: { wait: waitSeconds }, headers, body }, ports, call) =>
    runPattern(id, { kind: 'send_to_role', ...body }, { waitSeconds, key: headers['idempotency-key'] }, ports, call),
});

const broadcast = route({
  ...callsOfTeam,
  path: '/v1/teams/{id}/broadcast',
  summary: 'Ask everybody of some roles',
  description:
    'Every agent of each role, in the order of the roles; lite agents only of a role that no agent has, their answers joined line by line. `answer` has one entry for each agent asked, one for the lite agents of a role, and null for a role that nobody has.',
  query: patternQuery,
  body: broadcastSchema,
  bodyExample: { content: 'What speaks against an index on orders?', roles: ['reader', 'reviewer'] },
  responses: patternResponses(patternExamples.broadcast),
  handle: ({ params: { id }, query: { wait: waitSeconds }, headers, body }, ports, call) =>
    runPattern(id, { kind: 'broadcast', ...body }, { waitSeconds, key: headers['idempotency-key'] }, ports, call),
});

export const teamPatternRoutes: readonly AnyRoute[] = [roundRobin, roleChain, sendToRole, broadcast];
