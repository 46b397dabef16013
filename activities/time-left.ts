import { Context } from '@temporalio/activity';

/** Milliseconds since the activity was wanted: another try has no more time than the first, nor one that no worker took for a while. */
export const waitedMs = (): number => Math.max(0, Date.now() - Context.current().info.scheduledTimestampMs);

/** When a call's time is over, by this process's own clock; null: never. */
export const endOf = (timeLeftMs: number | undefined, waited = 0): number | null =>
  timeLeftMs === undefined ? null : performance.now() + timeLeftMs - waited;

/** Whole milliseconds until then, rounded up; Infinity: there is no end. */
export const leftUntil = (endsAt: number | null): number =>
  endsAt === null ? Infinity : Math.max(0, Math.ceil(endsAt - performance.now()));
