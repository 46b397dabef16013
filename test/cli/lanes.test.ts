import { startModelServer } from '../support/model-server.js';
import { modelsOf } from '../../src/cli/models.js';
import { defaultTeam, namedTeam } from '../../src/cli/lanes.js';
import { openSessionSchema } from '../../src/contracts/session.js';

const adapters = async (env: Record<string, string>): Promise<string[]> =>
  defaultTeam('Which colour?', await modelsOf(env)).lanes.map(({ adapter }) =>
    'model' in adapter ? `${adapter.kind}/${adapter.model}` : adapter.kind,
  );

describe('the lanes of an ask', () => {
  test.each([
    ['simulated personas without a key', {}, ['simulated', 'simulated', 'simulated', 'simulated']],
    ['one model three times', { PARLEY_ASK_MODELS: 'openai/m' }, ['openai/m', 'openai/m', 'openai/m']],
    [
      'several models once each',
      { PARLEY_ASK_MODELS: 'openai/m, anthropic/c,openai-compatible/org/l,openai/n' },
      ['openai/m', 'anthropic/c', 'openai-compatible/org/l', 'openai/n'],
    ],
    [
      'a model of each provider with a key',
      { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' },
      ['openai/gpt-5-mini', 'anthropic/claude-haiku-4-5'],
    ],
    [
      'the models named, whatever keys there are',
      { OPENAI_API_KEY: 'k', PARLEY_ASK_MODELS: 'openai/m,openai/n' },
      ['openai/m', 'openai/n'],
    ],
  ])('are %s', async (_, env, wanted) => {
    expect(await adapters(env as Record<string, string>)).toEqual(wanted);
  });

  test('are the first model that the server at OPENAI_BASE_URL lists', async () => {
    const server = await startModelServer();
    try {
      const { data } = (await (await fetch(`${server.baseUrl}/models`)).json()) as { data: { id: string }[] };
      const model = `openai-compatible/${data[0]!.id}`;
      expect(await adapters({ OPENAI_BASE_URL: server.baseUrl })).toEqual([model, model, model]);
    } finally {
      await server.close();
    }
  });

  test('need a name when that server does not answer', async () => {
    await expect(modelsOf({ OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' })).rejects.toThrow(
      /127\.0\.0\.1:1\/v1\/models names no model .* name one in PARLEY_ASK_MODELS/,
    );
  });

  test.each([
    ['the default team', defaultTeam('Which colour?', [])],
    [
      'models of the environment',
      defaultTeam(
        'Which colour?',
        ['a', 'b', 'c', 'd'].map((model) => ({ kind: 'openai', model })),
      ),
    ],
    ['named lanes', namedTeam('Which colour?', ['simulated', 'simulated:large', 'openai:m'])],
  ])('of %s make a session that the contract accepts', (_, { lanes, agreement }) => {
    const body = { prompt: 'Which colour?', lanes, policy: { agreement } };
    expect(openSessionSchema.safeParse(body).error).toBeUndefined();
  });

  test.each(['gpt', 'oracle/x', 'openai/'])(
    'are refused for PARLEY_ASK_MODELS=%s with the form it wants',
    async (text) => {
      await expect(modelsOf({ PARLEY_ASK_MODELS: text })).rejects.toThrow(/write KIND\/MODEL with one of openai/);
    },
  );
});
