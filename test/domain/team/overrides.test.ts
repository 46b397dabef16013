import { adapterSchema } from '../../../src/contracts/adapter.js';
import type { Json } from '../../../src/contracts/frames.js';
import { answering } from '../../../src/domain/team/answering.js';
import { overridden, overridesOf } from '../../../src/domain/team/overrides.js';

describe('overrides of a model', () => {
  test.each<[Record<string, Json>, object]>([
    [{}, {}],
    [{ temperature: 0 }, { temperature: 0 }],
    [
      { temperature: 2, max_tokens: 1, model: 'small' },
      { temperature: 2, maxTokens: 1, model: 'small' },
    ],
  ])('%j are taken', (given, overrides) => {
    expect(overridesOf(given)).toEqual({ overrides });
  });

  test.each<[Record<string, Json>, [string, string][]]>([
    [{ temperature: 2.1 }, [['temperature', 'must be a number from 0 to 2; got 2.1']]],
    [{ temperature: '1' }, [['temperature', 'must be a number from 0 to 2; got "1"']]],
    [{ max_tokens: 0 }, [['max_tokens', 'must be a whole number from 1 to 1000000; got 0']]],
    [{ max_tokens: 1.5 }, [['max_tokens', 'must be a whole number from 1 to 1000000; got 1.5']]],
    [{ model: ' ' }, [['model', 'must be the name of a model, of at most 200 characters; got " "']]],
    [{ model: null }, [['model', 'must be the name of a model, of at most 200 characters; got null']]],
    [
      { top_p: 1, seed: [1] },
      [
        ['top_p', 'cannot be overridden; there are temperature, max_tokens and model; got 1'],
        ['seed', 'cannot be overridden; there are temperature, max_tokens and model; got [1]'],
      ],
    ],
  ])('%j are refused, with every fault', (given, faults) => {
    expect(overridesOf(given)).toEqual({ faults: faults.map(([path, message]) => ({ path: [path], message })) });
  });

  test('stand before what the adapter of a model says', () => {
    const adapter = adapterSchema.parse({ kind: 'openai', model: 'large', temperature: 1 });
    expect(overridden(adapter, { temperature: 0, maxTokens: 50, model: 'small' })).toEqual({
      kind: 'openai',
      model: 'small',
      temperature: 0,
      max_tokens: 50,
    });
    expect(overridden(adapter, {})).toEqual(adapter);
  });

  test.each<[string, Record<string, Json>, number]>([
    ['4096 where nobody says', {}, 4096],
    ['as many as the overrides say', { max_tokens: 50 }, 50],
    ['4096 where the overrides are faulty', { max_tokens: 0 }, 4096],
  ])('leave a model %s tokens for its answer', (_, given, tokens) => {
    const adapter = adapterSchema.parse({ kind: 'anthropic', model: 'large' });
    expect(answering(adapter, given)).toMatchObject({ max_tokens: tokens });
  });

  test('mean nothing to who is no model', () => {
    const adapter = adapterSchema.parse({ kind: 'command', argv: ['echo'] });
    expect(overridden(adapter, { temperature: 0, model: 'small' })).toEqual(adapter);
  });
});
