import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createFolderStore } from '../../../activities/artifacts/folder.js';
import { bytesOf, verifyArtifacts } from '../../../activities/artifacts/read.js';

const root = mkdtempSync(join(tmpdir(), 'parley-artifacts-'));
afterAll(() => rmSync(root, { recursive: true }));
let made = 0;
const aStore = () => {
  const folder = join(root, `store-${(made += 1)}`);
  return { folder, store: createFolderStore(folder) };
};

const hashOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
const text = (words: string): Buffer => Buffer.from(words);
const fileOf = (folder: string, tenant: string, hash: string): string =>
  join(folder, tenant, hash.slice(7, 9), hash.slice(7));
const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
};
const whole = async (opened: Parameters<typeof bytesOf>[0] | null): Promise<Buffer> => {
  if (opened === null) throw new Error('there is no such artifact');
  return await bytesOf(opened);
};
/** Bytes that differ from place to place, so that a mix-up of chunks shows. */
const many = (length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32LE((at * 2_654_435_761) % 2 ** 32, at);
  return bytes;
};

describe('the artifact store', () => {
  test.each([0, 1, 65_535, 65_536, 65_537, 1_000_003])(
    'gives back %i bytes as they were, under their digest',
    async (length) => {
      const { store } = aStore();
      const bytes = many(length);
      const artifact = await store.put('default', bytes);
      expect(artifact).toEqual({ hash: hashOf(bytes), size_bytes: length });
      const opened = await store.open('default', artifact.hash);
      expect(opened).toMatchObject(artifact);
      expect((await whole(opened)).equals(bytes)).toBe(true);
    },
  );

  test('takes a stream and gives the name that its bytes have together', async () => {
    const { store } = aStore();
    const parts = async function* () {
      for (const word of ['one ', '', 'two ', 'three']) yield text(word);
    };
    const { hash } = await store.put('default', parts());
    expect(hash).toBe(hashOf(text('one two three')));
    expect((await whole(await store.open('default', hash))).toString()).toBe('one two three');
  });

  test('lists, finds and removes; what is not there is not there', async () => {
    const { store } = aStore();
    expect(await all(store.list())).toEqual([]);
    const { hash } = await store.put('acme', text('x'));
    expect(await all(store.list())).toEqual([
      { tenant: 'acme', hash, size_bytes: 1, stored_at: expect.stringMatching(/Z$/) },
    ]);
    expect(await store.has('acme', hash)).toBe(true);
    expect(await store.remove('acme', hash)).toBe(true);
    expect(await store.remove('acme', hash)).toBe(false);
    expect(await store.has('acme', hash)).toBe(false);
    expect(await store.open('acme', hash)).toBeNull();
  });

  test('keeps the artifacts of each tenant apart, of those too that differ in case alone', async () => {
    const { store, folder } = aStore();
    const { hash } = await store.put('Acme', text('ours'));
    expect(await store.has('acme', hash)).toBe(false);
    await store.put('acme', text('theirs'));
    expect((await all(store.list())).map(({ tenant }) => tenant)).toEqual(['Acme', 'acme']);
    const names = readdirSync(folder).map((name) => name.toLowerCase());
    expect(new Set(names).size).toBe(names.length);
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

  test('passes over files that others have put into its folder', async () => {
    const { store, folder } = aStore();
    const { hash } = await store.put('default', text('x'));
    writeFileSync(join(folder, 'default', 'notes.txt'), '');
    writeFileSync(join(folder, 'default', hash.slice(7, 9), '.DS_Store'), '');
    expect((await all(store.list())).map((found) => found.hash)).toEqual([hash]);
  });

  test('is readable by its owner alone', async () => {
    const { store, folder } = aStore();
    const { hash } = await store.put('default', text('x'));
    expect(statSync(fileOf(folder, 'default', hash)).mode & 0o077).toBe(0);
    expect(statSync(folder).mode & 0o077).toBe(0);
  });
});

describe('a corrupt artifact', () => {
  test.each<[string, (file: string) => void]>([
    ['changed', (file) => writeFileSync(file, Buffer.concat([readFileSync(file).subarray(1), text('!')]))],
    ['cut off', (file) => truncateSync(file, 150_000)],
    ['emptied', (file) => truncateSync(file, 0)],
    ['grown', (file) => writeFileSync(file, 'more', { flag: 'a' })],
  ])('that was %s is named and never read to its end', async (_, harm) => {
    const { store, folder } = aStore();
    const bytes = many(200_000);
    const { hash } = await store.put('default', bytes);
    harm(fileOf(folder, 'default', hash));
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

  test('is found by a check of the store, and mended by storing the content again', async () => {
    const { store, folder } = aStore();
    const good = await store.put('acme', text('good'));
    const bad = await store.put('default', text('bad'));
    writeFileSync(fileOf(folder, 'default', bad.hash), 'BAD');
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

describe('a store with many writers', () => {
  test('that fails in the middle of a stream keeps nothing of it', async () => {
    const { store, folder } = aStore();
    const breaking = async function* () {
      yield text('half');
      throw new Error('the source broke');
    };
    await expect(store.put('default', breaking())).rejects.toThrow('the source broke');
    expect(await all(store.list())).toEqual([]);
    expect(readdirSync(join(folder, '.unfinished'))).toEqual([]);
  });

  test('shows nothing of what is being written', async () => {
    const { store } = aStore();
    const seen: number[] = [];
    const watched = async function* () {
      yield text('a');
      seen.push((await all(store.list())).length);
      yield text('b');
    };
    await store.put('default', watched());
    expect(seen).toEqual([0]);
    expect(await all(store.list())).toHaveLength(1);
  });

  test('takes the same content from many at once', async () => {
    const { store } = aStore();
    const bytes = many(300_000);
    const stored = await Promise.all(Array.from({ length: 20 }, () => store.put('default', bytes)));
    expect(new Set(stored.map(({ hash }) => hash)).size).toBe(1);
    expect((await whole(await store.open('default', stored[0]!.hash))).equals(bytes)).toBe(true);
    expect(await all(store.list())).toHaveLength(1);
  });

  /** A process that stores what `body` says. */
  const writer = (folder: string, body: string) => {
    const url = (path: string): string => JSON.stringify(pathToFileURL(path).href);
    const script = `import { register } from 'node:module';
      register(${url('test/support/ts-hooks.js')});
      const { createFolderStore } = await import(${url('activities/artifacts/folder.ts')});
      const store = createFolderStore(${JSON.stringify(folder)});
      ${body}`;
    return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  };

  test('takes the same contents from several processes', async () => {
    const { store, folder } = aStore();
    const body = `for (let n = 0; n < 50; n += 1) await store.put('default', Buffer.alloc(20_000, n));`;
    const ends = await Promise.all([1, 2, 3].map(async () => (await once(writer(folder, body), 'exit'))[0] as number));
    expect(ends).toEqual([0, 0, 0]);
    expect(await verifyArtifacts(store)).toEqual({ artifacts: 50, bytes: 1_000_000, corrupt: [] });
    expect(readdirSync(join(folder, '.unfinished'))).toEqual([]);
  });

  test('has nothing of a writer that died on the way, and works on', async () => {
    const { store, folder } = aStore();
    const body = `await store.put('default', (async function* () {
      yield Buffer.alloc(100_000);
      console.log('half');
      await new Promise((resolve) => setTimeout(resolve, 600_000));
    })());`;
    const child = writer(folder, body);
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(readdirSync(join(folder, '.unfinished'))).toHaveLength(1);
    expect(await all(store.list())).toEqual([]);
    const { hash } = await store.put('default', Buffer.alloc(100_000));
    expect((await whole(await store.open('default', hash))).byteLength).toBe(100_000);
  });
});
