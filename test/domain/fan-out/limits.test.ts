import fc from 'fast-check';
import { fanOutStatusSchema } from '../../../src/contracts/fan-out-status.js';
import { add, noAmount } from '../../../src/domain/budget.js';
import { estimateOf } from '../../../src/domain/priced-call.js';
import type { Amount } from '../../../src/domain/session/setup.js';
import { nextDue } from '../../../src/domain/fan-out/fan-out.js';
import { fanOutStatus } from '../../../src/domain/fan-out/view.js';
import { aFanOut, anAgent, aTask } from '../../support/fan-out-bodies.js';
import { FanOutPlay, setupOf } from '../../support/fan-out-play.js';
import { amount } from '../../support/ledger-play.js';

const remote = { kind: 'http' as const, url: 'http://127.0.0.1' };
const script = { kind: 'scripted' as const, script: [{ final: 'x'.repeat(80) }] };
const combined = { value: 1, provenance: [], conflicts: [], agreement: null, notes: [], kept: null };
const score = { score: 1, scores: null, threshold: 0.8, below_threshold: false, feedback: '', failure: null };
const done = { outcome: 'completed' as const, output: 'x', kept: null };
const late = { outcome: 'failed' as const, code: 'ETIMEOUT', message: 'no answer' };

type Over = Parameters<typeof aFanOut>[0];
const play = (over: Over): FanOutPlay => new FanOutPlay(setupOf(aFanOut(over))).begin();
const five = ['t1', 't2', 't3', 't4', 't5'].map((id) => aTask(id));
const ends = (of: FanOutPlay, index: number, usage: Amount, outcome: typeof done | typeof late = done): FanOutPlay =>
  of.send({ type: 'WORKER', index, outcome, usage, attempt: 1 });
const askedFor = (of: FanOutPlay, type: 'fan_in' | 'score') => of.effects.findLast((effect) => effect.type === type);

describe('five workers', () => {
  test.each<[string, Over, number]>([
    [
      'of a remote agent run one at a time where money is limited',
      { agents: [anAgent('a', { adapter: remote })], budget: { max_usd: 9 } },
      1,
    ],
    ['of a remote agent run side by side without a limit', { agents: [anAgent('a', { adapter: remote })] }, 5],
    [
      'of a program run one at a time where tokens are limited',
      { agents: [anAgent('a', { adapter: { kind: 'command', argv: ['true'] } })], budget: { max_tokens: 90_000 } },
      1,
    ],
    [
      'of a program run side by side where only money is',
      { agents: [anAgent('a', { adapter: { kind: 'command', argv: ['true'] } })], budget: { max_usd: 9 } },
      5,
    ],
    [
      'of a script run side by side while all of them fit',
      { agents: [anAgent('a', { adapter: script })], budget: { max_tokens: 200 } },
      5,
    ],
    [
      'of a script are as many as fit, prompts and all',
      { agents: [anAgent('a', { adapter: script })], budget: { max_tokens: 70 } },
      3,
    ],
  ])('%s', (_, over, started) => {
    expect(play({ ...over, fan_out: { tasks: five } }).started).toHaveLength(started);
  });

  test('that are shown an input hold it, as it is part of what they are asked', () => {
    const tasks = five.map(({ task_id }) =>
      aTask(task_id, { input_artifacts: [{ path: 'a.txt', content: 'x'.repeat(400) }] }),
    );
    expect(
      play({ agents: [anAgent('a', { adapter: script })], budget: { max_tokens: 300 }, fan_out: { tasks } }).started,
    ).toHaveLength(2);
  });
});

describe('who decides or scores', () => {
  const merged = {
    aggregation_strategy: 'merge' as const,
    conflict_resolution: 'orchestrator_decides' as const,
    adapter: remote,
  };
  const quality = { critic: { adapter: remote }, threshold: 0.8 };
  const body = {
    agents: [anAgent('a', { adapter: remote })],
    barrier: { timeout_ms: 1_000, min_completion_ratio: 0 },
    fan_out: { tasks: five.slice(0, 2) },
  };

  test('waits for what was given up, as it still holds the budget, and says so', () => {
    const of = play({ ...body, budget: { max_usd: 1 }, fan_in: merged });
    ends(of, 0, amount(5)).pass(1_000);
    expect([of.fanOut.state, askedFor(of, 'fan_in')]).toEqual(['FANNING_IN', undefined]);
    expect(fanOutStatus(of.fanOut).waiting).toMatchObject({
      for: 'budget',
      detail: expect.stringContaining('given up'),
    });
    ends(of, 1, amount(5));
    expect(askedFor(of, 'fan_in')).not.toHaveProperty('refused');
    expect(fanOutStatus(of.fanOut).waiting).toMatchObject({ for: 'lane' });
  });
  test('is not asked once a limit is passed: the first value stands, and the score is missing', () => {
    const of = play({ ...body, budget: { max_usd: 1 }, fan_in: { ...merged, quality } });
    ends(of, 0, amount(5, 1_500_000)).pass(1_000);
    expect(of.states()).toBe('COMPLETED, FAILED');
    expect(askedFor(of, 'fan_in')).toMatchObject({
      refused: expect.stringMatching(/^EBUDGET: the budget has passed its limit/),
    });
    of.send({ type: 'COMBINED', combined, usage: noAmount });
    expect([of.fanOut.state, askedFor(of, 'score')]).toEqual(['COMPLETED', undefined]);
    expect(of.fanOut.result?.quality?.failure).toMatch(/^EBUDGET: .*; the critic was not asked$/);
  });
  test('holds its part while it is asked, and is told what is left for a second time', () => {
    const of = play({ ...body, budget: { max_tokens: 1_000 }, fan_in: { ...merged, quality } });
    ends(of, 0, amount(10));
    ends(of, 1, amount(10));
    expect(of.fanOut.ledger.calls).toHaveLength(1);
    of.send({ type: 'COMBINED', combined, usage: amount(7) });
    expect(askedFor(of, 'score')).toMatchObject({ left: { tokens: 973, usdMicros: null } });
    of.send({ type: 'SCORED', score, usage: amount(3) });
    expect([of.fanOut.ledger.calls, fanOutStatus(of.fanOut).spend.tokens]).toEqual([[], 30]);
  });
  test('holds nothing where nobody said the most that it can use, as in work of before', () => {
    const setup = setupOf(aFanOut({ ...body, budget: { max_tokens: 1_000 }, fan_in: { ...merged, quality } }));
    const before = JSON.parse(
      JSON.stringify(setup, (key, value: unknown) => (key === 'most' ? undefined : value)),
    ) as typeof setup;
    const of = new FanOutPlay(before).begin();
    expect(of.started).toHaveLength(2);
    ends(of, 0, amount(10)).pass(1_000);
    expect([of.fanOut.ledger.calls, askedFor(of, 'fan_in')]).toEqual([
      [],
      { type: 'fan_in', completed: [0], maxTokens: 990 },
    ]);
  });
});

const move = fc.record({
  of: fc.constantFrom('end', 'end', 'end', 'pass'),
  pick: fc.nat(),
  tokens: fc.nat(1_200),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
});

describe('what a fan-out has spent', () => {
  test('never passes a limit by more than one call, whoever runs, is given up, decides or scores', () => {
    let passed = 0;
    let scored = 0;
    const agents = [
      anAgent('a', { adapter: remote }),
      anAgent('b', { adapter: script }),
      anAgent('c', { adapter: { kind: 'command', argv: ['true'] } }),
    ];
    const claim = fc.property(
      fc.integer({ min: 0, max: 1_500 }),
      fc.array(fc.nat(2), { minLength: 1, maxLength: 9 }),
      fc.array(move, { maxLength: 30 }),
      (max_tokens, of, moves) => {
        const tasks = of.map((agent, index) => aTask(`t${index}`, { agent: 'abc'[agent]! }));
        const it = play({
          agents,
          budget: { max_tokens },
          fan_out: { strategy: 'topic_based', tasks },
          barrier: { timeout_ms: 1_000, min_completion_ratio: 0 },
          fan_in: {
            aggregation_strategy: 'merge',
            conflict_resolution: 'orchestrator_decides',
            adapter: remote,
            quality: { critic: { adapter: script }, threshold: 0.5 },
          },
        });
        let spent = noAmount;
        let largest = 0;
        const told = new Set<string>();
        const uses = (tokens: number): Amount => {
          spent = add(spent, amount(tokens));
          largest = Math.max(largest, tokens);
          return amount(tokens);
        };
        for (const { of: what, pick, tokens, share } of moves) {
          if (what === 'pass') it.pass(600);
          const open = it.effects
            .flatMap((effect) =>
              effect.type === 'run_worker'
                ? [`${effect.index}`]
                : effect.type === 'fan_in' || effect.type === 'score'
                  ? [effect.type]
                  : [],
            )
            .filter((each) => !told.has(each));
          const one = open[pick % Math.max(1, open.length)];
          if (what !== 'end' || one === undefined) continue;
          told.add(one);
          const { tasks: planned, fanIn } = it.fanOut.setup;
          if (one === 'fan_in') {
            const asked = askedFor(it, 'fan_in');
            const isRefused = asked?.type === 'fan_in' && asked.refused !== undefined;
            it.send({ type: 'COMBINED', combined, usage: isRefused ? noAmount : uses(tokens) });
          } else if (one === 'score') {
            scored += 1;
            const most = estimateOf(fanIn.quality!.critic.most!, 400).tokens;
            it.send({ type: 'SCORED', score, usage: uses(Math.floor(most * share)) });
          } else {
            const index = Number(one);
            const isScript = planned[index]!.agentId === 'b';
            const most = isScript
              ? estimateOf(it.fanOut.setup.agents[1]!.caller!.most!, planned[index]!.prompt.length).tokens
              : tokens;
            ends(it, index, uses(isScript ? Math.floor(most * share) : most));
          }
          if (spent.tokens > max_tokens) passed += 1;
          expect(fanOutStatus(it.fanOut).spend.tokens).toBe(spent.tokens);
          expect(spent.tokens).toBeLessThanOrEqual(max_tokens + largest);
        }
      },
    );
    fc.assert(claim, { seed: 29, numRuns: 300 });
    expect(passed).toBeGreaterThan(20);
    expect(scored).toBeGreaterThan(10);
  });
});

describe('the time of a fan-out', () => {
  const timed = {
    agents: [anAgent('a', { adapter: script })],
    budget: { max_seconds: 60 },
    fan_out: { tasks: five.slice(0, 3), max_concurrent: 2 },
  };
  const limitsOf = (of: FanOutPlay): number[] =>
    of.effects.flatMap((effect) => (effect.type === 'run_worker' ? [effect.timeoutMs] : []));

  test('is what its workers have at most, from when it began', () => {
    const of = new FanOutPlay(setupOf(aFanOut(timed)));
    of.send({ type: 'START' }).pass(10_000).send({ type: 'PREPARED' });
    expect([limitsOf(of), nextDue(of.fanOut)]).toEqual([[50_000, 50_000], 61_000]);
    of.pass(20_000).end('t1');
    expect(limitsOf(of)).toEqual([50_000, 50_000, 30_000]);
  });
  test.each<[string, object, number]>([
    ['the barrier is over first', { barrier: { timeout_ms: 5_000 } }, 5_000],
    ['it is over first', {}, 60_000],
  ])('gives its workers what is left where %s', (_, over, left) => {
    expect(limitsOf(play({ ...timed, ...over }))).toEqual([left, left]);
  });
  test('ends what runs and what waits, as a budget that is gone; enough that have completed are combined', () => {
    const of = play({ ...timed, barrier: { min_completion_ratio: 0.3 } })
      .end('t1')
      .pass(60_000);
    expect(of.fanOut.tasks.slice(1).map(({ state, reason }) => [state, reason?.code])).toEqual([
      ['CANCELLED', 'EBUDGET'],
      ['CANCELLED', 'EBUDGET'],
    ]);
    expect(of.fanOut.tasks[1]?.reason?.message).toBe("it was given up, as the budget's time of 60 seconds is used up");
    expect(of.fanOut.state).toBe('FANNING_IN');
    expect(of.combine().fanOut.result).toMatchObject({ partial: true, completed: ['t1'], missing: ['t2', 't3'] });
    expect(fanOutStatusSchema.parse(fanOutStatus(of.fanOut)).time).toMatchObject({
      max_ms: 60_000,
      elapsed_ms: 60_000,
      left_ms: 0,
      ends_at: null,
    });
  });
  test('fails it by EBUDGET where too few have completed', () => {
    const of = play(timed).pass(60_000);
    expect([of.fanOut.state, of.fanOut.error?.code]).toEqual(['FAILED', 'EBUDGET']);
    expect(of.fanOut.error?.message).toMatch(/0 of 3 tasks completed.*60 seconds/);
  });
  test('gives a worker up that ended with it just before the clock of the work did', () => {
    const of = play({ ...timed, fan_out: { tasks: [aTask('t1')] } });
    of.now += 60_000;
    ends(of, 0, amount(4), late);
    expect(of.fanOut.tasks[0]).toMatchObject({ state: 'CANCELLED', endedAt: of.now, reason: { code: 'EBUDGET' } });
    expect([of.fanOut.error?.code, of.fanOut.ledger.calls, fanOutStatus(of.fanOut).spend.tokens]).toEqual([
      'EBUDGET',
      [],
      4,
    ]);
  });
  test('ends it before any worker runs, where nothing is prepared in time', () => {
    const of = new FanOutPlay(setupOf(aFanOut(timed))).send({ type: 'START' });
    expect(nextDue(of.fanOut)).toBe(61_000);
    of.pass(60_000);
    expect([of.fanOut.state, of.fanOut.error, of.effects.at(-1)]).toEqual([
      'FAILED',
      { code: 'EBUDGET', message: "the budget's time of 60 seconds is used up" },
      { type: 'stop' },
    ]);
  });
  test('ends it so, too, where what was prepared is heard of before the clock', () => {
    const of = new FanOutPlay(setupOf(aFanOut(timed))).send({ type: 'START' });
    of.now += 60_000;
    of.send({ type: 'PREPARED' });
    expect([of.fanOut.state, of.fanOut.error?.code, limitsOf(of)]).toEqual(['FAILED', 'EBUDGET', []]);
  });
  test('is what an orchestrator and a critic have at most; once it is over neither is asked', () => {
    const fan_in = {
      aggregation_strategy: 'merge' as const,
      conflict_resolution: 'orchestrator_decides' as const,
      adapter: script,
      quality: { critic: { adapter: script }, threshold: 0.5 },
    };
    const of = play({ ...timed, fan_in, fan_out: { tasks: [aTask('t1')] } });
    of.pass(20_000).end('t1');
    expect(askedFor(of, 'fan_in')).toMatchObject({ timeoutMs: 40_000 });
    of.now += 40_000;
    of.send({ type: 'COMBINED', combined, usage: noAmount });
    expect([of.fanOut.state, askedFor(of, 'score')]).toEqual(['COMPLETED', undefined]);
    expect(of.fanOut.result?.quality?.failure).toMatch(/^EBUDGET: .*60 seconds is used up; the critic was not asked$/);
  });
  test('stands still while all that run wait for a person of their tenant, and that of the barrier too', () => {
    const waits = (call: string, tenant: string | null = 'acme') => ({ type: 'PERSON_AWAITED' as const, call, tenant });
    const of = play({ ...timed, barrier: { timeout_ms: 50_000 }, fan_out: { tasks: [aTask('t1'), aTask('t2')] } });
    const elapsed = (): unknown => fanOutStatus(of.fanOut).time?.elapsed_ms;
    of.now += 10_000;
    of.send(waits('task 0'));
    of.now += 10_000;
    // The other one is at work still.
    expect([of.send({ type: 'TICK' }).fanOut.waiting?.for, elapsed()]).toEqual(['lane', 20_000]);
    of.send(waits('task 1'));
    expect([nextDue(of.fanOut), of.fanOut.waiting?.for]).toEqual([null, 'person']);
    of.pass(9_000_000);
    expect([of.fanOut.state, elapsed()]).toEqual(['RUNNING', 20_000]);
    expect(fanOutStatusSchema.parse(fanOutStatus(of.fanOut)).waiting).toMatchObject({
      for: 'person',
      detail: '2 calls wait for an answer whether tenant acme may use more',
    });
    of.send(waits('task 0', null));
    expect([nextDue(of.fanOut), of.fanOut.waiting?.for]).toEqual([of.now + 30_000, 'lane']);
    // Who is at work ends, and nobody is but who waits.
    of.now += 1_000;
    of.end('t1');
    expect([of.fanOut.waiting?.for, elapsed()]).toEqual(['person', 21_000]);
    of.pass(9_000_000).send(waits('task 1', null)).end('t2');
    expect([of.fanOut.state, elapsed()]).toEqual(['FANNING_IN', 21_000]);
    of.send(waits('fan_in')).pass(9_000_000);
    expect([of.fanOut.waiting?.for, elapsed()]).toEqual(['person', 21_000]);
    of.send(waits('fan_in', null)).combine();
    expect([of.fanOut.state, elapsed()]).toEqual(['COMPLETED', 21_000]);
  });
  test('is no limit where none is given: nothing is told of it, and no effect has it', () => {
    const of = play({ ...timed, budget: {} });
    of.end('t1').end('t2').end('t3');
    expect([fanOutStatus(of.fanOut), askedFor(of, 'fan_in')]).toEqual([
      expect.not.objectContaining({ time: expect.anything() }),
      { type: 'fan_in', completed: [0, 1, 2], maxTokens: null },
    ]);
  });
});
