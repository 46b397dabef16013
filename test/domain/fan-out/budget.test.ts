import fc from 'fast-check';
import { add, approximateTokens, budgetFaults, noAmount } from '../../../src/domain/budget.js';
import { fanOutStatus } from '../../../src/domain/fan-out/view.js';
import { estimateOf } from '../../../src/domain/priced-call.js';
import type { Amount } from '../../../src/domain/session/setup.js';
import { aFanOut, anAgent, aTask } from '../../support/fan-out-bodies.js';
import { FanOutPlay, setupOf } from '../../support/fan-out-play.js';

const tokens = fc.integer({ min: 0, max: 90 });
const random = fc.record({
  prompts: fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 8 }),
  says: fc.record({ tokens, usd: fc.constantFrom(0, 0.001, 0.02) }),
  max_tokens: fc.option(fc.integer({ min: 0, max: 400 }), { nil: undefined }),
  max_usd: fc.option(fc.constantFrom(0, 0.01, 0.05), { nil: undefined }),
  max_concurrent: fc.integer({ min: 1, max: 4 }),
  moves: fc.array(fc.record({ of: fc.constantFrom('end', 'end', 'end', 'pass', 'cancel'), pick: fc.nat(), tokens }), {
    maxLength: 14,
  }),
});
type Random = typeof random extends fc.Arbitrary<infer T> ? T : never;

/** What the budget of a fan-out comes to, kept by hand beside it: who holds how much, and what all have used. */
class Books {
  spent: Amount = noAmount;
  readonly held = new Map<number, Amount>();
  readonly play: FanOutPlay;
  private effects = 0;
  private events = 0;

  constructor({ prompts, says, max_tokens, max_usd, max_concurrent }: Random) {
    const script = [{ final: 'x', usage: says }];
    const tasks = prompts.map((length, index) => aTask(`t${index}`, { prompt: 'x'.repeat(length) }));
    const body = aFanOut({
      agents: [anAgent('a', { adapter: { kind: 'scripted', script } })],
      budget: { ...(max_tokens !== undefined && { max_tokens }), ...(max_usd !== undefined && { max_usd }) },
      fan_out: { tasks, max_concurrent },
      barrier: { timeout_ms: 1_000, min_completion_ratio: 0 },
    });
    this.play = new FanOutPlay(setupOf(body)).begin();
    this.look();
  }

  get ledger() {
    return {
      limits: this.play.fanOut.setup.budget,
      reserved: [...this.held.values()].reduce(add, noAmount),
      spent: this.spent,
    };
  }

  /** What each task that a step began was held and told, and what it was refused with, as these books have it. */
  look(): void {
    const { fanOut, effects, events } = this.play;
    const { setup } = fanOut;
    for (const event of events.slice(this.events)) {
      if (event.event !== 'task' || (event.data.reason?.code ?? 'EBUDGET') !== 'EBUDGET') continue;
      const index = setup.tasks.findIndex(({ taskId }) => taskId === event.data.task_id);
      const { prompt } = setup.tasks[index]!;
      const estimate = estimateOf(setup.agents[0]!.caller!, prompt.length);
      const faults = budgetFaults(this.ledger, estimate).map(({ message }) => message);
      if (event.data.state === 'FAILED') {
        expect([event.data.reason?.message, this.held.size]).toEqual([faults.join('; '), 0]);
        continue;
      }
      if (event.data.state !== 'RUNNING') continue;
      const effect = effects.slice(this.effects).find((each) => each.type === 'run_worker' && each.index === index);
      const { maxTokens } = setup.budget;
      const left =
        maxTokens === null ? null : Math.max(0, maxTokens - this.ledger.spent.tokens - this.ledger.reserved.tokens);
      const most = left === null ? null : Math.max(1, left - approximateTokens(prompt));
      expect([faults, effect]).toEqual([[], expect.objectContaining({ maxTokens: most })]);
      this.held.set(index, estimate);
    }
    [this.effects, this.events] = [effects.length, events.length];
  }

  end(index: number, usage: Amount): void {
    this.held.delete(index);
    this.spent = add(this.spent, usage);
    const outcome = { outcome: 'completed' as const, output: index, kept: null };
    this.play.send({ type: 'WORKER', index, outcome, usage, attempt: 1 });
    this.look();
  }
}

const untold = ({ play }: Books): number[] =>
  play.fanOut.tasks.flatMap(({ state, startedAt, late }, index) =>
    state === 'RUNNING' || (state === 'CANCELLED' && startedAt !== null && !late) ? [index] : [],
  );

describe('the budget of a fan-out, whatever happens,', () => {
  test('holds what its tasks may use until they have ended, given up or not, and tells what was used', () => {
    let refused = 0;
    let late = 0;
    const claim = fc.property(random, (given) => {
      const books = new Books(given);
      const { play } = books;
      const told = new Set<number>();
      for (const { of, pick, tokens: used } of given.moves) {
        const open = untold(books).filter((index) => !told.has(index));
        const index = open[pick % Math.max(1, open.length)];
        if (of === 'pass') play.pass(700);
        if (of === 'cancel' && pick % 4 === 0) play.send({ type: 'CANCEL' });
        if (of === 'end' && index !== undefined) {
          if (play.fanOut.tasks[index]?.state !== 'RUNNING') late += 1;
          told.add(index);
          books.end(index, { tokens: used, usdMicros: used * 100 });
        }
        books.look();
        expect(fanOutStatus(play.fanOut).spend.tokens).toBe(books.spent.tokens);
      }
      refused += play.fanOut.tasks.filter(({ reason }) => reason?.code === 'EBUDGET').length;
    });
    fc.assert(claim, { seed: 29, numRuns: 150 });
    expect(refused).toBeGreaterThan(20);
    expect(late).toBeGreaterThan(9);
  });

  test('holds what was given up until it has said what it used', () => {
    const script = [{ final: 'x', usage: { tokens: 60 } }];
    const agents = [anAgent('a', { adapter: { kind: 'scripted', script } })];
    const body = { agents, budget: { max_tokens: 200 }, fan_out: { tasks: [aTask('t1'), aTask('t2')] } };
    const play = new FanOutPlay(setupOf(aFanOut({ ...body, barrier: { timeout_ms: 1_000, min_completion_ratio: 0 } })));
    const outcome = { outcome: 'completed' as const, output: 1, kept: null };
    play.begin().send({ type: 'WORKER', index: 0, outcome, usage: { tokens: 50, usdMicros: 0 }, attempt: 1 });
    expect(play.pass(1_000).effects.at(-1)).toEqual({ type: 'fan_in', completed: [0], maxTokens: 90 });
    const combined = { value: 1, provenance: [], conflicts: [], agreement: null, notes: [], kept: null };
    play.send({ type: 'COMBINED', combined, usage: { tokens: 7, usdMicros: 1 } });
    expect(fanOutStatus(play.fanOut).spend).toEqual({ tokens: 57, usd: '0.000001' });
    play.send({ type: 'WORKER', index: 1, outcome, usage: { tokens: 9, usdMicros: 0 }, attempt: 1 });
    expect(fanOutStatus(play.fanOut).spend.tokens).toBe(66);
  });
});
