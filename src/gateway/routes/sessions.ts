import { z } from 'zod';
import { framesAnswerSchema, postFramesSchema } from '../../contracts/frames.js';
import { openSessionSchema } from '../../contracts/session.js';
import { sessionStartedSchema, sessionStatusSchema } from '../../contracts/session-status.js';
import type { SessionSetup } from '../../domain/session/setup.js';
import { compilePattern } from '../../domain/pattern.js';
import { forkSession } from '../../domain/session/fork.js';
import type { Session } from '../../domain/session/state.js';
import { openWork } from '../../domain/work-state.js';
import { premiumLaneId } from '../../domain/session/lanes.js';
import { setUpSession } from '../../domain/session/set-up-session.js';
import { bearer } from '../auth.js';
import { ProblemError } from '../problem.js';
import { type Ports, route } from '../route.js';
import { knownId, problemsOfBody } from '../request-parts.js';
import { openSessionExample, startedExample, statusExample } from './session-examples.js';
import { workRoutes } from './work-routes.js';

const patternFault = (source: string): string | null => {
  try {
    compilePattern(source);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const openSessionBody = openSessionSchema.superRefine(({ policy }, context) => {
  const pattern = policy.agreement.choice?.regex;
  const fault = pattern === undefined ? null : patternFault(pattern);
  if (fault !== null)
    context.addIssue({ code: 'custom', path: ['policy', 'agreement', 'choice', 'regex'], message: fault });
});

const laneKeysOf = (setup: SessionSetup, { laneKeys }: Ports): Record<string, string> | undefined => {
  const { lanes, escalation, policy } = setup;
  const external = lanes.filter(({ adapter }) => adapter.kind === 'external').map(({ laneId }) => laneId);
  if (escalation?.adapter.kind === 'external') {
    for (let count = 1; count <= policy.escalation.limit; count += 1) external.push(premiumLaneId(escalation, count));
  }
  if (external.length === 0) return undefined;
  return Object.fromEntries(external.map((laneId) => [laneId, laneKeys.keyFor(setup.id, laneId)]));
};

const common = workRoutes({
  kind: 'session',
  port: ({ sessions }) => sessions,
  body: openSessionBody,
  bodyExample: openSessionExample,
  status: sessionStatusSchema,
  statusExample,
  started: sessionStartedSchema,
  startedExample,
  setUp: (body, identity, { operator }) => setUpSession(body, identity, operator),
  answer: (started, setup, ports) => {
    const laneKeys = laneKeysOf(setup, ports);
    return { ...started, kind: 'session', ...(laneKeys && { lane_keys: laneKeys }) };
  },
  fork: ({ work }, setup, now) => {
    const forked = forkSession(work as Session, setup, now);
    return { ...openWork(forked.work, forked.first), feeds: {}, groups: [], judgeCalls: 0 };
  },
  spanAttributes: ({ lanes }) => ({ lanes: lanes.length }),
  cancelDescription: 'Cancels every lane and answers with the status, as a rule the final one.',
  whyNoPause:
    'a session is never paused; its lanes pause by the control frames of their adapters (PAUSE, BUSY) and go on with ' +
    'READY. It can be cancelled.',
});

/**
 * A wrong key is a 401. On a gateway without keys, where everyone may read every status, what is wrong with the path is
 * told first: it is the likelier mistake.
 */
const refuseFrames = async (id: string, lane: string, ports: Ports): Promise<never> => {
  if (ports.access.isOpen()) {
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

const postFrames = route({
  method: 'post',
  path: '/v1/sessions/{id}/lanes/{lane}/frames',
  summary: 'Post frames of an external lane',
  description:
    'For adapters outside Parley’s reach. The bearer key is the one under `lane_keys` in the answer to the start. In a path ' +
    'the "#" of a clone is written `%23`: `/lanes/b%231/frames`.',
  tag: 'sessions',
  params: z.strictObject({
    id: z.string().meta({ description: 'Id of the session.', example: startedExample.id }),
    lane: z.string().meta({ description: 'Id of the lane; "#" is written %23.', example: 'b' }),
  }),
  query: z.strictObject({}),
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
  problems: [...problemsOfBody, 'not_found', 'wrong_state', 'EWINDOW_AGENT'],
  access: 'lane_key',
  handle: async ({ params: { id, lane }, headers, body }, ports) => {
    const key = bearer(headers.authorization);
    if (key === null || !ports.laneKeys.verify(knownId('session', id), lane, key))
      return refuseFrames(knownId('session', id), lane, ports);
    return { status: 200, body: await ports.sessions.frames(id, lane, body.frames) };
  },
});

export const sessionRoutes = [...common, postFrames];
