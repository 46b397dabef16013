import { createPrices } from '../../../src/pricing.js';

describe('prices', () => {
  const prices = createPrices({
    'local/tiny': { input: 1, output: 2 },
    'local/*': { input: 3, output: 4 },
    'openai/gpt-4o': { input: 0, output: 0 },
  });

  test.each([
    ['local', 'tiny', { inputUsdPerMtok: 1, outputUsdPerMtok: 2 }],
    ['local', 'other', { inputUsdPerMtok: 3, outputUsdPerMtok: 4 }],
    ['openai', 'gpt-4o', { inputUsdPerMtok: 0, outputUsdPerMtok: 0 }],
  ])('of %s/%s are the configured ones', (provider, model, expected) => {
    expect(prices.priceOf(provider, model)).toEqual(expected);
  });

  test.each([
    ['openai', 'gpt-4o-mini', 0.15, 0.6],
    ['anthropic', 'claude-sonnet-4-5', 3, 15],
  ])('of %s/%s come from the table', (provider, model, input, output) => {
    const price = prices.priceOf(provider, model);
    expect(price?.inputUsdPerMtok).toBeCloseTo(input, 6);
    expect(price?.outputUsdPerMtok).toBeCloseTo(output, 6);
    expect(prices.cost(provider, model, 2000, 1000)).toBeCloseTo((2000 * input + 1000 * output) / 1e6, 9);
  });

  test.each([
    ['openai', 'no-such-model'],
    ['nowhere', 'gpt-4o'],
    ['openai-compatible', 'gpt-4o'],
    ['toString', 'x'],
  ])('of %s/%s are unknown, which is not zero', (provider, model) => {
    expect(prices.priceOf(provider, model)).toBeNull();
    expect(prices.cost(provider, model, 1000, 1000)).toBeNull();
  });

  test('of a configured model add up by tokens', () => {
    expect(prices.cost('local', 'tiny', 1_000_000, 500_000)).toBe(2);
  });
  test.each([
    ['2025-06-09T23:59:59Z', 10, 40],
    ['2025-06-10T00:00:00Z', 2, 8],
  ])('of the table are those of the time of the call: o3 at %s', (at, input, output) => {
    expect(prices.priceOf('openai', 'o3', new Date(at))).toEqual({
      inputUsdPerMtok: expect.closeTo(input, 6) as number,
      outputUsdPerMtok: expect.closeTo(output, 6) as number,
    });
    expect(prices.cost('openai', 'o3', 1000, 1000, new Date(at))).toBeCloseTo((input + output) / 1000, 9);
  });

  test('of the configuration are those of the time of the call, and the table stands in before the first', () => {
    const dated = createPrices({ 'openai/o3': [{ from: '2026-01-01', input: 1, output: 1 }] });
    expect(dated.cost('openai', 'o3', 1_000_000, 0, new Date('2025-12-31T23:59:59Z'))).toBe(2);
    expect(dated.cost('openai', 'o3', 1_000_000, 0, new Date('2026-01-01T00:00:00Z'))).toBe(1);
  });
});
