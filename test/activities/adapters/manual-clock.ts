import type { Clock } from '../../../activities/adapters/clock.js';

/** A clock that jumps: whenever everybody waits, it goes to the earliest thing waited for. */
export const createManualClock = (): Clock & { advanceBy: (ms: number) => Promise<void> } => {
  let now = 0;
  let made = 0;
  const waiting = new Map<number, { at: number; callback: () => void }>();
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    now: () => now,
    after: (ms, callback) => {
      const key = (made += 1);
      waiting.set(key, { at: now + Math.max(0, ms), callback });
      return () => waiting.delete(key);
    },
    /** Plays everything up to `ms` from now, in order. */
    advanceBy: async (ms) => {
      const until = now + ms;
      await settle();
      for (;;) {
        const [next] = [...waiting].sort(([a, { at }], [b, { at: other }]) => at - other || a - b);
        if (next === undefined || next[1].at > until) break;
        waiting.delete(next[0]);
        now = Math.max(now, next[1].at);
        next[1].callback();
        await settle();
      }
      now = until;
    },
  };
};
