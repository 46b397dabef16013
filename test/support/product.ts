import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { openStores } from '../../activities/artifacts/index.js';
import { createMemoryReader } from '../../activities/memory/reader.js';
import { LocalBus } from '../../src/bus/local.js';
import { loadConfig } from '../../src/config.js';
import type { CoordinatorStarted, OpenCoordinatorBody } from '../../src/contracts/coordinator.js';
import type { CoordinatorStatus } from '../../src/contracts/coordinator-status.js';
import type { DebateStarted, OpenDebateBody } from '../../src/contracts/debate.js';
import type { DebateStatus } from '../../src/contracts/debate-status.js';
import type { FanOutStarted, OpenFanOutBody } from '../../src/contracts/fan-out.js';
import type { FanOutStatus } from '../../src/contracts/fan-out-status.js';
import type { OpenRefinementBody, RefinementStarted } from '../../src/contracts/refinement.js';
import type { RefinementStatus } from '../../src/contracts/refinement-status.js';
import type { OpenRunBody, RunStarted } from '../../src/contracts/run.js';
import type { RunStatus } from '../../src/contracts/run-status.js';
import type { OpenTeamBody, TeamStarted } from '../../src/contracts/team.js';
import type { TeamStatus } from '../../src/contracts/team-status.js';
import type { OpenSessionBody } from '../../src/contracts/session.js';
import type { SessionStarted, SessionStatus } from '../../src/contracts/session-status.js';
import { startGateway } from '../../src/gateway/index.js';
import { converterFor } from '../../temporal/claims.js';
import { connectForWorker } from '../../temporal/client.js';
import { runWorker } from '../../temporal/run-worker.js';

export interface Product {
  url: string;
  client: Client;
  bus: LocalBus;
  taskQueue: string;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  get(path: string): Promise<Answer>;
  remove(path: string): Promise<Answer>;
  /** Starts a session and waits for its end. */
  run(body: OpenSessionBody): Promise<SessionStatus>;
  start(body: OpenSessionBody): Promise<SessionStarted>;
  status(id: string): Promise<SessionStatus>;
  /** Polls until `holds`, which is how a person would watch; fails after half a minute with the last status. */
  until(id: string, holds: (status: SessionStatus) => boolean): Promise<SessionStatus>;
  /** The same for debates. */
  debates: {
    run(body: OpenDebateBody): Promise<DebateStatus>;
    start(body: OpenDebateBody): Promise<string>;
    status(id: string): Promise<DebateStatus>;
    until(id: string, holds: (status: DebateStatus) => boolean): Promise<DebateStatus>;
  };
  fanOuts: {
    run(body: OpenFanOutBody): Promise<FanOutStatus>;
    start(body: OpenFanOutBody): Promise<string>;
    status(id: string): Promise<FanOutStatus>;
    until(id: string, holds: (status: FanOutStatus) => boolean): Promise<FanOutStatus>;
  };
  refinements: {
    run(body: OpenRefinementBody): Promise<RefinementStatus>;
    start(body: OpenRefinementBody): Promise<string>;
    status(id: string): Promise<RefinementStatus>;
    until(id: string, holds: (status: RefinementStatus) => boolean): Promise<RefinementStatus>;
  };
  runs: {
    run(body: OpenRunBody): Promise<RunStatus>;
    start(body: OpenRunBody): Promise<string>;
    status(id: string): Promise<RunStatus>;
    until(id: string, holds: (status: RunStatus) => boolean): Promise<RunStatus>;
  };
  teams: {
    run(body: OpenTeamBody): Promise<TeamStatus>;
    start(body: OpenTeamBody): Promise<string>;
    status(id: string): Promise<TeamStatus>;
    until(id: string, holds: (status: TeamStatus) => boolean): Promise<TeamStatus>;
  };
  coordinators: {
    start(body: OpenCoordinatorBody): Promise<string>;
    status(id: string): Promise<CoordinatorStatus>;
    until(id: string, holds: (status: CoordinatorStatus) => boolean): Promise<CoordinatorStatus>;
    /** Answers its runs by a text. */
    respond(id: string, text: string): Promise<Answer>;
  };
  /** Where it keeps its data. */
  data: string;
  /** Ends what it has left running, too, unless another product goes on with that. */
  stop(more?: { leavesWork: boolean }): Promise<void>;
}

export interface Answer {
  status: number;
  headers: Headers;
  body: never;
}

/** Polls, which is how a person would watch; fails with the last status. */
const polled = async <S>(look: () => Promise<S>, holds: (status: S) => boolean, patienceMs: number): Promise<S> => {
  const deadline = Date.now() + patienceMs;
  // Each look is a query of a workflow: who waits for long looks less often.
  for (let pauseMs = 15; ; pauseMs = Math.min(80, pauseMs * 1.6)) {
    const status = await look();
    if (holds(status)) return status;
    if (Date.now() > deadline) throw new Error(`not reached: ${JSON.stringify(status)}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
};

/**
 * Closes all that still runs of a task queue: nobody answers for it any more, and it would stand in the lists of all other tests. What
 * began a moment ago may not be listed yet, and stays.
 */
const endWork = async (client: Client, taskQueue: string): Promise<void> => {
  const query = `TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Running'`;
  const closing: Promise<unknown>[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    const closed = client.workflow.getHandle(workflowId, runId).terminate('its test is over');
    closing.push(
      closed.catch((error: unknown) => {
        if (!(error instanceof WorkflowNotFoundError)) throw error; // it has ended meanwhile
      }),
    );
  }
  await Promise.all(closing);
};

/**
 * The whole product in this process, as `npm start` has it, on the test server, with a task queue of its own unless it shares that
 * of another.
 */
export const startProduct = async (
  environment: Record<string, string> = {},
  sharedQueue?: string,
): Promise<Product> => {
  const isShared = sharedQueue !== undefined;
  const taskQueue = sharedQueue ?? `test-${randomUUID()}`;
  const data = mkdtempSync(join(tmpdir(), 'parley-data-'));
  const config = loadConfig({
    PORT: '0',
    PARLEY_DATA: data,
    LOG_LEVEL: 'silent',
    PARLEY_RATE_LIMIT: '1000000',
    ...environment,
  });
  const { artifacts, claims } = openStores(config);
  const { connection, client } = await connectForWorker({
    address: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
    namespace: 'default',
    converter: converterFor(config, claims),
  });
  const bus = new LocalBus();
  const registry = new Registry();
  const logger = pino({ level: 'silent' });
  const worker = await runWorker({
    config,
    connection,
    client,
    namespace: 'default',
    bus,
    logger,
    registry,
    environment: { ...process.env, ...environment },
    taskQueue,
    bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '',
    shutdownGraceMs: 500,
  });
  const onError = (): undefined => undefined;
  const memory = createMemoryReader({ ...config, environment: process.env, onError });
  const gateway = await startGateway({
    config,
    client,
    taskQueue,
    bus,
    memory,
    artifacts,
    registry,
    logger,
    bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '',
  });
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer> => {
    const response = await fetch(gateway.url + path, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const json: unknown = text === '' ? null : JSON.parse(text);
    return { status: response.status, headers: response.headers, body: json as never };
  };
  const expectStatus = (answer: Answer, ...statuses: number[]): Answer => {
    if (statuses.includes(answer.status)) return answer;
    throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  };
  /** Until its workflow is closed, however it ends: the server says so once, where looking asks the workflow again and again. */
  const over = (id: string): Promise<unknown> =>
    client.workflow
      .getHandle(id)
      .result()
      .catch(() => undefined);
  const product: Product = {
    url: gateway.url,
    client,
    bus,
    taskQueue,
    post: (path, body, headers) => call('POST', path, body, headers),
    get: (path) => call('GET', path),
    remove: (path) => call('DELETE', path),
    run: async (body) => expectStatus(await call('POST', '/v1/sessions?wait=30', body), 200).body,
    start: async (body) => expectStatus(await call('POST', '/v1/sessions', body), 202).body,
    status: async (id) => expectStatus(await call('GET', `/v1/sessions/${id}`), 200).body,
    until: (id, holds) => polled(() => product.status(id), holds, 30_000),
    debates: {
      start: async (body) => (expectStatus(await call('POST', '/v1/debates', body), 202).body as DebateStarted).id,
      run: async (body) => {
        const id = await product.debates.start(body);
        await over(id);
        return await product.debates.until(id, ({ lifecycle }) => lifecycle !== 'running' && lifecycle !== 'waiting');
      },
      status: async (id) => expectStatus(await call('GET', `/v1/debates/${id}`), 200).body,
      until: (id, holds) => polled(() => product.debates.status(id), holds, 30_000),
    },
    fanOuts: {
      start: async (body) => (expectStatus(await call('POST', '/v1/fan-outs', body), 202).body as FanOutStarted).id,
      run: async (body) => {
        const id = await product.fanOuts.start(body);
        await over(id);
        return await product.fanOuts.until(id, ({ lifecycle }) => lifecycle !== 'running');
      },
      status: async (id) => expectStatus(await call('GET', `/v1/fan-outs/${id}`), 200).body,
      until: (id, holds) => polled(() => product.fanOuts.status(id), holds, 60_000),
    },
    refinements: {
      start: async (body) =>
        (expectStatus(await call('POST', '/v1/refinements', body), 202).body as RefinementStarted).id,
      run: async (body) => {
        const id = await product.refinements.start(body);
        await over(id);
        return await product.refinements.until(id, ({ lifecycle }) => lifecycle !== 'running');
      },
      status: async (id) => expectStatus(await call('GET', `/v1/refinements/${id}`), 200).body,
      until: (id, holds) => polled(() => product.refinements.status(id), holds, 30_000),
    },
    runs: {
      start: async (body) => (expectStatus(await call('POST', '/v1/runs', body), 202).body as RunStarted).id,
      run: async (body) => {
        const id = await product.runs.start(body);
        await over(id);
        return await product.runs.until(id, ({ lifecycle }) => lifecycle === 'completed' || lifecycle === 'cancelled');
      },
      status: async (id) => expectStatus(await call('GET', `/v1/runs/${id}`), 200).body,
      until: (id, holds) => polled(() => product.runs.status(id), holds, 60_000),
    },
    teams: {
      start: async (body) => (expectStatus(await call('POST', '/v1/teams', body), 202).body as TeamStarted).id,
      run: async (body) => {
        const id = await product.teams.start(body);
        await over(id);
        return await product.teams.until(id, ({ ended_at: endedAt }) => endedAt !== null);
      },
      status: async (id) => expectStatus(await call('GET', `/v1/teams/${id}`), 200).body,
      until: (id, holds) => polled(() => product.teams.status(id), holds, 60_000),
    },
    coordinators: {
      start: async (body) =>
        (expectStatus(await call('POST', '/v1/coordinators', body), 202).body as CoordinatorStarted).id,
      status: async (id) => expectStatus(await call('GET', `/v1/coordinators/${id}`), 200).body,
      until: (id, holds) => polled(() => product.coordinators.status(id), holds, 90_000),
      respond: async (id, text) => {
        const answered = await fetch(`${gateway.url}/v1/coordinators/${id}/responses?provided_by=anna`, {
          method: 'POST',
          headers: { 'content-type': 'text/plain' },
          body: text,
        });
        return { status: answered.status, headers: answered.headers, body: (await answered.json()) as never };
      },
    },
    data,
    stop: async ({ leavesWork } = { leavesWork: isShared }) => {
      await gateway.close();
      if (!leavesWork) await endWork(client, taskQueue);
      await memory.close();
      await worker.drain();
      await bus.close();
      await connection.close();
      rmSync(data, { recursive: true, force: true });
    },
  };
  return product;
};
