import fc from 'fast-check';
import type { OpenFanOutBody } from '../../../src/contracts/fan-out.js';
import { fanOutStatusSchema, type WorkerArtifact } from '../../../src/contracts/fan-out-status.js';
import { isOver } from '../../../src/domain/fan-out/fan-out.js';
import { forkFanOut } from '../../../src/domain/fan-out/fork.js';
import type { FanOutSetup } from '../../../src/domain/fan-out/setup.js';
import { spentOf } from '../../../src/domain/work-account.js';
import type { FanOutState } from '../../../src/domain/fan-out/state.js';
import { fanOutStatus } from '../../../src/domain/fan-out/view.js';
import { anAgent, tasks } from '../../support/fan-out-bodies.js';
import { FanOutPlay, setupOf } from '../../support/fan-out-play.js';

const dayMs = 86_400_000;

/** A fork, with everything that has room begun; its setup is the old one's but for `change`. */
const forked = (work: FanOutState, change: Partial<FanOutSetup> = {}): FanOutPlay => {
  const setup = { ...work.setup, id: 'fork-1', ...change };
  const play = new FanOutPlay(setup);
  play.now += dayMs;
  play.fanOut = forkFanOut(work, setup, play.now).work;
  return play.begin();
};
const kept = (play: FanOutPlay): string[] =>
  play.fanOut.completed.map((index) => play.fanOut.setup.tasks[index]?.taskId ?? '');
const withTask = (
  work: FanOutState,
  taskId: string,
  change: Partial<FanOutSetup['tasks'][number]>,
): Partial<FanOutSetup> => ({
  tasks: work.setup.tasks.map((task) => (task.taskId === taskId ? { ...task, ...change } : task)),
});
const withAgent = (work: FanOutState, change: Partial<FanOutSetup['agents'][number]>): Partial<FanOutSetup> => ({
  agents: work.setup.agents.map((agent) => ({ ...agent, ...change })),
});

const five = (more: Partial<OpenFanOutBody['fan_out']> = {}): FanOutSetup =>
  setupOf({
    fan_out: { strategy: 'round_robin', tasks: tasks(5), ...more },
    barrier: { min_completion_ratio: 0.2, partial_mode: true },
  });

/** t1 has failed; t3 and then t2 have completed; t4 and t5 run. */
const begun = (): FanOutPlay => new FanOutPlay(five()).begin().fail('t1').end('t3').end('t2');

describe('a fork of a fan-out', () => {
  test('keeps what completed, in its order, and runs the rest', () => {
    const fork = forked(begun().fanOut);
    expect([kept(fork), fork.started]).toEqual([
      ['t3', 't2'],
      ['t1', 't4', 't5'],
    ]);
    expect(fork.events).toContainEqual(
      expect.objectContaining({
        event: 'log',
        data: expect.objectContaining({
          message: 'kept as they completed before the fork, and not run again: t3, t2',
        }) as unknown,
      }),
    );
    fork.end('t4').end('t1').end('t5').combine();
    expect(fork.fanOut.result).toMatchObject({ value: ['t3', 't2', 't4', 't1', 't5'], partial: false, failed: [] });
    // Calls of the one agent: two whose answers are kept, then three more.
    expect(fork.effects.flatMap((effect) => (effect.type === 'run_worker' ? [effect.callsBefore] : []))).toEqual([
      2, 3, 4,
    ]);
  });

  test.each<[string, (work: FanOutState) => Partial<FanOutSetup>, string[]]>([
    ['nothing', () => ({}), ['t3', 't2']],
    ['the prompt of a task', (work) => withTask(work, 't2', { prompt: 'other' }), ['t3']],
    ['the inputs of a task', (work) => withTask(work, 't3', { inputs: ['a.txt'] }), ['t2']],
    ['who does a task', (work) => withTask(work, 't3', { agentId: 'b' }), ['t2']],
    [
      'the adapter of a task',
      (work) =>
        withTask(work, 't3', {
          caller: { ...work.setup.agents[0]!.caller!, adapter: { kind: 'command', argv: ['x'] } },
        }),
      ['t2'],
    ],
    ['the priority of a task', (work) => withTask(work, 't3', { priority: 9 }), ['t3', 't2']],
    ['instructions', (work) => withAgent(work, { instructions: 'be brief' }), []],
    ['a schema', (work) => withAgent(work, { schema: { type: 'object' } }), []],
    [
      'the adapter of the agent',
      (work) =>
        withAgent(work, { caller: { ...work.setup.agents[0]!.caller!, adapter: { kind: 'command', argv: ['x'] } } }),
      [],
    ],
    ['an output key', (work) => withAgent(work, { outputKey: 'k' }), ['t3', 't2']],
    ['the tenant', () => ({ tenant: 'other' }), []],
    ['a task taken away', ({ setup }) => ({ tasks: setup.tasks.filter(({ taskId }) => taskId !== 't3') }), ['t2']],
    ['the order of the tasks', ({ setup }) => ({ tasks: setup.tasks.toReversed() }), ['t3', 't2']],
    ['the fan-in', ({ setup }) => ({ fanIn: { ...setup.fanIn, strategy: 'consensus' } }), ['t3', 't2']],
  ])('with %s changed keeps what it does not concern', (_, change, expected) => {
    const { fanOut } = begun();
    const fork = forked(fanOut, change(fanOut));
    expect(kept(fork)).toEqual(expected);
    expect(fork.started.filter((taskId) => expected.includes(taskId))).toEqual([]);
    expect(fork.started.length + expected.length).toBe(fork.fanOut.setup.tasks.length);
    for (const index of fork.fanOut.completed) {
      expect(fork.fanOut.tasks[index]?.output).toBe(fork.fanOut.setup.tasks[index]?.taskId);
    }
  });

  test('whose tasks have all completed goes to its fan-in once it is prepared', () => {
    const whole = new FanOutPlay(setupOf()).begin().end('t1').end('t2').end('t3').combine();
    const fork = forked(whole.fanOut);
    expect([fork.fanOut.state, fork.effects.map(({ type }) => type)]).toEqual(['FANNING_IN', ['prepare', 'fan_in']]);
    expect(fork.combine().fanOut.result).toEqual(whole.fanOut.result);
  });

  test('has the whole time of its barrier, a spend of its own, and takes an answer that came late', () => {
    const play = begun().pass(five().barrier.timeout_ms).end('t4');
    expect(play.fanOut.tasks[3]).toMatchObject({ state: 'COMPLETED', late: true });
    const fork = forked(play.fanOut);
    expect([kept(fork), spentOf(fork.fanOut.ledger)]).toEqual([['t3', 't2', 't4'], { tokens: 0, usdMicros: 0 }]);
    expect(fork.fanOut.deadlineAt).toBe(fork.now + fork.fanOut.setup.barrier.timeout_ms);
    expect(fork.states()).toBe('RUNNING, COMPLETED, COMPLETED, COMPLETED, RUNNING');
  });

  test('gives places to the tasks that it runs alone', () => {
    const setup = five({ max_concurrent: 1, queue_overflow: 'reject', queue_limit: 1 });
    const play = new FanOutPlay(setup).begin();
    expect(play.states()).toBe('RUNNING, QUEUED, REJECTED, REJECTED, REJECTED');
    const fork = forked(play.end('t1').end('t2').fanOut);
    expect(fork.states()).toBe('COMPLETED, COMPLETED, RUNNING, QUEUED, REJECTED');
    expect(fork.end('t3').started).toEqual(['t3', 't4']);
  });

  test('keeps files and where a large answer is', () => {
    const large = { sha256: 'a'.repeat(64), size_bytes: 100_000 };
    const file: WorkerArtifact = { path: 'x', hash: `sha256:${'b'.repeat(64)}`, size_bytes: 3 };
    const left = { artifacts: [file], cut: null };
    const outcome = { outcome: 'completed' as const, output: null, kept: large };
    const play = new FanOutPlay(five()).begin();
    play.send({ type: 'WORKER', index: 1, outcome, usage: { tokens: 7, usdMicros: 0 }, attempt: 1, left });
    expect(forked(play.fanOut).fanOut.tasks[1]).toMatchObject({ kept: large, artifacts: [file] });
  });

  test('names twenty of those that it keeps', () => {
    const many = setupOf({
      agents: [anAgent('a')],
      fan_out: { strategy: 'round_robin', tasks: tasks(22), max_concurrent: 5 },
    });
    const play = new FanOutPlay(many).begin();
    for (let count = 1; count <= 22; count += 1) play.end(`t${count}`);
    const said = forked(play.fanOut).events.flatMap((event) => (event.event === 'log' ? [event.data.message] : []));
    expect(said).toEqual([expect.stringMatching(/t1, .*, t20 and 2 more$/)]);
  });
});

const random = fc.record({
  tasks: fc.integer({ min: 1, max: 6 }),
  max_concurrent: fc.integer({ min: 1, max: 4 }),
  overflow: fc.constantFrom('wait' as const, 'reject' as const, 'priority_evict' as const),
  fails: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
  moves: fc.array(fc.constantFrom('end', 'end', 'end', 'end', 'pass', 'cancel'), { maxLength: 8 }),
});
type Random = typeof random extends fc.Arbitrary<infer T> ? T : never;

const endOne = (play: FanOutPlay, fails: readonly boolean[]): void => {
  const index = play.fanOut.tasks.findIndex(({ state }) => state === 'RUNNING');
  const taskId = play.fanOut.setup.tasks[index]?.taskId;
  if (taskId === undefined) return;
  if (fails[Number(taskId.slice(1)) - 1]) play.fail(taskId);
  else play.end(taskId);
};
const finish = (play: FanOutPlay, fails: readonly boolean[]): FanOutPlay => {
  for (let left = 10; left > 0 && play.fanOut.state === 'RUNNING'; left -= 1) endOne(play, fails);
  return play.fanOut.state === 'FANNING_IN' ? play.combine() : play;
};
const setupFor = ({ tasks: count, max_concurrent, overflow }: Random): FanOutSetup =>
  setupOf({
    fan_out: {
      strategy: 'round_robin',
      tasks: tasks(count),
      max_concurrent,
      queue_overflow: overflow,
      ...(overflow !== 'wait' && { queue_limit: 1 }),
    },
    barrier: { partial_mode: true, min_completion_ratio: 0.1, timeout_ms: 1_000 },
  });

describe('a fork of a fan-out, from whatever point of it,', () => {
  test('runs no task whose answer it keeps, ends, and has what its original has', () => {
    const claim = fc.property(random, (given) => {
      const setup = setupFor(given);
      const play = new FanOutPlay(setup);
      const moments: FanOutState[] = [play.fanOut];
      const watch = (): void => void moments.push(play.fanOut);
      play.send({ type: 'START' });
      watch();
      play.send({ type: 'PREPARED' });
      watch();
      for (const move of given.moves) {
        if (isOver(play.fanOut)) break;
        play.now += 7;
        if (move === 'end') endOne(play, given.fails);
        else if (move === 'pass') play.pass(1_000);
        else play.send({ type: 'CANCEL' });
        watch();
      }
      finish(play, given.fails);
      watch();
      const whole = finish(new FanOutPlay(setup).begin(), given.fails);
      for (const work of moments) {
        const fork = forked(work);
        const again = forked(fork.fanOut);
        for (const each of [fork, again]) {
          const held = kept(each);
          finish(each, given.fails);
          expect(isOver(each.fanOut)).toBe(true);
          expect(each.started.filter((taskId) => held.includes(taskId))).toEqual([]);
          expect(fanOutStatusSchema.safeParse(fanOutStatus(each.fanOut)).error).toBeUndefined();
          if (setup.overflow !== 'wait') continue;
          const { result, state } = each.fanOut;
          expect([state, result?.completed, result?.failed]).toEqual([
            whole.fanOut.state,
            whole.fanOut.result?.completed,
            whole.fanOut.result?.failed,
          ]);
        }
      }
    });
    fc.assert(claim, { seed: 9, numRuns: 100 });
  });
});
