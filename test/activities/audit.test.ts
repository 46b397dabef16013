import { fork } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { createAuditLog, createAuditReader } from '../../activities/audit/audit-log.js';
import { chainsAt } from '../../activities/audit/chain-folder.js';
import { exportAudit, verifyExport } from '../../activities/audit/export.js';
import { findSigningKey, loadSigningKey } from '../../activities/audit/signing-key.js';
import { verifyFolders } from '../../activities/audit/verify.js';
import type { AuditEntry, AuditExport, AuditRecord } from '../../src/contracts/audit.js';

const root = mkdtempSync(join(tmpdir(), 'parley-audit-'));
afterAll(() => rmSync(root, { recursive: true }));

let made = 0;
const newFolder = (): string => join(root, `audit-${(made += 1)}`);
const at = Date.parse('2026-11-20T10:00:00.000Z');
const never = new AbortController().signal;

const entry = (key: string, over: Partial<AuditEntry> = {}): AuditEntry => ({
  key,
  work_id: 'debate-1',
  kind: 'debate',
  tenant: 'default',
  trace_id: null,
  type: 'debate.decided',
  data: { decision: 'PROCEED', consensus: 0.71 },
  ...over,
});

const logIn = (folder: string, keyFile: string | null = null) => createAuditLog({ folder, keyFile, now: () => at });

/** A log with `count` records, closed again. */
const aLog = async (count = 5): Promise<{ folder: string; file: string; lines: () => string[]; chain: string }> => {
  const folder = newFolder();
  const log = logIn(folder);
  await log.append(
    Array.from({ length: count }, (_, index) => entry(`k${index + 1}`, { work_id: `debate-${index + 1}` })),
    never,
  );
  log.close();
  const [chain] = chainsAt(folder);
  const file = chain!.log;
  return {
    folder,
    file,
    lines: () => readFileSync(file, 'utf8').trimEnd().split('\n'),
    chain: loadSigningKey(folder, null).chain,
  };
};

const faultsIn = async (folder: string) =>
  (await verifyFolders([folder])).faults.map(({ fault, seq, line }) => [fault, seq, line]);

describe('the audit log', () => {
  test('keeps records as lines of canonical JSON, chained from the first, and signs its head', async () => {
    const { folder, lines, chain } = await aLog(3);
    const records = lines().map((line) => JSON.parse(line) as AuditRecord);
    expect(records.map(({ seq, key, at: time, chain: own }) => [seq, key, time, own])).toEqual([
      [1, 'k1', '2026-11-20T10:00:00.000Z', chain],
      [2, 'k2', '2026-11-20T10:00:00.000Z', chain],
      [3, 'k3', '2026-11-20T10:00:00.000Z', chain],
    ]);
    expect(records[0]!.previous).toBe('0'.repeat(64));
    expect(records[2]!.previous).toBe(records[1]!.hash);
    expect(await verifyFolders([folder])).toEqual({
      ok: true,
      records: 3,
      chains: [{ chain, records: 3, last_seq: 3, last_hash: records[2]!.hash }],
      faults: [],
      faults_count: 0,
    });
  });

  test('can be checked by anybody with the public key and no Parley', async () => {
    const { folder, lines } = await aLog(1);
    const { hash, signature } = JSON.parse(lines()[0]!) as AuditRecord;
    const publicKey = createPublicKey(readFileSync(chainsAt(folder)[0]!.publicKey));
    expect(verify(null, Buffer.from(hash, 'hex'), publicKey, Buffer.from(signature, 'base64'))).toBe(true);
  });

  test('writes a key once, however often it is asked for, after a restart too, and says where it stands', async () => {
    const folder = newFolder();
    const first = logIn(folder);
    const [one] = await first.append([entry('a')], never);
    const both = await first.append([entry('b'), entry('a'), entry('b')], never);
    first.close();
    expect(both.map(({ seq }) => seq)).toEqual([2, 1, 2]);
    const second = logIn(folder);
    expect(await second.append([entry('a', { type: 'debate.executed' })], never)).toEqual([one]);
    second.close();
    expect((await verifyFolders([folder])).records).toBe(2);
  });

  test('makes nothing before the first entry', async () => {
    const folder = newFolder();
    const log = logIn(folder);
    expect(await log.append([], never)).toEqual([]);
    log.close();
    expect(existsSync(folder)).toBe(false);
    expect(findSigningKey(folder, null)).toBeNull();
  });

  test('keeps its key, its log and its folders to their owner', async () => {
    const { folder, file } = await aLog(1);
    const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);
    expect([join(folder, 'signing-key.pem'), file].map(mode)).toEqual(['600', '600']);
    expect(mode(folder)).toBe('700');
  });

  test('refuses an entry that is none and appends none of those with it', async () => {
    const folder = newFolder();
    const log = logIn(folder);
    await expect(log.append([entry('a'), entry('b', { type: 'Decided' })], never)).rejects.toThrow(
      'This cannot be recorded: type: must be two lower-case words with a point between, such as debate.decided.',
    );
    log.close();
    expect(existsSync(folder)).toBe(false);
  });

  test('takes over from a writer that died in the middle of a line', async () => {
    const { folder, file, lines } = await aLog(2);
    appendFileSync(file, lines()[1]!.slice(0, 40));
    expect(await faultsIn(folder)).toEqual([]);
    const log = logIn(folder);
    expect((await log.append([entry('next')], never))[0]!.seq).toBe(3);
    log.close();
    expect(lines()).toHaveLength(3);
    expect(await faultsIn(folder)).toEqual([]);
  });

  test('goes on when its head was not written any more', async () => {
    const { folder } = await aLog(2);
    const { head } = chainsAt(folder)[0]!;
    const before = readFileSync(head, 'utf8');
    const log = logIn(folder);
    await log.append([entry('next')], never);
    writeFileSync(head, before);
    expect(await faultsIn(folder)).toEqual([]);
    await log.append([entry('one more')], never);
    log.close();
    expect(await faultsIn(folder)).toEqual([]);
  });

  test('makes its index again from the log', async () => {
    const { folder } = await aLog(3);
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${chainsAt(folder)[0]!.index}${suffix}`, { force: true });
    const log = logIn(folder);
    expect((await log.append([entry('k2'), entry('new')], never)).map(({ seq }) => seq)).toEqual([2, 4]);
    log.close();
    expect(await faultsIn(folder)).toEqual([]);
  });

  test('holds lines that other programs break at, such as U+2028', async () => {
    const folder = newFolder();
    const log = logIn(folder);
    await log.append([entry('a', { data: { text: 'one\u2028two\r\nthree\u0085' } }), entry('b')], never);
    log.close();
    expect((await verifyFolders([folder])).records).toBe(2);
    expect(await faultsIn(folder)).toEqual([]);
  });

  test('begins a new chain for another key, beside the old one', async () => {
    const { folder } = await aLog(2);
    const keyFile = join(root, `own-key-${made}.pem`);
    writeFileSync(keyFile, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const log = logIn(folder, keyFile);
    expect((await log.append([entry('x')], never))[0]!.seq).toBe(1);
    log.close();
    const { ok, chains } = await verifyFolders([folder]);
    expect(ok).toBe(true);
    expect(new Set(chains.map(({ records }) => records))).toEqual(new Set([1, 2]));
  });

  test.each<[string, () => string]>([
    [
      'another kind of key',
      () => generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    ],
    ['no key', () => 'x'],
  ])('refuses %s with the command that makes a right one', async (_, text) => {
    const keyFile = join(root, 'wrong.pem');
    writeFileSync(keyFile, text());
    await expect(logIn(newFolder(), keyFile).append([entry('a')], never)).rejects.toThrow(
      /wrong\.pem must hold the audit log's private key, Ed25519 in PEM: .*openssl genpkey -algorithm ed25519/,
    );
  });

  test('waits while another process appends, and no longer than it is asked to', async () => {
    const { folder } = await aLog(1);
    const other = new DatabaseSync(chainsAt(folder)[0]!.index);
    const log = logIn(folder);
    other.exec('BEGIN IMMEDIATE');
    const stopped = new AbortController();
    const given = log.append([entry('given up')], stopped.signal);
    const waiting = log.append([entry('patient')], never);
    stopped.abort();
    await expect(given).rejects.toMatchObject({ name: 'AbortError' });
    other.exec('ROLLBACK');
    other.close();
    expect((await waiting)[0]!.seq).toBe(2);
    log.close();
    expect((await verifyFolders([folder])).records).toBe(2);
  });

  test('says how to mend an index that is damaged, and loses nothing', async () => {
    const { folder } = await aLog(2);
    const { index } = chainsAt(folder)[0]!;
    for (const suffix of ['-wal', '-shm']) rmSync(`${index}${suffix}`, { force: true });
    writeFileSync(index, 'no database at all, though as long as the head of one would be: '.repeat(100));
    await expect(logIn(folder).append([entry('next')], never)).rejects.toThrow(
      /index\.db cannot be used: .*stop the workers and delete it: it is made again from the log\.$/,
    );
    rmSync(index);
    const log = logIn(folder);
    expect((await log.append([entry('next')], never))[0]!.seq).toBe(3);
    log.close();
    expect(await faultsIn(folder)).toEqual([]);
  });

  test('is one whole chain when several processes append to it at once', async () => {
    const folder = newFolder();
    const writer = new URL('../support/audit-writer.js', import.meta.url);
    const run = (name: string): Promise<number | null> =>
      new Promise((resolve, reject) => {
        const child = fork(writer, [folder, name, '25'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
        child.once('error', reject);
        child.once('exit', (code) => resolve(code));
      });
    expect(await Promise.all(['a', 'b', 'c'].map(run))).toEqual([0, 0, 0]);
    const { ok, records, chains } = await verifyFolders([folder]);
    // Each wrote 25 of its own, and all wrote the same 5.
    expect({ ok, records, chains: chains.length }).toEqual({ ok: true, records: 80, chains: 1 });
  });

  test('loses nothing that was acknowledged, and breaks nothing, when its writer is killed', async () => {
    const folder = newFolder();
    const writer = new URL('../support/audit-writer.js', import.meta.url);
    const child = fork(writer, [folder, 'a', '100000'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const exited = new Promise((resolve) => child.once('exit', resolve));
    let acknowledged = 0;
    child.on('message', (seq) => {
      acknowledged = Number(seq);
      if (acknowledged >= 30) child.kill('SIGKILL');
    });
    await exited;
    const { ok, records } = await verifyFolders([folder]);
    expect(ok).toBe(true);
    expect(records).toBeGreaterThanOrEqual(acknowledged);
    const log = logIn(folder);
    await log.append([entry('after')], never);
    log.close();
    expect(await faultsIn(folder)).toEqual([]);
  });
});

describe('parley audit verify finds', () => {
  type Change = (lines: string[], log: { folder: string; file: string }) => string[] | void;
  const other = (line: string, from: string, to: string): string => {
    expect(line).toContain(from);
    return line.replace(from, to);
  };
  const swap = (lines: string[], a: number, b: number): string[] =>
    lines.map((line, index) => (index === a ? lines[b]! : index === b ? lines[a]! : line));

  test.each<[string, Change, [string, number | null, number | null][]]>([
    ['a removed record', (lines) => lines.toSpliced(2, 1), [['removed', 3, null]]],
    ['a changed word', (lines) => lines.with(2, other(lines[2]!, 'PROCEED', 'REJECT')), [['changed', 3, 3]]],
    ['a changed time', (lines) => lines.with(2, other(lines[2]!, 'T10:', 'T11:')), [['changed', 3, 3]]],
    ['a changed blank', (lines) => lines.with(2, other(lines[2]!, '":', '": ')), [['changed', 3, 3]]],
    ['a member given twice', (lines) => lines.with(2, other(lines[2]!, '{', '{"seq":3,')), [['changed', 3, 3]]],
    ['a line cut in half', (lines) => lines.with(2, lines[2]!.slice(0, 50)), [['changed', 3, 3]]],
    [
      'records in another order',
      (lines) => swap(lines, 1, 3),
      [
        ['reordered', 3, 3],
        ['reordered', 2, 4],
      ],
    ],
    ['records cut off at the end', (lines) => lines.slice(0, 3), [['truncated', 4, null]]],
    ['a log that is gone', (_lines, { file }) => rmSync(file), [['truncated', 1, null]]],
    ['a repeated record', (lines) => [...lines, lines[4]!], [['duplicate', 5, 6]]],
    ['a missing head', (_lines, { file }) => rmSync(join(file, '..', 'head.json')), [['truncated', null, null]]],
    [
      'a changed head',
      (_lines, { file }) => writeFileSync(join(file, '..', 'head.json'), '{}'),
      [['changed', null, null]],
    ],
    [
      'a missing key',
      (_lines, { file }) => rmSync(join(file, '..', 'public-key.pem')),
      [['bad_signature', null, null]],
    ],
  ])('%s', async (_, change, faults) => {
    const log = await aLog();
    const lines = change(log.lines(), log);
    if (lines) writeFileSync(log.file, `${lines.join('\n')}\n`);
    expect(await faultsIn(log.folder)).toEqual(faults);
  });

  test('a record that was signed with another key, and a whole chain that was', async () => {
    const [log, forged] = [await aLog(), await aLog()];
    writeFileSync(log.file, `${log.lines().with(2, forged.lines()[2]!).join('\n')}\n`);
    expect(await faultsIn(log.folder)).toEqual([['bad_signature', 3, 3]]);
    // All of another chain under this one's name: its key does not make that name.
    rmSync(join(log.folder, log.chain), { recursive: true });
    renameSync(join(forged.folder, forged.chain), join(log.folder, log.chain));
    expect(await faultsIn(log.folder)).toEqual([['bad_signature', null, null]]);
  });

  test('what was cut off also after the log has gone on', async () => {
    const { folder, file, lines } = await aLog();
    writeFileSync(file, `${lines().slice(0, 3).join('\n')}\n`);
    const log = logIn(folder);
    expect((await log.append([entry('after')], never))[0]!.seq).toBe(6);
    log.close();
    expect(await faultsIn(folder)).toEqual([['removed', 4, null]]);
  });

  test('what was cut off also when the index was removed with it', async () => {
    const { folder, file, lines } = await aLog();
    truncateSync(file, Buffer.byteLength(lines().slice(0, 2).join('\n')) + 30);
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${chainsAt(folder)[0]!.index}${suffix}`, { force: true });
    const log = logIn(folder);
    expect((await log.append([entry('after')], never))[0]!.seq).toBe(6);
    log.close();
    expect(await faultsIn(folder)).toEqual([['removed', 3, null]]);
  });

  test('a chain that was set back as a whole, by what an older result says of it', async () => {
    const { folder, chain } = await aLog();
    const anchor = { chain, seq: 7, hash: 'a'.repeat(64) };
    expect((await verifyFolders([folder], [anchor])).faults).toMatchObject([{ fault: 'truncated', seq: 6 }]);
    const elsewhere = { ...anchor, chain: '0123456789abcdef' };
    expect((await verifyFolders([folder], [elsewhere])).faults).toMatchObject([
      { fault: 'removed', why: 'the whole chain 0123456789abcdef is missing' },
    ]);
  });
});

describe('an export', () => {
  const exportOf = async (filter = {}, count = 5) => {
    const { folder, chain } = await aLog(count);
    const document = await exportAudit(chainsAt(folder), filter, loadSigningKey(folder, null), at);
    // As it comes back from a file.
    return { document: JSON.parse(JSON.stringify(document)) as AuditExport, folder, chain };
  };

  test('of everything is checked with nothing but itself', async () => {
    const { document, chain } = await exportOf();
    expect(await verifyExport(document)).toMatchObject({ ok: true, records: 5, chains: [{ chain, last_seq: 5 }] });
  });

  test.each([
    [{ work: 'debate-3' }, 1],
    [{ tenant: 'acme' }, 0],
    [{ since: '2026-11-20T10:00:00.000Z', until: '2026-11-20T10:00:00Z' }, 5],
    [{ since: '2026-11-20T10:00:00.001Z' }, 0],
  ])('of %j shows only that, and still reaches the head', async (filter, records) => {
    const { document } = await exportOf(filter);
    expect(await verifyExport(document)).toMatchObject({ ok: true, records, chains: [{ last_seq: 5 }] });
  });

  test.each<[string, (document: AuditExport) => void]>([
    ['a changed record', ({ chains }) => Object.assign(chains[0]!.records[1]!, { tenant: 'acme' })],
    ['a removed record', ({ chains }) => void chains[0]!.records.splice(1, 1)],
    ['records removed at the end', ({ chains }) => void chains[0]!.records.splice(3)],
    [
      'a hidden record',
      ({ chains: [chain] }) =>
        chain!.records.splice(1, 1, { omitted: { from: 2, hashes: [(chain!.records[1] as AuditRecord).hash] } }),
    ],
    ['another time', (document) => Object.assign(document, { exported_at: '2027-01-01T00:00:00.000Z' })],
    ['another filter', (document) => Object.assign(document, { filter: { tenant: 'acme' } })],
    ['a chain left out', (document) => Object.assign(document, { chains: [] })],
  ])('with %s is found out', async (_, change) => {
    const { document } = await exportOf();
    change(document);
    expect((await verifyExport(document)).ok).toBe(false);
  });

  test('that somebody made with a key of their own is found out by the chain that is trusted', async () => {
    const [genuine, forged] = [await exportOf(), await exportOf()];
    expect((await verifyExport(forged.document)).ok).toBe(true);
    expect((await verifyExport(forged.document, { trusted: [genuine.chain] })).ok).toBe(false);
    expect((await verifyExport(genuine.document, { trusted: [genuine.chain] })).ok).toBe(true);
    // The genuine chain's name over a forged key.
    forged.document.chains[0]!.chain = genuine.chain;
    expect((await verifyExport(forged.document)).ok).toBe(false);
  });

  test('of a log with a broken line is refused', async () => {
    const { folder, file } = await aLog();
    appendFileSync(file, 'x\n');
    await expect(exportAudit(chainsAt(folder), {}, loadSigningKey(folder, null), at)).rejects.toThrow(
      /line 6 that is no record; see parley audit verify/,
    );
  });
});

describe('the reader of the log', () => {
  test('gives pages, over all chains, of one work or one tenant', async () => {
    const { folder } = await aLog(5);
    const log = logIn(folder);
    await log.append([entry('acme', { tenant: 'acme', work_id: 'debate-2' })], never);
    const reader = createAuditReader({ folder });
    const keys: string[] = [];
    let after: string | undefined;
    do {
      const page = await reader.list({ after, limit: 4 }, never);
      keys.push(...page.items.map(({ key }) => key));
      after = page.next_after ?? undefined;
    } while (after !== undefined);
    expect(keys).toEqual(['k1', 'k2', 'k3', 'k4', 'k5', 'acme']);
    const found = async (query: { work?: string; tenant?: string }) =>
      (await reader.list({ ...query, limit: 10 }, never)).items.map(({ key }) => key);
    expect(await found({ work: 'debate-2' })).toEqual(['k2', 'acme']);
    expect(await found({ tenant: 'acme' })).toEqual(['acme']);
    expect(await found({ work: 'debate-2', tenant: 'default' })).toEqual(['k2']);
    // What another process appends is there at once.
    await log.append([entry('later', { tenant: 'acme' })], never);
    expect(await found({ tenant: 'acme' })).toEqual(['acme', 'later']);
    log.close();
    reader.close();
  });

  test('gives nothing where nothing has been recorded, and refuses a cursor that is none', async () => {
    const reader = createAuditReader({ folder: newFolder() });
    expect(await reader.list({ limit: 10 }, never)).toEqual({ items: [], next_after: null });
    expect(await reader.verification()).toMatchObject({ ok: true, records: 0 });
    const apart = createAuditReader({ folder: newFolder(), isApart: true });
    await expect(apart.list({ limit: 10 }, never)).rejects.toThrow('the log lies with them');
    await expect(apart.verification()).rejects.toThrow('the log lies with them');
    await expect(reader.list({ after: 'x', limit: 1 }, never)).rejects.toThrow('must be next_after of the page before');
  });

  test('leaves out what has been changed, and verification tells of it', async () => {
    const { folder, file, lines } = await aLog(3);
    const reader = createAuditReader({ folder });
    writeFileSync(file, `${lines().with(1, lines()[1]!.replace('PROCEED', 'PROCEE')).join('\n')}\n`);
    expect((await reader.verification()).faults).toMatchObject([{ fault: 'changed', seq: 2 }]);
    reader.close();
  });

  test('says what is wrong with a folder that cannot be written', async () => {
    const folder = newFolder();
    mkdirSync(folder);
    writeFileSync(
      join(folder, 'signing-key.pem'),
      generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }),
    );
    const { chain } = loadSigningKey(folder, null);
    writeFileSync(join(folder, chain), 'a file in its place');
    await expect(logIn(folder).append([entry('a')], never)).rejects.toMatchObject({ code: 'unavailable' });
  });
});
