import { isOver } from '../../../src/domain/fan-out/fan-out.js';
import { artifactsOf, fanOutDetails, fanOutStatus } from '../../../src/domain/fan-out/view.js';
import { noAmount } from '../../../src/domain/budget.js';
import { fanOutStatusSchema } from '../../../src/contracts/fan-out-status.js';
import { fanOutEventSchema } from '../../../src/contracts/fan-out-events.js';
import { aFanOut, anAgent, aTask, scripted, tasks } from '../../support/fan-out-bodies.js';
import { FanOutPlay, setupOf } from '../../support/fan-out-play.js';

type Over = Parameters<typeof aFanOut>[0];
const play = (over: Over = {}): FanOutPlay => new FanOutPlay(setupOf(aFanOut(over))).begin();
const five = { fan_out: { tasks: tasks(5) } };
const resultOf = ({ fanOut }: FanOutPlay) => {
  const { partial, completed, failed, missing } = fanOut.result!;
  return { partial, completed, failed, missing };
};

describe('a fan-out', () => {
  test('runs as many at once as it may, and the next when one has ended', () => {
    const running = play({ fan_out: { tasks: tasks(4), max_concurrent: 2 } });
    expect(running.started).toEqual(['t1', 't2']);
    expect(running.end('t2').started).toEqual(['t1', 't2', 't3']);
    expect(running.states()).toBe('RUNNING, COMPLETED, RUNNING, QUEUED');
  });

  test('goes on the moment that the last has ended, in the order of completion', () => {
    const ended = play().end('t3').end('t1').end('t2');
    expect(ended.fanOut.state).toBe('FANNING_IN');
    expect(ended.fanOut.released).toEqual({ at: ended.now, by: 'settled' });
    ended.combine();
    expect(ended.fanOut).toMatchObject({ state: 'COMPLETED', result: { value: ['t3', 't1', 't2'] } });
    expect(resultOf(ended)).toEqual({ partial: false, completed: ['t1', 't2', 't3'], failed: [], missing: [] });
  });

  test('without tasks completes at once with an empty merge', () => {
    const empty = new FanOutPlay(setupOf(aFanOut({ fan_out: { tasks: [] } }))).send({ type: 'START' });
    expect(empty.fanOut).toMatchObject({ state: 'COMPLETED', result: { value: {}, partial: false } });
    expect(empty.effects).toEqual([]);
  });

  test('with half of them done goes on without the rest, and says who is missing', () => {
    const half = play({ fan_out: { tasks: tasks(4), max_concurrent: 3 } })
      .end('t1')
      .end('t2')
      .pass(300_000);
    expect(half.effects.at(-2)).toEqual({ type: 'stop' });
    expect(half.states()).toBe('COMPLETED, COMPLETED, CANCELLED, CANCELLED');
    half.combine();
    expect(resultOf(half)).toEqual({ partial: true, completed: ['t1', 't2'], failed: [], missing: ['t3', 't4'] });
  });

  test('a moment before the timeout waits', () => {
    expect(play(five).end('t1').end('t2').end('t3').pass(299_999).fanOut.state).toBe('RUNNING');
  });

  test('with two of five at the timeout fails with the reason of every worker', () => {
    const failed = play(five).end('t1').end('t2').fail('t3').pass(300_000);
    expect(failed.fanOut).toMatchObject({ state: 'FAILED', result: null, error: { code: 'ETIMEOUT' } });
    expect(failed.fanOut.error?.message).toMatch(
      /^2 of 5 tasks completed.*t3 \(a\) EAGENTDOWN: it broke; t4 \(a\) ETIMEOUT/,
    );
  });

  test('with failures decides once all have ended, not at the timeout', () => {
    const settled = play(five).end('t1').end('t2').fail('t3').fail('t4').end('t5').combine();
    expect(resultOf(settled)).toEqual({
      partial: true,
      completed: ['t1', 't2', 't5'],
      failed: ['t3', 't4'],
      missing: [],
    });
    expect(play(five).end('t1').end('t2').fail('t3').fail('t4').fail('t5').fanOut.error?.code).toBe('EAGENTDOWN');
  });

  test('without partial mode fails for one that is missing', () => {
    const strict = play({ barrier: { partial_mode: false } })
      .end('t1')
      .end('t2')
      .fail('t3');
    expect(strict.fanOut.state).toBe('FAILED');
    expect(strict.fanOut.error?.message).toContain('all of them, as partial_mode is off');
  });

  test('counts tasks that were refused among all', () => {
    const over = { fan_out: { tasks: tasks(3), max_concurrent: 1, queue_overflow: 'reject' as const, queue_limit: 0 } };
    const refused = play(over).end('t1');
    expect(refused.states()).toBe('COMPLETED, REJECTED, REJECTED');
    expect(refused.fanOut.state).toBe('FAILED');
  });

  test('records what comes after the barrier, and never merges it', () => {
    const late = play({ fan_out: { tasks: tasks(4) } })
      .end('t1')
      .end('t2')
      .pass(300_000)
      .end('t3')
      .combine()
      .fail('t4');
    expect(late.states()).toBe('COMPLETED, COMPLETED, COMPLETED late, FAILED late');
    expect(resultOf(late)).toEqual({ partial: true, completed: ['t1', 't2'], failed: [], missing: ['t3', 't4'] });
    expect(late.fanOut.result?.value).toEqual(['t1', 't2']);
    expect(fanOutStatus(late.fanOut).barrier).toMatchObject({ completed: 2, failed: 2, ratio: 0.5 });
  });

  test('counts a second outcome of one task, and takes the first', () => {
    expect(play().end('t1').fail('t1').fanOut).toMatchObject({ dropped: 1, completed: [0] });
  });

  test('keeps the answers of agents that take no part out of the fan-in', () => {
    const silent = anAgent('b', { template: { parallel: { aggregation_role: 'none' } } });
    const done = play({ agents: [anAgent('a'), silent] })
      .end('t1')
      .end('t2')
      .end('t3')
      .combine();
    expect(done.fanOut.result?.value).toEqual(['t1', 't3']);
  });

  test('is cancelled at every moment, and stops what runs', () => {
    for (const until of [
      new FanOutPlay(setupOf()).send({ type: 'START' }),
      play().end('t1'),
      play().end('t1').end('t2').end('t3'),
    ]) {
      until.send({ type: 'CANCEL' });
      expect(until.fanOut.state).toBe('CANCELLED');
      expect(until.effects.at(-1)).toEqual({ type: 'stop' });
      expect(until.fanOut.tasks.some(({ state }) => state === 'QUEUED' || state === 'RUNNING')).toBe(false);
    }
  });

  test('whose preparation or fan-in fails says why', () => {
    const fault = { type: 'FAULT', code: 'invalid_request', message: 'no such function' } as const;
    const prepared = new FanOutPlay(setupOf()).send({ type: 'START' }, { ...fault, of: 'prepare' });
    expect(prepared.fanOut).toMatchObject({ state: 'FAILED', error: { message: 'no such function' } });
    const combined = play()
      .end('t1')
      .end('t2')
      .end('t3')
      .send({ ...fault, of: 'fan_in' });
    expect(combined.fanOut).toMatchObject({ state: 'FAILED', error: { message: 'no such function' } });
  });

  test('flags a result that is below the threshold, or that nobody could score', () => {
    const quality = { critic: { adapter: scripted('x') }, threshold: 0.8 };
    const scoring = () => play({ fan_in: { quality } }).end('t1').end('t2').end('t3').combine();
    expect(scoring().fanOut.state).toBe('SCORING');
    const score = { score: 0.5, scores: null, threshold: 0.8, below_threshold: true, feedback: '', failure: null };
    expect(scoring().send({ type: 'SCORED', score, usage: noAmount }).fanOut.result?.quality).toEqual(score);
    const broken = scoring().send({ type: 'FAULT', of: 'score', code: 'EAGENTDOWN', message: 'gone' });
    expect(broken.fanOut).toMatchObject({
      state: 'COMPLETED',
      result: { quality: { score: null, below_threshold: true, failure: 'EAGENTDOWN: gone' } },
    });
  });

  test('starts no task that the budget does not hold, and fails it once nothing can be given back', () => {
    const adapter = { kind: 'scripted' as const, script: [{ final: 'x', usage: { tokens: 60 } }] };
    const agents = [anAgent('a', { adapter })];
    const poor = play({ agents, budget: { max_tokens: 100 }, fan_out: { tasks: [aTask('t1'), aTask('t2')] } });
    expect(poor.started).toEqual(['t1']);
    poor.send({
      type: 'WORKER',
      index: 0,
      outcome: { outcome: 'completed', output: 'x', kept: null },
      usage: { tokens: 60, usdMicros: 0 },
      attempt: 1,
    });
    expect(poor.fanOut.tasks[1]).toMatchObject({ state: 'FAILED', reason: { code: 'EBUDGET' } });
    expect(poor.fanOut.state).toBe('FANNING_IN');
  });

  test('that is held starts nothing new', () => {
    const held = play({ fan_out: { tasks: tasks(3), max_concurrent: 1 } });
    held.fanOut = { ...held.fanOut, held: true };
    expect(held.end('t1').started).toEqual(['t1']);
    held.fanOut = { ...held.fanOut, held: false };
    expect(held.send({ type: 'TICK' }).started).toEqual(['t1', 't2']);
  });
});

/** Repeatable noise (mulberry32). */
const randomOf = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
};

describe('whatever happens to a fan-out', () => {
  test.each(Array.from({ length: 60 }, (_, seed) => seed))('it holds to its rules (seed %i)', (seed) => {
    const random = randomOf(seed);
    const pick = <T>(...choices: T[]): T => choices[Math.floor(random() * choices.length)]!;
    const count = Math.floor(random() * 9);
    const policy = {
      max_concurrent: 1 + Math.floor(random() * 5),
      queue_overflow: pick<'wait' | 'reject' | 'priority_evict'>('wait', 'reject', 'priority_evict'),
      ...(random() < 0.5 && { queue_limit: Math.floor(random() * 4) }),
      tasks: Array.from({ length: count }, (_, index) => aTask(`t${index}`, { priority: Math.floor(random() * 3) })),
    };
    const barrier = { partial_mode: random() < 0.7, min_completion_ratio: pick(0, 0.5, 1), timeout_ms: 1_000 };
    const game = new FanOutPlay(setupOf(aFanOut({ fan_out: policy, barrier }))).send({ type: 'START' });
    if (game.fanOut.state === 'PREPARING') game.send({ type: 'PREPARED' });
    for (let turn = 0; turn < 60; turn += 1) {
      const any = `t${Math.floor(random() * Math.max(1, count))}`;
      const started = game.started.includes(any);
      const act = random();
      if (act < 0.5 && started) game.end(any);
      else if (act < 0.65 && started) game.fail(any);
      else if (act < 0.9) game.pass(Math.floor(random() * 80));
      else if (act < 0.91) game.send({ type: isOver(game.fanOut) ? 'TICK' : 'CANCEL' });
      else if (game.fanOut.state === 'FANNING_IN') game.combine();
      const { fanOut, started: begun } = game;
      const running = fanOut.tasks.filter(({ state }) => state === 'RUNNING').length;
      expect(running).toBeLessThanOrEqual(policy.max_concurrent);
      expect(new Set(begun).size).toBe(begun.length);
      expect(fanOut.result !== null).toBe(fanOut.state === 'COMPLETED');
      if (fanOut.state !== 'RUNNING' && fanOut.state !== 'PREPARING') expect(running).toBe(0);
      if (isOver(fanOut)) expect(fanOut.tasks.every(({ state }) => state !== 'QUEUED')).toBe(true);
      const { total, waiting, completed, failed } = fanOutStatus(fanOut).barrier;
      expect(waiting + completed + failed).toBe(total);
    }
    expect(fanOutStatusSchema.safeParse(fanOutStatus(game.fanOut)).error).toBeUndefined();
    for (const event of game.events) expect(fanOutEventSchema.safeParse(event).error).toBeUndefined();
    expect(fanOutDetails(game.fanOut)).toContain(game.fanOut.state);
    expect(game.events.filter(({ event }) => event === 'final' || event === 'error').length).toBeLessThanOrEqual(1);
  });
});

describe('files that workers left', () => {
  const file = (path: string, size_bytes: number) => ({ path, hash: `sha256:${'0'.repeat(64)}`, size_bytes });
  const ended = (template: object, ...sizes: number[]): FanOutPlay => {
    const left = { artifacts: sizes.map((size, index) => file(`output/${index}`, size)), cut: null };
    const outcome = { outcome: 'completed' as const, output: 1, kept: null };
    return play({ agents: [anAgent('a', { template })] }).send({
      type: 'WORKER',
      index: 1,
      outcome,
      usage: noAmount,
      attempt: 1,
      left,
    });
  };
  const inlined = (running: FanOutPlay): string =>
    artifactsOf(running.fanOut)
      .map(({ path, inline }) => `${path} ${inline}`)
      .join(', ');

  test.each<[string, object, number[], string]>([
    ['stand whole up to 16 kB', {}, [16_384, 16_385], 'a/t2/output/0 true, a/t2/output/1 false'],
    ['are left out', { checkpoint: { include_artifacts: false } }, [1], ''],
    [
      'stay references above max_size_kb',
      { checkpoint: { max_size_kb: 1 } },
      [1_024, 1_025],
      'a/t2/output/0 true, a/t2/output/1 false',
    ],
    [
      'stay references once there is a megabyte of them',
      { checkpoint: { max_size_kb: 1_024 } },
      [1_048_000, 577, 576],
      'a/t2/output/0 true, a/t2/output/1 false, a/t2/output/2 true',
    ],
  ])('%s in a checkpoint, as the template says', (_, template, sizes, said) => {
    expect(inlined(ended(template, ...sizes))).toBe(said);
  });

  test('are in the status of their task', () => {
    const running = ended({}, 5);
    expect(fanOutStatus(running.fanOut).tasks.map(({ artifacts }) => artifacts.length)).toEqual([0, 1, 0]);
  });
});

describe('a task that was begun again', () => {
  test('says so, with its attempt', () => {
    const again = play().send({
      type: 'WORKER',
      index: 0,
      outcome: { outcome: 'completed', output: 1, kept: null },
      usage: noAmount,
      attempt: 2,
    });
    expect(fanOutStatus(again.fanOut).tasks[0]?.attempt).toBe(2);
    expect(again.events).toContainEqual({
      event: 'log',
      data: {
        at: expect.any(String),
        message: 'task t1 was begun 2 times, as a worker process died in it: this is attempt 2',
      },
    });
  });
});
