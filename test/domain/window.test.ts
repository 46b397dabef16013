import type { ControlStatus } from '../../src/contracts/frames.js';
import type { WindowLimits } from '../../src/domain/session/setup.js';
import {
  control,
  effectiveWindow,
  isPausing,
  narrowed,
  readyControl,
  toWire,
  windowFaults,
  type AdapterControl,
} from '../../src/domain/window.js';

const router: WindowLimits = { maxParallel: 4, maxTokens: 1000, maxUsdMicros: 5000 };
const unlimited: WindowLimits = { maxParallel: null, maxTokens: null, maxUsdMicros: null };
const shut: WindowLimits = { maxParallel: 0, maxTokens: 0, maxUsdMicros: 0 };
const says = (status: ControlStatus, before: AdapterControl | null = null, now = 0): AdapterControl =>
  control(before, { type: 'control', status }, now);

describe('the narrower window', () => {
  test.each([
    [router, null, router],
    [router, {}, router],
    [router, { max_parallel: 2 }, { ...router, maxParallel: 2 }],
    [router, { max_parallel: 9, max_tokens: 10, max_usd_micros: 9999 }, { ...router, maxTokens: 10 }],
    [router, { max_parallel: -1, max_tokens: -5 }, { maxParallel: 0, maxTokens: 0, maxUsdMicros: 5000 }],
    [unlimited, { max_tokens: 7 }, { ...unlimited, maxTokens: 7 }],
    [unlimited, { max_usd_micros: -7 }, { ...unlimited, maxUsdMicros: 0 }],
  ])('of %j and the suggestion %j is %j', (own, suggested, expected) => {
    expect(narrowed(own, suggested)).toEqual(expected);
  });
});

describe('adapter control', () => {
  test('keeps the last suggestion until another is made', () => {
    const suggested = control(readyControl, { type: 'control', status: 'READY', window: { max_parallel: 2 } }, 0);
    expect(says('BUSY', suggested).suggested).toEqual({ max_parallel: 2 });
    const replaced = control(suggested, { type: 'control', status: 'READY', window: { max_tokens: 5 } }, 0);
    expect(replaced.suggested).toEqual({ max_tokens: 5 });
  });
  test('does not restart the grace when PAUSE comes again', () => {
    expect(says('PAUSE', says('PAUSE', null, 10), 4000).pausedSince).toBe(10);
  });
  test.each(['READY', 'BUSY', 'DRAINING'] as const)('forgets the pause on %s', (status) => {
    const left = says(status, says('PAUSE', null, 10), 4000);
    expect(left).toMatchObject({ status, pausedSince: null });
    expect(says('PAUSE', left, 5000).pausedSince).toBe(5000);
  });
  test.each([
    ['READY', false],
    ['BUSY', true],
    ['PAUSE', true],
    ['DRAINING', false],
  ] as const)('with %s pauses a streaming lane: %s', (status, pauses) => {
    expect(isPausing(status)).toBe(pauses);
  });
});

describe('the effective window', () => {
  test.each<[string, AdapterControl | null, number, WindowLimits]>([
    ['nothing was said', null, 0, router],
    ['READY', says('READY'), 0, router],
    ['BUSY', says('BUSY'), 0, shut],
    ['PAUSE', says('PAUSE'), 0, router],
    ['PAUSE for 4999 ms', says('PAUSE'), 4999, router],
    ['PAUSE for 5000 ms', says('PAUSE'), 5000, shut],
    ['PAUSE again after 4000 ms', says('PAUSE', says('PAUSE'), 4000), 5000, shut],
    ['PAUSE after READY', says('PAUSE', says('READY', says('PAUSE')), 4000), 5000, router],
    ['DRAINING', says('DRAINING'), 0, { ...router, maxParallel: 1 }],
    [
      'DRAINING with a suggestion',
      control(null, { type: 'control', status: 'DRAINING', window: { max_parallel: 3, max_tokens: 10 } }, 0),
      0,
      { ...router, maxParallel: 1, maxTokens: 10 },
    ],
  ])('after %s', (_, adapter, now, expected) => {
    expect(effectiveWindow(router, adapter, now, 5000)).toEqual(expected);
  });
  test('while draining stays 0 where the router allows nothing, and is 1 where it has no limit', () => {
    expect(effectiveWindow({ ...router, maxParallel: 0 }, says('DRAINING'), 0, 5000).maxParallel).toBe(0);
    expect(effectiveWindow(unlimited, says('DRAINING'), 0, 5000)).toEqual({ ...unlimited, maxParallel: 1 });
  });
  test('is 0 at once on PAUSE without a grace', () => {
    expect(effectiveWindow(router, says('PAUSE'), 0, 0)).toEqual(shut);
  });
  test('on the wire leaves out what has no limit', () => {
    expect(toWire({ ...unlimited, maxParallel: 0 })).toEqual({ max_parallel: 0 });
    expect(toWire(router)).toEqual({ max_parallel: 4, max_tokens: 1000, max_usd_micros: 5000 });
  });
});

describe('a call', () => {
  const estimate = { tokens: 100, usdMicros: 500 };
  test.each([
    [3, { tokens: 900, usdMicros: 4500 }, []],
    [4, { tokens: 0, usdMicros: 0 }, ['max_parallel is 4, with 4 calls in flight; wait until fewer are']],
    [0, { tokens: 901, usdMicros: 0 }, ['max_tokens is 1000; 901 used and 100 estimated are 1001']],
    [0, { tokens: 0, usdMicros: 4501 }, ['max_usd_micros is 5000; 4501 used and 500 estimated are 5001']],
  ])('with %i in flight and %j used has the faults %j', (inFlight, used, messages) => {
    expect(windowFaults(inFlight, used, estimate, router)).toEqual(
      messages.map((message) => ({ code: 'EWINDOW', message })),
    );
  });
  test('has one fault for each component', () => {
    expect(windowFaults(4, { tokens: 901, usdMicros: 4501 }, estimate, router)).toHaveLength(3);
  });
  test('fits a window without limits', () => {
    expect(windowFaults(1e6, { tokens: 1e12, usdMicros: 1e12 }, estimate, unlimited)).toEqual([]);
  });
});
