import { ConfigError, loadConfig } from '../../src/config.js';
import { isLoopback } from '../../src/settings/loopback.js';

const faultsOf = (environment: Record<string, string>): readonly { variable: string; message: string }[] => {
  try {
    loadConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
};

describe('the configuration', () => {
  test('of an empty environment is that of one machine', () => {
    expect(loadConfig({ HOST: '' })).toMatchObject({
      port: 3000,
      host: '127.0.0.1',
      temporal: { address: null, namespace: 'default', port: 7233, uiPort: 8233 },
      apiKeys: [],
      webUiUrl: 'http://127.0.0.1:8233',
      maxConcurrentTasks: 10,
      maxKeepaliveConnections: 20,
      maxConnections: 100,
      useBackgroundAgents: true,
      logLevel: 'info',
    });
  });

  test('reports every bad variable together, with what would be right and what was given', () => {
    expect(
      faultsOf({
        PORT: 'three',
        TEMPORAL_ADDRESS: 'here',
        LOG_LEVEL: 'loud',
        PARLEY_WINDOW: '{',
        PARLEY_RATE_LIMIT: '0',
      }),
    ).toEqual([
      { variable: 'PORT', message: 'must be a whole number from 0 to 65535; got "three"' },
      { variable: 'TEMPORAL_ADDRESS', message: 'must be host:port such as 127.0.0.1:7233; got "here"' },
      { variable: 'PARLEY_WINDOW', message: expect.stringContaining('must be JSON such as {"max_parallel":20') },
      { variable: 'PARLEY_RATE_LIMIT', message: 'must be a whole number from 1 to 1000000; got "0"' },
      { variable: 'LOG_LEVEL', message: expect.stringContaining('must be trace, debug, info') },
    ]);
  });

  test('tells what variables lack together beside what is wrong with one of them', () => {
    const variables = (environment: Record<string, string>) => faultsOf(environment).map(({ variable }) => variable);
    const lacking = { HOST: '0.0.0.0', PARLEY_DEPLOYMENT: 'a' };
    expect(variables({ ...lacking, LOG_LEVEL: 'loud' })).toEqual(['LOG_LEVEL', 'PARLEY_BUILD_ID', 'HOST']);
    expect(variables({ ...lacking, PARLEY_POLICY: '{' })).toEqual(['PARLEY_POLICY', 'PARLEY_BUILD_ID', 'HOST']);
    expect(variables({ ...lacking, PARLEY_API_KEYS: '{' })).toEqual(['PARLEY_API_KEYS', 'PARLEY_BUILD_ID']);
    expect(variables({ PARLEY_ARTIFACTS_URL: 'nowhere' })).toEqual([
      'PARLEY_ARTIFACTS_URL',
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
    ]);
  });

  test('says what a name in JSON has to be', () => {
    const messages = (environment: Record<string, string>) => faultsOf(environment).map(({ message }) => message);
    expect(messages({ PARLEY_PRICES: '{"x":{"input":1,"output":2}}' })).toEqual([
      expect.stringMatching(/^x: a name must be provider\/model or provider\/\*;/),
    ]);
    expect(messages({ PARLEY_PROVIDER_LIMITS: '{"weights":{"a b":1}}' })).toEqual([
      expect.stringMatching(/^weights\.a b: must be 1 to 64 letters/),
    ]);
  });

  test.each<[string, string[]]>([
    ['hooks.example.com', ['hooks.example.com']],
    [
      ' Hooks.Example.com , *.internal.example.com,10.0.0.7,',
      ['hooks.example.com', '*.internal.example.com', '10.0.0.7'],
    ],
    ['[::1],fd00::7', ['::1', 'fd00::7']],
  ])('reads the hosts of webhooks from "%s"', (text, hosts) => {
    expect(loadConfig({ PARLEY_WEBHOOK_HOSTS: text }).webhooks).toEqual({ hosts, retryMs: 86_400_000 });
  });

  test.each(['https://hooks.example.com', 'a b', '*', '*.*.example', 'hooks.example.com:443', ','])(
    'refuses "%s" as hosts of webhooks',
    (text) => {
      expect(faultsOf({ PARLEY_WEBHOOK_HOSTS: text })).toEqual([
        { variable: 'PARLEY_WEBHOOK_HOSTS', message: expect.stringContaining('must be host names or addresses') },
      ]);
    },
  );

  test.each(['0.0.0.0', '10.0.0.1', '::', 'parley.example'])('refuses to listen on %s without keys', (host) => {
    expect(faultsOf({ HOST: host })).toEqual([
      { variable: 'HOST', message: expect.stringContaining('PARLEY_API_KEYS') },
    ]);
    expect(faultsOf({ HOST: host, PARLEY_API_KEYS: 'me:0123456789abcdef' })).toEqual([]);
  });

  test.each<[string, boolean]>([
    ['127.0.0.1', true],
    ['127.1.2.3', true],
    ['::1', true],
    ['[::1]', true],
    ['LOCALHOST', true],
    ['127.0.0.1.evil.example', false],
    ['0.0.0.0', false],
  ])('takes %s for loopback: %s', (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
  });

  test.each(['me:0123456789abcdef, you:fedcba9876543210', '{"me":"0123456789abcdef","you":"fedcba9876543210"}'])(
    'keeps the keys of %s as hashes only',
    (text) => {
      const { apiKeys } = loadConfig({ PARLEY_API_KEYS: text });
      expect(apiKeys.map(({ name, sha256 }) => [name, sha256.length])).toEqual([
        ['me', 32],
        ['you', 32],
      ]);
      expect(JSON.stringify(apiKeys)).not.toContain('0123456789abcdef');
    },
  );

  test.each<[string, string]>([
    ['PARLEY_API_KEYS', 'me:tooshort'],
    ['PARLEY_API_KEYS', 'nonamehere12345678'],
    ['PARLEY_LANE_SECRET', 'tooshort'],
    ['PARLEY_BUS_URL', 'mysql://user:hunter2@host'],
  ])('refuses %s without showing it', (variable, value) => {
    const faults = faultsOf({ [variable]: value });
    expect(faults).toHaveLength(1);
    for (const shown of ['tooshort', 'nonamehere', 'hunter2']) expect(faults[0]?.message).not.toContain(shown);
  });

  test('reads trusted commands as beginnings of argv, and prices by provider and model', () => {
    const config = loadConfig({
      PARLEY_TRUSTED_COMMANDS: '["my-agent",["npm","test"]]',
      PARLEY_PRICES: '{"openai/x":{"input":1,"output":2}}',
    });
    expect(config.trustedCommands).toEqual([['my-agent'], ['npm', 'test']]);
    expect(config.prices).toEqual({ 'openai/x': [{ input: 1, output: 2 }] });
    expect(faultsOf({ PARLEY_PRICES: '{"x":{"input":1,"output":2}}' })).toHaveLength(1);
    expect(faultsOf({ PARLEY_PRICES: '{"o/x":[{"from":"May","input":1,"output":2}]}' })).toEqual([
      {
        variable: 'PARLEY_PRICES',
        message: expect.stringMatching(/^o\/x\.0\.from: must be a day such as 2026-01-31;/),
      },
    ]);
  });
});
