import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { connectForWorker, isOnThisMachine } from '../../temporal/client.js';

/** As gRPC frames it: one byte of flags, four of its length. */
const anEmptyMessage = Buffer.alloc(5);

describe('a connection to Temporal', () => {
  test('compresses nothing that stays on this machine', async () => {
    const asked: IncomingHttpHeaders[] = [];
    const server = createServer().on('stream', (stream, headers) => {
      asked.push(headers);
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(anEmptyMessage);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const { connection } = await connectForWorker({ address: `127.0.0.1:${port}`, isEmbedded: true });
      await connection.close();
      expect(asked.map((headers) => [headers[':path'], headers['grpc-encoding']])).toEqual([
        ['/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo', undefined],
      ]);
    } finally {
      server.close();
    }
  });

  test.each<[string, boolean]>([
    ['127.0.0.1:7233', true],
    ['localhost:7233', true],
    ['[::1]:7233', true],
    ['10.0.0.1:7233', false],
    ['127.0.0.1.example:7233', false],
    ['temporal:7233', false],
    ['my.tmprl.cloud:7233', false],
  ])('of %s stays on this machine: %s', (address, isHere) => {
    expect(isOnThisMachine(address)).toBe(isHere);
  });
});
