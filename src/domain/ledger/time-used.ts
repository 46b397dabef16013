import type { TimeUsed } from '../../contracts/work.js';
import { iso } from '../instant.js';
import { elapsedMs, timeEndOf, timeLeftMs } from './clock.js';
import type { Account } from './state.js';

/**
 * Where an account stands in its limit of time, as statuses have it; undefined: there is none. `asOf`, epoch milliseconds, is when
 * its owner last took an event, or ended: then nothing comes any more (`isOver`).
 */
export const timeUsedOf = (account: Account, asOf: number, isOver: boolean): TimeUsed | undefined => {
  const { maxMs } = account.limits;
  if (maxMs === null) return undefined;
  const end = isOver ? null : timeEndOf(account);
  return {
    max_ms: maxMs,
    elapsed_ms: elapsedMs(account, asOf),
    left_ms: timeLeftMs(account, asOf) ?? 0,
    as_of: iso(asOf),
    ends_at: end === null ? null : iso(end),
  };
};
