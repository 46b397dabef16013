import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { ensureSearchAttributes } from '../../temporal/search-attributes.js';
import { freePorts, startEmbeddedServer } from '../../temporal/server.js';

const executable = process.env['TEST_TEMPORAL_CLI']!;
/** Starts work that nobody does. */
const begin = async (
  { workflowService }: Connection,
  workflowId: string,
  indexedFields: Record<string, ReturnType<typeof defaultPayloadConverter.toPayload>> = {},
): Promise<void> => {
  await workflowService.startWorkflowExecution({
    namespace: 'default',
    workflowId,
    workflowType: { name: 'none' },
    taskQueue: { name: 'none' },
    requestId: 'once',
    searchAttributes: { indexedFields },
  });
};

describe('the embedded server', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-server-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('with a file keeps its work over a stop and a start on the same port', async () => {
    const [port] = await freePorts(1);
    const options = { executable, port: port!, uiPort: null, databaseFile: join(folder, 'kept.db') };
    const first = await startEmbeddedServer(options);
    const before = await Connection.connect({ address: first.address });
    await begin(before, 'kept');
    await before.close();
    await first.stop();
    const second = await startEmbeddedServer(options);
    const after = await Connection.connect({ address: second.address });
    const { workflowExecutionInfo } = await after.workflowService.describeWorkflowExecution({
      namespace: 'default',
      execution: { workflowId: 'kept' },
    });
    const registered = await ensureSearchAttributes(after, 'default');
    await after.close();
    await second.stop();
    expect({ status: workflowExecutionInfo?.status, registered }).toEqual({ status: 1, registered: [] });
  });

  test('of others learns the search attributes it lacks', async () => {
    const server = await startEmbeddedServer({ executable, uiPort: null });
    const connection = await Connection.connect({ address: server.address });
    await connection.operatorService.removeSearchAttributes({
      namespace: 'default',
      searchAttributes: ['ParleyKind', 'ParleyAwaiting'],
    });
    const registered = [
      await ensureSearchAttributes(connection, 'default'),
      await ensureSearchAttributes(connection, 'default'),
    ];
    // Once they are registered, work may start with them.
    await begin(connection, 'at-once', { ParleyKind: defaultPayloadConverter.toPayload('run') });
    await connection.close();
    await server.stop();
    expect(registered).toEqual([['ParleyKind', 'ParleyAwaiting'], []]);
  });

  test('says what it printed when it ends while starting', async () => {
    await expect(
      startEmbeddedServer({ executable, uiPort: null, databaseFile: join(folder, 'none', 'such.db') }),
    ).rejects.toThrow(/ended while starting\. It said:\n.*no such file or directory/s);
  });

  test('refuses a taken port by its number and its variable', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    await expect(startEmbeddedServer({ executable, uiPort: port })).rejects.toThrow(
      `Port ${port} is taken by another program; choose another with TEMPORAL_UI_PORT=PORT.`,
    );
    await new Promise((resolve) => other.close(resolve));
  });

  test('refuses the port of a Temporal server that runs, and says how to use it', async () => {
    const address = process.env['TEST_TEMPORAL_ADDRESS']!;
    await expect(startEmbeddedServer({ executable, port: Number(address.split(':')[1]) })).rejects.toThrow(
      `taken by a Temporal server that already runs, perhaps of another Parley. Stop it, or use it with TEMPORAL_ADDRESS=${address}`,
    );
  });

  /** A process of its own that starts a server and goes on with `rest`: from the build, which loads sooner than sources. */
  const startParent = (rest: string) => {
    const module = JSON.stringify(new URL('dist/temporal/server.js', `file://${process.cwd()}/`).href);
    const script = `
      const { startEmbeddedServer } = await import(${module});
      const server = await startEmbeddedServer({ executable: ${JSON.stringify(executable)}, uiPort: null });
      ${rest}
    `;
    return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  };

  test('is waited for by who stops it, though nothing else keeps the process alive', async () => {
    const parent = startParent("await server.stop(); console.log('stopped');");
    expect(await text(parent.stdout)).toBe('stopped\n');
  });

  test.each(['SIGKILL', 'SIGTERM'] as const)('ends when its parent is ended by %s', async (signal) => {
    const parent = startParent('console.log(server.address); setInterval(() => {}, 1_000);');
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const [host, port] = line.toString().trim().split(':');
    const socket = connect(Number(port), host);
    socket.on('error', () => {}); // how the server parts does not matter
    await once(socket.resume(), 'connect');
    parent.kill(signal);
    await once(socket, 'close'); // only the server's end closes it
    expect(socket.destroyed).toBe(true);
  });
});
