import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import request from 'supertest';
import { createFolderStore } from '../../activities/artifacts/folder.js';
import { createReaderApart } from '../../activities/artifacts/read.js';
import { createRig } from './rig.js';
import { keyEntry, keyOf } from '../support/keys.js';

const root = mkdtempSync(join(tmpdir(), 'parley-artifacts-'));
afterAll(() => rmSync(root, { recursive: true }));
const folder = join(root, 'store');
const store = createFolderStore(folder);
const words = Buffer.from('{"a":1}');
const large = Buffer.alloc(3_000_000, 'parley');

const entry = (name: string, tenant: string) => keyEntry(name, 'viewer', tenant);
const { app } = createRig({ artifacts: store });
const guarded = createRig({
  artifacts: store,
  env: { PARLEY_API_KEYS: JSON.stringify([entry('acme', 'acme'), entry('other', 'other'), entry('all', '*')]) },
}).app;
const get = (path: string) => request(app).get(`/v1/artifacts/${path}`);
const getAs = (name: string, path: string) =>
  request(guarded)
    .get(`/v1/artifacts/${path}`)
    .set('authorization', `Bearer ${keyOf(name)}`);
const harm = (hash: string, content: Buffer): void =>
  writeFileSync(join(folder, 'default', hash.slice(7, 9), hash.slice(7)), content);

describe('GET /v1/artifacts/{sha256}', () => {
  test.each([
    ['', 'application/octet-stream'],
    ['?name=report.json', 'application/json; charset=utf-8'],
    ['?name=page.html', 'text/html; charset=utf-8'],
    ['?name=what.no-such-ending', 'application/octet-stream'],
  ])('with "%s" answers with the bytes as %s, to be kept and never shown as a page', async (query, type) => {
    const { hash } = await store.put('default', words);
    for (const path of [hash, hash.slice(7)]) {
      const { status, headers, body } = await get(path + query)
        .buffer()
        .parse((response, done) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => done(null, Buffer.concat(chunks)));
        });
      expect(status).toBe(200);
      expect((body as Buffer).equals(words)).toBe(true);
      expect(headers).toMatchObject({
        'content-type': type,
        'content-length': '7',
        etag: `"${hash}"`,
        'content-security-policy': 'sandbox',
        'x-content-type-options': 'nosniff',
        'content-disposition': expect.stringMatching(/^attachment; filename=/),
      });
    }
  });

  test('is answered with 304 to who has it, and HEAD without a body', async () => {
    const { hash } = await store.put('default', words);
    expect((await get(hash).set('if-none-match', `"${hash}"`)).status).toBe(304);
    expect((await get(hash).set('if-none-match', '"other"')).status).toBe(200);
    const { status, headers } = await request(app).head(`/v1/artifacts/${hash}`);
    expect([status, headers['content-length']]).toEqual([200, '7']);
  });

  test.each([
    ['abc', 'path.sha256', 'must be 64 lower-case hexadecimal digits'],
    [`${'a'.repeat(64)}?name=..%2Fx`, 'query.name', 'must be a file name without "/"'],
  ])('refuses %s', async (path, at, message) => {
    const { status, body } = await get(path);
    expect(status).toBe(422);
    expect(body).toMatchObject({ errors: [{ path: at, message: expect.stringContaining(message) }] });
  });

  test('says what is not there', async () => {
    const { status, body } = await get('a'.repeat(64));
    expect([status, body]).toMatchObject([
      404,
      { detail: expect.stringContaining(`There is no artifact sha256:${'a'.repeat(64)} of the tenant default`) },
    ]);
  });

  test('says that a corrupt one is corrupt, and does not hand it out', async () => {
    const { hash } = await store.put('default', Buffer.from('small'));
    harm(hash, Buffer.from('SMALL'));
    const { status, headers, body } = await get(hash);
    expect([status, body]).toMatchObject([500, { code: 'corrupt', detail: expect.stringContaining('is corrupt') }]);
    expect(headers['etag']).not.toContain(hash);
  });

  test('sends a large one whole, and cuts a corrupt one off before its end', async () => {
    const { hash } = await store.put('default', large);
    const server = createServer(app).listen(0, '127.0.0.1');
    try {
      await new Promise((resolve) => server.once('listening', resolve));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/artifacts/${hash}`;
      expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(large)).toBe(true);
      harm(hash, Buffer.concat([large.subarray(0, -1), Buffer.from('!')]));
      const response = await fetch(url);
      expect(response.status).toBe(200);
      await expect(response.arrayBuffer()).rejects.toThrow();
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test('gives a tenant its own, and says of those of others that they are not there', async () => {
    const { hash } = await store.put('acme', Buffer.from('of acme'));
    expect((await getAs('acme', hash)).status).toBe(200);
    expect((await getAs('acme', `${hash}?tenant=acme`)).status).toBe(200);
    const { status, body } = await getAs('other', hash);
    expect([status, body]).toMatchObject([404, { detail: expect.stringContaining('of the tenant other') }]);
    expect((await getAs('other', `${hash}?tenant=acme`)).status).toBe(403);
    expect((await getAs('all', hash)).status).toBe(404);
    expect((await getAs('all', `${hash}?tenant=acme`)).status).toBe(200);
    expect((await request(guarded).get(`/v1/artifacts/${hash}?tenant=acme`)).status).toBe(401);
  });

  test('of a gateway apart from its workers says that the store is elsewhere', async () => {
    const apart = createRig({ artifacts: createReaderApart(join(root, 'none')) }).app;
    const { status, body } = await request(apart).get(`/v1/artifacts/${'a'.repeat(64)}`);
    expect([status, body]).toMatchObject([
      503,
      { detail: expect.stringContaining('Give both one PARLEY_DATA folder') },
    ]);
  });
});
