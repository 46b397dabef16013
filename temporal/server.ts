import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { createServer } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Connection } from '@temporalio/client';
import { ParleyError } from '../src/domain/errors.js';
import { dynamicConfigFlags, sqlitePragmas } from './dynamic-config.js';
import { searchAttributeFlags } from './search-attributes.js';

export interface EmbeddedServerOptions {
  /** Path of the `temporal` program; `find-server.js` finds it. */
  executable: string;
  /** Port of the gRPC front end; default a free one. */
  port?: number;
  /** Port of the Web UI; default a free one, null: no UI. */
  uiPort?: number | null;
  /** Folder-and-name of the database; without it everything is lost when the server stops. */
  databaseFile?: string;
  namespace?: string;
  /** Time for the server to become healthy. */
  startTimeoutMs?: number;
}

export interface EmbeddedServer {
  address: string;
  uiUrl: string | null;
  /** Process id of the guard that holds the server. */
  pid: number;
  /** Settles, with the tail of what it printed, when the server ends without having been asked to. */
  died: Promise<string>;
  /** Ends the server; may be called twice. A server with a file is asked, one in memory is killed (a second less). */
  stop(): Promise<void>;
}

const ip = '127.0.0.1';
const tailLength = 2_000;
type Guard = ChildProcessByStdio<Writable, Readable, Readable>;

/** @returns `count` ports that were free a moment ago, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, ip, resolve));
      return server;
    }),
  );
  return await Promise.all(
    servers.map(async (server) => {
      const address = server.address();
      await new Promise((resolve) => server.close(resolve));
      if (address === null || typeof address === 'string') throw new Error('a TCP server has no port');
      return address.port;
    }),
  );
}

/**
 * Starts a Temporal server that lives no longer than this process, and waits until it is healthy.
 * @throws ParleyError `unavailable`: a port is taken (names it and its variable), or the server ended early (tail of its stderr)
 */
export async function startEmbeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const { executable, databaseFile, namespace = 'default', startTimeoutMs = 30_000 } = options;
  if (options.port !== undefined) await requireFree(options.port, 'TEMPORAL_PORT');
  if (typeof options.uiPort === 'number') await requireFree(options.uiPort, 'TEMPORAL_UI_PORT');
  const [freePort, freeUiPort, httpPort, metricsPort] = (await freePorts(4)) as [number, number, number, number];
  const port = options.port ?? freePort;
  const uiPort = options.uiPort === null ? null : (options.uiPort ?? freeUiPort);
  const address = `${ip}:${port}`;

  const flags = [
    ['--ip', ip, '--port', `${port}`, '--http-port', `${httpPort}`, '--metrics-port', `${metricsPort}`],
    uiPort === null ? ['--headless'] : ['--ui-port', `${uiPort}`],
    ['--namespace', namespace, '--log-level', 'error', ...searchAttributeFlags(), ...dynamicConfigFlags()],
    databaseFile === undefined
      ? []
      : ['--db-filename', databaseFile, ...sqlitePragmas.flatMap((pragma) => ['--sqlite-pragma', pragma])],
  ].flat();
  const guard = spawnGuard(databaseFile === undefined ? 'SIGKILL' : 'SIGTERM', executable, [
    'server',
    'start-dev',
    ...flags,
  ]);
  const tail = keepTail(guard);
  const exited = new Promise<void>((resolve) => void guard.once('close', () => resolve()));
  let stopping = false;
  const died = exited.then(async () => (stopping ? await new Promise<string>(() => {}) : tail()));

  const stop = async (): Promise<void> => {
    stopping = true;
    // Whoever stops the server waits for it: a process with nothing else to do would end here, with exit code 0.
    guard.ref();
    guard.stdin.end();
    await exited;
  };
  const health = new AbortController();
  try {
    await Promise.race([
      waitUntilHealthy(address, namespace, startTimeoutMs, health.signal),
      died.then((output) => {
        throw new ParleyError(
          'unavailable',
          `The Temporal server (${executable}) ended while starting. It said:\n${output}`,
        );
      }),
    ]);
  } catch (error) {
    await stop();
    throw error;
  } finally {
    health.abort();
  }
  // The pipes must not keep this process alive: a test run or a command that forgot to stop ends, and the guard with it.
  guard.unref();
  for (const stream of [guard.stdin, guard.stdout, guard.stderr]) (stream as unknown as { unref(): void }).unref();
  return { address, uiUrl: uiPort === null ? null : `http://${ip}:${uiPort}`, pid: guard.pid!, died, stop };
}

function spawnGuard(signal: NodeJS.Signals, executable: string, args: string[]): Guard {
  const script = fileURLToPath(new URL('./guard.js', import.meta.url));
  // Its own process group: the terminal's Ctrl-C reaches this process only, which stops the server last.
  return spawn(process.execPath, [script, signal, executable, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
}

function keepTail(guard: Guard): () => string {
  let kept = '';
  const keep = (chunk: Buffer): void => {
    kept = (kept + chunk.toString()).slice(-tailLength);
  };
  guard.stdout.on('data', keep);
  guard.stderr.on('data', keep);
  return () => kept.trim() || '(nothing)';
}

async function waitUntilHealthy(
  address: string,
  namespace: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const problem = await probe(address, namespace);
    if (problem === null || signal.aborted) return;
    if (Date.now() >= deadline) {
      throw new ParleyError(
        'unavailable',
        `The Temporal server at ${address} was not healthy within ${timeoutMs} ms: ${problem}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** @returns null when a Temporal server with the namespace answers at `address`, else why not. */
async function probe(address: string, namespace: string): Promise<string | null> {
  const connection = Connection.lazy({ address, connectTimeout: 1_000 });
  try {
    await connection.withDeadline(Date.now() + 1_000, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await connection.close();
  }
}

/** How long a port may still belong to a server whose parent was killed a moment ago; its guard is ending it. */
const releaseMs = 3_000;

async function requireFree(port: number, variable: string): Promise<void> {
  const deadline = Date.now() + releaseMs;
  for (;;) {
    const code = await tryListen(port);
    if (code === null) return;
    if (code !== 'EADDRINUSE') {
      throw new ParleyError(
        'unavailable',
        `Port ${port} cannot be used (${code}); choose another with ${variable}=PORT.`,
      );
    }
    if (Date.now() >= deadline) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const temporal = variable === 'TEMPORAL_PORT' && (await probe(`${ip}:${port}`, 'default')) === null;
  throw new ParleyError(
    'unavailable',
    temporal
      ? `Port ${port} is taken by a Temporal server that already runs, perhaps of another Parley. Stop it, or use it with TEMPORAL_ADDRESS=${ip}:${port}, or choose another port with ${variable}=PORT.`
      : `Port ${port} is taken by another program; choose another with ${variable}=PORT.`,
  );
}

/** @returns the error's code, or null when the port is free. */
async function tryListen(port: number): Promise<string | null> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, ip, () => server.close(() => resolve(null)));
  });
}
