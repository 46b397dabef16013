import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { limitWrites } from '../../../activities/adapters/write-limit.js';

describe('a connection', () => {
  let server: Server;
  let accepted: Promise<Socket>;
  let client: Socket;
  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1');
    accepted = once(server, 'connection').then(([socket]) => socket as Socket);
    await once(server, 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(client, 'connect');
    limitWrites(client, 50);
  });
  afterEach(async () => {
    client.destroy();
    (await accepted).destroy();
    server.close();
    await once(server, 'close');
  });

  test('through which nothing goes out that was written is ended', async () => {
    const other = await accepted;
    other.pause();
    const failed = once(client, 'error');
    client.write(Buffer.alloc(50_000_000));
    expect(await failed).toEqual([
      expect.objectContaining({ code: 'ETIMEDOUT', message: 'write timeout: nothing went out for 50 ms' }),
    ]);
  });

  test('that waits for an answer is left alone', async () => {
    const other = await accepted;
    const idle = once(client, 'timeout');
    client.write('?');
    await idle;
    other.write('!');
    const [answer] = (await once(client, 'data')) as [Buffer];
    expect(String(answer)).toBe('!');
  });
});
