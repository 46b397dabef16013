import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { S3Location } from '../../src/settings/artifacts.js';
import { freePorts } from '../../temporal/server.js';
import { findS3Server } from './parts.js';

export interface S3Server {
  location: S3Location;
  /** The settings that name its bucket. */
  environment: Record<string, string>;
  /** Path of the file that an object lies in. */
  fileOf(key: string): string;
  /** Ends it at once, as a machine that goes away does. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** A server that speaks S3's protocol, with one bucket on a folder of its own. It ends with this process, whatever happens to that. */
export const startS3Server = async (): Promise<S3Server> => {
  const program = findS3Server();
  if (program === null) throw new Error('The S3 server is not built; npm run pretest builds it.');
  const folder = mkdtempSync(join(tmpdir(), 'parley-s3-'));
  const [files, sidecar] = [join(folder, 'files'), join(folder, 'sidecar')];
  mkdirSync(sidecar);
  mkdirSync(join(files, 'parley-test'), { recursive: true }); // a folder is a bucket
  const [port] = (await freePorts(1)) as [number];
  const keys = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: randomBytes(16).toString('hex') };
  const child = spawn(program, [`127.0.0.1:${port}`, files, sidecar], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { ...process.env, ...keys },
  });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-2_000)));
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  const endpoint = `http://127.0.0.1:${port}`;
  const answers = (): Promise<boolean> =>
    fetch(endpoint).then(
      () => true,
      () => false,
    );
  while (!(await answers())) {
    if (child.exitCode !== null) throw new Error(`The S3 server ended: ${output}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  return {
    location: {
      bucket: 'parley-test',
      prefix: 'some/where/',
      endpoint,
      region: 'us-east-1',
      accessKeyId: keys.AWS_ACCESS_KEY_ID,
      secretAccessKey: keys.AWS_SECRET_ACCESS_KEY,
      sessionToken: null,
    },
    environment: { ...keys, PARLEY_ARTIFACTS_URL: `s3://parley-test/some/where?endpoint=${endpoint}` },
    fileOf: (key) => join(files, 'parley-test', key),
    stop,
    close: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
