import type { CoordinatorStatus } from '../../src/contracts/coordinator-status.js';
import type { Problem } from '../../src/contracts/problem.js';
import { askingRuns, work } from '../support/coordinator-bodies.js';
import { type Answer, type Product, startProduct } from '../support/product.js';
import { asks, session, sh } from '../support/run-bodies.js';
import { keyEntry, keyOf } from '../support/keys.js';

const keys = [keyEntry('root', 'admin'), keyEntry('acme', 'admin', 'acme'), keyEntry('operator', 'operator')];

let product: Product;
beforeAll(async () => {
  product = await startProduct({ PARLEY_API_KEYS: JSON.stringify(keys) });
});
afterAll(() => product?.stop());

const as = (name: string): Record<string, string> => ({ authorization: `Bearer ${keyOf(name)}` });
const post = (path: string, body?: unknown, name = 'root'): Promise<Answer> => product.post(path, body, as(name));
const get = async (path: string, name = 'root'): Promise<{ status: number; body: unknown }> => {
  const answer = await fetch(product.url + path, { headers: as(name) });
  return { status: answer.status, body: await answer.json() };
};
/** Answers in a type of their own, as they are. */
const respond = async (id: string, body: string, type = 'text/plain', name = 'root') => {
  const headers = { ...as(name), 'content-type': type };
  const answer = await fetch(`${product.url}/v1/coordinators/${id}/responses`, { method: 'POST', headers, body });
  return { status: answer.status, problem: (await answer.json()) as Problem };
};
const reaching = async (id: string, state: string): Promise<CoordinatorStatus> => {
  for (let looks = 0; ; looks += 1) {
    const status = (await get(`/v1/coordinators/${id}`)).body as CoordinatorStatus;
    if (status.state === state) return status;
    if (looks > 1_000) throw new Error(`not reached: ${JSON.stringify(status)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
const begin = async (body: object): Promise<string> =>
  ((await post('/v1/coordinators', body)).body as { id: string }).id;

describe('POST /v1/coordinators refuses', () => {
  const { run } = askingRuns(['1']);
  test.each<[string, object, RegExp[]]>([
    ['no runs', {}, [/^runs: must hold a run; or give work_ids with run, or ids of runs in adopt$/]],
    ['work ids without a body', { work_ids: ['1'] }, [/^run: is missing: the body that a run is started with/]],
    ['a body without work ids', { run }, [/^runs: must hold a run/, /^work_ids: is missing/]],
    ['a body with a work id', { work_ids: ['1'], run: { ...run, work_id: '2' } }, [/^run\.work_id: cannot be given/]],
    [
      'a fault in the one body, by its place',
      { work_ids: ['1'], run: { phases: [{ steps: [{ name: 'a', kind: 'run' }] }] } },
      [/^run\.phases\[0\]\.steps\[0\]\.kind: cannot be run/],
    ],
    [
      'a fault in a step of one of the runs, by its place',
      { runs: [work('1', sh('a', 'true')), work('2', { ...session('b'), with: { prompt: 'x', lanes: [] } })] },
      [/^runs\[1\]\.phases\[0\]\.steps\[0\]\.with\.lanes: /],
    ],
    [
      'what is wrong in its runs and in what their steps start at once, in its order',
      {
        runs: [{ ...work('1', { ...session('b'), with: { prompt: 'x', lanes: [] } }), workspace: { branch: 'main' } }],
        work_ids: ['2'],
        run: { phases: [{ steps: [{ ...sh('a', 'true'), with: { argv: [] } }, asks('a')] }] },
        parallel: 3,
      },
      [
        /^runs\[0\]\.phases\[0\]\.steps\[0\]\.with\.lanes: /,
        /^runs\[0\]\.workspace: /,
        /^runs\[0\]\.workspace\.branch: /,
        /^run\.phases\[0\]\.steps\[0\]\.with\.argv: must name a program/,
        /^run\.phases\[0\]\.steps\[1\]\.name: "a" is taken/,
        /^parallel: /,
      ],
    ],
    [
      'two runs with one id',
      { runs: [work('1', asks('a')), work('2', asks('a'))].map((one) => ({ ...one, id: 'same' })) },
      [/^runs\[1\]\.id: is taken by runs\[0\]$/],
    ],
    [
      'a run of another tenant',
      { runs: [{ ...work('1', asks('a')), tenant: 'other' }], tenant: 'acme' },
      [/^runs\[0\]\.tenant: must be left out, or be that of the coordinator: acme$/],
    ],
    [
      'an id that leaves no room for those of its runs',
      { id: 'x'.repeat(126), ...askingRuns(['1']) },
      [/^id: is too long/],
    ],
    ['a budget', { ...askingRuns(['1']), budget: { max_usd: 1 } }, [/^budget: must be left out/]],
    [
      'more runs than it may have',
      { adopt: Array.from({ length: 1_001 }, (_, n) => `r${n}`) },
      [/^adopt: .*1000|^adopt: /],
    ],
    ['an unknown field', { ...askingRuns(['1']), parallel: 3 }, [/parallel/]],
  ])('%s', async (_, body, faults) => {
    const { status, body: problem } = await post('/v1/coordinators', body);
    const told = ((problem as Problem).errors ?? []).map(({ path, message }) => `${path}: ${message}`);
    expect([status, told]).toEqual([422, faults.map((fault) => expect.stringMatching(fault))]);
  });
});

describe('a coordinator', () => {
  const adopting = async (): Promise<string> => {
    const { body } = await post('/v1/runs', work('1', session('slow', {}, 'late', 60_000)));
    return begin({ adopt: [(body as { id: string }).id] });
  };

  test('does not adopt what is not there for its tenant, or is no run', async () => {
    const { body } = await post('/v1/runs', { ...work('1', asks('a')), tenant: 'other' });
    const theirs = (body as { id: string }).id;
    const lanes = [{ lane_id: 'a', adapter: { kind: 'scripted', script: [{ final: 'x' }] } }];
    const { body: started } = await post('/v1/sessions', { prompt: 'x', lanes });
    const aSession = (started as { id: string }).id;
    const id = await begin({ adopt: [theirs, aSession, 'nobody'] });
    const { aggregation, result } = await reaching(id, 'COMPLETE');
    expect(aggregation?.runs.map(({ status, reason }) => [status, reason])).toEqual(
      [theirs, aSession, 'nobody'].map((one) => ['unknown', `There is no run ${one}.`]),
    );
    expect(result?.aggregation.summary.unknown).toBe(3);
    await post(`/v1/runs/${theirs}/cancel`);
  });

  test('takes no answers before it has asked, and none after its end', async () => {
    const id = await adopting();
    await reaching(id, 'WAITING');
    const early = await respond(id, '#1: approve');
    expect([early.status, early.problem.detail]).toEqual([
      409,
      `Nothing was applied: coordinator ${id} is WAITING and takes answers once it has shown its first report.`,
    ]);
    const question = { request_id: 'fr-20261121-000000', response: 'abort' };
    expect((await post(`/v1/coordinators/${id}/feedback`, question)).body).toMatchObject({
      status: 409,
      detail: expect.stringContaining('has asked nothing itself; answers for its runs are responses'),
    });
    await post(`/v1/coordinators/${id}/cancel`);
    const late = await respond(id, '#1: approve');
    expect([late.status, late.problem.detail]).toEqual([
      409,
      'coordinator in CANCELLED cannot take answers: it has ended (cancelled).',
    ]);
  });

  test('goes back nowhere and is not forked, and says what to do instead', async () => {
    const id = await begin(askingRuns(['1']));
    await reaching(id, 'PRESENTING');
    const restored = await post(`/v1/coordinators/${id}/restore`, { checkpoint: 0, reason: 'x' });
    expect([restored.status, (restored.body as Problem).detail]).toEqual([
      409,
      expect.stringContaining('adopts its runs'),
    ]);
    const forked = await post(`/v1/coordinators/${id}/fork`, { checkpoint: 0 });
    expect([forked.status, (forked.body as Problem).detail]).toEqual([409, expect.stringContaining('adopts them')]);
    expect((await get(`/v1/coordinators/${id}/checkpoints`)).status).toBe(200);
    expect((await get(`/v1/coordinators/${id}/checkpoints/0`)).body).toMatchObject({ workflow_id: id });
    expect((await get(`/v1/coordinators/${id}/export`)).status).toBe(200);
    await post(`/v1/coordinators/${id}/cancel`);
  });
});

describe('POST /v1/coordinators/{id}/responses answers', () => {
  let id: string;
  beforeAll(async () => {
    id = await begin({ ...askingRuns(['1', '2']), tenant: 'other' });
    await reaching(id, 'PRESENTING');
  });
  afterAll(() => post(`/v1/coordinators/${id}/cancel`));

  test.each<[string, () => Promise<{ status: number; problem: Problem }>, number, RegExp]>([
    ['an unknown id', () => respond('nobody', '#1: approve'), 404, /^There is no coordinator nobody\.$/],
    [
      'an id of another tenant',
      () => respond(id, '#1: approve', 'text/plain', 'acme'),
      404,
      /^There is no coordinator/,
    ],
    [
      'a key that may not approve',
      () => respond(id, '#1: approve', 'text/plain', 'operator'),
      403,
      /needs approver or admin/,
    ],
    ['5 MB', () => respond(id, '#1: approve\n'.repeat(400_000)), 413, /at most/i],
    ['nothing', () => respond(id, '  \n'), 422, /fault/],
    ['an empty list', () => respond(id, '[]', 'application/json'), 422, /fault/],
    ['half a list', () => respond(id, '[{"work_id":"1"', 'application/json'), 400, /ends too early/],
    ['a picture', () => respond(id, 'x', 'image/png'), 415, /must be JSON/],
  ])('%s', async (_, ask, status, words) => {
    const { status: answered, problem } = await ask();
    expect([answered, problem.detail]).toEqual([status, expect.stringMatching(words)]);
    expect((await get(`/v1/coordinators/${id}`)).body).toMatchObject({ state: 'PRESENTING', history: [] });
  });

  test('a text in which nothing can be read with the example of one', async () => {
    const answer = (await respond(id, 'please approve all of them')) as { status: number; problem: object };
    expect([answer.status, answer.problem]).toMatchObject([
      200,
      {
        applied: [],
        errors: [{ work_id: null }, { work_id: null }],
        reprompt: expect.stringMatching(/#1: approve\n#2: approve/),
      },
    ]);
  });
});
