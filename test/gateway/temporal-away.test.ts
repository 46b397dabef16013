import { Client, Connection } from '@temporalio/client';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { openSessionSchema } from '../../src/contracts/session.js';
import { planSession } from '../../src/domain/plan-session.js';
import { fromFailure, toFailure } from '../../temporal/failure.js';
import { ParleyError, type ErrorCode } from '../../src/domain/errors.js';
import { createSessionsClient } from '../../temporal/sessions-client.js';
import { aSession, createRig } from './rig.js';

describe('a Temporal server that', () => {
  const sessionsAt = (port: number) => {
    const { config, ports } = createRig();
    const connection = Connection.lazy({ address: `127.0.0.1:${port}` });
    const sessions = createSessionsClient({
      client: new Client({ connection }),
      config,
      startDeadlineMs: 300,
      deadlineMs: 300,
    });
    const plan = planSession(
      openSessionSchema.parse(aSession()),
      { id: 's1', traceId: 't', webUiUrl: '' },
      ports.operator,
    );
    return { sessions, plan, connection };
  };

  test.each<[string, boolean]>([
    ['is not there', true],
    ['takes connections and says nothing', false],
  ])('%s is unavailable, in time', async (_, closes) => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => void sockets.add(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', () => resolve()));
    const { port } = silent.address() as AddressInfo;
    if (closes) await new Promise((resolve) => silent.close(resolve));
    const { sessions, plan, connection } = sessionsAt(port);
    const unavailable = { code: 'unavailable', retryable: true };
    await expect(sessions.start(plan, 'hash')).rejects.toMatchObject(unavailable);
    await expect(sessions.status('s1')).rejects.toMatchObject(unavailable);
    await expect(sessions.list({ limit: 1 })).rejects.toMatchObject(unavailable);
    expect(await sessions.isReachable()).toBe(false);
    await connection.close();
    for (const socket of sockets) socket.destroy();
    if (!closes) silent.close();
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
