import fc from 'fast-check';
import { loadConfig } from '../../src/config.js';
import { type Adapter, adapterSchema } from '../../src/contracts/adapter.js';
import { noAmount } from '../../src/domain/budget.js';
import { type BoundedCall, holdBounded, mostOfCalls } from '../../src/domain/call-most.js';
import { pricedCall } from '../../src/domain/priced-call.js';
import { scriptedUse } from '../../src/domain/scripted-use.js';
import { openWorkAccount, endCall, reservedOf, spentOf } from '../../src/domain/work-account.js';
import { createOperator } from '../../src/operator.js';
import { amount } from '../support/ledger-play.js';

const operator = createOperator(loadConfig({ PARLEY_PRICES: '{"lab/*":{"input":1,"output":10}}' }));
const callOf = (adapter: Adapter): BoundedCall => ({
  ...pricedCall(operator, 'acme', adapter).priced,
  most: mostOfCalls(operator, 'acme', adapter),
});
const limits = (maxTokens: number | null, maxUsdMicros: number | null = null) => ({ maxTokens, maxUsdMicros });
const parsed = (adapter: object): Adapter => adapterSchema.parse(adapter);
const scripted = (...script: object[]): Adapter => parsed({ kind: 'scripted', script });
const program = parsed({ kind: 'command', argv: ['true'] });
const remote = parsed({ kind: 'http', url: 'http://127.0.0.1' });
const model = parsed({ kind: 'openai-compatible', provider: 'lab', model: 'm', max_tokens: 100 });

describe('what a script may use', () => {
  test.each<[string, object[], object]>([
    [
      'states it',
      [{ final: 'x', usage: { tokens: 7, usd: 0.5 } }],
      { stated: { tokens: 7, usd: 0.5 }, answers: null, begun: null },
    ],
    ['says nothing of it', [{ final: 'x'.repeat(9) }], { answers: 3, begun: 3 }],
    [
      'streams before an answer that states it',
      [{ partial: 'x'.repeat(9) }, { final: 'y', usage: { tokens: 1 } }],
      { answers: null, begun: 3 },
    ],
    ['repeats what it streams', [{ partial: 'xx', repeat: 6 }, { final: 'y' }], { answers: 3, begun: 3 }],
    [
      'states it in one of its calls',
      [{ final: 'x'.repeat(8) }, { final: 'y', usage: { tokens: 1 } }],
      { answers: 2, begun: 2 },
    ],
    ['never answers', [{ partial: 'x'.repeat(8) }], { answers: 2, begun: 2 }],
    ['only pauses', [{ control: { status: 'PAUSE' } }], { answers: null, begun: null }],
  ])('that %s is what it states, or prompt and answer', (_, script, use) => {
    const adapter = scripted(...script);
    expect(adapter.kind === 'scripted' && scriptedUse(adapter.script)).toMatchObject(use);
  });
});

describe('a call', () => {
  const hold = (adapter: Adapter, of: ReturnType<typeof limits>, characters = 40) => {
    const held = holdBounded(openWorkAccount(of, 0), callOf(adapter), characters);
    return 'faults' in held
      ? held.faults
      : { reserved: reservedOf(held.ledger), alone: held.ledger.calls[0]!.overdraws.length > 0 };
  };
  test.each<[string, Adapter, ReturnType<typeof limits>, object | string[]]>([
    [
      'of a script holds its prompt and its answer',
      scripted({ final: 'four' }),
      limits(20),
      { reserved: amount(11), alone: false },
    ],
    [
      'of a script that states its use holds that',
      scripted({ final: 'x', usage: { tokens: 6 } }),
      limits(20),
      { reserved: amount(6), alone: false },
    ],
    [
      'of a model holds its longest answer, and a token a character',
      model,
      limits(null, 5_000),
      { reserved: amount(140, 1_040), alone: false },
    ],
    [
      'of a model that may not fit is held as it is likely to be, alone',
      model,
      limits(120),
      { reserved: amount(85, 760), alone: true },
    ],
    [
      'of a model that is likely not to fit is refused',
      model,
      limits(80),
      ['needs 85 tokens; 80 of max_tokens 80 are left'],
    ],
    ['of a remote agent is alone, whatever is limited', remote, limits(null, 1), { alone: true }],
    ['of a program is alone where tokens are limited', program, limits(1_000), { alone: true }],
    ['of a program goes beside others where only money is', program, limits(null, 1), { alone: false }],
    ['of nobody whose use is known is alone without limits', remote, limits(null), { alone: false }],
  ])('%s', (_, adapter, of, expected) => {
    const held = hold(adapter, of);
    if (Array.isArray(expected)) expect(held).toEqual(expected);
    else expect(held).toMatchObject(expected);
  });
  test('of work that began before the two were told apart holds what it is likely to use', () => {
    const { most: _, ...before } = callOf(remote);
    const held = holdBounded(openWorkAccount(limits(1_000), 0), before, 40);
    expect('ledger' in held && held.ledger.calls[0]).toMatchObject({ amount: amount(256), overdraws: [] });
  });
  test('that has to wait says so, and one that can never be made does not', () => {
    const first = holdBounded(openWorkAccount(limits(1_000), 0), callOf(remote), 40);
    if ('faults' in first) throw new Error(first.faults.join());
    expect(holdBounded(first.ledger, callOf(remote), 40)).toMatchObject({ mayWait: true });
    const passed = endCall(first.ledger, first.call, amount(2_000));
    expect(holdBounded(passed, callOf(remote), 40)).toMatchObject({ mayWait: false });
  });
});

const agents = [
  remote,
  program,
  model,
  scripted({ final: 'x'.repeat(40) }),
  parsed({ kind: 'simulated', answer: 'yes' }),
];
const move = fc.record({
  begins: fc.boolean(),
  agent: fc.nat(agents.length - 1),
  pick: fc.nat(),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
  free: fc.nat(3_000),
});

describe('what calls have spent', () => {
  test('never passes a limit by more than one of them, whoever races', () => {
    const calls = agents.map(callOf);
    let passed = 0;
    const claim = fc.property(
      fc.integer({ min: 0, max: 900 }),
      fc.option(fc.integer({ min: 0, max: 3_000 }), { nil: null }),
      fc.array(move, { maxLength: 60 }),
      (maxTokens, maxUsdMicros, moves) => {
        let ledger = openWorkAccount(limits(maxTokens, maxUsdMicros), 0);
        const open = new Map<number, { agent: number; characters: number }>();
        let largest = noAmount;
        for (const { begins, agent, pick, share, free } of moves) {
          if (begins) {
            const characters = pick % 200;
            const held = holdBounded(ledger, calls[agent]!, characters);
            if ('faults' in held) continue;
            ledger = held.ledger;
            open.set(held.call, { agent, characters });
            continue;
          }
          const [number, call] = [...open][pick % Math.max(1, open.size)] ?? [];
          if (number === undefined || !call) continue;
          open.delete(number);
          const { most, ...likely } = calls[call.agent]!;
          // A remote agent says what it likes, a program no price, all others at most what they can use.
          const bound = {
            tokens: most!.estimate.tokens + (most!.per1000Characters.tokens * call.characters) / 1000,
            usdMicros: most!.estimate.usdMicros,
          };
          const used =
            most!.unbounded === 'nothing'
              ? { tokens: Math.floor(bound.tokens * share), usdMicros: Math.floor(bound.usdMicros * share) }
              : { tokens: free, usdMicros: most!.unbounded === 'all' ? free : 0 };
          expect(likely.estimate.tokens).toBeGreaterThanOrEqual(0);
          largest = {
            tokens: Math.max(largest.tokens, used.tokens),
            usdMicros: Math.max(largest.usdMicros, used.usdMicros),
          };
          ledger = endCall(ledger, number, used);
          const spent = spentOf(ledger);
          if (spent.tokens > maxTokens) passed += 1;
          expect(spent.tokens).toBeLessThanOrEqual(maxTokens + largest.tokens);
          expect(spent.usdMicros).toBeLessThanOrEqual((maxUsdMicros ?? Infinity) + largest.usdMicros);
        }
      },
    );
    fc.assert(claim, { seed: 29, numRuns: 300 });
    expect(passed).toBeGreaterThan(20);
  });
});
