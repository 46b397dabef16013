import { setImmediate } from 'node:timers/promises';

/** Work on files is done in calls that block: fastest by far, and this is how long others may have to wait. */
const sliceMs = 5;

export type Pace = () => Promise<void>;

/** To be awaited between two pieces of work. @throws the signal's reason when it was aborted */
export const createPace = (signal: AbortSignal): Pace => {
  signal.throwIfAborted();
  let due = performance.now() + sliceMs;
  return async () => {
    if (performance.now() < due) return;
    await setImmediate();
    signal.throwIfAborted();
    due = performance.now() + sliceMs;
  };
};
