import type { ControlFrame, ControlStatus, Window } from '../contracts/frames.js';
import type { ErrorCode } from './errors.js';
import type { Amount, WindowLimits } from './session/setup.js';

/** One guard that failed, in words that say what would have been accepted. */
export interface Fault {
  code: ErrorCode;
  message: string;
}

/** What an adapter last said of itself, plain JSON. `pausedSince` is set while its status is PAUSE. */
export interface AdapterControl {
  status: ControlStatus;
  suggested: Window | null;
  pausedSince: number | null;
}

export const readyControl: AdapterControl = { status: 'READY', suggested: null, pausedSince: null };

/**
 * Takes a control frame. A frame without a window leaves the last suggestion in force; one with a window replaces it
 * whole. PAUSE while paused does not restart the grace; any other status clears it (details 1.6).
 */
export const control = (before: AdapterControl | null, frame: ControlFrame, now: number): AdapterControl => ({
  status: frame.status,
  suggested: frame.window ?? before?.suggested ?? null,
  pausedSince: frame.status === 'PAUSE' ? (before?.pausedSince ?? now) : null,
});

/** BUSY and PAUSE put a streaming lane in PAUSED at once (spec 01); the window of a PAUSE shrinks only after its grace. */
export const isPausing = (status: ControlStatus): boolean => status === 'BUSY' || status === 'PAUSE';

const smaller = (router: number | null, suggested: number | undefined): number | null => {
  if (suggested === undefined) return router;
  const wanted = Math.max(0, suggested);
  return router === null ? wanted : Math.min(router, wanted);
};

/** Component-wise minimum: a missing suggestion is the router's own, a negative one 0; null is no limit. */
export const narrowed = (router: WindowLimits, suggested: Window | null | undefined): WindowLimits => ({
  maxParallel: smaller(router.maxParallel, suggested?.max_parallel),
  maxTokens: smaller(router.maxTokens, suggested?.max_tokens),
  maxUsdMicros: smaller(router.maxUsdMicros, suggested?.max_usd_micros),
});

const shut: WindowLimits = { maxParallel: 0, maxTokens: 0, maxUsdMicros: 0 };

/**
 * The window that admission obeys (spec 01, details 1.6): READY the minimum of both, BUSY 0 at once, PAUSE 0 once `graceMs`
 * have passed since it began, DRAINING at most one call at a time so that what is in flight may end.
 */
export const effectiveWindow = (
  router: WindowLimits,
  adapter: AdapterControl | null,
  now: number,
  graceMs: number,
): WindowLimits => {
  if (adapter === null) return router;
  const window = narrowed(router, adapter.suggested);
  switch (adapter.status) {
    case 'READY':
      return window;
    case 'BUSY':
      return shut;
    case 'PAUSE':
      return now - (adapter.pausedSince ?? now) < graceMs ? window : shut;
    case 'DRAINING':
      return { ...window, maxParallel: smaller(router.maxParallel, 1) };
  }
};

/** On the wire a component without a limit is left out. */
export const toWire = (window: WindowLimits): Window => ({
  ...(window.maxParallel === null ? {} : { max_parallel: window.maxParallel }),
  ...(window.maxTokens === null ? {} : { max_tokens: window.maxTokens }),
  ...(window.maxUsdMicros === null ? {} : { max_usd_micros: window.maxUsdMicros }),
});

/** Every component that a call does not fit, as EWINDOW. In flight must be below its limit; tokens and money may reach theirs. */
export const windowFaults = (inFlight: number, used: Amount, estimate: Amount, window: WindowLimits): Fault[] => {
  const faults: Fault[] = [];
  const refuse = (message: string): void => void faults.push({ code: 'EWINDOW', message });
  const { maxParallel, maxTokens, maxUsdMicros } = window;
  if (maxParallel !== null && inFlight >= maxParallel) {
    refuse(`max_parallel is ${maxParallel}, with ${inFlight} calls in flight; wait until fewer are`);
  }
  const tokens = used.tokens + estimate.tokens;
  if (maxTokens !== null && tokens > maxTokens) {
    refuse(`max_tokens is ${maxTokens}; ${used.tokens} used and ${estimate.tokens} estimated are ${tokens}`);
  }
  const money = used.usdMicros + estimate.usdMicros;
  if (maxUsdMicros !== null && money > maxUsdMicros) {
    refuse(
      `max_usd_micros is ${maxUsdMicros}; ${used.usdMicros} used and ${estimate.usdMicros} estimated are ${money}`,
    );
  }
  return faults;
};
