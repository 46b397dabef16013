import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Started } from '../../contracts/work.js';
import type { Json } from '../../contracts/frames.js';
import { forkBodySchema, type ForkBody, restoreBodySchema, restoredSchema } from '../../contracts/time-travel.js';
import { changedRequest } from '../../domain/change.js';
import { collectionOf, linksOf, urlsOf } from '../../links.js';
import { parseWhole } from '../../parse.js';
import { permit } from '../access.js';
import { checkStored } from '../checkpoint-artifacts.js';
import { bodyHash, idForKey } from '../canonical.js';
import { inBodyOrder } from '../in-body-order.js';
import { invalidRequest, ProblemError } from '../problem.js';
import { type AnyRoute, type Call, type Ports, route } from '../route.js';
import type { WorkSetup, WorkStatus } from '../work-port.js';
import { idempotencyKey, workerHeader } from '../request-parts.js';
import { restoreExample } from './checkpoint-examples.js';
import type { Begin, KindRoutes, Owner } from './kind-routes.js';

/** Milliseconds that a fork may take until it asks what its origin asked. */
const askAgainMs = 10_000;

/** Restore and fork of one kind (spec 07, 09). */
export const timeTravelRoutes = <
  Body extends { id?: string | undefined; tenant: string },
  Setup extends WorkSetup,
  Status extends WorkStatus,
  Answer extends Started,
>(
  definition: KindRoutes<Body, Setup, Status, Answer>,
  begin: Begin<Body, Setup, Answer>,
  owner: Owner,
): AnyRoute[] => {
  const { kind, port } = definition;
  const collection = collectionOf(kind);
  const exampleId = definition.startedExample.id;
  const params = z.strictObject({ id: z.string().meta({ description: `Id of the ${kind}.`, example: exampleId }) });
  const common = {
    method: 'post' as const,
    tag: collection,
    params,
    owner,
    query: z.strictObject({}),
    headers: z.object({
      'idempotency-key': idempotencyKey('Makes it safe to send the request again.'),
      'parley-worker': workerHeader,
    }),
    problems: [
      'invalid_json',
      'unauthorized',
      'forbidden',
      'not_found',
      'wrong_state',
      'conflict',
      'gone',
      'corrupt',
      'unsupported_media_type',
      'invalid_request',
      'unavailable',
    ] as const,
    access: 'api_key' as const,
  };

  /** @throws ProblemError forbidden: a worker steers nothing, least of all what it is part of */
  const refuseWorker = (worker: string | undefined): void => {
    if (worker !== undefined)
      throw new ProblemError(
        'forbidden',
        'A worker of a fan-out can neither start work nor send it back to a checkpoint.',
      );
  };

  /** What was done since is taken back by a cancel, which this kind follows with its rollback. */
  const rollBack = async (id: string, ports: Ports): Promise<void> => {
    await port(ports).cancel(id);
    // Also when the caller goes away meanwhile: a rollback is not left half done.
    const nobody = new AbortController().signal;
    let ended: Status | null = null;
    while (ended === null) ended = await port(ports).awaitEnd(id, 30_000, nobody);
    const fault = definition.rollbackFault?.(ended) ?? null;
    if (fault !== null) throw new ProblemError('wrong_state', `${kind} ${id} is not restored: ${fault}`);
  };

  const restore = route({
    ...common,
    path: `/v1/${collection}/{id}/restore`,
    summary: `Restore a ${kind} to a checkpoint`,
    description:
      'Runs it on from that point, under the same id, also when it had ended; what runs is stopped first. What was under way ' +
      'there is done again, nothing that had ended by then is; the time since does not count. What was done in the world ' +
      'after that point stays, unless `rollback` asks for it to be taken back. Events go on in number, with `restored`.',
    body: restoreBodySchema,
    bodyExample: { checkpoint: 2, reason: 'The provider answered with an error page.' },
    responses: {
      202: {
        description: 'It runs on.',
        schema: restoredSchema,
        example: restoreExample(exampleId, kind),
        headers: { 'Idempotent-Replayed': 'true when an earlier request with the key had done it.' },
      },
    },
    handle: async ({ params: { id }, body, headers }, ports, call) => {
      refuseWorker(headers['parley-worker']);
      const { tenant } = await owner({ id }, ports);
      const { checkpoint, reason, rollback } = body;
      if (rollback && definition.restoreFault === undefined)
        throw invalidRequest([
          { path: 'rollback', message: `must be false: what a ${kind} has done is not taken back` },
        ]);
      const { runId, isReplayed } = await ports.checkpoints.restore(kind, id, checkpoint, {
        reason,
        by: call.caller.name,
        key: headers['idempotency-key'] ?? null,
        hash: bodyHash(body as object),
        check: async (artifacts, carried) => {
          const fault = definition.restoreFault?.(carried, await port(ports).status(id), rollback) ?? null;
          if (fault !== null) throw new ProblemError('wrong_state', fault);
          await checkStored(artifacts, tenant, ports.artifacts);
        },
        ...(rollback && { rollBack: () => rollBack(id, ports) }),
      });
      call.log.info({ [`${kind}_id`]: id, checkpoint }, `${kind} restored`);
      const links = linksOf(ports.config, kind, id);
      return {
        status: 202,
        body: { id, kind, checkpoint, temporal_run_id: runId, ...urlsOf(links) },
        headers: { Location: links.self, ...(isReplayed && { 'Idempotent-Replayed': 'true' }) },
      };
    },
  });

  /** The body of the fork: that of its origin, changed. @throws ProblemError invalid_request with every fault */
  const changedBody = (request: Json, { change }: ForkBody, tenant: string, ports: Ports, call: Call): Body => {
    // It was read before it was kept.
    const named = definition.namedBody?.(request as unknown as Body) ?? request;
    const { id: _, ...original } = named as Record<string, Json>;
    const wanted = changedRequest(original, change as Json);
    const parsed = parseWhole(definition.body, wanted);
    if (!parsed.ok) {
      const faults = inBodyOrder(wanted, [...parsed.faults, ...(definition.faultsInside?.(wanted, ports, call) ?? [])]);
      throw invalidRequest(faults.map(({ path, message }) => ({ path: `change.${path}`, message })));
    }
    const ownId = definition.idOf ? definition.idOf(parsed.value) : parsed.value.id;
    if ('id' in change || (ownId !== undefined && 'workflow_id' in change))
      throw invalidRequest([
        { path: 'change.id', message: 'must be left out: the id of the fork stands beside change' },
      ]);
    if (parsed.value.tenant !== tenant)
      throw invalidRequest([
        { path: 'change.tenant', message: `must be left out: a fork stays with the tenant ${tenant}` },
      ]);
    return definition.forkedBody?.(parsed.value, change) ?? parsed.value;
  };

  /** Gives the answer to what the fork asks, once it does. */
  const answer = async (
    id: string,
    given: NonNullable<ForkBody['answer']>,
    ports: Ports,
    call: Call,
  ): Promise<void> => {
    const feedback = definition.feedback?.(ports);
    const until = performance.now() + askAgainMs;
    for (;;) {
      const request = feedback?.openRequest(await port(ports).status(id));
      if (feedback && request) {
        const { authenticated, name } = call.caller;
        await feedback.port.feedback(id, {
          request_id: request.request_id,
          response: given.response,
          comment: given.comment ?? null,
          digest: request.digest,
          provided_by: name,
          authenticated,
          source: 'http',
        });
        return;
      }
      if (call.signal.aborted) return;
      if (performance.now() > until)
        throw new ProblemError(
          'wrong_state',
          `The fork ${id} runs, but asks nothing that could be answered; answer it later.`,
        );
      await delay(100);
    }
  };

  const fork = route({
    ...common,
    path: `/v1/${collection}/{id}/fork`,
    summary: `Fork a ${kind} from a checkpoint`,
    description:
      'Starts a new piece of work with an id of its own from the state at that point, with a changed body or another answer; ' +
      'the old one stays as it is. What had ended by then and is not touched by the change is not done again.' +
      (definition.forkDescription === undefined ? '' : ` ${definition.forkDescription}`),
    body: forkBodySchema,
    bodyExample: { checkpoint: 0, change: {} },
    responses: {
      202: { description: 'Started.', schema: definition.started, example: definition.startedExample },
    },
    handle: async ({ params: { id: from }, body, headers }, ports, call) => {
      refuseWorker(headers['parley-worker']);
      if (body.answer && !definition.feedback)
        throw invalidRequest([{ path: 'answer', message: `must be left out: a ${kind} asks nobody` }]);
      if (body.answer) permit(call.caller, 'approve', 'the answer of a fork');
      if (body.answer?.response === 'approve' && call.caller.authenticated)
        throw new ProblemError(
          'forbidden',
          'Nobody approves what he started himself: leave the answer out, and let somebody else approve the fork.',
        );
      const { tenant } = await owner({ id: from }, ports);
      const latest = await port(ports).status(from);
      const { request, carried } = await ports.checkpoints.origin(kind, from, body.checkpoint);
      const key = headers['idempotency-key'];
      const id = body.id ?? (key === undefined ? ports.newId(kind) : idForKey(kind, tenant, key));
      const forkedFrom = { id: from, checkpoint: body.checkpoint };
      const begun = await begin(
        changedBody(request, body, tenant, ports, call),
        {
          id,
          isRepeatable: body.id !== undefined || key !== undefined,
          hash: bodyHash({ ...body, ...forkedFrom }),
          fork: (setup) => ({ ...definition.fork(carried, setup, Date.now(), latest), forkedFrom }),
        },
        ports,
        call,
      );
      // Sent again, it was answered already.
      if (body.answer && !begun.isReplayed) await answer(id, body.answer, ports, call);
      return { status: 202, body: { ...begun.answer(), forked_from: forkedFrom }, headers: begun.headers };
    },
  });

  return [restore, fork];
};
