import request from 'supertest';
import { teamStatusExample } from '../../src/gateway/routes/team-examples.js';
import { aSession, createRig } from './rig.js';

const lane = aSession().lanes[0]!;
const scripted = { kind: 'scripted', script: [{ final: 'x' }] };
const many = (count: number) => Array.from({ length: count }, (_, index) => ({ ...lane, lane_id: `l${index}` }));
const withLane = (over: object) => ({ ...aSession(), lanes: [{ ...lane, ...over }] });
const withAdapter = (adapter: unknown) => withLane({ adapter });
const withPolicy = (policy: object) => ({ ...aSession(), policy });

const kindsText = 'scripted, simulated, openai-compatible, openai, anthropic, command, http, a2a, mcp, external';
const idText = 'must be 1 to 128 letters, digits, ".", "_" or "-", and start with a letter or digit';
const laneIdText = 'must be 1 to 64 letters, digits, ".", "_" or "-" ("#" is kept for clones)';

describe('POST /v1/sessions refuses with every fault, and starts nothing,', () => {
  const rig = createRig();

  // What it is about, the body, and each fault as "path: words".
  test.each<[string, unknown, string[]]>([
    ['no members', {}, ['prompt: is missing; it must be a text', 'lanes: is missing; it must be a list']],
    ['a list', [], [': must be an object; got a list']],
    ['null', null, [': must be an object; got null']],
    ['a prompt that is a number', { ...aSession(), prompt: 5 }, ['prompt: must be a text; got 5']],
    ['an empty prompt', { ...aSession(), prompt: '' }, ['prompt: must have at least 1 character; got 0']],
    ['no lane', { ...aSession(), lanes: [] }, ['lanes: must have at least one lane']],
    ['lanes that are an object', { ...aSession(), lanes: {} }, ['lanes: must be a list; got an object']],
    ['a lane that is null', { ...aSession(), lanes: [null] }, ['lanes[0]: must be an object; got null']],
    [
      'a lane without adapter',
      { ...aSession(), lanes: [{ lane_id: 'a' }] },
      ['lanes[0].adapter: is missing; it must be an object'],
    ],
    ['a tier of tin', withLane({ tier: 'tin' }), ['lanes[0].tier: must be gold, silver or bronze; got "tin"']],
    [
      'an unknown field of a lane',
      withLane({ colour: 1 }),
      ['lanes[0].colour: unknown field "colour"; it takes lane_id, persona, tier, weight, clones, timeout_ms, adapter'],
    ],
    [
      'an unknown field of the body',
      { ...aSession(), colour: 1, size: 2 },
      [
        'colour: unknown field "colour"; it takes id, tenant, labels, budget, webhooks, prompt, lanes, policy',
        'size: unknown field "size"; it takes id, tenant, labels, budget, webhooks, prompt, lanes, policy',
      ],
    ],
    [
      'clones in words',
      withLane({ clones: 'five' }),
      ['lanes[0].clones: must be a whole number from 1 to 100; got "five"'],
    ],
    ['no clones', withLane({ clones: 0 }), ['lanes[0].clones: must be at least 1; got 0']],
    ['half a clone', withLane({ clones: 1.5 }), ['lanes[0].clones: must be a whole number; got 1.5']],
    [
      'too many clones',
      withLane({ clones: 101 }),
      ['lanes[0].clones: must be at most 100; got 101', 'lanes: must be at most 100 lanes, clones included; got 101'],
    ],
    ['no weight', withLane({ weight: 0 }), ['lanes[0].weight: must be above 0; got 0']],
    ['a lane id with #', withLane({ lane_id: 'a#1' }), [`lanes[0].lane_id: ${laneIdText}; got "a#1"`]],
    ['two lanes of one id', { ...aSession(), lanes: [lane, lane] }, ['lanes[1].lane_id: "a" is taken by lanes[0]']],
    ['101 lanes', { ...aSession(), lanes: many(101) }, ['lanes: must have at most 100 entries; got 101']],
    [
      '120 clones in all',
      { ...aSession(), lanes: many(2).map((one) => ({ ...one, clones: 60 })) },
      ['lanes: must be at most 100 lanes, clones included; got 120'],
    ],
    ['a timeout of 0', withLane({ timeout_ms: 0 }), ['lanes[0].timeout_ms: must be at least 1; got 0']],
    ['a persona without id', withLane({ persona: {} }), ['lanes[0].persona.persona_id: is missing; it must be a text']],
    [
      'an unknown adapter',
      withAdapter({ kind: 'oracle' }),
      [`lanes[0].adapter.kind: must be one of ${kindsText}; got "oracle"`],
    ],
    [
      'a server without its tool',
      withAdapter({ kind: 'mcp', server: 'x' }),
      ['lanes[0].adapter.tool: is missing; it must be a text'],
    ],
    [
      'an agent of another protocol than HTTP',
      withAdapter({ kind: 'a2a', url: 'ftp://agents.example.com' }),
      ['lanes[0].adapter.url: must be an http or https URL; got "ftp://agents.example.com"'],
    ],
    [
      'an agent whose URL says who calls',
      withAdapter({ kind: 'a2a', url: 'https://me:sesame@agents.example.com' }),
      [
        'lanes[0].adapter.url: must hold no user name and no password; PARLEY_AGENT_KEYS of the worker holds the keys of agents',
      ],
    ],
    [
      'a remote agent whose URL says who calls',
      withAdapter({ kind: 'http', url: 'https://me@agents.example.com' }),
      ['lanes[0].adapter.url: must hold no user name and no password'],
    ],
    [
      'a model whose URL says who calls',
      withAdapter({ kind: 'openai-compatible', base_url: 'https://me:sesame@models.example.com', model: 'm' }),
      [
        "lanes[0].adapter.base_url: must hold no user name and no password; keys of models stand in the worker's environment",
      ],
    ],
    ['an adapter without kind', withAdapter({}), [`lanes[0].adapter.kind: is missing; it must be one of ${kindsText}`]],
    ['an adapter that is a text', withAdapter('scripted'), ['lanes[0].adapter: must be an object; got "scripted"']],
    [
      'an empty script',
      withAdapter({ kind: 'scripted', script: [] }),
      ['lanes[0].adapter.script: must have at least 1 entry; got 0'],
    ],
    [
      'a script entry that says nothing',
      withAdapter({ kind: 'scripted', script: [{}] }),
      ['lanes[0].adapter.script[0]: must have exactly one of partial, final, fail, dispatch_err, control'],
    ],
    [
      'a script entry that says two things',
      withAdapter({ kind: 'scripted', script: [{ partial: 'a', final: 'b' }] }),
      ['lanes[0].adapter.script[0]: must have exactly one of partial, final, fail, dispatch_err, control'],
    ],
    [
      'a delay in words',
      withAdapter({ kind: 'scripted', script: [{ after_ms: 'soon', final: 'b' }] }),
      ['lanes[0].adapter.script[0].after_ms: must be a whole number from 0 to 86400000; got "soon"'],
    ],
    [
      'an unknown control',
      withAdapter({ kind: 'scripted', script: [{ control: { status: 'STOP' } }] }),
      ['lanes[0].adapter.script[0].control.status: must be READY, BUSY, PAUSE or DRAINING; got "STOP"'],
    ],
    [
      'a model of another size',
      withAdapter({ kind: 'simulated', model: 'huge' }),
      ['lanes[0].adapter.model: must be small, medium or large; got "huge"'],
    ],
    [
      'an accuracy of 2',
      withAdapter({ kind: 'simulated', accuracy: 2 }),
      ['lanes[0].adapter.accuracy: must be at most 1; got 2'],
    ],
    [
      'a model without name',
      withAdapter({ kind: 'openai' }),
      ['lanes[0].adapter.model: is missing; it must be a text'],
    ],
    [
      'an agent by ftp',
      withAdapter({ kind: 'http', url: 'ftp://x' }),
      ['lanes[0].adapter.url: must be an http or https URL; got "ftp://x"'],
    ],
    [
      'a command without argv',
      withAdapter({ kind: 'command', argv: [] }),
      ['lanes[0].adapter.argv: must have at least 1 entry; got 0'],
    ],
    ['an id with a space', { ...aSession(), id: 'a b' }, [`id: ${idText}; got "a b"`]],
    [
      'a tenant with a slash',
      { ...aSession(), tenant: 'a/b' },
      ['tenant: must be 1 to 64 letters, digits, ".", "_" or "-"; got "a/b"'],
    ],
    ['a label that is a number', { ...aSession(), labels: { a: 1 } }, ['labels.a: must be a text; got 1']],
    [
      'webhooks that are none',
      {
        ...aSession(),
        webhooks: [
          'http://x',
          {},
          { url: 'ftp://x' },
          { url: 'http://x', colour: 1 },
          { url: 'http://me:pass@x' },
          { url: 'http://x', secret: 'whsec_a-secret-of-mine' },
          { url: 'http://x', secret: { env: 'HOME' } },
          { url: 'http://x', events: ['started'] },
          { url: 'http://x', events: [] },
        ],
      },
      [
        'webhooks[0]: must be an object; got "http://x"',
        'webhooks[1].url: must be an http or https URL such as https://hooks.example.com/parley',
        'webhooks[2].url: must be an http or https URL such as https://hooks.example.com/parley; got "ftp://x"',
        'webhooks[3].colour: unknown field "colour"; it takes url, secret, events',
        'webhooks[4].url: must hold no user name and no password; name a secret of the worker under secret.env',
        'webhooks[5].secret: must be {"env":"PARLEY_WEBHOOK_SECRET_…"}, a variable of the worker; it got something else',
        'webhooks[6].secret.env: must be PARLEY_WEBHOOK_SECRET, or begin with PARLEY_WEBHOOK_SECRET_ and go on in capitals; this one got neither',
        'webhooks[7].events[0]: must be completed, failed, cancelled or awaiting_feedback; got "started"',
        'webhooks[8].events: must name at least one event; leave it out for all',
      ],
    ],
    [
      'eleven webhooks',
      { ...aSession(), webhooks: Array.from({ length: 11 }, () => ({ url: 'http://x' })) },
      ['webhooks: must have at most 10 entries; got 11'],
    ],
    [
      'webhooks where nothing may be sent',
      { ...aSession(), webhooks: [{ url: 'http://169.254.169.254/' }, { url: 'http://0.0.0.0/' }] },
      [0, 1].map(
        (index) =>
          `webhooks[${index}].url: must not be a private, link-local or reserved address, unless the operator allows it by PARLEY_WEBHOOK_HOSTS; got ${index === 0 ? '169.254.169.254' : '0.0.0.0'}`,
      ),
    ],
    [
      'a negative budget',
      { ...aSession(), budget: { max_usd: -1, max_tokens: 0.5 } },
      ['budget.max_usd: must be at least 0; got -1', 'budget.max_tokens: must be a whole number; got 0.5'],
    ],
    ['an unknown profile', withPolicy({ profile: 'half' }), ['policy.profile: must be full or simple; got "half"']],
    [
      'an unknown reconciliation',
      withPolicy({ reconciliation: 'coin' }),
      ['policy.reconciliation: must be first_win, consensus or weighted_merge; got "coin"'],
    ],
    [
      'a threshold above 1',
      withPolicy({ threshold: 1.2, early_exit: { enabled: false } }),
      ['policy.threshold: must be at most 1; got 1.2'],
    ],
    [
      'an early exit at the threshold',
      withPolicy({ threshold: 0.85 }),
      ['policy.early_exit.threshold: must be above policy.threshold (0.85); got 0.85'],
    ],
    [
      'a judge without adapter',
      withPolicy({ agreement: { method: 'judge' } }),
      ['policy.agreement.adapter: method judge needs an adapter that judges'],
    ],
    [
      'an external judge',
      withPolicy({ agreement: { method: 'judge', adapter: { kind: 'external' } } }),
      ['policy.agreement.adapter.kind: cannot be external: it has to answer a call'],
    ],
    [
      'a choice of nothing',
      withPolicy({ agreement: { method: 'choice' } }),
      ['policy.agreement.choice: method choice needs a pointer, a regex or a schema'],
    ],
    [
      'a pattern that does not compile',
      withPolicy({ agreement: { method: 'choice', choice: { regex: '(' } } }),
      [
        'policy.agreement.choice.regex: must be a regular expression without lookaround and backreferences (RE2); missing closing ): `(`',
      ],
    ],
    [
      'a pattern that is too large',
      withPolicy({ agreement: { method: 'choice', choice: { regex: 'a{999}' } } }),
      [
        'policy.agreement.choice.regex: must be simpler: it has 1001 instructions, of at most 200; a repetition {0,99} counts 99 times',
      ],
    ],
    [
      'a pointer without slash',
      withPolicy({ agreement: { choice: { pointer: 'answer' } } }),
      ['policy.agreement.choice.pointer: must be a JSON pointer such as "/answer"; got "answer"'],
    ],
    [
      'an arbiter without adapter',
      withPolicy({ arbiter: { allowed: true } }),
      ['policy.arbiter.adapter: an allowed arbiter needs an adapter'],
    ],
    [
      'an escalation without lane',
      withPolicy({ escalation: { allowed: true } }),
      ['policy.escalation.lane: an allowed escalation needs the lane to add'],
    ],
    [
      'an escalation to a taken id',
      withPolicy({ escalation: { allowed: true, lane: { lane_id: 'a', adapter: scripted } } }),
      ['policy.escalation.lane.lane_id: "a" is taken by a lane'],
    ],
    [
      'faults of shape and contradictions together',
      {
        prompt: 7,
        lanes: [
          { ...lane, tier: 'tin' },
          { ...lane, adapter: { kind: 'x' } },
        ],
        policy: { threshold: 0.9, arbiter: { allowed: true } },
      },
      [
        'prompt: must be a text; got 7',
        'lanes[0].tier: must be gold, silver or bronze; got "tin"',
        `lanes[1].adapter.kind: must be one of ${kindsText}; got "x"`,
        'lanes[1].lane_id: "a" is taken by lanes[0]',
        'policy.early_exit.threshold: must be above policy.threshold (0.9); got 0.85',
        'policy.arbiter.adapter: an allowed arbiter needs an adapter',
      ],
    ],
  ])('%s', async (_, body, faults) => {
    const response = await request(rig.app)
      .post('/v1/sessions')
      .set('Content-Type', 'application/json')
      .send(JSON.stringify(body));
    expect(response.type).toBe('application/problem+json');
    expect(response.body).toMatchObject({ status: 422, code: 'invalid_request', type: '/problems/invalid_request' });
    const { errors } = response.body as { errors: { path: string; message: string }[] };
    expect(errors.map(({ path, message }) => `${path}: ${message}`).sort()).toEqual(faults.toSorted());
    expect(rig.sessions.held.size).toBe(0);
  });

  test('in the query and the headers, beside those of the body', async () => {
    const response = await request(rig.app)
      .post('/v1/sessions?wait=long&colour=1')
      .set('Idempotency-Key', 'k'.repeat(256))
      .send({ ...aSession(), prompt: 5 });
    expect((response.body as { errors: unknown }).errors).toEqual([
      { path: 'query.wait', message: 'must be a number from 0 to 60; got "long"' },
      { path: 'query.colour', message: 'unknown field "colour"; it takes wait' },
      { path: 'headers.idempotency-key', message: 'must have at most 255 characters; got 256' },
      { path: 'prompt', message: 'must be a text; got 5' },
    ]);
  });
});

describe('a request that cannot be read', () => {
  const rig = createRig();
  const post = (body: string, type = 'application/json') =>
    request(rig.app).post('/v1/sessions').set('Content-Type', type).send(body);

  test.each([
    ['{"a":x}', 'The body is not JSON: at line 1, column 6 (position 5) it cannot go on with "x}".'],
    ['{"a":1,\n "b":}', 'The body is not JSON: at line 2, column 6 (position 13) it cannot go on with "}".'],
    ['{"a":1', 'The body is not JSON: at line 1, column 7 (position 6) it ends too early.'],
    ['{"a":"b', 'The body is not JSON: at line 1, column 8 (position 7) it ends too early.'],
    ['[1,]', 'The body is not JSON: at line 1, column 4 (position 3) it cannot go on with "]".'],
    ['1 2', 'The body is not JSON: at line 1, column 3 (position 2) it cannot go on with "2".'],
  ])('such as %s is a 400 with the place', async (text, detail) => {
    const response = await post(text);
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ code: 'invalid_json', detail });
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'])(
    'as %s is a 415',
    async (type) => {
      const response = await post('{}', type);
      expect(response.status).toBe(415);
      expect((response.body as { detail: string }).detail).toContain(type);
    },
  );

  test.each([
    [94, 202],
    [95, 422],
    [100_000, 422],
  ])('with an answer that nests %i deep, below six levels, is a %i', async (depth, status) => {
    const script = `[{"final":${'['.repeat(depth)}${']'.repeat(depth)}}]`;
    const response = await post(
      `{"prompt":"x","lanes":[{"lane_id":"a","adapter":{"kind":"scripted","script":${script}}}]}`,
    );
    expect(response.status).toBe(status);
    const faults = [{ path: '', message: 'must nest lists and objects at most 100 deep' }];
    expect((response.body as { errors?: object[] }).errors).toEqual(status === 422 ? faults : undefined);
  });

  test('of more than 1 MiB is a 413', async () => {
    const response = await post(JSON.stringify(aSession({ prompt: 'x'.repeat(1024 * 1024) })));
    expect(response.status).toBe(413);
    expect(response.body).toMatchObject({ code: 'too_large' });
  });

  test.each<[string, string, number, string]>([
    ['get', '/v1/nothing', 404, 'not_found'],
    ['get', '/nothing', 404, 'not_found'],
    ['get', '/v1/debates/x', 404, 'not_found'],
    ['get', '/v1/sessions/unknown', 404, 'not_found'],
    ['get', '/v1/sessions/%ff', 400, 'bad_request'],
    ['get', '/v1/sessions/a%20b', 404, 'not_found'],
    ['get', '/v1/sessions/unknown/events', 404, 'not_found'],
    ['post', '/v1/sessions/unknown/cancel', 404, 'not_found'],
    ['post', '/v1/sessions/unknown/pause', 404, 'not_found'],
    ['delete', '/v1/sessions', 405, 'method_not_allowed'],
    ['put', '/v1/sessions/a', 405, 'method_not_allowed'],
    ['post', '/healthz', 405, 'method_not_allowed'],
    ['get', '/v1/work?limit=0', 422, 'invalid_request'],
    ['get', '/v1/work?kind=poem', 422, 'invalid_request'],
    ['get', '/v1/work?colour=red', 422, 'invalid_request'],
    ['get', '/v1/work?awaiting=maybe', 422, 'invalid_request'],
    ['get', '/v1/work?kind=run&kind=team', 422, 'invalid_request'],
    ['get', '/v1/sessions/a/events?last_event_id=-1', 422, 'invalid_request'],
    ['get', '/v1/sessions/a/events?last_event_id=1.5', 422, 'invalid_request'],
  ])('%s %s is a %i %s', async (method, path, status, code) => {
    const response = await request(rig.app)[method as 'get'](path);
    expect(response.status).toBe(status);
    expect(response.type).toBe('application/problem+json');
    expect(response.body).toMatchObject({ code, status, request_id: response.headers['x-request-id'] });
  });

  test('to a path that is none says which there are', async () => {
    const { body } = await request(rig.app).post('/v1/quartets').send({});
    expect((body as { detail: string }).detail).toMatch(
      /^Nothing is at \/v1\/quartets; there are \/v1\/sessions, .*\/v1\/teams/,
    );
  });

  test('with another method names those that are taken', async () => {
    const response = await request(rig.app).delete('/v1/sessions');
    expect(response.headers['allow']).toBe('POST, GET, HEAD');
  });
});

test('an agent that is to work in the background is refused by path where that is switched off, at the start and later', async () => {
  const rig = createRig({ env: { PARLEY_USE_BACKGROUND_AGENTS: 'false' } });
  rig.ports.teams.status = () => Promise.resolve(teamStatusExample);
  const agent = (over: object) => ({ agent_id: 'a', adapter: scripted, prompt: 'go', ...over });
  const given: [string, object][] = [
    ['', { agents: [agent({ background: true })] }],
    ['/team-1/agents', agent({ background: true })],
    ['/team-1/agents', [agent({}), agent({ agent_id: 'b', background: true })]],
  ];
  const answers = [];
  for (const [path, body] of given) answers.push(await request(rig.app).post(`/v1/teams${path}`).send(body));
  const told = answers.map(({ status, body }) => [status, (body as { errors?: { path: string }[] }).errors?.[0]?.path]);
  expect(told).toEqual([
    [422, 'agents[0].background'],
    [422, 'background'],
    [422, '[1].background'],
  ]);
  expect(
    (
      await request(rig.app)
        .post('/v1/teams')
        .send({ agents: [agent({})] })
    ).status,
  ).toBe(202);
});
