import { setTimeout as sleep } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { Registry } from 'prom-client';
import { createBudgetActivities } from '../../activities/budget-activities.js';
import { BudgetLine } from '../../activities/budgets/budget-line.js';
import type { BudgetLink } from '../../activities/budgets/link.js';
import { createBudgetMetrics } from '../../activities/budgets/metrics.js';
import { PersonAskedError } from '../../activities/budgets/port.js';
import type { BudgetAnswer, BudgetEvent, BudgetGrant, BudgetSaid } from '../../src/domain/tenant-budget/messages.js';
import { amount } from '../support/ledger-play.js';
import { budgetSettings } from '../support/tenant-budget-play.js';

const figures = { spent: amount(0), limits: { maxTokens: 100, maxUsdMicros: null } };
const grant = (number: number): Omit<BudgetGrant, 'worker'> => ({ number, since: 7, isCheaper: false });
const answers = (over: Partial<BudgetAnswer> = {}): BudgetAnswer => ({
  ...{ runId: 'r1', granted: [], refused: [], figures, heldMs: 0, waitMs: 0 },
  ...over,
});

/** A worker's line to a budget that answers what the test says, question by question; the last answer is repeated. */
const lineTo = (...given: (BudgetAnswer | Error)[]) => {
  const asked: BudgetSaid[] = [];
  const said: BudgetEvent[] = [];
  const link: BudgetLink = {
    exchange: async (_, message) => {
      asked.push(message);
      const answer = given[Math.min(asked.length, given.length) - 1]!;
      if (answer instanceof Error) throw answer;
      return await Promise.resolve(answer);
    },
    say: (_, { events }) => {
      said.push(...events);
      return Promise.resolve(figures);
    },
  };
  const metrics = createBudgetMetrics(new Registry(), () => true);
  const options = { settings: budgetSettings(), link, metrics, worker: 'w', onError: () => undefined };
  const line = new BudgetLine({ ...options, now: () => performance.now() });
  return { line, asked, said };
};
const call = { tenant: 'acme', amount: amount(5), isCapped: true, cheaper: null };
const never = new AbortController().signal;
const wanted = (said: BudgetSaid): number[] =>
  said.events.flatMap((event) => (event.type === 'wanted' ? [event.demand.number] : []));
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await sleep(5);
};

describe("a worker's line to the budget of a tenant", () => {
  test('asks again with all that waits where a question is lost, and says once more what it keeps to', async () => {
    const { line, asked } = lineTo(new Error('gone'), answers({ granted: [grant(1)] }));
    (await line.reserve(call, never)).end(amount(3));
    expect(asked.map(wanted)).toEqual([[1], [1, 1]]);
    expect(asked.every(({ settings }) => settings !== undefined)).toBe(true);
    await line.close();
  });
  test('says what a call used once, and gives back one that nobody waits for any more', async () => {
    const { line, said } = lineTo(answers({ granted: [grant(1), grant(9)] }));
    const reservation = await line.reserve(call, never);
    reservation.end(amount(3));
    reservation.end(amount(4));
    await until(() => said.length === 2);
    expect(said).toEqual([
      { type: 'ended', worker: 'w', number: 9, since: 7, used: amount(0) },
      { type: 'ended', worker: 'w', number: 1, since: 7, used: amount(3) },
    ]);
    await line.close();
  });
  test('tells again what waits to one that answers nothing: it may have forgotten it', async () => {
    const { line, asked } = lineTo(answers(), answers({ granted: [grant(1)] }));
    await line.reserve(call, never);
    expect(asked.map(wanted)).toEqual([[1], [1]]);
    await line.close();
  });
  test('asks by another number for a call whose number has been paid for', async () => {
    const { line, asked } = lineTo(
      answers({ refused: [{ number: 1, message: null }] }),
      answers({ granted: [grant(2)] }),
    );
    await line.reserve(call, never);
    expect(asked.map(wanted)).toEqual([[1], [2]]);
    await line.close();
  });
  test('gives a call that comes again back where a person is asked, with what it is to come again with', async () => {
    const refused = [{ number: 1, message: 'needs more', isAsked: true as const }];
    const { line, asked, said } = lineTo(answers({ refused }));
    await expect(line.reserve(call, never, true)).rejects.toEqual(new PersonAskedError('needs more', call));
    expect(asked[0]?.events).toMatchObject([{ type: 'wanted', demand: { number: 1, comesAgain: true } }]);
    await line.close();
    expect(said).toEqual([]);
  });
  test('refuses what waits when its worker stops, and what comes after that', async () => {
    const { line } = lineTo(answers({ waitMs: 60_000 }));
    const waiting = line.reserve(call, never);
    const refused = expect(waiting).rejects.toMatchObject({ code: 'EDRAINING' });
    await sleep(30);
    await line.close();
    await refused;
    await expect(line.reserve(call, never)).rejects.toMatchObject({ code: 'EDRAINING' });
  });
});

describe('the wait of work until a person has answered for the budget of its tenant', () => {
  const quiet = () => new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
  const waiting = (line: BudgetLine | null, environment = quiet()) => {
    const rules = line && { limitsTokens: true, cheaperModels: {} };
    const budgets = {
      rulesOf: () => rules,
      reserve: (...of: Parameters<BudgetLine['reserve']>) => line!.reserve(...of),
    };
    const { awaitBudget } = createBudgetActivities({ budgets });
    return environment.run(awaitBudget, call) as Promise<void>;
  };

  test('ends once the call may be made, and holds nothing itself: it does not come again, but waits', async () => {
    const { line, asked, said } = lineTo(answers(), answers({ granted: [grant(1)] }));
    await waiting(line);
    await until(() => said.length === 1);
    expect(said).toEqual([{ type: 'ended', worker: 'w', number: 1, since: 7, used: amount(0) }]);
    expect(asked[0]?.events).toEqual([{ type: 'wanted', demand: expect.not.objectContaining({ comesAgain: true }) }]);
    await line.close();
  });
  test('ends where the call is refused, which who makes it hears then, and where its tenant has no budget any more', async () => {
    const { line } = lineTo(answers({ refused: [{ number: 1, message: 'it was stopped by a person' }] }));
    await waiting(line);
    await line.close();
    await waiting(null);
  });
  test('is another worker’s where its own stops', async () => {
    const { line, asked } = lineTo(answers({ waitMs: 60_000 }));
    const refused = expect(waiting(line)).rejects.toMatchObject({ code: 'EDRAINING' });
    await until(() => asked.length > 0);
    await line.close();
    await refused;
  });
  test('is taken back where the work is cancelled', async () => {
    const { line, asked, said } = lineTo(answers({ waitMs: 60_000 }));
    const environment = quiet();
    const cancelled = expect(waiting(line, environment)).rejects.toThrow();
    await until(() => asked.length > 0);
    environment.cancel('CANCELLED');
    await cancelled;
    await until(() => said.length > 0);
    expect(said[0]).toEqual({ type: 'withdrawn', worker: 'w', number: 1 });
    await line.close();
  });

  test('is one of at most 100 in a worker; what comes then looks, and comes again later', async () => {
    let answer: () => void = () => {};
    const answered = new Promise<void>((resolve) => (answer = resolve));
    let ended = 0;
    const granted = { isCheaper: false, end: () => void (ended += 1) };
    let held = 0;
    let isAsked = true;
    const { awaitBudget } = createBudgetActivities({
      budgets: {
        rulesOf: () => ({ limitsTokens: true, cheaperModels: {} }),
        reserve: async (given, _, comesAgain) => {
          if (comesAgain === true && isAsked) throw new PersonAskedError('needs more', given);
          held += 1;
          if (isAsked) await answered;
          return granted;
        },
      },
    });
    const wait = () => quiet().run(awaitBudget, call) as Promise<void>;
    const waits = Array.from({ length: 100 }, wait);
    await until(() => held === 100);
    await expect(wait()).rejects.toMatchObject({ message: 'needs more', nextRetryDelay: 30_000, nonRetryable: false });
    isAsked = false;
    await wait();
    answer();
    await Promise.all(waits);
    isAsked = true;
    // There is room again.
    await Promise.all(Array.from({ length: 100 }, wait));
    expect([held, ended]).toEqual([201, 201]);
  });
});
