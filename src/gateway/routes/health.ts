import { z } from 'zod';
import { ProblemError } from '../problem.js';
import { route } from '../route.js';

const nothing = { params: z.strictObject({}), query: z.object({}), headers: z.object({}), body: null };
const okSchema = z.strictObject({ status: z.literal('ok') });
const ok = { status: 200, body: { status: 'ok' } } as const;

export const healthz = route({
  ...nothing,
  method: 'get',
  path: '/healthz',
  summary: 'Whether the process is up',
  tag: 'operation',
  responses: { 200: { description: 'It is.', schema: okSchema, example: { status: 'ok' } } },
  problems: [],
  access: 'open',
  handle: async () => ok,
});

export const readyz = route({
  ...nothing,
  method: 'get',
  path: '/readyz',
  summary: 'Whether work can be started here',
  description: 'No while Temporal cannot be reached and while the gateway drains.',
  tag: 'operation',
  responses: { 200: { description: 'It can.', schema: okSchema, example: { status: 'ok' } } },
  problems: ['unavailable'],
  access: 'open',
  handle: async (_input, { work }, { draining }) => {
    const headers = { 'Retry-After': '1' };
    if (draining.aborted) throw new ProblemError('unavailable', 'This gateway drains.', { headers });
    if (!(await work.isReachable())) throw new ProblemError('unavailable', 'Temporal cannot be reached.', { headers });
    return ok;
  },
});
