import { Client, Connection } from '@temporalio/client';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { openSessionSchema } from '../../src/contracts/session.js';
import { setUpSession } from '../../src/domain/session/set-up-session.js';
import { fromFailure, toFailure } from '../../src/failure.js';
import { ParleyError, type ErrorCode } from '../../src/domain/errors.js';
import { createSessionsClient } from '../../temporal/sessions-client.js';
import { createWorkIndex } from '../../temporal/work-index.js';
import { aSession, createRig } from './rig.js';

describe('a Temporal server that', () => {
  const sessionsAt = (port: number) => {
    const { config, ports } = createRig();
    const connection = Connection.lazy({ address: `127.0.0.1:${port}` });
    const client = new Client({ connection });
    const sessions = createSessionsClient({ client, startDeadlineMs: 300, deadlineMs: 300 });
    const work = createWorkIndex(client, config, 300);
    const setup = setUpSession(
      openSessionSchema.parse(aSession()),
      { id: 's1', traceId: 't', webUiUrl: '' },
      ports.operator,
    );
    return { sessions, work, setup, connection };
  };

  test.each<[string, boolean]>([
    ['is not there', false],
    ['takes connections and says nothing', true],
  ])('%s is unavailable, in time', async (_, isThere) => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => void sockets.add(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', () => resolve()));
    const { sessions, work, setup, connection } = sessionsAt(isThere ? (silent.address() as AddressInfo).port : 9);
    const unavailable = { code: 'unavailable', retryable: true };
    await expect(sessions.start(setup, 'hash', { isRepeatable: true, request: {} })).rejects.toMatchObject(unavailable);
    await expect(sessions.status('s1')).rejects.toMatchObject(unavailable);
    await expect(work.list({ limit: 1 })).rejects.toMatchObject(unavailable);
    expect(await work.isReachable()).toBe(false);
    await connection.close();
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});

describe('a start whose answer is lost', () => {
  /** A way to the real server that can hold back its answers, as a network does that fails one way. */
  const createProxy = async () => {
    const [host, port] = (process.env['TEST_TEMPORAL_ADDRESS'] ?? '').split(':') as [string, string];
    const sockets = new Set<Socket>();
    const proxy = { muted: false, port: 0, close: () => {} };
    const server = createServer((near) => {
      const far = connect(Number(port), host);
      for (const socket of [near, far]) sockets.add(socket.on('error', () => {}));
      near.pipe(far);
      const held: Buffer[] = [];
      const pass = (): void => {
        if (!proxy.muted) for (const chunk of held.splice(0)) near.write(chunk);
      };
      far.on('data', (chunk) => {
        held.push(chunk);
        pass();
      });
      const timer = setInterval(pass, 20);
      near.on('close', () => clearInterval(timer));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    proxy.port = (server.address() as AddressInfo).port;
    proxy.close = () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    };
    return proxy;
  };

  test.each([
    { isRepeatable: false, ends: 'TERMINATED' },
    { isRepeatable: true, ends: 'RUNNING' },
  ])('%j: with an id that nobody knows it does not go on', async ({ isRepeatable, ends }) => {
    const proxy = await createProxy();
    const { config, ports } = createRig();
    const connection = await Connection.connect({ address: `127.0.0.1:${proxy.port}` });
    const client = new Client({ connection });
    const options = { client, config, taskQueue: `nobody-${Date.now()}`, startDeadlineMs: 500 };
    const sessions = createSessionsClient(options);
    const id = `lost-${isRepeatable}-${Date.now()}`;
    const identity = { id, traceId: 't', webUiUrl: '' };
    const setup = setUpSession(openSessionSchema.parse(aSession()), identity, ports.operator);
    proxy.muted = true;
    await expect(sessions.start(setup, 'hash', { isRepeatable, request: {} })).rejects.toMatchObject({
      code: 'unavailable',
    });
    proxy.muted = false;
    const direct = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS'] ?? '' });
    const handle = new Client({ connection: direct }).workflow.getHandle(id);
    let { status } = await handle.describe();
    for (let tries = 0; tries < 600 && status.name !== ends; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      ({ status } = await handle.describe());
    }
    expect(status.name).toBe(ends);
    if (isRepeatable) {
      expect(await sessions.start(setup, 'hash', { isRepeatable, request: {} })).toBe('replayed');
      await handle.terminate();
    }
    await direct.close();
    await connection.close();
    proxy.close();
  });
});

describe('an error of ours', () => {
  test.each<[ErrorCode, { retryable?: boolean; retryAfterMs?: number; details?: Record<string, unknown> }]>([
    ['EWINDOW_AGENT', { retryable: true, retryAfterMs: 250 }],
    ['not_found', {}],
    ['invalid_request', { details: { path: 'x' } }],
  ])('%s with %j comes through Temporal as it was', (code, options) => {
    const back = fromFailure(new Error('update failed', { cause: toFailure(new ParleyError(code, 'why', options)) }));
    expect(back).toMatchObject({ code, message: 'why', retryable: options.retryable ?? false, options });
  });

  test('is not made of any other failure', () => {
    expect(fromFailure(new Error('boom'))).toBeNull();
  });
});
