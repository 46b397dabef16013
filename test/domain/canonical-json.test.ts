import type { Json } from '../../src/contracts/frames.js';
import { canonicalJson, digestOf } from '../../src/domain/canonical-json.js';

describe('canonical JSON', () => {
  test.each<[Json, string]>([
    [{ b: 1, a: [{ d: null, c: 'x' }] }, '{"a":[{"c":"x","d":null}],"b":1}'],
    [{ é: 1, z: 2, A: 3 }, '{"A":3,"z":2,"é":1}'],
    [[], '[]'],
    [{}, '{}'],
    ['a"b', '"a\\"b"'],
    [JSON.parse('{"__proto__":{"x":1}}') as Json, '{"__proto__":{"x":1}}'],
    // Numbers and strings of RFC 8785, 3.2.2.
    [
      JSON.parse('[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001]') as Json,
      '[333333333.3333333,1e+30,4.5,0.002,1e-27]',
    ],
    ['€$\u000f\nA\'B"\\"/', '"€$\\u000f\\nA\'B\\"\\\\\\"/"'],
    [-0, '0'],
  ])('of %j is %s', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
    expect(canonicalJson(JSON.parse(text))).toBe(text);
  });

  test('sorts names by UTF-16 units, as RFC 8785, 3.2.3 shows', () => {
    const value = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 };
    expect(canonicalJson(value)).toBe('{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}');
  });

  test('leaves out members that are undefined', () => {
    expect(canonicalJson({ b: undefined, a: 1 })).toBe('{"a":1}');
  });

  test.each<[string, unknown]>([
    ['NaN', Number.NaN],
    ['Infinity', [Number.POSITIVE_INFINITY]],
    ['bigint', { a: 1n }],
    ['function', () => 1],
    ['undefined', [undefined]],
  ])('refuses %s, which JSON cannot say', (name, value) => {
    expect(() => canonicalJson(value)).toThrow(`JSON has no ${name}.`);
  });

  test('gives equal values equal digests, whatever the order of their members', () => {
    expect(digestOf({ a: 1, b: [2] })).toBe(digestOf({ b: [2], a: 1 }));
    expect(digestOf({ a: 1 })).not.toBe(digestOf({ a: 2 }));
    expect(digestOf({})).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
  });
});
