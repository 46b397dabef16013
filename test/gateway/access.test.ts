import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import request from 'supertest';
import { z } from 'zod';
import { parseApiKeys } from '../../src/api-keys.js';
import { ConfigError, loadConfig } from '../../src/config.js';
import type { Role } from '../../src/contracts/access.js';
import { roles } from '../../src/contracts/access.js';
import { permit, tenantFor, visibleTo } from '../../src/gateway/access.js';
import { routes } from '../../src/gateway/routes/index.js';
import { teamStatusExample } from '../../src/gateway/routes/team-examples.js';
import { aSession, createRig } from './rig.js';
import { keyEntry, keyOf } from '../support/keys.js';

const team = [
  keyEntry('root', 'admin'),
  ...roles.map((role) => keyEntry(role, role)),
  keyEntry('acme-operator', 'operator', 'acme'),
  keyEntry('acme-viewer', 'viewer', 'acme'),
  keyEntry('other-admin', 'admin', 'other'),
];

const rigWith = (keys: unknown = team) => {
  const rig = createRig({ env: { PARLEY_API_KEYS: JSON.stringify(keys) } });
  const as = (name: string) => ({ authorization: `Bearer ${keyOf(name)}` });
  return {
    ...rig,
    get: (path: string, name: string) => request(rig.app).get(path).set(as(name)),
    post: (path: string, name: string, body?: object) => request(rig.app).post(path).set(as(name)).send(body),
  };
};

describe('a role', () => {
  test.each<[Role, number, number, number]>([
    ['viewer', 200, 403, 403],
    ['operator', 200, 202, 200],
    ['approver', 200, 403, 403],
    ['admin', 200, 202, 200],
  ])('%s gets %i for a look, %i for a start and %i for a cancel', async (role, look, start, cancel) => {
    const { get, post } = rigWith();
    await post('/v1/sessions', 'root', aSession({ id: 'there' }));
    expect((await get('/v1/sessions/there', role)).status).toBe(look);
    expect((await post('/v1/sessions', role, aSession({ id: 'mine' }))).status).toBe(start);
    expect((await post('/v1/sessions/there/cancel', role)).status).toBe(cancel);
  });

  test.each<Role>(['viewer', 'approver'])('%s may wait for the agents of a team, which only looks', async (role) => {
    const { post, ports } = rigWith();
    ports.teams.status = async () => ({ ...teamStatusExample, agents: [] });
    expect((await post('/v1/teams/crew/wait', role, { timeout_ms: 0 })).status).toBe(200);
    expect((await post('/v1/teams/crew/close', role)).status).toBe(403);
    const asked: [string, object][] = [
      ['messages', { content: 'x', target: 'a' }],
      ['send-to-role', { content: 'x', role: 'a' }],
      ['broadcast', { content: 'x', roles: ['a'] }],
    ];
    for (const [call, body] of asked) expect((await post(`/v1/teams/crew/${call}`, role, body)).status).toBe(403);
  });

  test('that does not suffice is told with those that do', async () => {
    const { post, sessions } = rigWith();
    const { status, body } = await post('/v1/sessions', 'viewer', aSession());
    expect([status, body]).toMatchObject([
      403,
      {
        code: 'forbidden',
        detail: 'The key viewer has the role viewer, which may read; POST /v1/sessions needs operator or admin.',
      },
    ]);
    expect(sessions.held.size).toBe(0);
  });

  test.each<[Role, boolean]>([
    ['viewer', false],
    ['operator', false],
    ['approver', true],
    ['admin', true],
  ])('%s may answer feedback: %s', (role, may) => {
    const caller = { name: 'anna', tenant: '*', role, authenticated: true };
    const ask = (): void => permit(caller, 'approve', 'POST /v1/debates/{id}/feedback');
    if (may) expect(ask).not.toThrow();
    else expect(ask).toThrow(/needs approver or admin\.$/);
  });
});

describe('a key of one tenant', () => {
  test('starts in its tenant without naming it', async () => {
    const { post, sessions } = rigWith();
    expect((await post('/v1/sessions', 'acme-operator', aSession({ id: 'a' }))).status).toBe(202);
    expect((await post('/v1/sessions', 'acme-operator', aSession({ id: 'b', tenant: 'acme' }))).status).toBe(202);
    expect([...sessions.held.values()].map(({ setup }) => setup.tenant)).toEqual(['acme', 'acme']);
  });

  test.each<['get' | 'post', string, object | undefined]>([
    ['post', '/v1/sessions', aSession({ tenant: 'other' })],
    ['get', '/v1/sessions?tenant=other', undefined],
    ['get', '/v1/work?tenant=other', undefined],
  ])('is refused another: %s %s', async (method, path, body) => {
    const rig = rigWith();
    const answer =
      method === 'get' ? await rig.get(path, 'acme-operator') : await rig.post(path, 'acme-operator', body);
    expect([answer.status, (answer.body as { detail: string }).detail]).toEqual([
      403,
      'The key acme-operator belongs to the tenant acme; got "other". Leave tenant out, or name acme.',
    ]);
    expect(rig.sessions.held.size).toBe(0);
  });

  test('is still told what is wrong with a body that is none', async () => {
    const rig = rigWith();
    expect((await rig.post('/v1/sessions', 'acme-operator', [])).status).toBe(422);
    expect((await rig.post('/v1/sessions', 'acme-operator', { ...aSession(), tenant: 5 })).status).toBe(422);
  });

  test.each(['/v1/sessions', '/v1/work'])('lists its own alone: %s', async (path) => {
    const { get, sessions } = rigWith();
    expect((await get(path, 'acme-viewer')).status).toBe(200);
    expect((await get(path, 'root')).status).toBe(200);
    expect(sessions.listed.map(({ tenant }) => tenant)).toEqual(['acme', undefined]);
  });

  test.each<['get' | 'post', string]>([
    ['get', ''],
    ['get', '/events'],
    ['post', '/cancel'],
    ['post', '/pause'],
  ])('does not see the work of others, in the words for what is not there: %s …%s', async (method, suffix) => {
    const { get, post, sessions } = rigWith();
    await post('/v1/sessions', 'root', aSession({ id: 'theirs', tenant: 'other' }));
    const ask = (id: string, name: string) =>
      method === 'get' ? get(`/v1/sessions/${id}${suffix}`, name) : post(`/v1/sessions/${id}${suffix}`, name);
    const hidden = await ask('theirs', 'acme-operator');
    const absent = await ask('nobodys', 'acme-operator');
    expect([hidden.status, absent.status]).toEqual([404, 404]);
    const words = (answer: typeof hidden): string =>
      (answer.body as { detail: string }).detail.replace(/nobodys|theirs/, 'X');
    expect(words(hidden)).toBe(words(absent));
    expect(sessions.held.get('theirs')?.state).toBe('STREAMING');
  });

  test('sees its own work', async () => {
    const { get, post } = rigWith();
    await post('/v1/sessions', 'acme-operator', aSession({ id: 'ours' }));
    expect((await get('/v1/sessions/ours', 'acme-viewer')).status).toBe(200);
    expect((await get('/v1/sessions/ours', 'root')).status).toBe(200);
    expect((await get('/v1/sessions/ours', 'other-admin')).status).toBe(404);
  });

  test.each<[string, string | undefined, string | undefined]>([
    ['*', undefined, undefined],
    ['*', 'acme', 'acme'],
    ['acme', undefined, 'acme'],
    ['acme', 'acme', 'acme'],
  ])('of the tenant %s that asks for %s is given %s', (tenant, named, wanted) => {
    expect(tenantFor({ name: 'anna', tenant, role: 'viewer', authenticated: true }, named)).toBe(wanted);
  });

  test('and only such a key is kept from what belongs to others', () => {
    const caller = { name: 'anna', tenant: 'acme', role: 'viewer', authenticated: true } as const;
    expect([
      visibleTo(caller, 'acme'),
      visibleTo(caller, 'Acme'),
      visibleTo({ ...caller, tenant: '*' }, 'other'),
    ]).toEqual([true, false, true]);
  });
});

describe('every route that asks for a key', () => {
  const has = (schema: z.ZodType | null): boolean => schema instanceof z.ZodObject && 'tenant' in schema.shape;

  test.each(
    routes
      .filter(({ access }) => access === 'api_key')
      .map((route) => [`${route.method} ${route.path}`, route] as const),
  )('%s knows whose its things are', (_, route) => {
    const { owner, allTenants, asksOwners } = route;
    expect(has(route.query) || has(route.body) || owner !== undefined || allTenants || asksOwners).toBe(true);
  });
});

describe('a gateway without keys', () => {
  test('lets everyone on the machine do everything, as one who is not known', async () => {
    const { app, ports } = createRig();
    expect((await request(app).post('/v1/sessions').send(aSession())).status).toBe(202);
    expect(ports.access.caller(undefined)).toEqual({ name: 'local', tenant: '*', role: 'admin', authenticated: false });
  });
});

describe('the key file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-keys-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  let files = 0;
  const write = (file: string, text: string): void => {
    // As `parley keys` does: the new file takes the old one's place at once.
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  const rigOn = (keys: unknown[] | null, env: Record<string, string> = {}) => {
    const file = join(folder, `keys-${(files += 1)}.json`);
    if (keys) write(file, JSON.stringify({ keys }));
    const rig = createRig({ env: { PARLEY_KEYS_FILE: file, ...env } });
    const look = async (name: string): Promise<number> =>
      (
        await request(rig.app)
          .get('/v1/work')
          .set({ authorization: `Bearer ${keyOf(name)}` })
      ).status;
    return { ...rig, file, look };
  };

  test('is read again when it changes: a key works at once, a revoked one no more', async () => {
    const { file, look } = rigOn([keyEntry('anna', 'viewer')]);
    expect([await look('anna'), await look('bert')]).toEqual([200, 401]);
    write(file, JSON.stringify({ keys: [keyEntry('bert', 'viewer')] }));
    expect([await look('anna'), await look('bert')]).toEqual([401, 200]);
  });

  test('that comes to be closes an open gateway', async () => {
    const { file, look, app } = rigOn(null);
    expect((await request(app).get('/v1/work')).status).toBe(200);
    write(file, JSON.stringify({ keys: [keyEntry('anna', 'viewer')] }));
    expect([(await request(app).get('/v1/work')).status, await look('anna')]).toEqual([401, 200]);
  });

  test.each<[string, (file: string) => void]>([
    ['emptied', (file) => write(file, '{"keys":[]}')],
    ['removed', (file) => rmSync(file)],
  ])('that is %s leaves the gateway closed', async (_, change) => {
    const { file, look, app } = rigOn([keyEntry('anna', 'admin')]);
    expect(await look('anna')).toBe(200);
    change(file);
    expect([await look('anna'), (await request(app).get('/v1/work')).status]).toEqual([401, 401]);
  });

  test.each(['', '{', '{"keys":[{}]}', '[]x', 'null'])(
    'that is broken (%j) leaves the keys as they were',
    async (text) => {
      const { file, look } = rigOn([keyEntry('anna', 'viewer')]);
      expect(await look('anna')).toBe(200);
      write(file, text);
      expect([await look('anna'), await look('bert')]).toEqual([200, 401]);
    },
  );

  test('works beside the keys of the environment', async () => {
    const { look } = rigOn([keyEntry('anna', 'viewer')], { PARLEY_API_KEYS: `bert:${keyOf('bert')}` });
    expect([await look('anna'), await look('bert'), await look('carl')]).toEqual([200, 200, 401]);
  });
});

describe('the configuration of keys', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-keys-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'keys.json');
  const broken = join(folder, 'broken.json');
  writeFileSync(file, JSON.stringify({ keys: [keyEntry('anna', 'viewer')] }));
  writeFileSync(broken, '{"keys":[{"name":"anna"}]}');

  test.each<[string, Record<string, string>]>([
    ['PARLEY_API_KEYS', { PARLEY_API_KEYS: file }],
    ['PARLEY_KEYS_FILE', { PARLEY_KEYS_FILE: file }],
  ])('may be a file that %s names, and then lets the gateway listen anywhere', (_, env) => {
    expect(loadConfig({ HOST: '0.0.0.0', PARLEY_DATA: folder, ...env })).toMatchObject({ keysFile: file, apiKeys: [] });
  });

  test.each<[string, Record<string, string>, string, RegExp]>([
    [
      'a file that is not there',
      { PARLEY_API_KEYS: '/nowhere.json' },
      'PARLEY_API_KEYS',
      /^names the file \/nowhere\.json, which is not there$/,
    ],
    [
      'two files',
      { PARLEY_API_KEYS: file, PARLEY_KEYS_FILE: file },
      'PARLEY_KEYS_FILE',
      /^must be left out where PARLEY_API_KEYS is the path of a file/,
    ],
    ['a broken file', { PARLEY_KEYS_FILE: broken }, 'PARLEY_KEYS_FILE', /broken\.json: .*"anna": /],
    [
      'a name in both places',
      { PARLEY_KEYS_FILE: file, PARLEY_API_KEYS: 'Anna:0123456789abcdef' },
      'PARLEY_KEYS_FILE',
      /the name "anna" stands twice/,
    ],
  ])('is refused with %s', (_, env, variable, message) => {
    let faults: readonly { variable: string; message: string }[] = [];
    try {
      loadConfig({ PARLEY_DATA: folder, ...env });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      ({ faults } = error);
    }
    expect(faults).toEqual([{ variable, message: expect.stringMatching(message) as string }]);
  });
});

describe('the limit of requests', () => {
  test('counts each key by itself', async () => {
    const { app } = createRig({ env: { PARLEY_API_KEYS: JSON.stringify(team), PARLEY_RATE_LIMIT: '2' } });
    const look = async (name: string): Promise<number> =>
      (
        await request(app)
          .get('/v1/work')
          .set({ authorization: `Bearer ${keyOf(name)}` })
      ).status;
    const statuses: number[] = [];
    for (const name of ['viewer', 'viewer', 'viewer', 'operator']) statuses.push(await look(name));
    expect(statuses).toEqual([200, 200, 429, 200]);
  });
});

describe('a list of keys', () => {
  test('takes all its forms', () => {
    const forms = [
      `anna:${keyOf('anna')}`,
      JSON.stringify({ anna: keyOf('anna') }),
      JSON.stringify([{ name: 'anna', key: keyOf('anna'), role: 'admin' }]),
      JSON.stringify([keyEntry('anna', 'admin')]),
      JSON.stringify({ keys: [keyEntry('anna', 'admin')] }),
    ];
    const key = {
      name: 'anna',
      sha256: Buffer.from(keyEntry('anna', 'admin').sha256, 'hex'),
      tenant: '*',
      role: 'admin',
    };
    expect(forms.map(parseApiKeys)).toEqual(forms.map(() => [key]));
  });

  test.each<[string, string, RegExp]>([
    ['without a role', '[{"name":"anna","key":"0123456789abcdef"}]', /"anna": role /],
    ['with an unknown role', '[{"name":"anna","key":"0123456789abcdef","role":"boss"}]', /"anna": role /],
    [
      'with both sha256 and key',
      JSON.stringify([{ ...keyEntry('anna', 'admin'), key: keyOf('anna') }]),
      /"anna": must have either sha256 or key/,
    ],
    ['with neither', '[{"name":"anna","role":"admin"}]', /"anna": must have either sha256 or key/],
    [
      'with a tenant that can be none',
      '[{"name":"anna","key":"0123456789abcdef","role":"admin","tenant":"a b"}]',
      /"anna": tenant must be "\*" for every tenant, or the name of one/,
    ],
    ['with an entry that is none', '[5]', /the entry 1: /],
    [
      'with a name twice',
      'anna:0123456789abcdef,Anna:fedcba9876543210',
      /the name "Anna" stands twice; case is ignored/,
    ],
    ['with a key twice', 'anna:0123456789abcdef,bert:0123456789abcdef', /"anna" and "bert" have the same key/],
    ['with more than keys', '{"keys":[],"x":1}', /beside "keys" there must be nothing; got x/],
  ])('%s is refused, and no key is shown', (_, text, message) => {
    expect(() => parseApiKeys(text)).toThrow(message);
    expect(() => parseApiKeys(text)).not.toThrow(/0123456789abcdef|key-of-anna/);
  });
});
