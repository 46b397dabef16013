import { z } from 'zod';
import type { FeedbackRequest } from '../../contracts/feedback.js';
import type { Json } from '../../contracts/frames.js';
import type { Links } from '../../contracts/work.js';
import { type Kind, type Started, workIdSchema } from '../../contracts/work.js';
import type { Webhook } from '../../contracts/webhook.js';
import type { SetupIdentity } from '../../domain/session/set-up-session.js';
import { collectionOf, linksOf } from '../../links.js';
import { codeOf, failSpan, openSpan, workContext } from '../../tracing.js';
import { bodyHash, idForKey } from '../canonical.js';
import { ProblemError } from '../problem.js';
import { textNumber } from '../query-number.js';
import { type AnyRoute, type Call, type FaultsInside, type Ports, route } from '../route.js';
import { withWebhooks } from '../with-webhooks.js';
import type { CarriedState, FeedbackPort, WorkPort, WorkSetup, WorkStatus } from '../work-port.js';
import { eventNumber, idempotencyKey, problemsOfBody, workerHeader } from '../request-parts.js';
import { checkpointRoutes } from './checkpoint-routes.js';
import { exportRoute } from './export-route.js';
import { timeTravelRoutes } from './time-travel-routes.js';
import { listKind } from './work.js';

/** Milliseconds that a cancel waits for the end before it answers with the state it has by then. */
const cancelWaitMs = 10_000;

/** What sets one kind of work apart over HTTP; everything else is the same for all (spec 09). */
export interface KindRoutes<Body, Setup extends WorkSetup, Status extends WorkStatus, Answer extends Started> {
  kind: Kind;
  port: (ports: Ports) => WorkPort<Setup, Status>;
  body: z.ZodType<Body, unknown>;
  bodyExample: unknown;
  status: z.ZodType<Status, Status>;
  statusExample: Status;
  started: z.ZodType<Answer, Answer>;
  startedExample: Answer;
  /** Decides everything that depends on the operator. @throws ProblemError or ParleyError where it may not start */
  setUp(body: Body, identity: SetupIdentity, ports: Ports, call: Call): Setup;
  /** Where its bodies have parts that their schema leaves open. */
  faultsInside?: FaultsInside;
  /** The id that a body names; left out: its `id`. */
  idOf?(body: Body): string | undefined;
  /** The answer to a start, from what every kind says. */
  answer(common: Started, setup: Setup, ports: Ports): Answer;
  spanAttributes(setup: Setup): Record<string, string | number>;
  /**
   * The state that a fork begins with, from that of the checkpoint, the setup of the changed request, and what the old work is
   * by now.
   * @throws ParleyError wrong_state where it cannot be forked from there
   */
  fork(carried: CarriedState, setup: Setup, now: number, latest: Status): CarriedState;
  /** The body of the origin with the names of its parts, by which a change finds them, where a body may leave them out. */
  namedBody?(body: Body): Body;
  /** The body of a fork where it cannot have all of its origin's. */
  forkedBody?(body: Body, change: Record<string, unknown>): Body;
  /** What a fork of this kind does beside, for the documentation. */
  forkDescription?: string;
  /** Where it asks people: how it is answered, and what it asks now. */
  feedback?: (ports: Ports) => { port: FeedbackPort; openRequest(status: Status): FeedbackRequest | null };
  /**
   * Where what it did in the world can be taken back: why it cannot go on from a checkpoint with the state of then, with
   * `rollback` or without; null: it can.
   */
  restoreFault?(carried: CarriedState, status: Status, rollback: boolean): string | null;
  /** Why a rollback did not come to its end, in words; null: all was taken back. */
  rollbackFault?(status: Status): string | null;
  /** What no workflow knows of it and its status tells all the same. */
  enrich?(status: Status, ports: Ports): Promise<Status>;
  /** What a cancel does, for the documentation. */
  cancelDescription: string;
  /** Completes "cannot pause: " in the refusal, or how it is paused and resumed. */
  whyNoPause: string | Pausing;
}

/** How a kind of work is paused and resumed as a whole. */
export interface Pausing {
  description: Record<'pause' | 'resume', string>;
  /** @throws ParleyError not_found, wrong_state */
  act(verb: 'pause' | 'resume', id: string, ports: Ports): Promise<void>;
}

/** Workers do not start workers: one level (spec 03 "Nesting"). */
const fromWorker = (kind: Kind): string =>
  `A worker of a fan-out cannot start a ${kind}: workers do not start workers. Hand the wish back in the answer, and let whoever started the fan-out start it.`;

/** What cannot be an id is not known either. @throws ProblemError not_found */
export const knownId = (kind: Kind, id: string): string => {
  if (!workIdSchema.safeParse(id).success)
    throw new ProblemError('not_found', `There is no ${kind} ${id.slice(0, 128)}.`);
  return id;
};

/** Starts one piece of work, of a new body or as a fork. */
export type Begin<Body, Setup, Answer> = (
  body: Body,
  start: {
    id: string;
    isRepeatable: boolean;
    /** Tells whether a second start with the id asks for the same. */
    hash: string;
    fork?: (setup: Setup) => CarriedState;
  },
  ports: Ports,
  call: Call,
) => Promise<{ answer: () => Answer; headers: Record<string, string>; isReplayed: boolean }>;

/** The body as plain JSON, with its defaults. */
const asRequest = (body: unknown): Json => JSON.parse(JSON.stringify(body)) as Json;

const noQuery = z.strictObject({});
const noHeaders = z.object({});

/** Start, list, status, events, cancel, and the refusals of pause and resume of one kind. */
export const workRoutes = <
  Body extends { id?: string | undefined; tenant: string; webhooks: Webhook[] },
  Setup extends WorkSetup,
  Status extends WorkStatus & { links: Links },
  Answer extends Started,
>(
  definition: KindRoutes<Body, Setup, Status, Answer>,
): AnyRoute[] => {
  const { kind, port, whyNoPause } = definition;
  const collection = collectionOf(kind);
  const path = `/v1/${collection}`;
  const params = z.strictObject({
    id: z.string().meta({ description: `Id of the ${kind}.`, example: definition.startedExample.id }),
  });
  const statusResponse = {
    description: 'The status document.',
    schema: definition.status,
    example: definition.statusExample,
  };
  const linked = (status: Status, { config }: Ports): Status => ({
    ...status,
    links: linksOf(config, kind, status.id),
  });
  const statusOf = async (id: string, ports: Ports): Promise<Status> =>
    linked(await port(ports).status(knownId(kind, id)), ports);

  const owner = async ({ id }: { id: string }, ports: Ports) => ({
    tenant: (await port(ports).status(knownId(kind, id))).tenant,
    what: `${kind} ${id}`,
  });

  /** The start is a span in the work's own trace. */
  const started = async (setup: Setup, start: () => Promise<'started' | 'replayed'>) => {
    const attributes = { [`${kind}_id`]: setup.id, ...definition.spanAttributes(setup) };
    const { span } = openSpan(`start ${kind}`, attributes, workContext(setup));
    try {
      const outcome = await start();
      // What was started before has a trace already; this one is nobody's, and a span without an end is not sent.
      if (outcome === 'started') span.end();
      return outcome;
    } catch (error) {
      // A conflict is no start: the id's work has its own trace. Any other may have started what nobody could confirm.
      if (codeOf(error) !== 'conflict') {
        failSpan(span, codeOf(error));
        span.end();
      }
      throw error;
    }
  };

  const begin: Begin<Body, Setup, Answer> = async (body, { id, isRepeatable, hash, fork }, ports, call) => {
    if (call.draining.aborted) {
      throw new ProblemError('unavailable', 'This gateway stops and starts nothing new.', {
        headers: { 'Retry-After': '5' },
      });
    }
    const links = linksOf(ports.config, kind, id);
    const identity = { id, traceId: ports.newTraceId(), webUiUrl: links.web_ui };
    const setup = withWebhooks(body.webhooks, links.self, ports, () => definition.setUp(body, identity, ports, call));
    const carried = fork?.(setup);
    const options = { isRepeatable, request: asRequest(body), ...(carried && { carried }) };
    const outcome = await started(setup, () => port(ports).start(setup, hash, options));
    if (outcome === 'started') {
      ports.metrics.started.inc({ kind });
      call.log.info({ [`${kind}_id`]: id, trace_id: setup.traceId }, `${kind} started`);
    }
    const common = { id, kind, status_url: links.self, events_url: links.events, web_ui_url: links.web_ui };
    return {
      answer: () => definition.answer(common, setup, ports),
      headers: { Location: links.self, ...(outcome === 'replayed' && { 'Idempotent-Replayed': 'true' }) },
      isReplayed: outcome === 'replayed',
    };
  };

  const open = route({
    method: 'post',
    path,
    summary: `Start a ${kind}`,
    description:
      'Answers at once with 202, or, with `wait`, with the status once it has ended. The same id (or Idempotency-Key) ' +
      'with the same body gives the same run, also after it has ended; with another body it is a conflict. When both are ' +
      'given, the id of the body decides.',
    tag: collection,
    params: z.strictObject({}),
    query: z.strictObject({
      wait: textNumber(z.number().min(0).max(60))
        .optional()
        .meta({ description: 'Seconds to wait for the end, 0 to 60.', example: 10 }),
    }),
    headers: z.object({
      'idempotency-key': idempotencyKey(`The same key and body give the same ${kind}, for each tenant.`),
      'parley-worker': workerHeader,
    }),
    body: definition.body,
    bodyExample: definition.bodyExample,
    faultsInside: definition.faultsInside,
    responses: {
      200: { ...statusResponse, description: 'It has ended within `wait`.' },
      202: {
        description: 'Started, or, with Idempotent-Replayed, started before.',
        schema: definition.started,
        example: definition.startedExample,
        headers: {
          Location: 'The status URL.',
          'Idempotent-Replayed': `true when this request started nothing because the ${kind} was there.`,
        },
      },
    },
    problems: [...problemsOfBody, 'forbidden', 'conflict', 'rate_limited'],
    access: 'api_key',
    handle: async ({ query, headers, body }, ports, call) => {
      if (headers['parley-worker'] !== undefined) throw new ProblemError('forbidden', fromWorker(kind));
      const key = headers['idempotency-key'];
      const own = definition.idOf ? definition.idOf(body) : body.id;
      const id = own ?? (key === undefined ? ports.newId(kind) : idForKey(kind, body.tenant, key));
      const isRepeatable = own !== undefined || key !== undefined;
      const begun = await begin(body, { id, isRepeatable, hash: bodyHash(body) }, ports, call);
      const ended = query.wait === undefined ? null : await port(ports).awaitEnd(id, query.wait * 1000, call.signal);
      if (ended) return { status: 200, body: linked(ended, ports), headers: begun.headers };
      return { status: 202, body: begun.answer(), headers: begun.headers };
    },
  });

  const get = route({
    method: 'get',
    path: `${path}/{id}`,
    summary: `Status of a ${kind}`,
    description: 'While it runs and after it has ended; `result` appears once it is decided and stays.',
    tag: collection,
    params,
    owner,
    query: noQuery,
    headers: noHeaders,
    body: null,
    responses: { 200: statusResponse },
    problems: ['unauthorized', 'not_found', 'unavailable'],
    access: 'api_key',
    handle: async ({ params: { id } }, ports) => {
      const status = await statusOf(id, ports);
      return { status: 200, body: definition.enrich ? await definition.enrich(status, ports) : status };
    },
  });

  const events = route({
    method: 'get',
    path: `${path}/{id}/events`,
    summary: `Follow a ${kind}`,
    description:
      'Server-sent events. Durable ones carry an `id` and are resumed after `Last-Event-ID` without loss or repeats. `partial` ' +
      'has none: `text` continues `attempt` of `lane_id` at character `offset`; on every connection the text so far of each ' +
      'running lane comes first, and a higher `attempt` begins the lane anew. Comments keep the connection alive. `event: end` ' +
      'with the last state comes after the terminal event, also to those who connect later; close the connection then.',
    tag: collection,
    params,
    owner,
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
    handle: async ({ params: { id }, query, headers }, ports, { signal, draining }) => {
      const since = headers['last-event-id'] ?? query.last_event_id ?? 0;
      return {
        status: 200,
        messages: await ports.hub.watch(port(ports), knownId(kind, id), since, { signal, draining }),
      };
    },
  });

  const cancel = route({
    method: 'post',
    path: `${path}/{id}/cancel`,
    summary: `Cancel a ${kind}`,
    description: definition.cancelDescription,
    tag: collection,
    params,
    owner,
    query: noQuery,
    headers: noHeaders,
    body: null,
    responses: { 200: statusResponse },
    problems: ['unauthorized', 'not_found', 'wrong_state', 'unavailable'],
    access: 'api_key',
    handle: async ({ params: { id } }, ports, call) => {
      await port(ports).cancel(knownId(kind, id));
      const ended = await port(ports).awaitEnd(id, cancelWaitMs, call.signal);
      return { status: 200, body: ended ? linked(ended, ports) : await statusOf(id, ports) };
    },
  });

  const pausing = (verb: 'pause' | 'resume', pauses: Pausing) =>
    route({
      method: 'post',
      path: `${path}/{id}/${verb}`,
      summary: `${verb === 'pause' ? 'Pause' : 'Resume'} a ${kind}`,
      description: pauses.description[verb],
      tag: collection,
      params,
      owner,
      query: noQuery,
      headers: noHeaders,
      body: null,
      responses: { 200: statusResponse },
      problems: ['unauthorized', 'not_found', 'wrong_state', 'unavailable'],
      access: 'api_key',
      handle: async ({ params: { id } }, ports) => {
        await pauses.act(verb, knownId(kind, id), ports);
        return { status: 200, body: await statusOf(id, ports) };
      },
    });

  const refusing = (verb: 'pause' | 'resume', why: string) =>
    route({
      method: 'post',
      path: `${path}/{id}/${verb}`,
      summary: `Refused: a ${kind} cannot ${verb}`,
      description: why,
      tag: collection,
      params,
      owner,
      query: noQuery,
      headers: noHeaders,
      body: null,
      responses: {},
      problems: ['unauthorized', 'not_found', 'wrong_state', 'unavailable'],
      access: 'api_key',
      handle: async ({ params: { id } }, ports) => {
        const { state } = await port(ports).status(knownId(kind, id));
        throw new ProblemError('wrong_state', `${kind} in ${state} cannot ${verb}: ${why}`);
      },
    });

  return [
    open,
    listKind(kind),
    get,
    events,
    cancel,
    ...(['pause', 'resume'] as const).map((verb) =>
      typeof whyNoPause === 'string' ? refusing(verb, whyNoPause) : pausing(verb, whyNoPause),
    ),
    ...checkpointRoutes(kind, definition.startedExample.id, owner),
    ...timeTravelRoutes(definition, begin, owner),
    exportRoute(kind, definition.startedExample.id, owner),
  ];
};
