import { z } from 'zod';
import { delegateSchema, syncContextSchema, teamMessageSchema, waitAgentsSchema } from '../../contracts/team.js';
import {
  delegatedSchema,
  deliveredSchema,
  syncedSchema,
  type TeamStatus,
  waitAnswerSchema,
} from '../../contracts/team-status.js';
import { awaitTeam } from '../await-team.js';
import { type AnyRoute, route } from '../route.js';
import { knownId } from '../request-parts.js';
import { agentsOf, callTeam, isSettled } from './team-calls.js';
import { callsOfTeam } from './team-agents.js';
import { agentStatusExample } from './team-examples.js';

const areSettled = (ids: readonly string[]) => (status: TeamStatus) => agentsOf(status, ids).every(isSettled);

const wait = route({
  ...callsOfTeam,
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
  ...callsOfTeam,
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
  ...callsOfTeam,
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

const sync = route({
  ...callsOfTeam,
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

export const teamWorkRoutes: readonly AnyRoute[] = [wait, messages, delegate, sync];
