import safeRegex from 'safe-regex2';
import { z } from 'zod';
import { framesAnswerSchema, postFramesSchema } from '../../contracts/frames.js';
import {
  openSessionSchema,
  sessionStartedSchema,
  sessionStatusSchema,
  type SessionStarted,
  type SessionStatus,
} from '../../contracts/session.js';
import { workIdSchema } from '../../contracts/work.js';
import type { SessionSetup } from '../../domain/session-setup.js';
import { setUpSession } from '../../domain/set-up-session.js';
import { bearer } from '../auth.js';
import { bodyHash, idForKey } from '../canonical.js';
import { linksOf } from '../../links.js';
import { codeOf, failSpan, openSpan, workContext } from '../../tracing.js';
import { ProblemError } from '../problem.js';
import { textNumber } from '../query-number.js';
import { type Ports, route } from '../route.js';
import { openSessionExample, startedExample, statusExample } from './session-examples.js';

/** Milliseconds that a cancel waits for the session's end before it answers with the state it has by then. */
const cancelWaitMs = 10_000;

/** A pattern runs inside the workflow, where one that backtracks without end would hold up the whole worker. */
const patternFault = (pattern: string): string | null => {
  try {
    new RegExp(pattern, 'u');
  } catch (error) {
    return `must be a regular expression; ${error instanceof Error ? error.message : String(error)}`;
  }
  return safeRegex(pattern) ? null : 'could take very long on some answers; do not nest repetitions such as (a+)+';
};

const openSessionBody = openSessionSchema.superRefine(({ policy }, context) => {
  const pattern = policy.agreement.choice?.regex;
  const fault = pattern === undefined ? null : patternFault(pattern);
  if (fault !== null)
    context.addIssue({ code: 'custom', path: ['policy', 'agreement', 'choice', 'regex'], message: fault });
});

const sessionParams = z.strictObject({
  id: z.string().meta({ description: 'Id of the session.', example: startedExample.id }),
});
const noQuery = z.strictObject({});
const noHeaders = z.object({});
const statusResponse = { description: 'The status document.', schema: sessionStatusSchema, example: statusExample };

/** What cannot be an id is not known either. */
const known = (id: string): string => {
  if (!workIdSchema.safeParse(id).success) throw new ProblemError('not_found', `No session ${JSON.stringify(id)}.`);
  return id;
};

const linked = (status: SessionStatus, { config }: Ports): SessionStatus => ({
  ...status,
  links: linksOf(config, 'session', status.id),
});
const statusOf = async (id: string, ports: Ports): Promise<SessionStatus> =>
  linked(await ports.sessions.status(known(id)), ports);

/** The start is a span in the session's own trace. */
const started = async (
  setup: SessionSetup,
  start: () => Promise<'started' | 'replayed'>,
): Promise<'started' | 'replayed'> => {
  const { span } = openSpan('start session', { session_id: setup.id, lanes: setup.lanes.length }, workContext(setup));
  try {
    const outcome = await start();
    // What was started before has a trace already; the one prepared here is nobody's, and a span without an end is not sent.
    if (outcome === 'started') span.end();
    return outcome;
  } catch (error) {
    failSpan(span, codeOf(error));
    span.end();
    throw error;
  }
};

const laneKeysOf = (setup: SessionSetup, { laneKeys }: Ports): Record<string, string> | undefined => {
  const lanes = [...setup.lanes, ...(setup.escalation ? [setup.escalation] : [])];
  const external = lanes.filter(({ adapter }) => adapter.kind === 'external');
  if (external.length === 0) return undefined;
  return Object.fromEntries(external.map(({ laneId }) => [laneId, laneKeys.keyFor(setup.id, laneId)]));
};

export const openSession = route({
  method: 'post',
  path: '/v1/sessions',
  summary: 'Start a session',
  description:
    'Answers at once with 202, or, with `wait`, with the status once the session has ended. The same id (or Idempotency-Key) ' +
    'with the same body gives the same run, also after it has ended; with another body it is a conflict. When both are ' +
    'given, the id of the body decides.',
  tag: 'sessions',
  params: z.strictObject({}),
  query: z.strictObject({
    wait: textNumber(z.number().min(0).max(60))
      .optional()
      .meta({ description: 'Seconds to wait for the end, 0 to 60.', example: 10 }),
  }),
  headers: z.object({
    'idempotency-key': z
      .string()
      .min(1)
      .max(255)
      .optional()
      .meta({ description: 'The same key and body give the same session, for each tenant.' }),
  }),
  body: openSessionBody,
  bodyExample: openSessionExample,
  responses: {
    200: { ...statusResponse, description: 'The session has ended within `wait`.' },
    202: {
      description: 'Started, or, with Idempotent-Replayed, started before.',
      schema: sessionStartedSchema,
      example: startedExample,
      headers: {
        Location: 'The status URL.',
        'Idempotent-Replayed': 'true when this request started nothing because the session was there.',
      },
    },
  },
  problems: [
    'invalid_json',
    'unauthorized',
    'conflict',
    'too_large',
    'unsupported_media_type',
    'invalid_request',
    'rate_limited',
    'unavailable',
  ],
  access: 'api_key',
  handle: async ({ query, headers, body }, ports, call) => {
    if (call.draining.aborted) {
      throw new ProblemError('unavailable', 'This gateway stops and starts nothing new.', {
        headers: { 'Retry-After': '5' },
      });
    }
    const key = headers['idempotency-key'];
    const id = body.id ?? (key === undefined ? ports.newId('session') : idForKey('session', body.tenant, key));
    const links = linksOf(ports.config, 'session', id);
    const setup = setUpSession(body, { id, traceId: ports.newTraceId(), webUiUrl: links.web_ui }, ports.operator);
    const isRepeatable = body.id !== undefined || key !== undefined;
    const outcome = await started(setup, () => ports.sessions.start(setup, bodyHash(body), { isRepeatable }));
    if (outcome === 'started') ports.metrics.started.inc({ kind: 'session' });

    const answerHeaders = {
      Location: links.self,
      ...(outcome === 'replayed' && { 'Idempotent-Replayed': 'true' }),
    };
    const ended = query.wait === undefined ? null : await ports.sessions.awaitEnd(id, query.wait * 1000, call.signal);
    if (ended) return { status: 200, body: linked(ended, ports), headers: answerHeaders };
    const laneKeys = laneKeysOf(setup, ports);
    const answer: SessionStarted = {
      id,
      kind: 'session',
      status_url: links.self,
      events_url: links.events,
      web_ui_url: links.web_ui,
      ...(laneKeys && { lane_keys: laneKeys }),
    };
    return { status: 202, body: answer, headers: answerHeaders };
  },
});

export const getSession = route({
  method: 'get',
  path: '/v1/sessions/{id}',
  summary: 'Status of a session',
  description: 'While it runs and after it has ended; `result` appears once it is decided and stays.',
  tag: 'sessions',
  params: sessionParams,
  query: noQuery,
  headers: noHeaders,
  body: null,
  responses: { 200: statusResponse },
  problems: ['unauthorized', 'not_found', 'unavailable'],
  access: 'api_key',
  handle: async ({ params }, ports) => ({ status: 200, body: await statusOf(params.id, ports) }),
});

const eventNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number from 0, the id of the last event that was read')
  .transform(Number)
  .optional();

export const sessionEvents = route({
  method: 'get',
  path: '/v1/sessions/{id}/events',
  summary: 'Follow a session',
  description:
    'Server-sent events. Durable ones carry an `id` and are resumed after `Last-Event-ID` without loss or repeats. `partial` ' +
    'has none: `text` continues `attempt` of `lane_id` at character `offset`; on every connection the text so far of each ' +
    'running lane comes first, and a higher `attempt` begins the lane anew. Comments keep the connection alive. `event: end` ' +
    'with the last state comes after the terminal event, also to those who connect later; close the connection then.',
  tag: 'sessions',
  params: sessionParams,
  query: z.strictObject({
    last_event_id: eventNumber.meta({
      description: 'For clients that cannot send the header, which goes before this.',
    }),
  }),
  headers: z.object({ 'last-event-id': eventNumber }),
  body: null,
  responses: { 200: { description: 'The events.', schema: z.string() } },
  streams: true,
  problems: ['unauthorized', 'not_found', 'invalid_request', 'unavailable'],
  access: 'api_key',
  handle: async ({ params, query, headers }, { hub }, { signal, draining }) => {
    const since = headers['last-event-id'] ?? query.last_event_id ?? 0;
    return { status: 200, messages: await hub.watch(known(params.id), since, { signal, draining }) };
  },
});

export const cancelSession = route({
  method: 'post',
  path: '/v1/sessions/{id}/cancel',
  summary: 'Cancel a session',
  description: 'Cancels every lane and answers with the status, as a rule the final one.',
  tag: 'sessions',
  params: sessionParams,
  query: noQuery,
  headers: noHeaders,
  body: null,
  responses: { 200: statusResponse },
  problems: ['unauthorized', 'not_found', 'wrong_state', 'unavailable'],
  access: 'api_key',
  handle: async ({ params }, ports, call) => {
    await ports.sessions.cancel(known(params.id));
    const ended = await ports.sessions.awaitEnd(params.id, cancelWaitMs, call.signal);
    return { status: 200, body: ended ? linked(ended, ports) : await statusOf(params.id, ports) };
  },
});

const refusing = (verb: 'pause' | 'resume') =>
  route({
    method: 'post',
    path: `/v1/sessions/{id}/${verb}`,
    summary: `Refused: a session cannot ${verb}`,
    description: 'Lanes pause by the control frames of their adapters; a session has a deadline and no pause.',
    tag: 'sessions',
    params: sessionParams,
    query: noQuery,
    headers: noHeaders,
    body: null,
    responses: {},
    problems: ['unauthorized', 'not_found', 'wrong_state', 'unavailable'],
    access: 'api_key',
    handle: async ({ params }, ports) => {
      const { state } = await ports.sessions.status(known(params.id));
      throw new ProblemError(
        'wrong_state',
        `session in ${state} cannot ${verb}: a session is never paused; its lanes pause by the control frames of their ` +
          'adapters (PAUSE, BUSY) and go on with READY. It can be cancelled.',
      );
    },
  });
export const pauseSession = refusing('pause');
export const resumeSession = refusing('resume');

/**
 * A wrong key is a 401. On a gateway without keys, where everyone may read every status, what is wrong with the path is
 * told first: it is the likelier mistake.
 */
const refuseFrames = async (id: string, lane: string, ports: Ports): Promise<never> => {
  if (ports.config.apiKeys.length === 0) {
    const { lanes } = await ports.sessions.status(id);
    const found = lanes.find(({ lane_id: laneId }) => laneId === lane);
    if (!found) {
      const names = lanes.map(({ lane_id: laneId }) => laneId).join(', ');
      throw new ProblemError('not_found', `Session ${id} has no lane ${JSON.stringify(lane)}; it has ${names}.`);
    }
    if (found.adapter !== 'external') {
      throw new ProblemError(
        'wrong_state',
        `Lane ${lane} is answered by ${found.adapter}; only external lanes take frames.`,
      );
    }
  }
  throw new ProblemError(
    'unauthorized',
    'Send Authorization: Bearer KEY with the key under lane_keys in the answer to the start.',
    {
      headers: { 'WWW-Authenticate': 'Bearer realm="lane"' },
    },
  );
};

export const postFrames = route({
  method: 'post',
  path: '/v1/sessions/{id}/lanes/{lane}/frames',
  summary: 'Post frames of an external lane',
  description:
    'For adapters outside Parley’s reach. The bearer key is the one under `lane_keys` in the answer to the start. In a path ' +
    'the "#" of a clone is written `%23`: `/lanes/b%231/frames`.',
  tag: 'sessions',
  params: sessionParams.extend({
    lane: z.string().meta({ description: 'Id of the lane; "#" is written %23.', example: 'b' }),
  }),
  query: noQuery,
  headers: z.object({ authorization: z.string().optional().meta({ description: 'Bearer and the lane key.' }) }),
  body: postFramesSchema,
  bodyExample: {
    frames: [
      { type: 'partial', msg_seq: 1, text: 'bl' },
      { type: 'final', msg_seq: 2, text: 'blue', usage: { tokens: 12 } },
    ],
  },
  responses: {
    200: {
      description: 'What became of the frames.',
      schema: framesAnswerSchema,
      example: {
        accepted: 2,
        duplicates: 0,
        late: 0,
        refused: 0,
        ack: { msg_seq: 2, frag_seq: 0 },
        missing: [],
        window: { max_parallel: 4 },
        state: 'ENDED',
      },
    },
  },
  problems: [
    'invalid_json',
    'unauthorized',
    'not_found',
    'wrong_state',
    'too_large',
    'unsupported_media_type',
    'invalid_request',
    'EWINDOW_AGENT',
    'unavailable',
  ],
  access: 'lane_key',
  handle: async ({ params: { id, lane }, headers, body }, ports) => {
    const key = bearer(headers.authorization);
    if (key === null || !ports.laneKeys.verify(known(id), lane, key)) return refuseFrames(known(id), lane, ports);
    return { status: 200, body: await ports.sessions.frames(id, lane, body.frames) };
  },
});
