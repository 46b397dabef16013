import { clientKinds } from '../../src/cli/client.js';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import request from 'supertest';
import type { WorkExport } from '../../src/contracts/export.js';
import { exportSchema } from '../../src/contracts/export.js';
import type { SessionStatus } from '../../src/contracts/session-status.js';
import { aSession, createRig } from '../gateway/rig.js';
import { aDebate, agrees, proposes, removeWorkspaces, sh } from '../support/debate-bodies.js';
import { type Product, startProduct } from '../support/product.js';
import { runCli } from '../support/run-cli.js';
import { fails, says, silent } from '../support/session-bodies.js';

const scratch = mkdtempSync(join(tmpdir(), 'parley-export-'));
const bundle = process.env['TEST_WORKFLOW_BUNDLE'] ?? '';
let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(async () => {
  await product?.stop();
  removeWorkspaces();
  rmSync(scratch, { recursive: true, force: true });
});

let files = 0;
const newFile = (content?: string): string => {
  const file = join(scratch, `file-${(files += 1)}.json`);
  if (content !== undefined) writeFileSync(file, content);
  return file;
};
const exported = async (id: string, ...argv: string[]) => {
  const file = newFile();
  const at = { PARLEY_URL: product.url };
  const said = await runCli(at, ['export', 'run', id, '--output', file, '--bundle', bundle, ...argv]);
  return { ...said, file };
};
const replayed = (file: string) => runCli({}, ['replay', file, '--bundle', bundle]);
const documentIn = (file: string): WorkExport => JSON.parse(readFileSync(file, 'utf8')) as WorkExport;

const secret = 'hunter2-4f9c1b77e0';
const withSecrets = {
  prompt: 'Which colour?',
  lanes: [
    {
      lane_id: 'c',
      adapter: { kind: 'command' as const, argv: ['true'], env: { DEPLOY_TOKEN: secret, MODE: 'production' } },
    },
    // It has seen the secret, and tells it: as a text, and as JSON within a text.
    says('a', `the key is ${secret}, used in production`),
    says('b', JSON.stringify({ header: `Bearer ${'x1'.repeat(10)}`, url: 'https://anna:pass@host/?token=abcdef' })),
  ],
};

describe('an export', () => {
  test('tells what went in and came out, whole and in order, and is its owner’s alone to read', async () => {
    const lanes = [says('a', 'blue'), says('b', 'red', 1), fails('c')];
    const ended = await product.run({ prompt: 'Which colour?', lanes, labels: { team: 'paint' } });
    const { code, out, notes, file } = await exported(ended.id);
    expect([code, out]).toEqual([0, expect.stringMatching(/^session session-\S+ \(completed, \d+ events\) in /)]);
    expect(notes).toContain('taken out 0 times: secrets');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const document = documentIn(file);
    expect(exportSchema.safeParse(document).error).toBeUndefined();
    expect(document).toMatchObject({
      id: ended.id,
      kind: 'session',
      tenant: 'default',
      lifecycle: 'completed',
      closed_as: 'COMPLETED',
      request: { prompt: 'Which colour?', labels: { team: 'paint' } },
      outcome: { state: 'COMPLETE', result: { answer: ended.result!.answer } },
    });
    expect(document.checkpoints!.map(({ sequence_num }) => sequence_num)).toEqual(
      document.checkpoints!.map((_, at) => at),
    );
    const told = document.story.map(({ part, what }) => `${part} ${what}`);
    expect([told[0], told.at(-1)]).toEqual(['start started', 'end ended']);
    expect(told).toContain('model asked');
    expect(JSON.stringify(document.story)).toContain('c broke');
    expect(JSON.stringify(document)).not.toMatch(/"identity"|"stackTrace"/);
    expect((await replayed(file)).code).toBe(0);
  });

  test('is read as text', async () => {
    const ended = await product.run({ prompt: 'Which colour?', lanes: [says('a', 'blue')] });
    const { code, out } = await runCli({ PARLEY_URL: product.url }, ['export', 'run', ended.id, '--format', 'text']);
    expect(code).toBe(0);
    expect(out.split('\n')[0]).toBe(`session ${ended.id}, completed`);
    expect(out).toMatch(
      /What was asked[^]*Which colour\?[^]*▶ [\d:.]+ {2}start: session started[^]*Outcome[^]*"answer": "blue"/,
    );
  });

  test('of work that runs replays as far as it has come', async () => {
    const { id } = await product.start({ prompt: 'p', lanes: [says('a', 'blue'), silent('b')] });
    await product.until(id, ({ lanes }) => lanes[0]?.state === 'FINALIZED');
    const { file } = await exported(id);
    const document = documentIn(file);
    expect(document).toMatchObject({
      lifecycle: expect.stringMatching(/running|waiting/),
      closed_as: null,
      outcome: null,
    });
    expect(document.checkpoints!.length).toBeGreaterThan(1);
    expect(await replayed(file)).toMatchObject({ code: 0 });
    await product.post(`/v1/sessions/${id}/cancel`);
    const cancelled = documentIn((await exported(id)).file);
    expect(cancelled).toMatchObject({ lifecycle: 'cancelled', outcome: { state: 'CANCELLED' } });
  });

  test('of work that was ended from outside says so', async () => {
    const { id } = await product.start({ prompt: 'p', lanes: [silent('b')] });
    await product.until(id, ({ state }) => state !== 'INIT');
    await product.client.workflow.getHandle(id).terminate('by hand');
    const { file } = await exported(id);
    expect(documentIn(file)).toMatchObject({ lifecycle: 'cancelled', closed_as: 'TERMINATED', outcome: null });
    expect(await replayed(file)).toMatchObject({ code: 0 });
  });

  test('of work that was restored begins with what it went on from', async () => {
    const ended = await product.run({ prompt: 'Which colour?', lanes: [says('a', 'blue'), says('b', 'red', 1)] });
    const path = `/v1/sessions/${ended.id}`;
    const restored = await product.post(`${path}/restore`, { checkpoint: 2, reason: 'once more' });
    expect(restored.status).toBe(202);
    await product.client.workflow.getHandle(ended.id).result();
    const { file } = await exported(ended.id);
    const { request: body, checkpoints, outcome } = documentIn(file);
    expect([body, outcome]).toMatchObject([{ prompt: 'Which colour?' }, { state: 'COMPLETE' }]);
    expect(checkpoints![0]!.sequence_num).toBe(3);
    expect(await replayed(file)).toMatchObject({ code: 0 });
  });

  test('holds no secret, wherever it was said, and replays all the same', async () => {
    const { id } = await product.run(withSecrets);
    const { code, file } = await exported(id);
    const text = readFileSync(file, 'utf8');
    expect(code).toBe(0);
    for (const gone of [secret, 'x1x1x1', 'anna:pass', 'token=abcdef']) expect(text).not.toContain(gone);
    const { setup, redactions } = documentIn(file);
    const { lanes } = setup as { lanes: { adapter: object }[] };
    expect(lanes[0]!.adapter).toMatchObject({ env: { DEPLOY_TOKEN: '[redacted]', MODE: '[redacted]' } });
    // A word is taken out where it was a setting, and stays where it is a word.
    expect(text).toContain('the key is [redacted], used in production');
    expect(redactions[0]!.count).toBeGreaterThan(3);
    expect((await replayed(file)).code).toBe(0);
  });

  test.each<[string, string[], string]>([
    [
      'an id that there is none of',
      ['export', 'run', 'nobody'],
      `There is no ${clientKinds.join(', ')} with the id nobody`,
    ],
    ['a format that there is not', ['export', 'run', 'x', '--format', 'xml'], 'Allowed choices are json, text'],
  ])('refuses %s', async (_, argv, words) => {
    const { code, notes } = await runCli({ PARLEY_URL: product.url }, argv);
    expect([code, notes]).toEqual([2, expect.stringContaining(words)]);
  });

  test('says when its file cannot be written', async () => {
    const { id } = await product.run({ prompt: 'p', lanes: [says('a', 'x')] });
    const argv = ['export', 'run', id, '--output', join(scratch, 'no', 'folder.json')];
    const { code, notes } = await runCli({ PARLEY_URL: product.url }, argv);
    expect([code, notes]).toEqual([2, expect.stringContaining('cannot be written')]);
  });
});

describe('rules', () => {
  let ended: SessionStatus;
  const email = 'anna@example.org';
  beforeAll(async () => {
    const lanes = [says('a', `ask ${email}`), says('b', `ask ${email}`, 1), says('c', 'card 4111111111111111')];
    ended = await product.run({ prompt: `Who knows? Not ${email}.`, lanes, labels: { contact: email, owner: 'bo' } });
  });
  const ruled = (rules: unknown) => exported(ended.id, '--redact', newFile(JSON.stringify(rules)));

  test.each<[string, unknown, string, string]>([
    ['a pointer', [{ pointer: '/request/labels/contact', replace: 'someone' }], email, 'ask someone'],
    ['a key', [{ key: 'Contact', replace: 'someone' }], email, 'Who knows? Not someone.'],
    ['a pattern', [{ pattern: '[0-9]{16}', replace: '[card]' }], '4111111111111111', 'card [card]'],
    ['a pattern with signs', [{ pattern: '[0-9]{16}', replace: '$1\\' }], '4111111111111111', 'card $1\\\\'],
  ])('by %s take a text out everywhere, and the file replays', async (_, rules, gone, there) => {
    const { code, notes, file } = await ruled(rules);
    expect([code, notes]).toEqual([0, expect.not.stringContaining('change what is decided')]);
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain(gone);
    expect(text).toContain(there);
    expect(await replayed(file)).toMatchObject({ code: 0 });
  });

  test('take a short text out at its place alone', async () => {
    const { file } = await ruled([{ pointer: '/setup/labels/owner', replace: '-' }]);
    expect(documentIn(file)).toMatchObject({ setup: { labels: { owner: '-' } }, request: { labels: { owner: 'bo' } } });
  });

  test('that find nothing say so', async () => {
    const { code, notes } = await ruled([{ key: 'nobody' }, { pointer: '/setup/nothing/there' }]);
    expect(code).toBe(0);
    expect(notes).toContain('nothing to take out by key nobody');
    expect(notes).toContain('nothing to take out by pointer /setup/nothing/there');
  });

  test('that change what is decided are told at once, and by the replay', async () => {
    const { id } = await product.run({
      prompt: 'p',
      lanes: [says('a', 'north by north'), says('b', 'south by south'), says('c', 'east by east')],
      policy: { agreement: { method: 'exact' }, early_exit: { enabled: false } },
    });
    const rules = newFile(JSON.stringify([{ pattern: '(north|south) by (north|south)', replace: 'somewhere' }]));
    const { code, notes, file } = await exported(id, '--redact', rules);
    expect([code, notes]).toEqual([0, expect.stringContaining('The rules change what is decided')]);
    const { code: differs, out } = await replayed(file);
    expect(differs).toBe(1);
    expect(out).toContain('Texts were taken out of it: pattern (north|south) by (north|south)');
  });

  test('leave a digest that is computed from what they take out to the replay', async () => {
    const gate = { required: true, timeout_ms: 60_000 };
    const says_ = { solution: [proposes(sh('t', 'true # for anna.smith'))], critic: [agrees()] };
    const id = await product.debates.start(aDebate({ says: says_, approval: gate }));
    const { feedback } = await product.debates.until(id, ({ waiting }) => waiting?.for === 'person');
    const { request_id, digest } = feedback.at(-1)!.request as { request_id: string; digest: string };
    await product.post(`/v1/debates/${id}/feedback`, { request_id, response: 'approve', provided_by: 'bo' });
    await product.client.workflow.getHandle(id).result();
    const rules = newFile(JSON.stringify([{ pattern: 'anna[.]smith', replace: 'someone' }]));
    const { notes, file } = await exported(id, '--redact', rules);
    expect(notes).toContain(
      'Values that are computed from what was taken out (digests, estimates) are told as the file replays.',
    );
    expect(JSON.stringify(documentIn(file).outcome)).not.toContain(digest);
    expect(await replayed(file)).toMatchObject({ code: 0 });
  });

  test.each<[string, string, RegExp]>([
    ['no JSON', '[{', /is no JSON: .*Rules look like this: \[\{"pointer"/],
    ['no list', '{"key":"a"}', /is no list of rules[^]*must be a list/],
    ['an empty list', '[]', /must have at least 1 entry/],
    ['a rule of two kinds', '[{"key":"a","pattern":"b"}]', /\[0\]: must have exactly one of pointer, key and pattern/],
    ['a rule of none', '[{"replace":"b"}]', /\[0\]: must have exactly one of/],
    ['an unknown field', '[{"key":"a","with":"b"}]', /\[0\]\.with: unknown field "with"/],
    ['a pointer that is none', '[{"pointer":"setup"}]', /\[0\]\.pointer: must be a JSON pointer/],
    [
      'a pointer elsewhere',
      '[{"pointer":"/runs/0"}]',
      /\[0\]\.pointer: must begin with \/request, \/setup, \/outcome or/,
    ],
    ['a pattern that is none', '[{"pattern":"("}]', /\[0\]\.pattern: must be a regular expression .*RE2/],
    [
      'a pattern that looks back',
      '[{"pattern":"(?<=a)b"}]',
      /\[0\]\.pattern: must be a regular expression without lookaround/,
    ],
  ])('that are %s are refused, and nothing is written', async (_, text, words) => {
    const { code, notes, file } = await exported(ended.id, '--redact', newFile(text));
    expect([code, notes]).toEqual([2, expect.stringMatching(words)]);
    expect(() => statSync(file)).toThrow('ENOENT');
  });
});

describe('GET /v1/{kind}/{id}/export', () => {
  const key = (name: string): string => `key-of-${name}-0123456789`;
  const keys = (['viewer', 'operator', 'approver', 'admin'] as const).map((role) => ({
    name: role,
    key: key(role),
    role,
  }));
  const rig = createRig({
    env: {
      PARLEY_API_KEYS: JSON.stringify([...keys, { name: 'acme', key: key('acme'), role: 'admin', tenant: 'acme' }]),
    },
  });
  const ask = (name: string) =>
    request(rig.app)
      .get('/v1/sessions/there/export')
      .set({ authorization: `Bearer ${key(name)}` });
  beforeAll(async () => {
    await request(rig.app)
      .post('/v1/sessions')
      .set({ authorization: `Bearer ${key('admin')}` })
      .send(aSession({ id: 'there' }));
  });

  // 503: this gateway has no way to histories.
  test.each([
    ['viewer', 403],
    ['approver', 403],
    ['operator', 503],
    ['admin', 503],
    ['acme', 404],
  ])('answers %s with %i', async (name, status) => {
    expect((await ask(name)).status).toBe(status);
  });

  test('is a JSON file that is told apart by its checksum', async () => {
    const { id } = await product.run({ prompt: 'p', lanes: [says('a', 'x')] });
    const response = await fetch(`${product.url}/v1/sessions/${id}/export`);
    const document = (await response.json()) as WorkExport;
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename=${id}.json`);
    expect(response.headers.get('etag')).toBe(`"${document.checksum.whole}"`);
  });

  test('knows no work of another kind', async () => {
    const { id } = await product.run({ prompt: 'p', lanes: [says('a', 'x')] });
    expect((await product.get(`/v1/debates/${id}/export`)).status).toBe(404);
  });
});
