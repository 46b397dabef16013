import type { Lifecycle, TimeUsed } from '../contracts/work.js';

interface OutsideFault {
  code: 'EAGENTDOWN' | 'EPREEMPT';
  message: string;
}

interface Closable {
  state: string;
  lifecycle: Lifecycle;
  waiting: object | null;
  error: object | null;
  ended_at: string | null;
  time?: TimeUsed | undefined;
}

/** Whether work that Temporal closed so has failed; else it was cancelled. @param how TERMINATED, FAILED, TIMED_OUT */
export const hasFailedOutside = (how: string): boolean => how === 'FAILED' || how === 'TIMED_OUT';

/**
 * The status of work whose workflow was closed from outside, so that it never wrote its end itself; of `how` see
 * `hasFailedOutside`. `closedAt` is when that was, as a date; null: that is not known. An error that it had written stays.
 * @param errorOf the error of this kind of work, from what every kind says
 */
export const closedFromOutside =
  <Status extends Closable>(errorOf: (fault: OutsideFault, status: Status) => NonNullable<Status['error']>) =>
  (status: Status, how: string, closedAt: string | null): Status => ({
    ...status,
    lifecycle: hasFailedOutside(how) ? 'failed' : 'cancelled',
    waiting: null,
    ...(status.time && { time: { ...status.time, ends_at: null } }),
    error:
      status.error ??
      errorOf(
        {
          code: how === 'FAILED' ? 'EAGENTDOWN' : 'EPREEMPT',
          message: `The workflow was closed from outside (${how}) in state ${status.state}; see it in Temporal's Web UI.`,
        },
        status,
      ),
    ended_at: closedAt,
  });
