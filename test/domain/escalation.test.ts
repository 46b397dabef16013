import { chooseReconciliation, type Needs } from '../../src/domain/adaptive.js';
import { chooseChallenger, escalationReason } from '../../src/domain/escalation.js';

describe('escalation', () => {
  const facts = { agreement: 0.6, groups: 1, threshold: 0.6, onDisagreement: false, answered: true };
  test.each<[Partial<typeof facts>, ReturnType<typeof escalationReason>]>([
    [{}, null],
    [{ agreement: 0.6 - 1e-10 }, null],
    [{ agreement: 0.1 + 0.2 + 0.3 }, null],
    [{ agreement: 0.59 }, 'low_confidence'],
    [{ groups: 2 }, null],
    [{ groups: 2, onDisagreement: true }, 'disagreement'],
    [{ onDisagreement: true }, null],
    [{ agreement: 0.5, groups: 2, onDisagreement: true }, 'low_confidence'],
    [{ agreement: 0, groups: 0, answered: false, onDisagreement: true }, null],
    [{ agreement: 0.9, threshold: 0.95 }, 'low_confidence'],
  ])('with %j is for %s', (change, reason) => {
    expect(escalationReason({ ...facts, ...change })).toBe(reason);
  });
});

describe('the challenger', () => {
  const champion = { quality: 0.7, cost: 10 };
  const contender = (name: string, quality: number, cost: number) => ({ name, quality, cost });
  test.each([
    ['nobody', [], undefined],
    ['one with a gain of exactly 0.02 at exactly 1.5 times the cost', [contender('a', 0.72, 15)], 'a'],
    ['nobody with less gain', [contender('a', 0.719, 5)], undefined],
    ['nobody at a higher cost', [contender('a', 0.99, 15.1)], undefined],
    ['the cheapest', [contender('a', 0.9, 12), contender('b', 0.75, 8), contender('c', 0.8, 9)], 'b'],
    ['the larger gain of equally cheap ones', [contender('a', 0.8, 9), contender('b', 0.9, 9)], 'b'],
    ['the first of equals', [contender('a', 0.8, 9), contender('b', 0.8, 9)], 'a'],
  ])('is %s', (_, challengers, name) => {
    expect(chooseChallenger(champion, challengers)?.name).toBe(name);
  });
});

describe('the adaptive choice', () => {
  const needs: Needs = { reconcileTimeoutMs: 30_000, qualityNeed: 0.5, costSensitivity: 0.5, personas: 2 };
  test.each<[Partial<Needs>, string]>([
    [{}, 'first_win'],
    [{ reconcileTimeoutMs: 9_999, qualityNeed: 1, costSensitivity: 1, personas: 9 }, 'first_win'],
    [{ reconcileTimeoutMs: 10_000, qualityNeed: 0.81, costSensitivity: 1, personas: 9 }, 'consensus'],
    [{ qualityNeed: 0.8, costSensitivity: 0.71, personas: 9 }, 'weighted_merge'],
    [{ qualityNeed: 0.8, costSensitivity: 0.7, personas: 4 }, 'arbiter'],
    [{ personas: 3 }, 'first_win'],
  ])('for %j is %s', (change, choice) => {
    expect(chooseReconciliation({ ...needs, ...change })).toBe(choice);
  });
});
