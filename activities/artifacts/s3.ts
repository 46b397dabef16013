import { createHash, randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { S3Location } from '../../src/settings/artifacts.js';
import type { OpenArtifact, StoredArtifact } from '../../src/contracts/artifact.js';
import { ParleyError } from '../../src/domain/errors.js';
import { digitsOf, hashOf, isTenantName, tenantName } from './names.js';
import type { ArtifactStore } from './port.js';
import { createS3Client } from './s3-client.js';
import { verified } from './verified.js';

interface Spooled {
  digits: string;
  sizeBytes: number;
  body: Blob | Uint8Array;
  done: () => Promise<void>;
}

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** An object's name is the digest of what is in it, so that a stream has to end, in a file aside, before it can be sent. */
const spooled = async (content: AsyncIterable<Uint8Array>): Promise<Spooled> => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-artifact-'));
  const done = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const file = join(folder, randomUUID());
    const digest = createHash('sha256');
    let sizeBytes = 0;
    const handle = await open(file, 'wx', 0o600);
    try {
      for await (const chunk of content) {
        digest.update(chunk);
        sizeBytes += chunk.byteLength;
        await handle.writeFile(chunk); // goes on from where the last one ended
      }
    } finally {
      await handle.close();
    }
    return { digits: digest.digest('hex'), sizeBytes, body: await openAsBlob(file), done };
  } catch (error) {
    await done();
    throw error;
  }
};

/** What an object outside of every place says, which is written where there is none. */
export const textAt = async (location: S3Location, name: string, text: string): Promise<string> => {
  const s3 = createS3Client(location);
  const key = `${location.prefix}${name}`;
  const found = await s3.get(key);
  if (found === null) {
    const bytes = Buffer.from(text);
    await s3.put(key, bytes, digestOf(bytes));
    return text;
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of found) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

/**
 * Artifacts as objects, `<place><tenant>/<first two digits>/<64 digits>` below the prefix of a bucket, which has to be there.
 * @param place such as "artifacts/"
 */
export const createS3Store = (location: S3Location, place: string): ArtifactStore => {
  const s3 = createS3Client(location);
  const root = `${location.prefix}${place}`;
  const keyOf = (tenant: string, hash: string): string => {
    const digits = digitsOf(hash);
    return `${root}${tenantName(tenant)}/${digits.slice(0, 2)}/${digits}`;
  };
  /** What came between the question and the reading. */
  const read = async function* (key: string, hash: string): AsyncGenerator<Uint8Array> {
    const content = await s3.get(key);
    if (content === null) throw new ParleyError('not_found', `artifact ${hash} has just been removed.`);
    yield* content;
  };

  return {
    put: async (tenant, content) => {
      tenantName(tenant);
      const { digits, sizeBytes, body, done } =
        content instanceof Uint8Array
          ? { digits: digestOf(content), sizeBytes: content.byteLength, body: content, done: async () => undefined }
          : await spooled(content);
      try {
        const hash = `sha256:${digits}`;
        await s3.put(keyOf(tenant, hash), body, digits);
        return { hash, size_bytes: sizeBytes };
      } finally {
        await done();
      }
    },

    open: async (tenant, hash): Promise<OpenArtifact | null> => {
      const key = keyOf(tenant, hash);
      const found = await s3.head(key);
      return found && { hash, size_bytes: found.sizeBytes, content: verified(read(key, hash), hash) };
    },

    has: async (tenant, hash) => (await s3.head(keyOf(tenant, hash))) !== null,

    remove: async (tenant, hash, { storedBefore = Infinity } = { storedBefore: Infinity }) => {
      const key = keyOf(tenant, hash);
      const found = await s3.head(key);
      if (!found || found.storedAt >= storedBefore) return false;
      await s3.delete(key);
      return true;
    },

    list: async function* (): AsyncGenerator<StoredArtifact> {
      for await (const { key, sizeBytes, storedAt } of s3.list(root)) {
        const [tenant = '', , digits = ''] = key.slice(root.length).split('/');
        const hash = hashOf(digits);
        if (hash === null || !isTenantName(tenant) || key !== keyOf(tenant, hash)) continue;
        yield { tenant, hash, size_bytes: sizeBytes, stored_at: storedAt };
      }
    },
  };
};
