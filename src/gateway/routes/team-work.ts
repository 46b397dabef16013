import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import {
  delegateSchema,
  roleChainSchema,
  roundRobinSchema,
  syncContextSchema,
  teamMessageSchema,
  waitAgentsSchema,
} from '../../contracts/team.js';
import {
  delegatedSchema,
  deliveredSchema,
  patternStartedSchema,
  patternAnsweredSchema,
  syncedSchema,
  type TeamStatus,
  waitAnswerSchema,
} from '../../contracts/team-status.js';
import type { PatternKind } from '../../domain/team/pattern-state.js';
import { awaitTeam } from '../await-team.js';
import { textNumber } from '../query-number.js';
import { type AnyRoute, type Call, type Ports, route } from '../route.js';
import { knownId, problemsOfBody } from '../request-parts.js';
import { agentsOf, callTeam, isSettled } from './team-calls.js';
import { keyed, ofTeams } from './team-agents.js';
import { agentStatusExample, patternAnswerExample, teamStartedExample } from './team-examples.js';

const shared = {
  ...ofTeams,
  method: 'post',
  params: z.strictObject({ id: z.string().meta({ description: 'Id of the team.', example: teamStartedExample.id }) }),
  query: z.strictObject({}),
  headers: keyed,
  problems: [...problemsOfBody, 'forbidden', 'not_found', 'conflict', 'wrong_state'],
} as const;

const areSettled = (ids: readonly string[]) => (status: TeamStatus) => agentsOf(status, ids).every(isSettled);

const wait = route({
  ...shared,
  path: '/v1/teams/{id}/wait',
  summary: 'Wait for agents',
  description:
    'Until each has ended, or has nothing to do. A timeout stops nothing: it answers `timeout` with the agents as they are. Paused agents have not ended.',
  headers: z.object({}),
  // It only looks.
  needs: 'read',
  body: waitAgentsSchema,
  bodyExample: { agent_ids: ['reader'], timeout_ms: 30_000 },
  responses: {
    200: {
      description: 'The agents, in the order asked; unknown ones are left out.',
      schema: waitAnswerSchema,
      example: { status: 'timeout', agents: [agentStatusExample], elapsed_ms: 30_000 },
    },
  },
  handle: async ({ params: { id }, body }, ports, call) => {
    const began = Date.now();
    const { agents } = await ports.teams.status(knownId('team', id));
    const ids = body.agent_ids.length > 0 ? [...new Set(body.agent_ids)] : agents.map(({ agent_id: each }) => each);
    const { status, isTimeout } = await awaitTeam(id, areSettled(ids), body.timeout_ms ?? null, ports, call);
    return {
      status: 200,
      body: {
        status: isTimeout ? ('timeout' as const) : ('ok' as const),
        agents: agentsOf(status, ids),
        elapsed_ms: Date.now() - began,
      },
    };
  },
});

const messages = route({
  ...shared,
  path: '/v1/teams/{id}/messages',
  summary: 'Send agents a message',
  description:
    'An agent at work reads it before its next call; for one that has nothing to do it is a question. With `category` context it is nobody’s question: agents are given it to know, and syncs copy it. Any that is not delivered makes the call an error that names both.',
  body: teamMessageSchema,
  bodyExample: { content: 'Mind the indexes.', target: 'reader' },
  responses: {
    200: {
      description: 'To whom it was delivered.',
      schema: deliveredSchema,
      example: { delivered: ['reader'], notes: [] },
    },
  },
  handle: async ({ params: { id }, headers, body }, ports) => {
    const {
      content,
      target,
      targets = target === undefined ? [] : [target],
      channel = null,
      metadata,
      category,
    } = body;
    const message = { content, targets, channel, metadata, ...(category === 'context' && { category }) };
    const key = headers['idempotency-key'];
    const { agentIds, notes } = await callTeam(
      id,
      { type: 'CALL', by: null, call: { type: 'SEND', message } },
      ports,
      key,
    );
    return { status: 200, body: { delivered: agentIds, notes } };
  },
});

const delegate = route({
  ...shared,
  path: '/v1/teams/{id}/delegate',
  summary: 'Give work from one agent to another',
  description:
    'A new question to the child, as its parent’s. Without `background`, or with `wait`, it answers with the child’s end; a `timeout_ms` answers `timeout` and leaves the child at work.',
  body: delegateSchema,
  bodyExample: { parent: 'lead', child: 'reader', content: 'Which columns are queried most?', background: true },
  responses: {
    200: {
      description: 'What became of it.',
      schema: delegatedSchema,
      example: {
        status: 'started',
        delegation_id: '0a1b2c3d4e5f',
        agent: agentStatusExample,
        elapsed_ms: 3,
        notes: [],
      },
    },
  },
  handle: async ({ params: { id }, headers, body }, ports, request) => {
    const began = Date.now();
    const { parent, child, content, background, timeout_ms: timeoutMs = null } = body;
    const call = { type: 'DELEGATE', parent, child, content, background, waitId: null, timeoutMs: null } as const;
    const done = await callTeam(id, { type: 'CALL', by: null, call }, ports, headers['idempotency-key']);
    const isWaitedFor = !background || body.wait;
    const { status, isTimeout } = await awaitTeam(
      id,
      isWaitedFor ? areSettled([child]) : () => true,
      timeoutMs,
      ports,
      request,
    );
    return {
      status: 200,
      body: {
        status: isWaitedFor ? (isTimeout ? ('timeout' as const) : ('ok' as const)) : ('started' as const),
        delegation_id: done.delegationId ?? '',
        agent: agentsOf(status, [child])[0] ?? null,
        elapsed_ms: Date.now() - began,
        notes: done.notes,
      },
    };
  },
});

const patternQuery = z.strictObject({
  wait: textNumber(z.number().min(0).max(60))
    .default(60)
    .meta({ description: 'Seconds to wait for the answer, 0 to 60.', example: 10 }),
});

const patternResponses = {
  200: {
    description: 'What it came to.',
    schema: patternAnsweredSchema,
    example: { pattern_id: '0f8fad5b-d9cb-469f-a165-70867728950e', ...patternAnswerExample },
  },
  202: {
    description: 'It goes on: the event `pattern` with this id tells what it came to.',
    schema: patternStartedSchema,
    example: { pattern_id: '0f8fad5b-d9cb-469f-a165-70867728950e', status: 'running' as const },
  },
};

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
  ...shared,
  path: '/v1/teams/{id}/round-robin',
  summary: 'Ask the agents of a role in turn',
  description: 'Prompt by prompt, round and round; the answers stand in the order of the prompts.',
  query: patternQuery,
  body: roundRobinSchema,
  bodyExample: { prompts: ['Read chapter 1.', 'Read chapter 2.'], role: 'reader' },
  responses: patternResponses,
  handle: ({ params: { id }, query: { wait: waitSeconds }, headers, body }, ports, call) =>
    runPattern(id, { kind: 'round_robin', ...body }, { waitSeconds, key: headers['idempotency-key'] }, ports, call),
});

const roleChain = route({
  ...shared,
  path: '/v1/teams/{id}/role-chain',
  summary: 'Ask role after role',
  description:
    'Each is given what the one before it has answered. `lineage` says who handled which role; "none" where nobody has it.',
  query: patternQuery,
  body: roleChainSchema,
  bodyExample: { content: 'Add an index to orders.', roles: ['planner', 'implementer', 'reviewer'] },
  responses: patternResponses,
  handle: ({ params: { id }, query: { wait: waitSeconds }, headers, body }, ports, call) =>
    runPattern(id, { kind: 'role_chain', ...body }, { waitSeconds, key: headers['idempotency-key'] }, ports, call),
});

const sync = route({
  ...shared,
  path: '/v1/teams/{id}/sync-context',
  summary: 'Copy messages from one agent to another',
  description: 'Of the categories that are named; what is copied twice is there twice, unless it replaces.',
  body: syncContextSchema,
  bodyExample: { parent: 'lead', child: 'reader', categories: ['context'], replace: true },
  responses: {
    200: {
      description: 'How many messages.',
      schema: syncedSchema,
      example: { copied: 3, removed: 1, dropped: 0, notes: [] },
    },
  },
  handle: async ({ params: { id }, headers, body }, ports) => {
    const done = await callTeam(
      id,
      { type: 'CALL', by: null, call: { type: 'SYNC', ...body } },
      ports,
      headers['idempotency-key'],
    );
    const { copied = 0, removed = 0, dropped = 0 } = done.synced ?? {};
    return { status: 200, body: { copied, removed, dropped, notes: done.notes } };
  },
});

export const teamWorkRoutes: readonly AnyRoute[] = [wait, messages, delegate, roundRobin, roleChain, sync];
