import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createFolderStore } from '../../../activities/artifacts/folder.js';
import type { ArtifactStore } from '../../../activities/artifacts/port.js';
import { verifyArtifacts } from '../../../activities/artifacts/read.js';
import { createS3Store } from '../../../activities/artifacts/s3.js';
import { findS3Server } from '../../support/parts.js';
import { type S3Server, startS3Server } from '../../support/s3-server.js';
import { all, many, text, whole } from './bytes.js';

const root = mkdtempSync(join(tmpdir(), 'parley-stores-'));
afterAll(() => rmSync(root, { recursive: true }));
let made = 0;

interface Place {
  store: ArtifactStore;
  /** The file that holds an artifact, to do it harm. */
  fileOf(tenant: string, hash: string): string;
}
interface Kind {
  name: string;
  /** Why its tests are left out, where they are. */
  needs: string;
  open(): Promise<void>;
  close(): Promise<void>;
  /** An empty one. */
  aStore(): Place;
}

const inParts = (hash: string): string => `${hash.slice(7, 9)}/${hash.slice(7)}`;

const folders: Kind = {
  name: 'a folder',
  needs: '',
  open: async () => undefined,
  close: async () => undefined,
  aStore: () => {
    const folder = join(root, `store-${(made += 1)}`);
    return {
      store: createFolderStore(folder),
      fileOf: (tenant, hash) => join(folder, tenant, inParts(hash)),
    };
  },
};

let server: S3Server;
const buckets: Kind = {
  name: 'a bucket',
  needs: findS3Server() === null ? 'an S3 server' : '',
  open: async () => {
    server = await startS3Server();
  },
  close: async () => server?.close(),
  aStore: () => {
    const place = `store-${(made += 1)}/`;
    return {
      store: createS3Store(server.location, place),
      fileOf: (tenant, hash) => server.fileOf(`${server.location.prefix}${place}${tenant}/${inParts(hash)}`),
    };
  },
};

const digestOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
const streamed = async function* (bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += 70_000) yield bytes.subarray(at, at + 70_000);
};

for (const { name, needs, open, close, aStore } of [folders, buckets]) {
  const describeHere = needs === '' ? describe : describe.skip;

  describeHere(`an artifact store in ${name}${needs && ` (needs ${needs})`}`, () => {
    beforeAll(open);
    afterAll(close);

    test.each([0, 1, 65_535, 65_536, 65_537, 1_000_003])(
      'gives back %i bytes as they were, under their digest, from memory and from a stream',
      async (length) => {
        const { store } = aStore();
        const bytes = many(length);
        for (const content of [bytes, streamed(bytes)]) {
          const artifact = await store.put('default', content);
          expect(artifact).toEqual({ hash: digestOf(bytes), size_bytes: length });
          const opened = await store.open('default', artifact.hash);
          expect(opened).toMatchObject(artifact);
          expect((await whole(opened)).equals(bytes)).toBe(true);
        }
      },
    );

    test('takes a stream of pieces and gives the name that their bytes have together', async () => {
      const { store } = aStore();
      const parts = async function* () {
        for (const word of ['one ', '', 'two ', 'three']) yield text(word);
      };
      const { hash } = await store.put('default', parts());
      expect(hash).toBe(digestOf(text('one two three')));
      expect((await whole(await store.open('default', hash))).toString()).toBe('one two three');
    });

    test('lists, finds and removes; what is not there is not there', async () => {
      const { store } = aStore();
      expect(await all(store.list())).toEqual([]);
      const { hash } = await store.put('acme', text('x'));
      expect(await all(store.list())).toEqual([
        { tenant: 'acme', hash, size_bytes: 1, stored_at: expect.stringMatching(/^\d{4}-.*Z$/) },
      ]);
      expect(await store.has('acme', hash)).toBe(true);
      expect(await store.remove('acme', hash)).toBe(true);
      expect(await store.remove('acme', hash)).toBe(false);
      expect(await store.has('acme', hash)).toBe(false);
      expect(await store.open('acme', hash)).toBeNull();
    });

    test('keeps the artifacts of each tenant apart', async () => {
      const { store } = aStore();
      const { hash } = await store.put('acme', text('ours'));
      expect(await store.has('other', hash)).toBe(false);
      expect(await store.open('other', hash)).toBeNull();
      await store.put('other', text('ours'));
      expect((await all(store.list())).map(({ tenant }) => tenant)).toEqual(['acme', 'other']);
      await store.remove('acme', hash);
      expect(await store.has('other', hash)).toBe(true);
    });

    test.each([
      ['default', 'sha256:../../etc/passwd'],
      ['default', 'a'.repeat(64)],
      ['default', `sha256:${'A'.repeat(64)}`],
      ['../x', `sha256:${'a'.repeat(64)}`],
      ['.unfinished', `sha256:${'a'.repeat(64)}`],
    ])('makes no path of what is no name: %s %s', async (tenant, hash) => {
      const { store } = aStore();
      await expect(store.open(tenant, hash)).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('names no artifact: it must be'),
      });
    });

    test('that fails in the middle of a stream keeps nothing of it', async () => {
      const { store } = aStore();
      const breaking = async function* () {
        yield text('half');
        throw new Error('the source broke');
      };
      await expect(store.put('default', breaking())).rejects.toThrow('the source broke');
      expect(await all(store.list())).toEqual([]);
    });

    test('takes the same content from many at once', async () => {
      const { store } = aStore();
      const bytes = many(300_000);
      const stored = await Promise.all(Array.from({ length: 20 }, () => store.put('default', bytes)));
      expect(new Set(stored.map(({ hash }) => hash)).size).toBe(1);
      expect((await whole(await store.open('default', stored[0]!.hash))).equals(bytes)).toBe(true);
      expect(await all(store.list())).toHaveLength(1);
    });

    test.each<[string, (file: string) => void]>([
      ['changed', (file) => writeFileSync(file, Buffer.concat([readFileSync(file).subarray(1), text('!')]))],
      ['cut off', (file) => truncateSync(file, 150_000)],
      ['emptied', (file) => truncateSync(file, 0)],
      ['grown', (file) => writeFileSync(file, 'more', { flag: 'a' })],
    ])('names an artifact that was %s, which is never read to its end', async (_, harm) => {
      const { store, fileOf } = aStore();
      const { hash } = await store.put('default', many(200_000));
      harm(fileOf('default', hash));
      const opened = await store.open('default', hash);
      let got = 0;
      const reading = (async () => {
        for await (const chunk of opened!.content) got += chunk.byteLength;
      })();
      await expect(reading).rejects.toMatchObject({
        code: 'corrupt',
        message: expect.stringContaining(`artifact ${hash} is corrupt`),
      });
      expect(got).toBeLessThan(Math.max(1, opened!.size_bytes));
    });

    test('is checked whole, and mended by storing the content again', async () => {
      const { store, fileOf } = aStore();
      const good = await store.put('acme', text('good'));
      const bad = await store.put('default', text('bad'));
      writeFileSync(fileOf('default', bad.hash), 'BAD');
      const found = await verifyArtifacts(store);
      expect(found).toMatchObject({
        artifacts: 2,
        bytes: 7,
        corrupt: [{ artifact: { tenant: 'default', hash: bad.hash } }],
      });
      await store.put('default', text('bad'));
      expect((await verifyArtifacts(store)).corrupt).toEqual([]);
      expect((await whole(await store.open('acme', good.hash))).toString()).toBe('good');
    });
  });
}

const describeWithServer = buckets.needs === '' ? describe : describe.skip;

describeWithServer('a bucket (needs an S3 server)', () => {
  beforeAll(buckets.open);
  afterAll(buckets.close);

  test('with more objects than one answer holds is listed whole', async () => {
    const { store, fileOf } = buckets.aStore();
    await store.put('default', text('number 0'));
    // The others are laid into the server's folder: a thousand requests would show no more of a list.
    for (let number = 1; number < 1_003; number += 1) {
      const file = fileOf('default', `sha256:${createHash('sha256').update(`number ${number}`).digest('hex')}`);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `number ${number}`);
    }
    const listed = await all(store.list());
    expect(new Set(listed.map(({ hash }) => hash)).size).toBe(1_003);
  }, 120_000);

  test('whose keys are wrong says so, and of which bucket', async () => {
    const store = createS3Store({ ...server.location, secretAccessKey: 'wrong' }, 'x/');
    await expect(store.put('default', text('x'))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(
        /^The artifact store s3:\/\/parley-test \(PARLEY_ARTIFACTS_URL\) .*403 SignatureDoesNotMatch/,
      ),
    });
  });

  test('that does not exist says so', async () => {
    const store = createS3Store({ ...server.location, bucket: 'no-such-bucket' }, 'x/');
    await expect(store.put('default', text('x'))).rejects.toThrow(/no-such-bucket.*404 NoSuchBucket/);
  });

  test('whose server is gone says so, and may be asked again', async () => {
    const store = createS3Store(server.location, 'x/');
    await server.stop();
    await expect(store.put('default', text('x'))).rejects.toMatchObject({
      code: 'unavailable',
      retryable: true,
      message: expect.stringMatching(/does not answer as it should: .*ECONNREFUSED/),
    });
  });
});
