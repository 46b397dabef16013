import fc from 'fast-check';
import type { OpenExport } from '../../src/contracts/export.js';
import type { Json } from '../../src/contracts/frames.js';
import {
  changesBetween,
  differencesBetween,
  isFreshMember,
  valueAt,
  withChanges,
} from '../../src/domain/export/changes.js';
import { withoutSecrets } from '../../src/domain/export/secrets.js';

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;

describe('changes', () => {
  test('make the second of any two values out of the first', () => {
    fc.assert(
      fc.property(json, json, (from, to) => {
        expect(withChanges(from, changesBetween(from, to))).toEqual(to);
      }),
    );
  });

  test('are none between equal values, and some between others', () => {
    fc.assert(
      fc.property(json, json, (from, to) => {
        expect(differencesBetween(from, structuredClone(from))).toEqual([]);
        expect(differencesBetween(from, to).length === 0).toBe(JSON.stringify(from) === JSON.stringify(to));
      }),
    );
  });

  test.each<[Json, Json, object[]]>([
    [{ a: 1, b: [1, 2] }, { a: 1, b: [1, 3] }, [{ at: '/b/1', from: 2, to: 3 }]],
    [
      { b: [1, 2, 3] },
      { b: [1] },
      [
        { at: '/b/1', from: 2 },
        { at: '/b/2', from: 3 },
      ],
    ],
    [{ 'a/b': { '~': 1 } }, { 'a/b': { '~': 2 } }, [{ at: '/a~1b/~0', from: 1, to: 2 }]],
    [
      { a: 1 },
      { b: 1 },
      [
        { at: '/a', from: 1 },
        { at: '/b', to: 1 },
      ],
    ],
    [{ a: null }, { a: { b: 1 } }, [{ at: '/a', from: null, to: { b: 1 } }]],
  ])('from %j to %j are %j', (from, to, differences) => {
    expect(differencesBetween(from, to)).toEqual(differences);
  });

  test('know a member that is new from an entry that is', () => {
    const from = { a: [1] };
    const [entry, member] = differencesBetween(from, { a: [1, 2], b: 1 });
    expect([isFreshMember(from, entry!), isFreshMember(from, member!)]).toEqual([false, true]);
  });
});

describe('an export without secrets', () => {
  const cleaned = (setup: Json, told: Json): OpenExport =>
    withoutSecrets({
      setup,
      request: null,
      outcome: null,
      checkpoints: null,
      redactions: [],
      story: [{ values: [told], summary: null, message: null }],
      runs: [],
    } as unknown as OpenExport);

  test.each<[string, string]>([
    ['use sk-abcdefghij0123456789', 'use [redacted]'],
    ['ghp_0123456789abcdefghijABCDEFGHIJ012345', '[redacted]'],
    ['AKIAIOSFODNN7EXAMPLE is it', '[redacted] is it'],
    ['Authorization: Bearer abcdefghijkl0123', 'Authorization: Bearer [redacted]'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl', '[redacted]'],
    ['postgres://anna:pass@host/db', 'postgres://[redacted]@host/db'],
    ['https://host/a?x=1&api_key=abc&y=2', 'https://host/a?x=1&api_key=[redacted]&y=2'],
    ['curl --token abc def', 'curl --token [redacted] def'],
    ['-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----', '[redacted]'],
    ['the task-force asked about skills', 'the task-force asked about skills'],
    ['basic questions, and 12 tokens', 'basic questions, and 12 tokens'],
  ])('makes of %j: %j', (told, left) => {
    const { story } = cleaned(null, told);
    expect(story[0]!.values).toEqual([left]);
  });

  test.each<[Json, Json, Json]>([
    [{ apiKey: 'short1' }, 'short1 again', '[redacted] again'],
    [{ githubToken: 'abcdef', adapterKey: 'scripted:a' }, 'abcdef scripted:a', '[redacted] scripted:a'],
    [{ lane_keys: { a: 'k-123456' } }, { a: 'k-123456' }, { a: '[redacted]' }],
    [{ env: { A: 'value-42x' } }, { told: '"value-42x"' }, { told: '"[redacted]"' }],
    [{ headers: { a: 'application/json' } }, 'application/json', 'application/json'],
    [{ tokens: 12, max_tokens: 5 }, 'tokens', 'tokens'],
  ])('with the setup %j makes of %j: %j', (setup, told, left) => {
    expect(cleaned(setup, told).story[0]!.values).toEqual([left]);
  });

  test('keeps the shape of what it takes texts out of', () => {
    const { setup } = cleaned({ env: { A: 'x', N: 1, L: ['y', null] }, password: '' }, null);
    expect(setup).toEqual({ env: { A: '[redacted]', N: 1, L: ['[redacted]', null] }, password: '' });
    expect(valueAt(setup, '/env/L/1')).toBeNull();
  });
});
