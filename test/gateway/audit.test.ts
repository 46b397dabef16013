import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import request from 'supertest';
import { createAuditLog, createAuditReader } from '../../activities/audit/audit-log.js';
import { auditFolder, chainsAt } from '../../activities/audit/chain-folder.js';
import type { AuditList, AuditVerification } from '../../src/contracts/audit.js';
import { scratchFolder } from '../support/scratch.js';
import { createRig } from './rig.js';
import { keyOf } from '../support/keys.js';

const keys = ['root', 'acme'];
const env = {
  PARLEY_API_KEYS: JSON.stringify(
    keys.map((name) => ({ name, key: keyOf(name), role: 'viewer', tenant: name === 'root' ? '*' : name })),
  ),
};

/** A gateway over a log of four records, two of them of acme. */
const aGateway = async () => {
  const data = scratchFolder();
  const log = createAuditLog({ folder: auditFolder(data), keyFile: null, now: Date.now });
  await log.append(
    ['default', 'acme', 'default', 'acme'].map((tenant, index) => ({
      key: `k${index + 1}`,
      work_id: `debate-${index + 1}`,
      kind: 'debate' as const,
      tenant,
      trace_id: null,
      type: 'debate.decided',
      data: { decision: 'PROCEED' },
    })),
    new AbortController().signal,
  );
  log.close();
  const reader = createAuditReader({ folder: auditFolder(data) });
  const { app, ports } = createRig({ env });
  ports.audit = reader;
  const get = (path: string, name = 'root') =>
    request(app)
      .get(path)
      .set('authorization', `Bearer ${keyOf(name)}`);
  const list = async (query: string, name?: string): Promise<(string | null)[]> => {
    const { status, body } = await get(`/v1/audit${query}`, name);
    expect(status).toBe(200);
    return (body as AuditList).items.map(({ key }) => key);
  };
  return { get, list, reader, file: chainsAt(data)[0]!.log };
};

describe('GET /v1/audit', () => {
  test('gives the records in pages, of one work or one tenant where that is asked', async () => {
    const { get, list, reader } = await aGateway();
    expect(await list('')).toEqual(['k1', 'k2', 'k3', 'k4']);
    expect(await list('?work=debate-2')).toEqual(['k2']);
    expect(await list('?tenant=acme')).toEqual(['k2', 'k4']);
    const { next_after: after } = (await get('/v1/audit?limit=3')).body as AuditList;
    expect(await list(`?limit=3&after=${after}`)).toEqual(['k4']);
    reader.close();
  });

  test('shows a key of one tenant the records of that tenant alone', async () => {
    const { get, list, reader } = await aGateway();
    expect(await list('', 'acme')).toEqual(['k2', 'k4']);
    expect(await list('?work=debate-1', 'acme')).toEqual([]);
    expect((await get('/v1/audit?tenant=default', 'acme')).status).toBe(403);
    reader.close();
  });

  test('refuses a cursor that is none, by its path', async () => {
    const { get, reader } = await aGateway();
    const { status, body } = await get('/v1/audit?after=x');
    expect([status, body]).toMatchObject([
      422,
      { errors: [{ path: 'query.after', message: 'must be next_after of the page before; got "x"' }] },
    ]);
    reader.close();
  });
});

describe('GET /v1/audit/verification', () => {
  test('says that the log is whole, or what is wrong with it', async () => {
    const { get, reader, file } = await aGateway();
    expect((await get('/v1/audit/verification')).body).toMatchObject({ ok: true, records: 4 });
    writeFileSync(file, readFileSync(file, 'utf8').replace('PROCEED', 'REJECT'));
    const { faults } = (await get('/v1/audit/verification')).body as AuditVerification;
    expect(faults).toMatchObject([{ fault: 'changed', seq: 1, line: 1 }]);
    reader.close();
  });

  test('is not for a key of one tenant', async () => {
    const { get, reader } = await aGateway();
    const { status, body } = await get('/v1/audit/verification', 'acme');
    expect([status, body]).toMatchObject([
      403,
      {
        detail:
          'The key acme belongs to the tenant acme; GET /v1/audit/verification needs a key of every tenant ("*").',
      },
    ]);
    reader.close();
  });

  test.each(['/v1/audit', '/v1/audit/verification'])(
    'apart from the workers says where the log lies: %s',
    async (path) => {
      const { app, ports } = createRig();
      ports.audit = createAuditReader({ folder: join(tmpdir(), 'parley-nowhere', 'audit'), isApart: true });
      const { status, body } = await request(app).get(path);
      expect([status, body]).toMatchObject([
        503,
        { detail: expect.stringContaining('There, parley audit verify') as string },
      ]);
    },
  );
});
