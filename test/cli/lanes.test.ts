import { defaultTeam, namedTeam } from '../../src/cli/lanes.js';
import { openSessionSchema } from '../../src/contracts/session.js';

const adapters = (env: Record<string, string>): string[] =>
  defaultTeam('Which colour?', env).lanes.map(({ adapter }) =>
    'model' in adapter ? `${adapter.kind}/${adapter.model}` : adapter.kind,
  );

describe('the lanes of an ask', () => {
  test.each([
    ['simulated personas without a key', {}, ['simulated', 'simulated', 'simulated', 'simulated']],
    [
      'simulated personas with a key but no model',
      { OPENAI_API_KEY: 'k' },
      ['simulated', 'simulated', 'simulated', 'simulated'],
    ],
    ['one model three times', { PARLEY_ASK_MODELS: 'openai/m' }, ['openai/m', 'openai/m', 'openai/m']],
    [
      'several models once each',
      { PARLEY_ASK_MODELS: 'openai/m, anthropic/c,openai-compatible/org/l,openai/n' },
      ['openai/m', 'anthropic/c', 'openai-compatible/org/l', 'openai/n'],
    ],
  ])('are %s', (_, env, wanted) => {
    expect(adapters(env as Record<string, string>)).toEqual(wanted);
  });

  test.each([
    ['the default team', defaultTeam('Which colour?', {})],
    [
      'models of the environment',
      defaultTeam('Which colour?', { PARLEY_ASK_MODELS: 'openai/a,openai/b,openai/c,openai/d' }),
    ],
    ['named lanes', namedTeam('Which colour?', ['simulated', 'simulated:large', 'openai:m'])],
  ])('of %s make a session that the contract accepts', (_, { lanes, agreement }) => {
    const body = { prompt: 'Which colour?', lanes, policy: { agreement } };
    expect(openSessionSchema.safeParse(body).error).toBeUndefined();
  });

  test('say what a key without a model lacks', () => {
    expect(defaultTeam('x', { OPENAI_API_KEY: 'k' }).note).toContain(
      'OPENAI_API_KEY is set, but PARLEY_ASK_MODELS names no model',
    );
  });

  test.each(['gpt', 'oracle/x', 'openai/'])('are refused for PARLEY_ASK_MODELS=%s with the form it wants', (text) => {
    expect(() => defaultTeam('x', { PARLEY_ASK_MODELS: text })).toThrow(/write KIND\/MODEL with one of openai/);
  });
});
