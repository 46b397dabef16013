import { spentLine } from '../../src/cli/lines.js';

const spend = { tokens: 7, usd: '0.5' };
const links = { self: '/v1/refinements/r', events: '/v1/refinements/r/events', web_ui: 'http://ui' };
const time = { max_ms: 60_000, elapsed_ms: 20_000, left_ms: 40_000, as_of: '2026-11-21T00:00:20.000Z', ends_at: null };

describe('what the command line says that work has spent', () => {
  test('has its time where time is a limit of it', () => {
    expect(spentLine({ spend, time, links })).toBe('spent 7 tokens, $0.5, 20 s of 60 s; Web UI http://ui');
  });
  test('has money and tokens alone where it is none', () => {
    expect(spentLine({ spend, links })).toBe('spent 7 tokens, $0.5; Web UI http://ui');
  });
});
