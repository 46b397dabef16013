import type { OpenSessionBody } from '../../src/contracts/session.js';
import type { SessionStatus } from '../../src/contracts/session-status.js';
import { startProduct, type Product } from '../support/product.js';
import { beat, fails, lane, noEarlyExit, says, scripted, silence, silent } from '../support/session-bodies.js';
import { dataOf, follow } from '../support/sse.js';

// Each method of agreement and each reconciliation of spec 01, in the result that a client gets.

let product: Product;
beforeAll(async () => {
  product = await startProduct();
}, 60_000);
afterAll(async () => await product?.stop());

type Policy = NonNullable<OpenSessionBody['policy']>;
type Lanes = OpenSessionBody['lanes'];
type Answer = Parameters<typeof says>[1];
const play = (lanes: Lanes, policy: Policy = {}): Promise<SessionStatus> =>
  product.run({ prompt: 'Which colour?', lanes, policy: { ...noEarlyExit, ...policy } });

/** Lanes a, b, c … that each say one thing at once. */
const saying = (...answers: Answer[]): Lanes => answers.map((answer, index) => says('abcdefgh'[index]!, answer));
const ids = (weighed: { lane_id: string }[] | undefined): string[] | undefined =>
  weighed?.map(({ lane_id }) => lane_id);
const sides = ({ result }: SessionStatus) => [ids(result?.for), ids(result?.against)];

describe('agreement by', () => {
  const choice = (how: NonNullable<NonNullable<Policy['agreement']>['choice']>): Policy => ({
    agreement: { method: 'choice', choice: how },
  });
  const method = (name: 'exact' | 'similarity', over: object = {}): Policy => ({
    agreement: { method: name, ...over },
  });

  test.concurrent.each<[string, Policy, Answer[], string[], string[], number]>([
    ['exact texts, normalised', method('exact'), ['Blue.', ' blue', 'the blue'], ['a', 'b'], ['c'], 2 / 3],
    [
      'exact JSON, whatever its order',
      method('exact'),
      [{ x: 1, y: 2 }, { y: 2, x: 1 }, { x: 2 }],
      ['a', 'b'],
      ['c'],
      2 / 3,
    ],
    [
      'a choice at a JSON pointer',
      choice({ pointer: '/pick/0' }),
      [{ pick: ['b'], why: 'x' }, '{"pick":["B"]}', { pick: ['c'] }],
      ['a', 'b'],
      ['c'],
      2 / 3,
    ],
    [
      'a choice by a pattern that would keep another engine busy for ever',
      choice({ regex: '.*.*.*.*Answer: (\\w)$' }),
      [`${'x'.repeat(900)} Answer: 7`, `${'y'.repeat(900)} Answer: 7`, 'x'.repeat(4_000)],
      ['a', 'b'],
      ['c'],
      2 / 3,
    ],
    [
      'a choice that a pattern finds',
      choice({ regex: 'Answer: (\\w+)' }),
      ['I think. Answer: 7', 'Answer: 7, surely', 'It is 7'],
      ['a', 'b'],
      ['c'],
      2 / 3,
    ],
    [
      'a choice of an enum',
      choice({ schema: { enum: ['yes', 'no'] } }),
      ['No, never', 'yes', 'I would say no'],
      ['a', 'c'],
      ['b'],
      2 / 3,
    ],
    [
      'a choice that is a number',
      choice({ schema: { type: 'number', minimum: 0, maximum: 10 } }),
      ['4.0', 'It is 4', 'In 1999 it was 5'],
      ['a', 'b'],
      ['c'],
      2 / 3,
    ],
    [
      'similarity of the words',
      method('similarity', { similarity_threshold: 0.75 }),
      ['the sky is blue', 'blue is the sky', 'the sky was blue today', 'the blue sky is'],
      ['a', 'b', 'd'],
      ['c'],
      3 / 4,
    ],
    [
      'similarity at its threshold exactly',
      method('similarity', { similarity_threshold: 0.6 }),
      ['the sky is blue', 'the sky was blue', 'grass'],
      ['a', 'b'],
      ['c'],
      2 / 3,
    ],
    [
      'similarity below its threshold',
      method('similarity', { similarity_threshold: 0.61 }),
      ['the sky is blue', 'the sky was blue', 'grass'],
      ['a'],
      ['b', 'c'],
      1 / 3,
    ],
  ])('%s', async (_, policy, answers, behind, against, agreement) => {
    const status = await play(saying(...answers), policy);
    expect(status.result?.agreement).toBeCloseTo(agreement, 9);
    // Of groups that weigh the same the one that finalised first leads: whichever it is, the sides are complete.
    if (agreement > 0.5) expect(sides(status)).toEqual([behind, against]);
    else expect(new Set(sides(status).flat())).toEqual(new Set(['a', 'b', 'c']));
    expect(status.result?.below_threshold).toBe(agreement < 0.6);
  });

  test.concurrent('a judge, who is asked again when there is more to judge', async () => {
    const judge = scripted(
      { final: { groups: [['a', 'b']] }, usage: { tokens: 5, usd: 0.01 } },
      { final: 'Here you are: {"groups":[["a","b"],["c"]]}', usage: { tokens: 6, usd: 0.02 } },
    );
    const { id } = await product.start({
      prompt: 'Which colour?',
      lanes: [says('a', 'azure'), says('b', 'the colour of the sky', 1), says('c', 'red', 14)],
      policy: { ...noEarlyExit, agreement: { method: 'judge', adapter: judge } },
    });
    const heard = await follow(`${product.url}/v1/sessions/${id}/events`);
    expect(dataOf(heard, 'provisional')).toEqual([expect.objectContaining({ lanes: ['a', 'b'], agreement: 1 })]);
    const status = await product.status(id);
    expect(sides(status)).toEqual([['a', 'b'], ['c']]);
    expect(status.result).toMatchObject({ agreement: 2 / 3, ended_by: 'all_final' });
    const ofLanes = status.lanes.reduce((sum, { usage }) => sum + usage.tokens, 0);
    expect(status.spend).toEqual({ tokens: ofLanes + 11, usd: '0.03' });
  });

  test.concurrent.each<[string, Parameters<typeof scripted>]>([
    ['that fails', [{ fail: { message: 'asleep' } }]],
    ['that names nobody', [{ final: 'they all agree' }]],
    ['that names others', [{ final: { groups: [['x', 'y']] } }]],
  ])('a judge %s falls back to equal texts, and says so', async (_, script) => {
    const { id } = await product.start({
      prompt: 'Which colour?',
      lanes: saying('blue', 'Blue', 'red'),
      policy: { ...noEarlyExit, agreement: { method: 'judge', adapter: scripted(...script) } },
    });
    const heard = await follow(`${product.url}/v1/sessions/${id}/events`);
    const status = await product.status(id);
    expect(status.result?.agreement).toBeCloseTo(2 / 3, 9);
    expect(sides(status)).toEqual([['a', 'b'], ['c']]);
    expect(dataOf(heard, 'log')[0]?.message).toMatch(/^the judge failed, equal texts decide instead: /);
  });

  test.concurrent.each<[string, Lanes, Policy, string, number]>([
    ['weight', [says('a', 'blue'), says('b', 'blue'), says('c', 'red', 0, { weight: 4 })], {}, 'red', 4 / 6],
    [
      'weight times that of the tier',
      [says('a', 'blue', 0, { weight: 2 }), says('b', 'red', 0, { tier: 'gold' })],
      { tier_weights: { gold: 6, silver: 1, bronze: 1 } },
      'red',
      6 / 8,
    ],
    [
      'weight of those alone who answered',
      [says('a', 'blue'), fails('b'), { ...fails('c'), weight: 9 }, says('d', '  ', 0, { weight: 9 })],
      {},
      'blue',
      1,
    ],
  ])('%s', async (_, lanes, policy, answer, agreement) => {
    const { result } = await play(lanes, policy);
    expect(result?.answer).toBe(answer);
    expect(result?.agreement).toBeCloseTo(agreement, 9);
  });

  test.concurrent('finals alone, where partial answers do not count', async () => {
    const streams = (id: string) => lane(id, [{ partial: 'blue' }, { after_ms: 2 * beat, final: 'blue' }]);
    const counting = (count_partials: boolean) => play([streams('a'), streams('b')], { count_partials });
    const [tentative, strict] = await Promise.all([counting(true), counting(false)]);
    expect(tentative.provisional).toMatchObject({ answer: 'blue', agreement: 1 });
    // Both finals come at once or one after the other: the second one ends the session.
    expect(strict.result).toMatchObject({ answer: 'blue', agreement: 1 });
    expect(strict.result?.timing_ms.provisional).toBe(null);
  });
});

describe('reconciliation by', () => {
  test.concurrent('first_win takes the first to finalise, not the first of the list nor the heaviest', async () => {
    const lanes = [says('a', 'red', 2), says('b', 'red', 2), says('c', 'blue')];
    const { result } = await play(lanes, { reconciliation: 'first_win' });
    expect(result).toMatchObject({
      answer: 'blue',
      policy: 'first_win',
      winner: { lane_id: 'c', persona_id: 'c', clone: 1 },
      agreement: 2 / 3,
      for: [{ lane_id: 'c', weight: 1 }],
    });
    expect(ids(result?.against)).toEqual(['a', 'b']);
  });

  test.concurrent('consensus takes the answer nearest to all of its group', async () => {
    const answers = ['the sky is blue', 'the sky is so blue', 'the sky is so very blue'];
    const { result } = await play(saying(...answers), { agreement: { similarity_threshold: 0.6 } });
    expect(result).toMatchObject({ policy: 'consensus', answer: 'the sky is so blue', agreement: 1 });
    expect(result?.winner).toMatchObject({ lane_id: 'b' });
  });

  test.concurrent.each<[string, Lanes, Policy, string]>([
    ['the higher tier', [says('a', 'red'), says('b', 'blue', 1, { tier: 'gold' })], {}, 'b'],
    ['the earlier final', [says('a', 'red', 2), says('b', 'blue', 0)], {}, 'b'],
    [
      'the place in the list, where none has finalised',
      [lane('a', [{ after_ms: beat, partial: 'red' }, ...silence]), lane('b', [{ partial: 'blue' }, ...silence])],
      { deadline_ms: 8 * beat },
      'a',
    ],
    [
      'the weight before all of them',
      [says('a', 'red', 0, { tier: 'gold' }), says('b', 'blue', 1, { weight: 1.1 })],
      {},
      'b',
    ],
  ])('consensus settles a tie by %s', async (_, lanes, policy, winner) => {
    const { result } = await play(lanes, policy);
    expect(result).toMatchObject({ winner: { lane_id: winner }, below_threshold: true });
  });

  test.concurrent('consensus uses finals alone as soon as there is one', async () => {
    const streams = (id: string) => lane(id, [{ partial: 'red' }, ...silence]);
    const { result } = await play([streams('a'), streams('b'), says('c', 'blue', 1)], { deadline_ms: 8 * beat });
    expect(result).toMatchObject({ answer: 'blue', partial: false, for: [{ lane_id: 'c', weight: 1 }], against: [] });
  });

  const merging = (over: Policy = {}): Policy => ({ reconciliation: 'weighted_merge', ...over });
  test.concurrent.each<[string, Lanes, Policy, unknown]>([
    [
      'JSON field by field: votes, means, unions',
      [
        says('a', { kind: 'bug', score: 1, tags: ['x'], deep: { ok: true } }, 0, { weight: 3 }),
        says('b', { kind: 'Bug', score: 5, tags: ['y', 'x'] }, 0, { weight: 1 }),
        says('c', { kind: 'task', score: 2, note: 'n' }, 0, { weight: 2 }),
      ],
      merging(),
      { kind: 'bug', score: 2, tags: ['x', 'y'], deep: { ok: true }, note: 'n' },
    ],
    [
      'texts, by descending weight and with their sources',
      [says('a', 'Red.'), says('b', 'Blue.', 0, { weight: 2 }), says('c', 'red')],
      merging(),
      '[b, weight 2]\nBlue.\n\n[a, weight 1; c, weight 1]\nRed.',
    ],
    [
      'texts, by who is configured for it',
      [says('a', 'Red.'), says('b', 'Blue.')],
      merging({ merge: { adapter: scripted({ final: 'Purple.' }) } }),
      'Purple.',
    ],
    [
      'texts one below the other when the merger fails',
      [says('a', 'Red.'), says('b', 'Blue.', 0, { weight: 2 })],
      merging({ merge: { adapter: scripted({ fail: { message: 'asleep' } }) } }),
      '[b, weight 2]\nBlue.\n\n[a, weight 1]\nRed.',
    ],
    ['a text that is the only one, unmarked', [says('a', 'Red.'), fails('b')], merging(), 'Red.'],
  ])('weighted_merge makes one of %s', async (_, lanes, policy, answer) => {
    const { result } = await play(lanes, policy);
    expect(result).toMatchObject({ policy: 'weighted_merge', answer, winner: null, against: [] });
  });

  test.concurrent.each<[string, Policy['adaptive'], string]>([
    ['first_win under time pressure', { reconcile_timeout_ms: 9_999 }, 'first_win'],
    ['consensus where quality counts', { quality_need: 0.9 }, 'consensus'],
    ['weighted_merge where cost does', { cost_sensitivity: 0.8 }, 'weighted_merge'],
    ['first_win otherwise', {}, 'first_win'],
  ])('need is %s', async (_, adaptive, expected) => {
    const { result } = await play(saying('blue', 'blue'), { adaptive: { enabled: true, ...adaptive } });
    expect(result?.policy).toBe(expected);
  });
});

describe('a result', () => {
  test.concurrent('names lanes for and against, what was cancelled and why, spend per lane, and times', async () => {
    const paid = (id: string, final: string, tokens: number, usd: number) =>
      lane(id, [{ partial: final }, { after_ms: beat, final, usage: { tokens, usd } }], {
        persona: { persona_id: `p-${id}` },
      });
    const status = await product.run({
      prompt: 'Which colour?',
      lanes: [paid('a', 'blue', 12, 0.0001), paid('b', 'blue', 8, 0.25), silent('c', 'bronze'), fails('d')],
    });
    const { result, lanes } = status;
    expect(result).toMatchObject({
      answer: 'blue',
      policy: 'consensus',
      agreement: 1,
      for: [
        { lane_id: 'a', weight: 1 },
        { lane_id: 'b', weight: 1 },
      ],
      against: [],
      total_weight: 2,
      completed_count: 2,
      total_personas: 4,
      cancelled: [{ lane_id: 'c', reason: 'early_exit' }],
      ended_by: 'early_exit',
    });
    expect(lanes.map(({ lane_id, state, reason }) => [lane_id, state, reason?.code])).toEqual([
      ['a', 'FINALIZED', undefined],
      ['b', 'FINALIZED', undefined],
      ['c', 'CANCELLED', 'early_exit'],
      ['d', 'FAILED', 'EAGENTDOWN'],
    ]);
    expect(lanes.slice(0, 2).map(({ usage }) => usage)).toEqual([
      { tokens: 12, usd: '0.0001' },
      { tokens: 8, usd: '0.25' },
    ]);
    expect(status.spend.usd).toBe('0.2501');
    const { first_partial, provisional, final } = result!.timing_ms;
    expect([first_partial, provisional, final]).toEqual(
      [first_partial, provisional, final].toSorted((x, y) => x! - y!),
    );
    expect(first_partial).not.toBe(null);
  });

  test.concurrent.each<[string, Policy]>([
    [
      'a judge who names nobody',
      { agreement: { method: 'judge', adapter: scripted({ final: 'all agree', usage: { tokens: 77, usd: 0.1 } }) } },
    ],
    [
      'an arbiter who breaks off',
      {
        arbiter: { allowed: true, adapter: scripted({ partial: 'x'.repeat(1_000) }, { fail: { message: 'asleep' } }) },
      },
    ],
    [
      'a merger who breaks off',
      {
        threshold: 0.5,
        reconciliation: 'weighted_merge',
        merge: { adapter: scripted({ partial: 'x'.repeat(1_000) }, { fail: { message: 'asleep' } }) },
      },
    ],
  ])('counts what %s has used', async (_, policy) => {
    const { spend, lanes } = await play(saying('blue', 'azure'), policy);
    const ofLanes = lanes.reduce((sum, { usage }) => sum + usage.tokens, 0);
    expect(spend.tokens - ofLanes).toBeGreaterThanOrEqual(77);
  });

  test.concurrent.each<[string, Lanes[number]['adapter']]>([
    ['in pieces', scripted({ partial: 'word '.repeat(2_000), repeat: 100 }, { final: 'red' })],
    ['at once', scripted({ final: 'word '.repeat(100_000) })],
  ])('has no part in what is too long to keep, said %s: that lane fails, once', async (_, adapter) => {
    const status = await play([{ lane_id: 'long', adapter }, says('b', 'blue', 1)]);
    const [long] = status.lanes;
    expect(long).toMatchObject({
      state: 'FAILED',
      attempt: 1,
      reason: { code: 'EPROTO', message: expect.stringMatching(/^the answer is too long: .* may take 4749\d\d bytes/) },
    });
    expect(status.result).toMatchObject({ answer: 'blue', ended_by: 'all_final' });
  });

  test.concurrent('of one of 100 lanes of clones knows each of them', async () => {
    const { result, lanes } = await product.run({
      prompt: 'Which colour?',
      lanes: [says('b', 'blue', 0, { clones: 100 })],
      policy: noEarlyExit,
    });
    expect(lanes.map(({ lane_id }) => lane_id)).toEqual(Array.from({ length: 100 }, (_, index) => `b#${index + 1}`));
    expect(result).toMatchObject({ answer: 'blue', agreement: 1, completed_count: 100, total_personas: 1 });
  });
});
