/** What holds a point in time, in epoch milliseconds, by its name: `endedAt`, `at`, `since`, `waitingSince`. */
const holdsTime = /^(at|since)$|(At|Since)$/;

/**
 * Members that hold what others wrote, or what was decided before the work began: a number there is no time of the work's own,
 * whatever its name.
 */
const foreign = new Set([
  'setup',
  'answer',
  'output',
  'kept',
  'combined',
  'score',
  'scores',
  'calls',
  'result',
  'error',
  'plan',
  'context',
  'memory',
  'pending',
  'execution',
  'rollback',
]);

interface OpenRequest {
  state: string;
  request: { expires_at: string | null };
  escalate_at?: string | null;
}

const isOpenRequest = (value: object): value is OpenRequest =>
  'request' in value && 'answers' in value && 'state' in value && value.state === 'open';

const later = (instant: string | null, ms: number): string | null =>
  instant === null ? null : new Date(Date.parse(instant) + ms).toISOString();

/** A request that still waits has as long as it had; when it was asked for and what was answered stays as it was. */
const laterRequest = (approval: OpenRequest, ms: number): OpenRequest => ({
  ...approval,
  request: { ...approval.request, expires_at: later(approval.request.expires_at, ms) },
  ...(approval.escalate_at !== undefined && { escalate_at: later(approval.escalate_at, ms) }),
});

const shiftedValue = (value: unknown, ms: number): unknown => {
  if (Array.isArray(value)) return value.map((item) => shiftedValue(item, ms));
  if (typeof value !== 'object' || value === null) return value;
  if (isOpenRequest(value)) return laterRequest(value, ms);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (foreign.has(name)) return [name, member];
      return [name, typeof member === 'number' && holdsTime.test(name) ? member + ms : shiftedValue(member, ms)];
    }),
  );
};

/**
 * The state of a piece of work with every point in time of its own moved by `ms`, so that a time in which it stood still does not
 * count against a deadline (spec 07 "Restore"). `startedAt` of the work itself stays: that is when it began. Pure: what was
 * given is not changed.
 */
export const shifted = <T>(work: T, ms: number): T => {
  const moved = shiftedValue(work, ms) as T;
  const hasStart = typeof work === 'object' && work !== null && 'startedAt' in work;
  return hasStart ? { ...moved, startedAt: work.startedAt } : moved;
};
