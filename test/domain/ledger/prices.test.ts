import { overriddenPrice, priceAt, wholeMicros } from '../../../src/domain/ledger/prices.js';

const at = (text: string): number => Date.parse(text);
const price = (input: number, from?: string) => ({ input, output: 0, ...(from === undefined ? {} : { from }) });

describe('a price', () => {
  const dated = [price(3, '2026-03-01'), price(1), price(2, '2026-01-31')];
  test.each([
    ['1999-01-01T00:00:00Z', 1],
    ['2026-01-30T23:59:59.999Z', 1],
    ['2026-01-31T00:00:00Z', 2],
    ['2026-02-28T23:59:59.999Z', 2],
    ['2026-03-01T00:00:00Z', 3],
    ['2030-01-01T00:00:00Z', 3],
  ])('at %s is %i, whatever the order of the list', (when, input) => {
    expect(priceAt(dated, at(when))?.input).toBe(input);
    expect(priceAt(dated.toReversed(), at(when))?.input).toBe(input);
  });
  test('is unknown before the first day, and the later of two for one day', () => {
    expect(priceAt([price(1, '2026-01-01')], at('2025-12-31T23:59:59Z'))).toBeNull();
    expect(priceAt([price(1, '2026-01-01'), price(2, '2026-01-01')], at('2026-01-01T00:00:00Z'))?.input).toBe(2);
  });
  const overrides = {
    'mine/one': price(1),
    'mine/later': [price(2, '2027-01-01')],
    'mine/*': [price(7)],
    'other/soon': price(3, '2027-01-01'),
  };
  test.each([
    ['mine', 'one', 1],
    ['mine', 'later', 7],
    ['mine', 'unheard-of', 7],
    ['other', 'soon', undefined],
    ['other', 'one', undefined],
    ['toString', 'x', undefined],
  ])('of %s/%s is %p by the configuration', (provider, model, input) => {
    expect(overriddenPrice(overrides, provider, model, at('2026-06-01T00:00:00Z'))?.input).toBe(input);
  });
});

describe('the cost of a call', () => {
  test.each([
    [0, 0],
    [0.000_000_1, 1],
    [0.000_001, 1],
    [0.000_001_2, 2],
    [0.1 + 0.2, 300_000],
    [0.000_3, 300],
    [1.1e-6 + 2.2e-6 - 0.3e-6, 3],
    [123.456_789, 123_456_789],
  ])('of %d dollars is %i whole millionths', (usd, micros) => {
    expect(wholeMicros(usd)).toBe(micros);
  });
});
