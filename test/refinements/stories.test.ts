import type { RefinementStatus } from '../../src/contracts/refinement-status.js';
import { type ModelServer, startModelServer } from '../support/model-server.js';
import { type Product, startProduct } from '../support/product.js';
import { dataOf, follow, idsOf, numbered, upTo } from '../support/sse.js';
import { aRefinement, type RefinementOver, usedUpByOne } from '../support/refinement-bodies.js';

let product: Product;
let models: ModelServer;
beforeAll(async () => {
  models = await startModelServer();
  product = await startProduct();
});
beforeEach(() => models.reset());
afterAll(async () => {
  await product?.stop();
  await models?.close();
});

const silent = { adapter: { kind: 'scripted' as const, script: [{ partial: 'half of ' }] } };
const ended = async (over: RefinementOver): Promise<RefinementStatus> => product.refinements.run(aRefinement(over));

describe('a refinement', () => {
  test('goes on with what the critic says until a version is good enough', async () => {
    const status = await ended({
      critiques: [{ scores: { clarity: 0.4, brevity: 1 }, feedback: 'clearer', issues: ['line 1'] }, 0.9],
      critic: {
        scoring: {
          rubric: [
            { criterion: 'clarity', weight: 3 },
            { criterion: 'brevity', weight: 1 },
          ],
        },
      },
    });
    expect(status).toMatchObject({ lifecycle: 'completed', state: 'COMPLETE', error: null, waiting: null });
    expect(status.result).toMatchObject({
      status: 'COMPLETE',
      reason: 'threshold_met',
      iterations: 2,
      version: 2,
      score: 0.9,
      output: 'two',
    });
    expect(status.result?.scores.map((score) => Math.round(score * 1000))).toEqual([550, 900]);
    expect(status.history[0]?.critique).toMatchObject({
      scores: { clarity: 0.4, brevity: 1 },
      feedback: 'clearer',
      issues: [{ why: 'line 1' }],
      slow: false,
      scoring_ms: expect.any(Number),
    });
    expect(status.agents.map(({ calls }) => calls)).toEqual([2, 2]);
  });

  test.each<[string, RefinementOver, object]>([
    ['after its last iteration', { critiques: [0.1, 0.3, 0.5] }, { reason: 'max_iterations', output: 'three' }],
    ['when a version is no better', { critiques: [0.5, 0.5] }, { reason: 'no_improvement', output: 'one' }],
    [
      'with the last version where that is asked for',
      { critiques: [0.5, 0.4], output: { output_best: false } },
      { reason: 'no_improvement', output: 'two', version: 2 },
    ],
    ['when the critic gives no score twice', { critiques: [0.5, 'good!', { score: 7 }] }, { reason: 'critic_failed' }],
    [
      'when the time of an iteration is over',
      { loop_control: { iteration_timeout_ms: 4_000 }, critiques: [0.5], generator: { adapter: slowSecond() } },
      { reason: 'timeout', version: 1, iterations: 2 },
    ],
    [
      'when the generator fails',
      {
        generator: {
          adapter: { kind: 'scripted', script: [{ final: 'one' }, { fail: { code: 'EAGENTDOWN', message: 'gone' } }] },
        },
      },
      { reason: 'generator_failed', output: 'one' },
    ],
    ['when the budget is used up', usedUpByOne, { reason: 'budget', output: 'one' }],
    [
      'when the time of the budget is over',
      { budget: { max_seconds: 5 }, critiques: [0.5], generator: { adapter: slowSecond() } },
      { reason: 'budget', version: 1, why: expect.stringContaining("the budget's time of 5 seconds is used up") },
    ],
  ])('ends %s', async (_, over, result) => {
    const status = await ended(over);
    expect(status).toMatchObject({ lifecycle: 'completed', state: 'ABORTED', error: null });
    expect(status.result).toMatchObject({ status: 'ABORTED', ...result });
  });

  const gone = (fail: object): RefinementOver => ({ generator: { adapter: { kind: 'scripted', script: [{ fail }] } } });
  test.each<[string, RefinementOver, string, boolean | undefined, RegExp]>([
    [
      'critic',
      { critiques: ['no', 'never'] },
      'EPROTO',
      undefined,
      /the critic "critic" failed in iteration 1.*none with a score/,
    ],
    ['a generator that is there', gone({ code: 'EPROTO', message: 'no such model' }), 'EPROTO', false, /no such model/],
    ['a generator that has time', gone({ message: 'busy', retryable: true }), 'EAGENTDOWN', true, /busy/],
    [
      'time',
      { loop_control: { iteration_timeout_ms: 300 }, generator: silent },
      'ETIMEOUT',
      undefined,
      /iteration_timeout_ms 300; there is no version/,
    ],
    ['budget', { budget: { max_tokens: 0 } }, 'EBUDGET', undefined, /no version to give back \(budget\)/],
    [
      'time',
      { budget: { max_seconds: 1 }, generator: silent },
      'EBUDGET',
      undefined,
      /time of 1 second is used up.*\(budget\)/,
    ],
  ])('without a score fails for want of %s, and says so', async (_, over, code, retryable, message) => {
    const status = await ended(over);
    expect(status).toMatchObject({ lifecycle: 'failed', state: 'FAILED', result: null, best: null });
    expect(status.error).toEqual({ code, message: expect.stringMatching(message), retryable });
  });

  test('that is cancelled keeps the best so far in its status', async () => {
    const id = await product.refinements.start(aRefinement({ critiques: [0.5], generator: { adapter: slowSecond() } }));
    await product.refinements.until(id, ({ iteration, waiting }) => iteration === 2 && waiting !== null);
    const { body } = await product.post(`/v1/refinements/${id}/cancel`);
    expect(body).toMatchObject({
      lifecycle: 'cancelled',
      state: 'CANCELLED',
      best: { version: 1, score: 0.5, output: 'one' },
      scores: [0.5],
      result: null,
    });
    expect((await product.post(`/v1/refinements/${id}/cancel`)).status).toBe(409);
  });

  test('without history gives the output and the scores alone', async () => {
    const status = await ended({ output: { keep_history: false } });
    expect(status).toMatchObject({ history: [], scores: [0.5, 0.9], result: { history: [], output: 'two' } });
  });

  test('with the same id and body is one, and with another body a conflict', async () => {
    const body = { ...aRefinement(), id: `same-${Date.now()}` };
    await product.refinements.run(body);
    const again = await product.post('/v1/refinements', body);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([202, 'true']);
    expect((await product.post('/v1/refinements', { ...body, task: 'Another' })).status).toBe(409);
  });
});

describe('who follows a refinement', () => {
  test('reads the version and the critique as they are written, and every durable event in order', async () => {
    const said = (text: string) => ({
      kind: 'scripted' as const,
      script: [
        { after_ms: 300, partial: text },
        { after_ms: 100, final: text },
      ],
    });
    const id = await product.refinements.start(
      aRefinement({
        generator: { adapter: said('a version') },
        critic: { adapter: said('{"score":1}') },
      }),
    );
    const heard = await follow(`${product.url}/v1/refinements/${id}/events`);
    const texts: Record<string, string> = {};
    for (const { lane_id: lane, text } of dataOf(heard, 'partial')) texts[lane] = `${texts[lane] ?? ''}${text}`;
    expect(texts).toEqual({ 'generator#1': 'a version', 'critic#1': '{"score":1}' });
    const told = numbered(heard).map(({ event }) => event);
    expect(told.filter((event) => event !== 'waiting')).toEqual([
      'state',
      'version',
      'state',
      'critique',
      'state',
      'final',
    ]);
    expect(idsOf(heard)).toEqual(upTo(told.length));
    expect(heard.at(-1)).toMatchObject({ event: 'end', data: { state: 'COMPLETE' } });
  });
});

describe('the agents of a refinement', () => {
  const model = (more: object = {}) => ({
    adapter: { kind: 'openai-compatible' as const, provider: 'local', base_url: models.baseUrl, model: 'any', ...more },
  });
  const fixtures = (): void => {
    models.mock.onMessage(/Your part\nAnswer with one JSON/, { content: '{"score":1}' });
    models.mock.onMessage(/Write the first version/, { content: 'a version' });
  };
  const prices = { PARLEY_PRICES: '{"local/any":{"input":0,"output":0}}' };
  let priced: Product;
  beforeAll(async () => {
    priced = await startProduct(prices);
  });
  afterAll(() => priced?.stop());

  test.each<[string, object, object, [number, number]]>([
    ['0.7 and 0.3', {}, {}, [0.7, 0.3]],
    ['what the request names', { generator: { temperature: 1.2 } }, {}, [1.2, 0.3]],
    ['the adapter’s own', { critic: { temperature: 0.2 } }, { temperature: 0 }, [0, 0]],
  ])('are called with a temperature of %s', async (_, over, adapter, temperatures) => {
    fixtures();
    const given = over as Record<string, object>;
    const status = await priced.refinements.run(
      aRefinement({
        generator: { ...model(adapter), ...given['generator'] },
        critic: { ...model(adapter), ...given['critic'] },
      }),
    );
    expect(status.result).toMatchObject({ reason: 'threshold_met', output: 'a version' });
    expect(models.bodies().map((body) => body['temperature'])).toEqual(temperatures);
    expect(JSON.stringify(models.bodies()[0])).toContain('You are the generator');
    expect(JSON.stringify(models.bodies()[1])).toContain('You are the critic');
  });
});

function slowSecond() {
  return {
    kind: 'scripted' as const,
    script: [{ final: 'one' }, { after_ms: 60_000, final: 'two' }],
  };
}
