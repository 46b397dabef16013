import { setMaxListeners } from 'node:events';
import { mostAtOnce, mostInAnyWindow } from '../../bench/limits/arrivals.js';
import { countOf, type GovernedRig, startGovernedRig } from '../support/governed-rig.js';

let rig: GovernedRig;
beforeAll(async () => {
  rig = await startGovernedRig(process.env['TEST_TEMPORAL_ADDRESS'] ?? '');
});
afterEach(() => rig?.uninstall());
afterAll(() => rig?.close());

describe('the limits of a provider', () => {
  test('hold over four workers in every window, and are used while there is demand', async () => {
    const limits = { requests: 24, tokens: 2_400, concurrency: 5, window_ms: 4_000 };
    const { call, arrivals, until } = await rig.install(4, limits);
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const keepAsking = async (worker: number): Promise<void> => {
      for (let made = worker; !stop.signal.aborted; made += 1)
        await call(worker, { tokens: 20 + ((made * 37) % 60), ms: 20 }, stop.signal);
    };
    const all = Array.from({ length: 16 }, (_, index) => keepAsking(index % 4));
    const windows = 2;
    const mostIn = (count: number) => mostInAnyWindow(arrivals(), count * limits.window_ms);
    // On a busy machine, workers may be late in any one stretch; limits that are never used up are so in all.
    const used = until(() => mostIn(windows).requests >= 0.9 * windows * limits.requests);
    await used.finally(() => stop.abort());
    await Promise.all(all);
    expect(mostIn(1).requests).toBeLessThanOrEqual(limits.requests);
    expect(mostIn(1).tokens).toBeLessThanOrEqual(limits.tokens);
    expect(mostAtOnce(arrivals())).toBeLessThanOrEqual(limits.concurrency);
  }, 90_000);

  test('serve a small tenant beside a big one, and gold before bronze', async () => {
    const { call, arrivals, until } = await rig.install(2, {
      requests: 5,
      concurrency: 1,
      window_ms: 1_000,
      burst: 0.2,
    });
    const release = rig.hold();
    const first = call(0);
    await until((status) => countOf(status, 'under_way') === 1);
    const big = Array.from({ length: 12 }, () => call(0, { tenant: 'big', tier: 'bronze' }));
    await until((status) => countOf(status, 'waiting') === 12);
    const late = [
      call(1, { tenant: 'small', tier: 'bronze' }),
      call(1, { tenant: 'small', tier: 'bronze' }),
      call(0, { tenant: 'big', tier: 'gold', tokens: 11 }),
    ];
    await until((status) => countOf(status, 'waiting') === 15);
    release();
    await Promise.all([first, ...big, ...late]);
    const order = arrivals().map(({ tenant, tokens }) => (tokens === 11 ? 'gold' : tenant));
    // Two tenants in turn: the small one's calls are among the first, though twelve were there before them.
    expect(order.slice(1, 6).filter((tenant) => tenant === 'small')).toHaveLength(2);
    expect(order.slice(1, 6)).toContain('gold');
    expect(order).toHaveLength(16);
  });

  test('are what a provider says itself, too: Retry-After holds for all workers', async () => {
    const { call, arrivals, until } = await rig.install(2, { window_ms: 1_000 });
    let refusedAt = 0;
    rig.model.refuse = ({ at }) => {
      if (refusedAt > 0) return null;
      refusedAt = at;
      return { status: 429, headers: { 'retry-after': '2' } };
    };
    const refused = call(0);
    await until(({ limits }) => limits.some(({ paused_until }) => paused_until !== null));
    const others = [call(1), call(1), call(0)];
    expect(await Promise.all([refused, ...others])).toEqual(['final', 'final', 'final', 'final']);
    const after = arrivals().filter(({ at }) => at > refusedAt);
    expect(after).toHaveLength(4);
    for (const { at } of after) expect(at - refusedAt).toBeGreaterThanOrEqual(2_000);
  });

  test('do not count a call that is cancelled while it waits', async () => {
    const { call, arrivals, until } = await rig.install(2, { concurrency: 1, window_ms: 1_000 });
    const release = rig.hold();
    const first = call(0);
    await until((status) => countOf(status, 'under_way') === 1);
    const stop = new AbortController();
    const stopped = call(1, {}, stop.signal);
    const next = call(0);
    await until((status) => countOf(status, 'waiting') === 2);
    stop.abort();
    await stopped;
    await until((status) => countOf(status, 'waiting') === 1);
    release();
    expect(await Promise.all([first, next])).toEqual(['final', 'final']);
    expect(arrivals()).toHaveLength(2);
    await until((status) => countOf(status, 'under_way') + countOf(status, 'waiting') === 0);
  });

  test('refuse what they never admit, and say why', async () => {
    const { call, arrivals } = await rig.install(1, { tokens: 50, window_ms: 1_000 });
    expect(await call(0, { maxTokens: 60 })).toBe('EWINDOW');
    expect(arrivals()).toEqual([]);
  });

  test('hold where a governor is ended from outside: the next one waits for what went out', async () => {
    const limits = { requests: 6, burst: 1, window_ms: 1_500 };
    const { call, arrivals, id } = await rig.install(2, limits);
    await Promise.all(Array.from({ length: 6 }, (_, index) => call(index % 2)));
    const waiting = Array.from({ length: 6 }, (_, index) => call(index % 2));
    await rig.client.workflow.getHandle(id).terminate('by hand');
    expect(await Promise.all(waiting)).toEqual(Array(6).fill('final'));
    expect(arrivals()).toHaveLength(12);
    expect(mostInAnyWindow(arrivals(), limits.window_ms).requests).toBeLessThanOrEqual(6);
  });
});
