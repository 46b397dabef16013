import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStores, type Stores } from '../../activities/artifacts/index.js';
import type { HistoriesPort } from '../../activities/clean-up/histories.js';
import { createCleanUp } from '../../activities/clean-up/index.js';
import type { S3Location } from '../../src/settings/artifacts.js';
import { findS3Server } from '../support/parts.js';
import { type S3Server, startS3Server } from '../support/s3-server.js';

const root = mkdtempSync(join(tmpdir(), 'parley-clean-up-'));
afterAll(() => rmSync(root, { recursive: true }));

const inTwoHours = (): number => Date.now() + 7_200_000;
const text = (words: string): Buffer => Buffer.from(words);
const claimOn = (hash: string): string => `....{"claim":"${hash}","size_bytes":1}....`;

interface Setting {
  stores: Stores;
  dataFolder: string;
  /** What Temporal has: texts of histories, ids of work. */
  texts: string[];
  ids: string[];
  clean: (over?: {
    now?: () => number;
    isDryRun?: boolean;
    onText?: () => Promise<unknown>;
    namespaceId?: string;
  }) => ReturnType<ReturnType<typeof createCleanUp>>;
}

const aSetting = (s3: S3Location | null = null): Setting => {
  const dataFolder = join(root, randomUUID());
  mkdirSync(dataFolder);
  const stores = openStores({ dataFolder, s3: s3 && { ...s3, prefix: `${randomUUID()}/` } });
  const [texts, ids]: [string[], string[]] = [[], []];
  const clean: Setting['clean'] = ({ now = inTwoHours, isDryRun = false, onText, namespaceId = 'one' } = {}) => {
    const histories: HistoriesPort = {
      namespaceId: async () => namespaceId,
      isKnown: async (id) => ids.includes(id),
      texts: async function* () {
        await onText?.();
        yield* texts;
      },
    };
    const ports = { stores, isBucket: s3 !== null, dataFolder, histories, scope: 'default', now };
    return createCleanUp(ports)({ withBucket: true, isDryRun });
  };
  return { stores, dataFolder, texts, ids, clean };
};

let server: S3Server | null = null;
beforeAll(async () => {
  if (findS3Server() !== null) server = await startS3Server();
});
afterAll(() => server?.close());

const places: [string, () => S3Location | null, typeof describe][] = [
  ['a folder', () => null, describe],
  ['a bucket (needs an S3 server)', () => server?.location ?? null, findS3Server() === null ? describe.skip : describe],
];

for (const [name, location, describeHere] of places) {
  describeHere(`a clean-up of ${name}`, () => {
    test('removes what nothing refers to, and says how much', async () => {
      const { stores, clean } = aSetting(location());
      const artifact = await stores.artifacts.put('acme', text('12345'));
      const claim = await stores.claims.put('default', text('123'));
      expect(await clean()).toEqual({
        claims: { looked_at: 1, removed: 1, removed_bytes: 3 },
        artifacts: { looked_at: 1, removed: 1, removed_bytes: 5 },
        folders: 0,
        left: [],
      });
      expect(await stores.artifacts.has('acme', artifact.hash)).toBe(false);
      expect(await stores.claims.has('default', claim.hash)).toBe(false);
    });

    test('keeps what a history names, with "sha256:" before it or without, and what a payload of it names', async () => {
      const { stores, texts, clean } = aSetting(location());
      const one = await stores.artifacts.put('acme', text('one'));
      const two = await stores.artifacts.put('acme', text('two'));
      const inner = await stores.artifacts.put('acme', text('inner'));
      const claim = await stores.claims.put('default', text(`{"artifact":"${inner.hash}"}`));
      texts.push(`{"hash":"${one.hash}"}`, `sha256 ${two.hash.slice(7)}`, claimOn(claim.hash));
      expect(await clean()).toMatchObject({
        claims: { removed: 0 },
        artifacts: { looked_at: 3, removed: 0 },
        left: [],
      });
    });

    test('spares what is younger than an hour', async () => {
      const { stores, clean } = aSetting(location());
      await stores.artifacts.put('acme', text('young'));
      expect(await clean({ now: Date.now })).toMatchObject({ artifacts: { looked_at: 1, removed: 0 } });
      expect(await clean({ now: () => Date.now() + 3_500_000 })).toMatchObject({ artifacts: { removed: 0 } });
      expect(await clean({ now: () => Date.now() + 3_700_000 })).toMatchObject({ artifacts: { removed: 1 } });
    });

    test('leaves the claims of other namespaces alone', async () => {
      const { stores, clean } = aSetting(location());
      await stores.claims.put('other', text('theirs'));
      expect(await clean()).toMatchObject({ claims: { looked_at: 0, removed: 0 } });
    });

    test('as a rehearsal counts the same and removes nothing', async () => {
      const { stores, clean } = aSetting(location());
      const { hash } = await stores.artifacts.put('acme', text('12345'));
      expect(await clean({ isDryRun: true })).toMatchObject({ artifacts: { removed: 1, removed_bytes: 5 } });
      expect(await stores.artifacts.has('acme', hash)).toBe(true);
    });

    test('removes no artifact as long as a payload that may name it cannot be read', async () => {
      const { stores, texts, clean } = aSetting(location());
      const { hash } = await stores.artifacts.put('acme', text('needed?'));
      const missing = `sha256:${'0'.repeat(64)}`;
      texts.push(claimOn(missing));
      const report = await clean();
      expect(report.left).toEqual([expect.stringContaining(`the payload ${missing} is not there`)]);
      expect(report.artifacts.removed).toBe(0);
      expect(await stores.artifacts.has('acme', hash)).toBe(true);
    });

    test('removes nothing that belongs to another namespace or server', async () => {
      const { stores, clean } = aSetting(location());
      await stores.artifacts.put('acme', text('theirs'));
      expect(await clean({ namespaceId: 'one', now: Date.now })).toMatchObject({ left: [] });
      const report = await clean({ namespaceId: 'two' });
      expect(report).toMatchObject({ artifacts: { looked_at: 0, removed: 0 } });
      expect(report.left).toEqual([expect.stringMatching(/belong to the Temporal namespace one, and this is two/)]);
    });
  });
}

describe('a clean-up', () => {
  const age = (path: string, milliseconds: number): void => {
    const at = new Date(Date.now() - milliseconds);
    utimesSync(path, at, at);
  };

  test('spares what is stored again while it looks', async () => {
    const { stores, dataFolder, clean } = aSetting();
    const { hash } = await stores.artifacts.put('acme', text('again'));
    age(join(dataFolder, 'artifacts', 'acme', hash.slice(7, 9), hash.slice(7)), 7_200_000);
    const report = await clean({ now: Date.now, onText: () => stores.artifacts.put('acme', text('again')) });
    expect(report.artifacts).toMatchObject({ looked_at: 1, removed: 0 });
    expect(await stores.artifacts.has('acme', hash)).toBe(true);
  });

  test.each(['namespaces', 'snapshots', 'executions', 'runs'])(
    'removes the folders in %s of work that Temporal knows no more, whatever they forbid',
    async (place) => {
      const { dataFolder, ids, clean } = aSetting();
      const made = (id: string): string => {
        const folder = join(dataFolder, place, id, 'inner');
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, 'file'), 'x');
        chmodSync(folder, 0o500);
        age(join(dataFolder, place, id), 7_200_000);
        return join(dataFolder, place, id);
      };
      const [known, unknown] = [made('known'), made('unknown')];
      ids.push('known');
      mkdirSync(join(dataFolder, place, 'new'));
      expect(await clean({ now: Date.now, isDryRun: true })).toMatchObject({ folders: 1 });
      expect(existsSync(unknown)).toBe(true);
      expect(await clean({ now: Date.now })).toMatchObject({ folders: 1 });
      expect([existsSync(known), existsSync(unknown), existsSync(join(dataFolder, place, 'new'))]).toEqual([
        true,
        false,
        true,
      ]);
    },
  );

  test('leaves the folder of a run that is being made, and removes one that nobody makes any more', async () => {
    const { dataFolder, ids, clean } = aSetting();
    const [known, unknown] = ['known.half', 'unknown.half'].map((name) => join(dataFolder, 'runs', name));
    for (const folder of [known!, unknown!]) {
      mkdirSync(folder, { recursive: true });
      age(folder, 7_200_000);
    }
    ids.push('known');
    expect(await clean({ now: Date.now })).toMatchObject({ folders: 1 });
    expect([existsSync(known!), existsSync(unknown!)]).toEqual([true, false]);
  });

  test('removes what writers that died have left unfinished', async () => {
    const { stores, dataFolder, clean } = aSetting();
    await stores.artifacts.put('acme', text('x'));
    const draft = join(dataFolder, 'artifacts', '.unfinished', 'draft');
    writeFileSync(draft, 'half');
    expect(await clean({ now: Date.now })).toMatchObject({ folders: 0 });
    age(draft, 7_200_000);
    expect(await clean({ now: Date.now })).toMatchObject({ folders: 1 });
    expect(existsSync(draft)).toBe(false);
  });
});
