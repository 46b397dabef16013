import {
  providerLimitsSchema,
  providerStatusSchema,
  tenantWeightsSchema,
} from '../../../src/contracts/provider-limits.js';
import { governorSettings } from '../../../src/domain/governor/settings.js';
import { providerStatus } from '../../../src/domain/governor/view.js';
import { GovernorPlay } from '../../support/governor-play.js';

describe('the limits of a provider', () => {
  test('are ten calls at a time and windows of a minute where nobody says', () => {
    const settings = governorSettings('openai', providerLimitsSchema.parse({}));
    expect(settings).toMatchObject({
      windowMs: 60_000,
      burst: 0.25,
      limits: { requests: null, tokens: null, concurrency: 10 },
      models: [],
      weights: [],
    });
  });
  test('are told for the provider, for models and for the weights of tenants', () => {
    const given = { requests: 60, tokens: 10_000, window_ms: 2_000, burst: 1, models: { large: { tokens: 500 } } };
    const settings = governorSettings('openai', providerLimitsSchema.parse(given), tenantWeightsSchema.parse({ a: 3 }));
    expect(settings).toMatchObject({
      windowMs: 2_000,
      agingMs: 2_000,
      limits: { requests: 60, tokens: 10_000, concurrency: 10 },
      models: [{ model: 'large', limits: { requests: null, tokens: 500, concurrency: null } }],
      weights: [{ tenant: 'a', weight: 3 }],
    });
  });
  test.each([
    [{ requests: 0 }, 'requests'],
    [{ burst: 0 }, 'burst'],
    [{ burst: 1.1 }, 'burst'],
    [{ window_ms: 1 }, 'window_ms'],
    [{ models: { m: { tokens: 1.5 } } }, 'models.m.tokens'],
    [{ models: { m: { burst: 1 } } }, 'models.m'],
  ])('of %j are refused for %s', (given, path) => {
    expect(providerLimitsSchema.safeParse(given).error?.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
  });
});

describe('the status of a provider', () => {
  test('says what is used of its limits and who waits', () => {
    const play = new GovernorPlay({
      limits: { requests: 10, tokens: 100, concurrency: 2 },
      breaker: { failures: 1, coolMs: 1_000, longestCoolMs: 1_000 },
    });
    play.now = Date.parse('2026-05-01T00:00:00Z');
    play.want({ id: 'a', tokens: 30 }, { id: 'b', tokens: 40, tenant: 'b' }, { id: 'c', tokens: 5, tenant: 'b' });
    const status = providerStatusSchema.parse(providerStatus(play.state, play.now));
    expect(status).toEqual({
      provider: 'acme',
      window_ms: 10_000,
      breaker: 'closed',
      open_until: null,
      limits: [
        {
          model: null,
          requests: { used: 2, limit: 10 },
          tokens: { used: 70, limit: 100 },
          concurrency: { used: 2, limit: 2 },
          paused_until: null,
        },
      ],
      tenants: [
        {
          tenant: 'b',
          waiting: 1,
          waiting_by_tier: { gold: 0, silver: 1, bronze: 0 },
          under_way: 1,
          oldest_since: '2026-05-01T00:00:00.000Z',
        },
        {
          tenant: 'a',
          waiting: 0,
          waiting_by_tier: { gold: 0, silver: 0, bronze: 0 },
          under_way: 1,
          oldest_since: null,
        },
      ],
    });
    play.end('a', { outcome: 'throttled', retryAfterMs: 2_000, tokens: 10 });
    play.end('b', { outcome: 'failed', tokens: 0 });
    const after = providerStatusSchema.parse(providerStatus(play.state, play.now));
    expect(after).toMatchObject({
      breaker: 'open',
      open_until: '2026-05-01T00:00:01.000Z',
      limits: [
        { requests: { used: 2 }, tokens: { used: 10 } },
        { model: 'm', paused_until: '2026-05-01T00:00:02.000Z' },
      ],
    });
  });
});
