import { statSync } from 'node:fs';
import { join } from 'node:path';
import request from 'supertest';
import { ParleyError } from '../../src/domain/errors.js';
import { createLaneKeys, laneSecret } from '../../src/gateway/lane-keys.js';
import { aSession, createRig } from './rig.js';

type Body = Record<string, unknown>;
const post = (rig: ReturnType<typeof createRig>, path = '/v1/sessions') => request(rig.app).post(path);

describe('starting a session', () => {
  test('answers 202 with its id and where to look, and a Location', async () => {
    const rig = createRig();
    const response = await post(rig).send(aSession({ id: 's1' }));
    expect(response.status).toBe(202);
    expect(response.headers['location']).toBe('/v1/sessions/s1');
    expect(response.body).toEqual({
      id: 's1',
      kind: 'session',
      status_url: '/v1/sessions/s1',
      events_url: '/v1/sessions/s1/events',
      web_ui_url: 'http://127.0.0.1:8233/namespaces/default/workflows/s1',
    });
    expect(rig.sessions.held.get('s1')?.setup.traceId).toMatch(/^[0-9a-f]{32}$/);
  });

  test('makes an id where none is given, another each time', async () => {
    const rig = createRig();
    const [one, two] = [await post(rig).send(aSession()), await post(rig).send(aSession())];
    expect((one.body as Body)['id']).toMatch(/^session-[0-9A-Z]{26}$/);
    expect((one.body as Body)['id']).not.toBe((two.body as Body)['id']);
  });

  test('twice with one id and one body gives the same run, however the body is spelt', async () => {
    const rig = createRig();
    const first = await post(rig).send(aSession({ id: 's1' }));
    const { prompt, lanes } = aSession();
    const again = await post(rig).send({ policy: { threshold: 0.6 }, tenant: 'default', lanes, prompt, id: 's1' });
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(again.status).toBe(202);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.body).toEqual(first.body);
    expect(rig.sessions.held.size).toBe(1);
  });

  test('with a taken id and another body is a conflict', async () => {
    const rig = createRig();
    await post(rig).send(aSession({ id: 's1' }));
    const response = await post(rig).send(aSession({ id: 's1', prompt: 'Which number?' }));
    expect(response.status).toBe(409);
    expect(response.body).toMatchObject({ code: 'conflict' });
  });

  test('with one Idempotency-Key gives one run for a tenant, another for another tenant', async () => {
    const rig = createRig();
    const start = async (body: object) =>
      (await post(rig).set('Idempotency-Key', 'k1').send(body)) as { status: number; body: Body };
    const [one, two, other] = [
      await start(aSession()),
      await start(aSession()),
      await start(aSession({ tenant: 'acme' })),
    ];
    expect(two.body['id']).toBe(one.body['id']);
    expect(other.body['id']).not.toBe(one.body['id']);
    expect((await start(aSession({ prompt: 'Which number?' }))).status).toBe(409);
    expect(rig.sessions.held.size).toBe(2);
  });

  test('with wait answers 200 with the status when it ends in time', async () => {
    const rig = createRig();
    const answer = post(rig, '/v1/sessions?wait=10')
      .send(aSession({ id: 's1' }))
      .then((response) => response);
    while (!rig.sessions.held.has('s1')) await new Promise(setImmediate);
    rig.sessions.move('s1', 'COMPLETE');
    const response = await answer;
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({ id: 's1', state: 'COMPLETE', links: { self: '/v1/sessions/s1' } });
  });

  test('with wait answers 202 when it does not', async () => {
    const rig = createRig();
    expect((await post(rig, '/v1/sessions?wait=0.01').send(aSession())).status).toBe(202);
  });

  test('is a 503 with Retry-After while Temporal does not answer', async () => {
    const rig = createRig();
    rig.sessions.failing.start = new ParleyError('unavailable', 'Temporal does not answer.', { retryAfterMs: 1500 });
    const response = await post(rig).send(aSession());
    expect(response.status).toBe(503);
    expect(response.headers['retry-after']).toBe('2');
    expect(response.body).toMatchObject({ code: 'unavailable' });
  });

  test('is a 503 while the gateway drains', async () => {
    const rig = createRig();
    rig.draining.abort();
    expect((await post(rig).send(aSession())).status).toBe(503);
    expect((await request(rig.app).get('/readyz')).status).toBe(503);
    expect((await request(rig.app).get('/healthz')).status).toBe(200);
  });
});

describe('a session', () => {
  test('shows its status with links', async () => {
    const rig = createRig();
    await post(rig).send(aSession({ id: 's1' }));
    const response = await request(rig.app).get('/v1/sessions/s1');
    expect(response.status).toBe(200);
    expect((response.body as Body)['links']).toEqual({
      self: '/v1/sessions/s1',
      events: '/v1/sessions/s1/events',
      web_ui: 'http://127.0.0.1:8233/namespaces/default/workflows/s1',
    });
  });

  test('is cancelled once; then the refusal names its state', async () => {
    const rig = createRig();
    await post(rig).send(aSession({ id: 's1' }));
    const first = await post(rig, '/v1/sessions/s1/cancel');
    expect([first.status, (first.body as Body)['state']]).toEqual([200, 'CANCELLED']);
    const again = await post(rig, '/v1/sessions/s1/cancel');
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({ code: 'wrong_state', detail: 'session in CANCELLED cannot be cancelled.' });
  });

  test.each(['pause', 'resume'])('cannot %s, and says why', async (verb) => {
    const rig = createRig();
    await post(rig).send(aSession({ id: 's1' }));
    const response = await post(rig, `/v1/sessions/s1/${verb}`);
    expect(response.status).toBe(409);
    expect((response.body as Body)['detail']).toContain(
      `session in STREAMING cannot ${verb}: a session is never paused`,
    );
  });

  test.each(['/v1/work?kind=session', '/v1/sessions?limit=50'])('is listed by %s', async (path) => {
    const rig = createRig();
    const response = await request(rig.app).get(path);
    expect(response.body).toEqual({ items: [], next_cursor: null });
    expect(rig.sessions.listed).toEqual([{ kind: 'session', limit: 50 }]);
  });

  test('whose status breaks the contract is a 500 that hides why', async () => {
    const rig = createRig();
    await post(rig).send(aSession({ id: 's1' }));
    const right = await rig.sessions.status('s1');
    rig.sessions.status = async () => ({ ...right, agreement: 'secret' }) as never;
    const response = await request(rig.app).get('/v1/sessions/s1');
    expect(response.status).toBe(500);
    expect(JSON.stringify(response.body)).not.toContain('secret');
  });
});

describe('frames of an external lane', () => {
  const external = aSession({
    id: 's1',
    lanes: [
      { lane_id: 'e', clones: 2, adapter: { kind: 'external' } },
      { lane_id: 'a', adapter: { kind: 'scripted', script: [{ final: 'x' }] } },
    ],
  });
  const frames = { frames: [{ type: 'partial', msg_seq: 1, text: 'bl' }] };
  const opened = async (env: Record<string, string> = {}) => {
    const rig = createRig({ env });
    await rig.sessions.start((await setupOf(rig)).setup, 'hash');
    return rig;
  };
  const setupOf = async (rig: ReturnType<typeof createRig>) => {
    const other = createRig();
    const { body } = await post(other).send(external);
    const keys = (body as { lane_keys: Record<string, string> }).lane_keys;
    return { setup: other.sessions.held.get('s1')!.setup, keys, rig };
  };
  const key = createLaneKeys('a secret of the tests').keyFor('s1', 'e#1');

  test('are taken with the key of the start', async () => {
    const rig = await opened();
    const { keys } = await setupOf(rig);
    expect(Object.keys(keys)).toEqual(['e#1', 'e#2']);
    const response = await post(rig, '/v1/sessions/s1/lanes/e%231/frames')
      .set('Authorization', `Bearer ${keys['e#1']}`)
      .send(frames);
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({ accepted: 1 });
    expect(rig.sessions.posted[0]).toMatchObject({ lane: 'e#1', frames: [{ frag_seq: 0, last: true }] });
  });

  test('have a key for every lane that an escalation may add', async () => {
    const escalation = { allowed: true, limit: 3, lane: { lane_id: 'p', adapter: { kind: 'external' as const } } };
    const { body } = await post(createRig()).send(aSession({ policy: { escalation } }));
    expect(Object.keys((body as { lane_keys: Record<string, string> }).lane_keys)).toEqual(['p', 'p#2', 'p#3']);
  });

  test.each<[string, string, string | null, number, string]>([
    ['without a key', 'e%231', null, 401, 'unauthorized'],
    ['with the key of another lane', 'e%232', key, 401, 'unauthorized'],
    ['for a lane that is not there', 'x', key, 404, 'not_found'],
    ['for a lane that is not external', 'a', key, 409, 'wrong_state'],
  ])('%s are refused', async (_, lane, given, status, code) => {
    const rig = await opened();
    const asked = post(rig, `/v1/sessions/s1/lanes/${lane}/frames`);
    const response = await (given === null ? asked : asked.set('Authorization', `Bearer ${given}`)).send(frames);
    expect(response.status).toBe(status);
    expect(response.body).toMatchObject({ code });
    if (status === 401) expect(response.headers['www-authenticate']).toContain('Bearer');
    expect(rig.sessions.posted).toEqual([]);
  });

  test('are a 401 for a wrong key alike, there or not, where the gateway has keys', async () => {
    const rig = await opened({ PARLEY_API_KEYS: 'me:0123456789abcdef' });
    for (const lane of ['e%232', 'x', 'a']) {
      const response = await post(rig, `/v1/sessions/s1/lanes/${lane}/frames`)
        .set('Authorization', `Bearer ${key}`)
        .send(frames);
      expect(response.status).toBe(401);
    }
  });

  test('are a 429 with Retry-After while the lane is full', async () => {
    const rig = await opened();
    rig.sessions.failing.frames = new ParleyError('EWINDOW_AGENT', 'The lane is full.', { retryAfterMs: 2100 });
    const response = await post(rig, '/v1/sessions/s1/lanes/e%231/frames')
      .set('Authorization', `Bearer ${key}`)
      .send(frames);
    expect([response.status, response.headers['retry-after']]).toEqual([429, '3']);
    expect(response.body).toMatchObject({ code: 'EWINDOW_AGENT' });
  });

  test('name every fault', async () => {
    const rig = await opened();
    const wrong = {
      frames: [{ type: 'partial', text: 'x' }, { type: 'shout' }, { type: 'final', msg_seq: 1, text: 'a', json: 1 }],
    };
    const response = await post(rig, '/v1/sessions/s1/lanes/e%231/frames')
      .set('Authorization', `Bearer ${key}`)
      .send(wrong);
    expect(response.status).toBe(422);
    expect((response.body as { errors: unknown }).errors).toEqual([
      { path: 'frames[0].msg_seq', message: expect.stringContaining('is missing; it must be a whole number') },
      { path: 'frames[1].type', message: 'must be one of partial, final, fail, control; got "shout"' },
      { path: 'frames[2].json', message: 'give text or json, not both' },
    ]);
  });

  test('are signed with a secret that is made once and for its owner only', () => {
    const { config } = createRig();
    const secret = laneSecret(null, config.dataFolder);
    expect(laneSecret(null, config.dataFolder)).toBe(secret);
    expect(statSync(join(config.dataFolder, 'lane-secret')).mode & 0o777).toBe(0o600);
  });
});

describe('access', () => {
  const env = { PARLEY_API_KEYS: 'me:0123456789abcdef,you:fedcba9876543210' };

  test.each<[string, string | null, number]>([
    ['no key', null, 401],
    ['a wrong key', 'Bearer 0123456789abcdeX', 401],
    ['another scheme', 'Basic 0123456789abcdef', 401],
    ['the first key', 'Bearer 0123456789abcdef', 200],
    ['the second key', 'Bearer fedcba9876543210', 200],
  ])('with keys: %s', async (_, authorization, status) => {
    const rig = createRig({ env });
    const asked = request(rig.app).get('/v1/work');
    const response = await (authorization === null ? asked : asked.set('Authorization', authorization));
    expect(response.status).toBe(status);
    expect(response.headers['www-authenticate'] !== undefined).toBe(status === 401);
  });

  test.each([
    '/healthz',
    '/readyz',
    '/metrics',
    '/openapi.json',
    '/docs',
    '/vendor/htm-preact.js',
    '/problems/conflict',
  ])('%s asks nobody for a key', async (path) => {
    expect((await request(createRig({ env }).app).get(path)).status).toBe(200);
  });

  test.each<[string, Record<string, string>, number]>([
    ['localhost:3000', {}, 200],
    ['127.0.0.1', {}, 200],
    ['[::1]:3000', {}, 200],
    ['evil.example', {}, 403],
    ['127.0.0.1.evil.example', {}, 403],
    ['parley.example', env, 401],
  ])('a request for host %s with %j is a %i', async (host, extra, status) => {
    const response = await request(createRig({ env: extra }).app)
      .get('/v1/work')
      .set('Host', host);
    expect(response.status).toBe(status);
  });

  test('beyond the rate is a 429 with Retry-After', async () => {
    const rig = createRig({ env: { PARLEY_RATE_LIMIT: '2' } });
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await request(rig.app).get('/v1/work')).status);
    const last = await request(rig.app).get('/v1/work');
    expect(statuses).toEqual([200, 200, 429]);
    expect(last.body).toMatchObject({ code: 'rate_limited' });
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(0);
  });
});

describe('the gateway', () => {
  test('is not ready while Temporal cannot be reached', async () => {
    const rig = createRig();
    rig.sessions.reachable = false;
    expect((await request(rig.app).get('/readyz')).status).toBe(503);
    expect((await request(rig.app).get('/healthz')).status).toBe(200);
  });

  test('counts starts and times requests without ids in the labels', async () => {
    const rig = createRig();
    await post(rig).send(aSession({ id: 's1' }));
    await request(rig.app).get('/v1/sessions/s1');
    const { text } = await request(rig.app).get('/metrics');
    expect(text).toContain('parley_work_started_total{kind="session"} 1');
    expect(text).toContain(
      'parley_http_request_duration_seconds_count{route="/v1/sessions/{id}",method="get",status="200"} 1',
    );
    expect(text).not.toContain('s1');
  });

  test('gives a request the id of its caller, or its own', async () => {
    const rig = createRig();
    const given = await request(rig.app).get('/nothing').set('X-Request-Id', 'mine-1');
    expect((given.body as Body)['request_id']).toBe('mine-1');
    const made = await request(rig.app).get('/nothing').set('X-Request-Id', 'not ok\t');
    expect((made.body as Body)['request_id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('allows pages no script but its own', async () => {
    const { headers } = await request(createRig().app).get('/docs');
    expect(headers['content-security-policy']).toContain("script-src 'self';");
    expect(headers['content-security-policy']).not.toContain('unsafe');
  });

  test.each(['/docs/init.js', '/docs/assets/swagger-ui-bundle.js', '/docs/assets/swagger-ui.css'])(
    'serves %s itself',
    async (path) => {
      expect((await request(createRig().app).get(path)).status).toBe(200);
    },
  );
});
