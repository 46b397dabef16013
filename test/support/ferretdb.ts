import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../temporal/server.js';
import { findFerretDb } from './parts.js';

export interface MongoServer {
  /** Ends in a slash: a database's name goes there. */
  uri: string;
  /** Ends it at once, as a machine that goes away does. */
  stop(): Promise<void>;
  /** Takes connections again, at the same address and with the same data. */
  start(): Promise<void>;
  /** Ends it for good. */
  close(): Promise<void>;
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve((socket.destroy(), true)));
    socket.once('error', () => resolve(false));
  });

/** A server that speaks MongoDB's protocol, with a folder of its own. It ends with this process, whatever happens to that. */
export const startFerretDb = async (): Promise<MongoServer> => {
  const program = findFerretDb();
  if (program === null) throw new Error('FerretDB is not built; npm run pretest builds it.');
  const folder = await mkdtemp(join(tmpdir(), 'parley-ferretdb-'));
  const [port] = (await freePorts(1)) as [number];
  const launch = async () => {
    // Its standard input is a pipe that closes with this process.
    const child = spawn(program, [`127.0.0.1:${port}`, folder], { stdio: ['pipe', 'ignore', 'pipe'] });
    let output = '';
    child.stderr.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-2_000)));
    const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
    while (!(await accepts(port))) {
      if (child.exitCode !== null) throw new Error(`FerretDB ended: ${output}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return { child, ended };
  };
  let running = await launch();
  const stop = async (): Promise<void> => {
    running.child.kill('SIGKILL');
    await running.ended;
  };
  return {
    uri: `mongodb://127.0.0.1:${port}/`,
    stop,
    start: async () => {
      running = await launch();
    },
    close: async () => {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
