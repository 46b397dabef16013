import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { retryAfterMs } from '../../activities/governor/governed-fetch.js';
import { createGovernorMetrics } from '../../activities/governor/metrics.js';
import { mostTokens } from '../../activities/governor/tokens.js';
import type { Adapter } from '../../src/contracts/adapter.js';
import { loadConfig } from '../../src/config.js';
import { isForgettable, silentAt, silentWorkers } from '../../src/domain/governor/presence.js';
import { isSaid } from '../../src/domain/governor/said.js';
import { providerLabel, providerOf } from '../../src/provider.js';
import { limitsFor } from '../../src/settings/limits.js';
import { GovernorPlay } from '../support/governor-play.js';
import { scratchFolder } from '../support/scratch.js';

const settingsOf = (text: string) => loadConfig({ PARLEY_PROVIDER_LIMITS: text }).limits;

describe('PARLEY_PROVIDER_LIMITS', () => {
  const text = '{"providers":{"lab":{"requests":60},"free":null},"weights":{"acme":2}}';

  test('is JSON, or a file that holds it', () => {
    const file = join(scratchFolder(), 'limits.json');
    writeFileSync(file, text);
    expect(settingsOf(file)).toEqual(settingsOf(text));
    expect(settingsOf(text)).toMatchObject({
      providers: { lab: { requests: 60, concurrency: 10 } },
      weights: { acme: 2 },
    });
  });
  test.each([
    ['lab', true, 10],
    ['lab', false, 10],
    ['free', true, null],
    ['unnamed', true, 10],
    ['simulated', false, null],
    ['toString', false, null],
  ])('gives %s, a model: %s, so many calls at a time: %s', (provider, isModel, concurrency) => {
    expect(limitsFor(settingsOf(text), provider, isModel)?.concurrency ?? null).toBe(concurrency);
  });
  test.each([
    ['mcp:orders', 3],
    ['mcp:wiki', 7],
    ['mcp:free', null],
    ['mcp', 7],
    ['a2a:agents.example.com', null],
    ['http:agents.example.com', null],
    ['toString:x', null],
  ])('gives %s, by its name or its kind, so many calls at a time: %s', (provider, concurrency) => {
    const given = '{"providers":{"mcp":{"concurrency":7},"mcp:orders":{"concurrency":3},"mcp:free":null}}';
    expect(limitsFor(settingsOf(given), provider, false)?.concurrency ?? null).toBe(concurrency);
  });
  test.each(['http:', 'http:Example.com', 'a2a:https://example.com', 'http:example.com/path', 'a2a:example.com:80'])(
    'refuses %s, which is no host as a URL has it',
    (name) => {
      expect(() => settingsOf(JSON.stringify({ providers: { [name]: {} } }))).toThrow(/must be (http|a2a):HOST or/);
    },
  );
  test.each(['http:me:sesame@example.com', 'a2a:https://me:sesame@example.com/'])(
    'shows nobody who calls, where %s stands in place of a host',
    (name) => {
      const settings = () => settingsOf(JSON.stringify({ providers: { [name]: {} } }));
      expect(settings).toThrow(/…@example\.com\/?: must be/);
      expect(settings).not.toThrow(/sesame/);
    },
  );
  test.each(['http:example.com', 'a2a:127.0.0.1:8080', 'http:[::1]:8080', 'mcp:Orders', 'my:lab'])('takes %s', (name) =>
    expect(Object.keys(settingsOf(JSON.stringify({ providers: { [name]: {} } })).providers)).toEqual([name]),
  );
  test('tells every fault at once', () => {
    const faulty = '{"providers":{"lab":{"requests":0,"tokenz":1}},"weights":{"acme":-1}}';
    expect(() => settingsOf(faulty)).toThrow(/lab\.requests[\s\S]*lab: [\s\S]*tokenz[\s\S]*weights\.acme/);
    expect(() => settingsOf('{"providers"')).toThrow(/must be JSON such as/);
    expect(() => settingsOf('/none/such.json')).toThrow(/ENOENT/);
  });
});

test.each<[Adapter, string, string]>([
  [{ kind: 'openai', model: 'm' }, 'openai', 'openai'],
  [{ kind: 'openai-compatible', provider: 'lab', model: 'm' }, 'lab', 'lab'],
  [{ kind: 'external' }, 'external', 'external'],
  [{ kind: 'http', url: 'https://Agents.Example.com:443/a?key=secret' }, 'http:agents.example.com', 'http'],
  [{ kind: 'a2a', url: 'http://me:secret@127.0.0.1:8080/card.json' }, 'a2a:127.0.0.1:8080', 'a2a'],
  [{ kind: 'a2a', url: 'http://münchen.example' }, 'a2a:xn--mnchen-3ya.example', 'a2a'],
  [{ kind: 'mcp', server: 'orders', tool: 't', arguments: {}, prompt_argument: null }, 'mcp:orders', 'mcp'],
])('whoever answers %j is %s, and counted as %s', (adapter, provider, label) => {
  expect([providerOf(adapter), providerLabel(adapter)]).toEqual([provider, label]);
});

describe('what is counted of calls', () => {
  test('is summed by what their limits are named by', async () => {
    const registry = new Registry();
    const metrics = createGovernorMetrics(registry);
    const [one, other] = [metrics.of('http:a', 'http'), metrics.of('http:b', 'http')];
    const underWay = async (): Promise<number | undefined> =>
      (await registry.getSingleMetric('parley_provider_calls')?.get())?.values.find(
        ({ labels }) => labels['provider'] === 'http' && labels['state'] === 'under_way',
      )?.value;
    one.counted({ waiting: 0, underWay: 2 });
    other.counted({ waiting: 1, underWay: 3 });
    expect(await underWay()).toBe(5);
    one.counted({ waiting: 0, underWay: 0 });
    expect(await underWay()).toBe(3);
    metrics.of('lab', null).counted({ waiting: 0, underWay: 4 });
    expect(await registry.metrics()).toContain('parley_provider_calls{provider="lab",state="under_way"} 4');
  });
});

describe('what a provider says of waiting', () => {
  const now = Date.parse('2026-05-01T00:00:00Z');
  test.each([
    [{ 'retry-after': '2' }, 2_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '120', 'retry-after': '9' }, 120],
    [{ 'retry-after': 'Fri, 01 May 2026 00:00:07 GMT' }, 7_000],
    [{ 'retry-after': 'Thu, 30 Apr 2026 00:00:07 GMT' }, 0],
    [{ 'retry-after': 'soon' }, null],
    [{}, null],
  ])('in %j is %s ms', (headers, milliseconds) => {
    expect(retryAfterMs(new Headers(headers as Record<string, string>), now)).toBe(milliseconds);
  });
});

test.each([
  ['', 0],
  ['abcd', 2],
  ['abc', 2],
  ['日本', 4],
  ['a日', 3],
])('%j is at most %i tokens', (text, tokens) => expect(mostTokens(text)).toBe(tokens));

describe('a worker of which nothing is heard', () => {
  test('is gone after a lease, where calls of it wait', () => {
    const play = new GovernorPlay({ limits: { requests: 1, tokens: null, concurrency: null } });
    play.want({ id: 'a', worker: 'w1' }, { id: 'b', worker: 'w2' });
    const { leaseMs } = play.state.settings;
    const heard = { w1: play.now, w2: play.now + 1 };
    expect(silentAt(play.state, heard)).toBe(play.now + leaseMs);
    expect(silentWorkers(play.state, heard, play.now + leaseMs)).toEqual([{ type: 'dead', worker: 'w1' }]);
    expect(isForgettable(play.state, play.now)).toBe(false);
  });
  test('loses what it does not name when it is heard', () => {
    const play = new GovernorPlay({ limits: { requests: null, tokens: null, concurrency: 5 } });
    play.want({ id: 'a', worker: 'w1' }, { id: 'b', worker: 'w1' });
    play.now += play.state.settings.leaseMs - 1;
    play.say([{ type: 'alive', worker: 'w1', ids: ['b'] }]);
    play.after(1);
    expect(play.state.grants.map(({ id }) => id)).toEqual(['b']);
  });
});

test.each([
  [null, false],
  [{ worker: 'w', events: [] }, true],
  [{ worker: 'w', events: {} }, false],
  [{ worker: 'w', events: [{ type: 'unheard of' }] }, false],
  [{ worker: 'w', events: [{ type: 'toString' }] }, false],
  [{ worker: 'w', events: [{ type: 'withdrawn', id: 'a' }] }, true],
  [
    {
      worker: 'w',
      events: [{ type: 'wanted', demand: { id: 'a', tenant: 't', model: 'm', worker: 'w', tokens: 1, tier: 'tin' } }],
    },
    false,
  ],
  [{ worker: 'w', events: [], settings: { provider: 'p' } }, false],
])('%j is what workers say: %s', (said, isOne) => expect(isSaid(said)).toBe(isOne));
