import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createFolderStore } from '../../../activities/artifacts/folder.js';
import { verifyArtifacts } from '../../../activities/artifacts/read.js';
import { all, many, text, whole } from './bytes.js';

const root = mkdtempSync(join(tmpdir(), 'parley-artifacts-'));
afterAll(() => rmSync(root, { recursive: true }));
let made = 0;
const aStore = () => {
  const folder = join(root, `store-${(made += 1)}`);
  return { folder, store: createFolderStore(folder) };
};

const fileOf = (folder: string, tenant: string, hash: string): string =>
  join(folder, tenant, hash.slice(7, 9), hash.slice(7));

describe('the artifact store in a folder', () => {
  test('keeps the artifacts of tenants that differ in case alone apart on every disk', async () => {
    const { store, folder } = aStore();
    const { hash } = await store.put('Acme', text('ours'));
    expect(await store.has('acme', hash)).toBe(false);
    await store.put('acme', text('theirs'));
    const names = readdirSync(folder).map((name) => name.toLowerCase());
    expect(new Set(names).size).toBe(names.length);
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

describe('a folder with many writers', () => {
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
