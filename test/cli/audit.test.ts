import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuditLog } from '../../activities/audit/audit-log.js';
import { auditFolder, chainsAt } from '../../activities/audit/chain-folder.js';
import type { AuditExport, AuditReceipt, AuditVerification } from '../../src/contracts/audit.js';
import { runCli } from '../support/run-cli.js';

const root = mkdtempSync(join(tmpdir(), 'parley-cli-audit-'));
afterAll(() => rmSync(root, { recursive: true }));

const parley = (argv: string[], env: Record<string, string> = {}) => runCli(env, argv);

let made = 0;
/** A data folder with a log of `count` records about debate-1, debate-2, … */
const aDataFolder = async (count = 3) => {
  const data = join(root, `data-${(made += 1)}`);
  const log = createAuditLog({
    folder: auditFolder(data),
    keyFile: null,
    now: () => Date.parse('2026-11-20T10:00:00Z'),
  });
  const receipts: AuditReceipt[] = await log.append(
    Array.from({ length: count }, (_, index) => ({
      key: `k${index + 1}`,
      work_id: `debate-${index + 1}`,
      kind: 'debate' as const,
      tenant: index === 0 ? 'acme' : 'default',
      trace_id: null,
      type: 'debate.decided',
      data: { decision: 'PROCEED' },
    })),
    new AbortController().signal,
  );
  log.close();
  const file = chainsAt(data)[0]!.log;
  const edit = (from: string, to: string): void => writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
  return { data, file, receipts, edit, chain: receipts[0]!.chain };
};

/** Any file that is no export. */
const logOf = (data: string): string => chainsAt(data)[0]!.log;

describe('parley audit verify', () => {
  test('says that a log is whole, and what it ends with', async () => {
    const { data, chain, receipts } = await aDataFolder();
    const { code, out } = await parley(['audit', 'verify'], { PARLEY_DATA: data });
    expect([code, out]).toEqual([0, `ok: 3 records in 1 chain\n  chain ${chain}  last record 3  ${receipts[2]!.hash}`]);
  });

  test('names every fault and ends with 1', async () => {
    const { data, edit } = await aDataFolder();
    edit('"key":"k2"', '"key":"x2"');
    const { code, out } = await parley(['audit', 'verify', '--data', data]);
    expect(code).toBe(1);
    expect(out.split('\n')).toEqual([
      '1 fault: 3 records in 1 chain',
      expect.stringMatching(/^ {2}chain [0-9a-f]{16} {2}last record 3 {2}[0-9a-f]{64}$/),
      '  changed        the content of record 2 is not what its hash was made of (line 2)',
    ]);
  });

  test('prints one JSON document with --json', async () => {
    const { data, edit } = await aDataFolder();
    edit('PROCEED', 'REJECT');
    const { code, out } = await parley(['audit', 'verify', data, '--json']);
    const { ok, faults } = JSON.parse(out) as AuditVerification;
    expect([code, ok, faults]).toMatchObject([1, false, [{ fault: 'changed', seq: 1, line: 1 }]]);
  });

  test('checks several folders as one', async () => {
    const [one, two] = [await aDataFolder(2), await aDataFolder(1)];
    const { code, out } = await parley(['audit', 'verify', one.data, two.data]);
    expect([code, out.split('\n')[0]]).toEqual([0, 'ok: 3 records in 2 chains']);
  });

  test.each<[string, (data: string) => string[], RegExp]>([
    ['a path that is not there', () => ['audit', 'verify', '/nowhere'], /nowhere is not there; name a data folder/],
    ['a folder without a log', () => ['audit', 'verify', root], /There is no audit log in .*--data FOLDER/],
    ['an earlier export that is none', (data) => ['audit', 'verify', data, '--against', logOf(data)], /is no export/],
    [
      'a chain that can be none',
      (data) => ['audit', 'verify', data, '--trust', 'mine'],
      /must be 16 hexadecimal digits/,
    ],
  ])('ends with 2 for %s', async (_, argv, message) => {
    const { data } = await aDataFolder(1);
    const { code, notes } = await parley(argv(data));
    expect([code, notes]).toEqual([2, expect.stringMatching(message)]);
  });

  test('misses what an older export had', async () => {
    const { data, file } = await aDataFolder();
    const older = join(root, `older-${made}.json`);
    await parley(['audit', 'export', '--data', data, '--output', older]);
    expect((await parley(['audit', 'verify', data, '--against', older])).code).toBe(0);
    // Somebody sets the whole chain back to its first record, head and all.
    const { head } = chainsAt(data)[0]!;
    writeFileSync(file, `${readFileSync(file, 'utf8').split('\n')[0]}\n`);
    rmSync(head);
    const { code, out } = await parley(['audit', 'verify', data, '--against', older]);
    expect([code, out]).toEqual([1, expect.stringContaining('truncated      records 2 to 3 are missing at the end')]);
  });
});

describe('parley audit verify --against-temporal', () => {
  let server: Server;
  let url: string;
  let results: Record<string, { seq: number; hash: string } | null> = {};
  beforeAll(async () => {
    server = createServer((request, response) => {
      const path = request.url ?? '';
      const items = Object.keys(results).map((id) => ({ id, kind: 'debate', ended_at: '2026-11-20T10:00:00Z' }));
      const id = path.split('/').at(-1) ?? '';
      const body = path.startsWith('/v1/work') ? { items, next_cursor: null } : { id, result: { audit: results[id] } };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  test('finds the records that the results of debates name, and misses those that are gone', async () => {
    const { data, receipts } = await aDataFolder(2);
    results = { 'debate-1': receipts[0]!, 'debate-2': receipts[1]!, 'debate-3': null };
    const ask = () => parley(['audit', 'verify', data, '--against-temporal', '--url', url]);
    expect((await ask()).code).toBe(0);
    results['debate-4'] = { seq: 3, hash: 'a'.repeat(64) };
    const { code, out } = await ask();
    expect([code, out]).toEqual([
      1,
      expect.stringContaining(
        `removed        the result of debate-4 names record 3 with the hash ${'a'.repeat(64)}, which no chain has`,
      ),
    ]);
  });
});

describe('parley audit export', () => {
  test('writes a document, for its owner alone, that is checked with nothing but itself', async () => {
    const { data, chain } = await aDataFolder();
    const output = join(root, `export-${made}.json`);
    const { code, out } = await parley(['audit', 'export', '--data', data, '--output', output]);
    expect([code, out]).toEqual([
      0,
      `3 records in ${output}, signed by chain ${chain}. Check it: parley audit verify ${output} --trust ${chain}`,
    ]);
    expect((statSync(output).mode & 0o777).toString(8)).toBe('600');
    rmSync(data, { recursive: true });
    expect((await parley(['audit', 'verify', output, '--trust', chain])).code).toBe(0);
    expect((await parley(['audit', 'verify', output, '--trust', '0'.repeat(16)])).code).toBe(1);
  });

  test.each<[string[], number]>([
    [['--work', 'debate-2'], 1],
    [['--tenant', 'acme'], 1],
    [['--since', '2026-11-20T10:00:00Z', '--until', '2026-11-20'], 0],
    [['--since', '2026-11-20'], 3],
  ])('with %j shows %i of three records, and is whole', async (argv, shown) => {
    const { data } = await aDataFolder();
    const { out } = await parley(['audit', 'export', '--data', data, ...argv]);
    const document = JSON.parse(out) as AuditExport;
    const records = document.chains[0]!.records.filter((record) => !('omitted' in record));
    expect(records).toHaveLength(shown);
    const file = join(root, `shown-${made}.json`);
    writeFileSync(file, out);
    expect((await parley(['audit', 'verify', file])).code).toBe(0);
  });

  test.each<[string, (text: string) => string]>([
    ['a word', (text) => text.replace('PROCEED', 'REJECT')],
    ['a brace', (text) => text.slice(1)],
    ['a field', (text) => text.replace('"exported_at"', '"exported_on"')],
  ])('is found to be changed in %s', async (_, change) => {
    const { data } = await aDataFolder(1);
    const file = join(root, `changed-${made}.json`);
    writeFileSync(file, change((await parley(['audit', 'export', '--data', data])).out));
    const { code, out } = await parley(['audit', 'verify', file]);
    expect([code, out]).toEqual([1, expect.stringContaining('changed')]);
  });

  test('without the key says which folder has one', async () => {
    const { data } = await aDataFolder(1);
    rmSync(join(auditFolder(data), 'signing-key.pem'));
    const { code, notes } = await parley(['audit', 'export', '--data', data]);
    expect([code, notes]).toEqual([
      2,
      expect.stringContaining('Name the folder of this installation first, or set PARLEY_AUDIT_KEY_FILE.'),
    ]);
  });

  test('takes a time as a day or an instant, and nothing else', async () => {
    const { data } = await aDataFolder(1);
    const { code, notes } = await parley(['audit', 'export', '--data', data, '--since', 'yesterday']);
    expect([code, notes]).toEqual([
      2,
      expect.stringContaining('must be a time such as 2026-11-20 or 2026-11-20T10:00:00Z.'),
    ]);
  });
});
