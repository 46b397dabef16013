import { z } from 'zod';
import type { Json } from '../../contracts/frames.js';
import type { Webhook } from '../../contracts/webhook.js';
import type { Kind, Links, Started } from '../../contracts/work.js';
import { collectionOf, linksOf, urlsOf } from '../../links.js';
import { codeOf, failSpan, openSpan, workContext } from '../../tracing.js';
import { bodyHash, idForKey } from '../canonical.js';
import { ProblemError } from '../problem.js';
import { textNumber } from '../query-number.js';
import {
  idempotencyKey,
  knownId,
  lastRead,
  pathAlone,
  problemsOfBody,
  resumedEvents,
  workerHeader,
} from '../request-parts.js';
import { type AnyRoute, type Ports, route } from '../route.js';
import { withWebhooks } from '../with-webhooks.js';
import type { WorkSetup, WorkStatus } from '../work-port.js';
import { checkpointRoutes } from './checkpoint-routes.js';
import { exportRoute } from './export-route.js';
import type { Begin, KindRoutes, Owner, Pausing } from './kind-routes.js';
import { timeTravelRoutes } from './time-travel-routes.js';
import { listKind } from './work.js';

/** Milliseconds that a cancel waits for the end before it answers with the state it has by then. */
const cancelWaitMs = 10_000;

/** Workers do not start workers: one level (spec 03 "Nesting"). */
const fromWorker = (kind: Kind): string =>
  `A worker of a fan-out cannot start a ${kind}: workers do not start workers. Hand the wish back in the answer, and let whoever started the fan-out start it.`;

/** The body as plain JSON, with its defaults. */
const asRequest = (body: unknown): Json => JSON.parse(JSON.stringify(body)) as Json;

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

  const owner: Owner = async ({ id }, ports) => ({
    tenant: (await port(ports).status(knownId(kind, id))).tenant,
    what: `${kind} ${id}`,
  });
  const one = { tag: collection, params, owner, access: 'api_key' as const };
  const problemsOfOne = ['unauthorized', 'not_found', 'unavailable'] as const;
  const steering = {
    ...one,
    ...pathAlone,
    method: 'post' as const,
    problems: [...problemsOfOne, 'wrong_state'] as const,
  };

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
    const common = { id, kind, ...urlsOf(links) };
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
    ...one,
    ...pathAlone,
    responses: { 200: statusResponse },
    problems: problemsOfOne,
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
    ...one,
    ...resumedEvents,
    problems: [...problemsOfOne, 'invalid_request'],
    handle: async ({ params: { id }, query, headers }, ports, { signal, draining }) => {
      const since = lastRead({ headers, query });
      return {
        status: 200,
        messages: await ports.hub.watch(port(ports), knownId(kind, id), since, { signal, draining }),
      };
    },
  });

  const cancel = route({
    ...steering,
    path: `${path}/{id}/cancel`,
    summary: `Cancel a ${kind}`,
    description: definition.cancelDescription,
    responses: { 200: statusResponse },
    handle: async ({ params: { id } }, ports, call) => {
      await port(ports).cancel(knownId(kind, id));
      const ended = await port(ports).awaitEnd(id, cancelWaitMs, call.signal);
      return { status: 200, body: ended ? linked(ended, ports) : await statusOf(id, ports) };
    },
  });

  const pausing = (verb: 'pause' | 'resume', pauses: Pausing) =>
    route({
      ...steering,
      path: `${path}/{id}/${verb}`,
      summary: `${verb === 'pause' ? 'Pause' : 'Resume'} a ${kind}`,
      description: pauses.description[verb],
      responses: { 200: statusResponse },
      handle: async ({ params: { id } }, ports) => {
        await pauses.act(verb, knownId(kind, id), ports);
        return { status: 200, body: await statusOf(id, ports) };
      },
    });

  const refusing = (verb: 'pause' | 'resume', why: string) =>
    route({
      ...steering,
      path: `${path}/{id}/${verb}`,
      summary: `Refused: a ${kind} cannot ${verb}`,
      description: why,
      responses: {},
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
