import type { Arrival, SimulatedWork } from '../../support/governor-simulation.js';
import { mostAtOnce, mostInAnyWindow } from '../../../bench/limits/arrivals.js';
import { randomOf, simulate } from '../../support/governor-simulation.js';
import { settingsOf } from '../../support/governor-play.js';

const windowMs = 10_000;
const limits = { requests: 60, tokens: 10_000, concurrency: 10 };
const largeLimits = { requests: 20, tokens: 5_000, concurrency: 4 };

/** Four workers with more to do than the provider allows, whichever limit is the narrowest. */
const workOf = (seed: number): SimulatedWork => {
  const random = randomOf(seed);
  const largest = 100 + Math.floor(random() * 700);
  const least = random();
  return {
    seed,
    windows: 3,
    workers: 4,
    backlog: 4,
    settings: settingsOf({
      windowMs,
      burst: [0.1, 0.25, 0.5, 1][seed % 4] ?? 1,
      limits,
      models: seed % 3 === 0 ? [{ model: 'large', limits: largeLimits }] : [],
      leaseMs: 3_000,
    }),
    next: (of) => ({
      tenant: `t${Math.floor(of() * 3)}`,
      tier: (['gold', 'silver', 'bronze'] as const)[Math.floor(of() * 3)] ?? 'gold',
      model: of() < 0.5 ? 'large' : 'small',
      tokens: 20 + Math.floor(of() * (seed % 3 === 0 ? largest / 2 : largest)),
      used: least + of() * (1 - least),
    }),
    longestMs: 50 + random() * 800,
    delayMs: random() * 100,
    everyMs: 50,
    lost: seed % 5 === 0 ? 0.01 : 0,
    toldWhenSent: random(),
  };
};

/** The share of the narrower limit that was used, from the second window on: the first fills up. */
const used = (
  arrivals: readonly Arrival[],
  of: { requests: number; tokens: number },
  { settings, windows }: SimulatedWork,
): number => {
  const later = arrivals.filter(({ at }) => at > 1_000_000 + settings.windowMs);
  const tokens = later.reduce((sum, arrival) => sum + arrival.tokens, 0);
  return Math.max(later.length / of.requests, tokens / of.tokens) / (windows - 1);
};

describe('a provider that allows 60 requests and 10,000 tokens a window, with four workers that want more,', () => {
  // The seeds 1 to 60 meet every burst with and without a limit of the model, and with workers that are lost.
  const batches = Array.from({ length: 3 }, (_, batch) => batch * 60);
  test.each(batches)('gets no more in any window, and at least nine tenths of it (60 runs from %i)', (from) => {
    const faults: string[] = [];
    for (let seed = from + 1; seed <= from + 60; seed += 1) {
      const work = workOf(seed);
      const { arrivals } = simulate(work);
      const large = arrivals.filter(({ model }) => model === 'large');
      const hasLarge = work.settings.models.length > 0;
      const most = mostInAnyWindow(arrivals, windowMs);
      const mostLarge = mostInAnyWindow(large, windowMs);
      const share = Math.max(used(arrivals, limits, work), hasLarge ? used(large, largeLimits, work) : 0);
      // A worker that is never heard of again takes what it held with it.
      const least = work.lost > 0 ? 0.8 : 0.9;
      const isWithin =
        most.requests <= limits.requests &&
        most.tokens <= limits.tokens &&
        mostAtOnce(arrivals) <= limits.concurrency &&
        (!hasLarge ||
          (mostLarge.requests <= largeLimits.requests &&
            mostLarge.tokens <= largeLimits.tokens &&
            mostAtOnce(large) <= largeLimits.concurrency));
      if (!isWithin || share < least) faults.push(JSON.stringify({ seed, most, mostLarge, share }));
    }
    expect(faults).toEqual([]);
  });

  test.each([1, 2, 3, 4])('is used as well over minutes, by calls of seconds (seed %i)', (seed) => {
    const work = workOf(seed * 100 + 1);
    const settings = { ...work.settings, models: [], windowMs: 60_000, leaseMs: 30_000, burst: 0.25 };
    const minutes = { ...work, settings, windows: 6, longestMs: 6_000, delayMs: 200, everyMs: 100 };
    const { arrivals } = simulate(minutes);
    const { requests, tokens } = mostInAnyWindow(arrivals, 60_000);
    expect([requests <= limits.requests, tokens <= limits.tokens]).toEqual([true, true]);
    expect(used(arrivals, limits, minutes)).toBeGreaterThan(0.9);
  });
});
