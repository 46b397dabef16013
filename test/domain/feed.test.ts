import { openFeed, usageOf } from '../../src/domain/feed.js';

const gaps = { fragment_ms: 500, message_ms: 5_000 };
const feed = openFeed(
  { gaps, pause_grace_ms: 1_000 },
  'silver',
  { maxParallel: null, maxTokens: null, maxUsdMicros: null },
  '12345678',
);

describe('what a call used', () => {
  test.each([
    ['is what the agent states, in millionths of a dollar', { tokens: 7, usd: 0.000_000_4 }, 7, 0],
    ['is nothing where it states no price', { tokens: 7 }, 7, 0],
    ['is as much as can be counted where it states more', { tokens: 7, usd: 1e300 }, 7, Number.MAX_SAFE_INTEGER],
    ['is estimated from the characters where it states nothing', null, 2, 0],
  ])('%s', (_, stated, tokens, usdMicros) => {
    expect(usageOf(feed, stated)).toEqual({ tokens, usdMicros });
  });
});
