import type { Problem } from '../../src/contracts/problem.js';
import type { CheckpointList } from '../../src/contracts/checkpoint.js';
import type { Comparison } from '../../src/contracts/time-travel.js';
import type { Started } from '../../src/contracts/work.js';
import { aDebate, proposes, removeWorkspaces, sh } from '../support/debate-bodies.js';
import { type Product, startProduct } from '../support/product.js';
import { aRefinement } from '../support/refinement-bodies.js';
import { noEarlyExit, says, scripted as script } from '../support/session-bodies.js';
import { follow } from '../support/sse.js';
import { checkpointsOf, ended, type EndedWork, oneFails } from '../support/work-at.js';
import { runCli } from '../support/run-cli.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(async () => {
  await product?.stop();
  removeWorkspaces();
});

const lastOf = async (path: string): Promise<number> => (await checkpointsOf(product, path)).items.at(-1)!.sequence_num;
const fork = async (path: string, body: object): Promise<Started> => {
  const answer = await product.post(`${path}/fork`, body);
  expect(answer).toMatchObject({ status: 202 });
  return answer.body as Started;
};
const compare = async (a: string, b: string): Promise<Comparison> =>
  (await product.get(`/v1/compare?a=${a}&b=${b}`)).body as Comparison;

const aSession = () => ({
  prompt: 'Which colour?',
  lanes: [says('a', 'blue'), says('b', 'red', 1)],
  policy: noEarlyExit,
});

describe('forked at each of its checkpoints with nothing changed', () => {
  test.each<[string, () => Promise<EndedWork>, string[], (phase: string) => boolean]>([
    ['sessions', () => product.run(aSession()), ['answer', 'agreement', 'for', 'against'], () => true],
    [
      'debates',
      () => product.debates.run(aDebate({ says: { solution: [proposes(sh('t', 'true'))] } })),
      ['decision', 'outcome', 'consensus', 'passes'],
      // Once its plan runs, what the tasks do belongs to one debate.
      (phase) =>
        !['ROUND_OPTIMIZER', 'EXECUTING', 'VALIDATING', 'SUCCEEDED', 'STORING_MEMORY', 'AUDITING'].includes(phase),
    ],
    ['refinements', () => product.refinements.run(aRefinement()), ['status', 'reason', 'score', 'output'], () => true],
    ['fan-outs', () => product.fanOuts.run(oneFails()), ['value', 'partial', 'completed', 'failed'], () => true],
  ])(
    '%s come to the same result under an id of their own',
    async (collection, run, same, isForkable) => {
      const original = await run();
      const path = `/v1/${collection}/${original.id}`;
      const picked = ({ result }: EndedWork) =>
        Object.fromEntries(same.map((name) => [name, (result as Record<string, unknown>)[name]]));
      const { items: all } = (await product.get(`${path}/checkpoints`)).body as CheckpointList;
      // Of many, the first, every third, and the last.
      const items = all.length < 10 ? all : all.filter((item, index) => index % 3 === 0 || item === all.at(-1));
      for (const { sequence_num, phase } of items) {
        if (!isForkable(phase)) {
          const { status, body } = await product.post(`${path}/fork`, { checkpoint: sequence_num });
          expect({ status, body }).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
          continue;
        }
        const { id, forked_from } = await fork(path, { checkpoint: sequence_num });
        expect(id).not.toBe(original.id);
        expect(forked_from).toEqual({ id: original.id, checkpoint: sequence_num });
        const forked = await ended(product, `/v1/${collection}/${id}`);
        expect({ at: sequence_num, state: forked.state, ...picked(forked) }).toEqual({
          at: sequence_num,
          state: original.state,
          ...picked(original),
        });
      }
      expect((await product.get(path)).body).toEqual(original);
    },
    300_000,
  );
});

describe('a fork', () => {
  test('with one changed persona keeps the other answer, and both stand side by side', async () => {
    const original = await product.run(aSession());
    const path = `/v1/sessions/${original.id}`;
    const persona = { persona_id: 'doubter', instructions: 'Doubt it.' };
    const { id } = await fork(path, {
      checkpoint: await lastOf(path),
      change: { lanes: [{ lane_id: 'b', persona, adapter: script({ after_ms: 10, final: 'blue' }) }] },
    });
    await ended(product, `/v1/sessions/${id}`);
    const { lanes } = await product.status(id);
    expect(lanes.map(({ lane_id, persona_id, answer }) => [lane_id, persona_id, answer])).toEqual([
      ['a', 'a', 'blue'],
      ['b', 'doubter', 'blue'],
    ]);
    const { a, b, differences } = await compare(original.id, id);
    expect([a.answer, a.agreement, a.forked_from]).toEqual(['blue', 0.5, null]);
    expect([b.answer, b.agreement, b.forked_from?.id]).toEqual(['blue', 1, original.id]);
    expect(differences.map((each) => each.path)).toEqual(
      expect.arrayContaining(['lanes[b].persona', 'lanes[b].adapter.script[0].final']),
    );
    // What was kept was paid for by the other.
    expect(b.spend.tokens).toBeLessThan(a.spend.tokens);
  });

  test('with another threshold asks nobody again', async () => {
    const original = await product.run({ ...aSession(), policy: { ...noEarlyExit, threshold: 0.9 } });
    const path = `/v1/sessions/${original.id}`;
    const { id } = await fork(path, { checkpoint: await lastOf(path), change: { policy: { threshold: 0.4 } } });
    expect(await ended(product, `/v1/sessions/${id}`)).toMatchObject({
      state: 'COMPLETE',
      result: { below_threshold: false },
      spend: { tokens: 0 },
    });
  });

  test('gives another answer to what was asked, and the old debate stays as it was', async () => {
    const id = await product.debates.start(
      aDebate({ approval: { required: true }, says: { solution: [proposes(sh('t', 'true'))] } }),
    );
    const path = `/v1/debates/${id}`;
    await product.debates.until(id, ({ state }) => state === 'AWAITING_APPROVAL');
    const forked = await fork(path, { checkpoint: await lastOf(path), answer: { response: 'reject', comment: 'no' } });
    expect(await ended(product, `/v1/debates/${forked.id}`)).toMatchObject({ result: { outcome: 'blocked' } });
    expect(await product.debates.status(id)).toMatchObject({ state: 'AWAITING_APPROVAL', lifecycle: 'waiting' });
    await product.post(`${path}/cancel`);
  }, 60_000);

  test('of a fork works, and says so in its first event', async () => {
    const original = await product.run(aSession());
    const one = await fork(`/v1/sessions/${original.id}`, { checkpoint: 0 });
    await ended(product, `/v1/sessions/${one.id}`);
    const two = await fork(`/v1/sessions/${one.id}`, { checkpoint: 1, change: { prompt: 'Which other colour?' } });
    expect(await ended(product, `/v1/sessions/${two.id}`)).toMatchObject({
      state: 'COMPLETE',
      prompt: 'Which other colour?',
    });
    const [first] = (await follow(`${product.url}/v1/sessions/${two.id}/events`)).filter(({ id }) => id !== null);
    expect(first).toMatchObject({ event: 'log', data: { message: `forked from checkpoint 1 of ${one.id}` } });
  });

  test('with the same id and body is one fork, with another body a conflict', async () => {
    const { id } = await product.run(aSession());
    const path = `/v1/sessions/${id}`;
    const body = { checkpoint: 0, id: 'the-fork', change: { policy: { threshold: 0.5 } } };
    await fork(path, body);
    const again = await product.post(`${path}/fork`, body);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([202, 'true']);
    expect((await product.post(`${path}/fork`, { ...body, checkpoint: 1 })).status).toBe(409);
  });
});

describe('a fork that cannot be', () => {
  let path: string;
  beforeAll(async () => {
    path = `/v1/sessions/${(await product.run(aSession())).id}`;
  });

  test.each<[object, string]>([
    [{}, 'checkpoint'],
    [{ checkpoint: -1 }, 'checkpoint'],
    [{ checkpoint: 0, change: [] }, 'change'],
    [{ checkpoint: 0, change: 'prompt' }, 'change'],
    [{ checkpoint: 0, change: { prompt: 7 } }, 'change.prompt'],
    [{ checkpoint: 0, change: { prompt: null } }, 'change.prompt'],
    [{ checkpoint: 0, change: { prompts: 'x' } }, 'change.prompts'],
    [{ checkpoint: 0, change: { policy: { threshold: 2 } } }, 'change.policy.threshold'],
    [{ checkpoint: 0, change: { lanes: [{ lane_id: 'a', tier: 'tin' }] } }, 'change.lanes[0].tier'],
    [{ checkpoint: 0, change: { id: 'mine' } }, 'change.id'],
    [{ checkpoint: 0, change: { tenant: 'other' } }, 'change.tenant'],
    [{ checkpoint: 0, id: 'not an id' }, 'id'],
    [{ checkpoint: 0, answer: { response: 'approve' } }, 'answer'],
    [{ checkpoint: 0, prompt: 'Why?' }, 'prompt'],
  ])('%j is refused by name', async (body, at) => {
    const { status, body: problem } = await product.post(`${path}/fork`, body);
    expect(status).toBe(422);
    expect((problem as Problem).errors!.map((fault) => fault.path)).toEqual([at]);
  });

  test('of what is not there is not found', async () => {
    expect((await product.post(`${path}/fork`, { checkpoint: 99 })).status).toBe(404);
    expect((await product.post('/v1/sessions/nobody/fork', { checkpoint: 0 })).status).toBe(404);
    expect((await product.get(`/v1/compare?a=nobody&b=${path.split('/').at(-1)}`)).status).toBe(404);
    expect((await product.get('/v1/compare?a=nobody')).status).toBe(422);
  });
});

describe('on the command line', () => {
  const parley = (...argv: string[]) => runCli({ PARLEY_URL: product.url }, argv, '{"policy":{"threshold":0.4}}');

  test('work is forked, compared and restored', async () => {
    const { id } = await product.run(aSession());
    const forked = await parley(
      ...[
        'fork',
        id,
        '0',
        '--change',
        '-',
        '--set',
        'lanes[b].weight=3',
        '--set',
        'lanes[b].tier=gold',
        '--prompt',
        'Why?',
      ],
    );
    expect(forked.code).toBe(0);
    await ended(product, `/v1/sessions/${forked.out}`);
    expect(await product.status(forked.out)).toMatchObject({ prompt: 'Why?', threshold: 0.4 });
    const compared = await parley('compare', id, forked.out);
    expect(compared.out).toContain('≠ answer');
    for (const path of [
      'prompt: ',
      'lanes[b].weight: 1 -> 3',
      'lanes[b].tier: "silver" -> "gold"',
      'policy.threshold: ',
    ])
      expect(compared.out).toContain(path);
    const restored = await parley('restore', id, '0', '--reason', 'to see it again');
    expect(restored).toMatchObject({ code: 0, out: `${id} goes on from checkpoint 0` });
    await ended(product, `/v1/sessions/${id}`);
    expect((await parley('checkpoints', id)).out).toContain('restored by local: to see it again');
  });

  test.each<[string[], string]>([
    [['fork', 'ID', 'first'], 'first is no number of a checkpoint'],
    [['fork', 'ID', '0', '--set', 'prompt'], '--set takes PATH=VALUE'],
    [['fork', 'ID', '0', '--set', 'lanes[b]=3'], '--set can name a member of lanes'],
    [['fork', 'ID', '0', '--comment', 'x'], '--comment goes with --answer'],
    [['restore', 'ID', '0'], '--reason'],
    [['fork', 'nobody', '0'], 'There is no session'],
    [['compare', 'nobody', 'ID'], 'There is no work nobody'],
  ])('%j is refused with words', async (argv, words) => {
    const { id } = await product.run({ ...aSession(), id: 'for-the-command-line' });
    const { code, out, notes } = await parley(...argv.map((each) => each.replace('ID', id)));
    expect(code).toBe(2);
    expect(out + notes).toContain(words);
  });
});
