import { setTimeout } from 'node:timers/promises';
import type { TeamStatus } from '../contracts/team-status.js';
import { ParleyError } from '../domain/errors.js';
import { Notices } from './notices.js';
import { ProblemError } from './problem.js';
import type { Call, Ports } from './route.js';

/** Milliseconds without a hint after which the team is asked anyway. */
const pollMs = 1_000;
/** Milliseconds before a look that failed is made again. */
const retryMs = 250;
/** So many looks that fail one after the other are more than a busy moment. */
const mostFailures = 5;

/** Waits so many milliseconds, or less where one of the signals comes. */
const resting = async (milliseconds: number, signals: readonly AbortSignal[]): Promise<void> => {
  await setTimeout(milliseconds, undefined, { signal: AbortSignal.any([...signals]) }).catch(() => undefined);
};

/**
 * Observes a team until `holds`, or until `timeoutMs` have passed (null: as long as the client stays). Nothing of it is in the
 * team's history, and nothing ends because it ends.
 * @throws ParleyError not_found, unavailable; ProblemError unavailable when this gateway stops
 */
export const awaitTeam = async (
  id: string,
  holds: (status: TeamStatus) => boolean,
  timeoutMs: number | null,
  { teams, bus }: Pick<Ports, 'teams' | 'bus'>,
  { signal, draining }: Pick<Call, 'signal' | 'draining'>,
): Promise<{ status: TeamStatus; isTimeout: boolean }> => {
  const due = timeoutMs === null ? Infinity : Date.now() + timeoutMs;
  const notices = new Notices(signal, draining);
  const stop = bus.subscribe(id, ({ type }) => {
    if (type === 'touched') notices.notice();
  });
  let failures = 0;
  const look = async (): Promise<TeamStatus | null> => {
    try {
      const status = await teams.status(id);
      failures = 0;
      return status;
    } catch (error) {
      failures += 1;
      const isOver = failures === mostFailures || signal.aborted || draining.aborted || Date.now() >= due;
      if (!(error instanceof ParleyError) || error.code !== 'unavailable' || isOver) throw error;
      return null;
    }
  };
  try {
    for (;;) {
      notices.looks();
      const lookedAt = Date.now();
      const status = await look();
      if (!status) {
        await resting(retryMs, [signal, draining]);
        continue;
      }
      const seenAt = Date.now();
      const took = seenAt - lookedAt;
      if (holds(status) || status.ended_at !== null) return { status, isTimeout: !holds(status) };
      const left = due - Date.now();
      if (left <= 0 || signal.aborted) return { status, isTimeout: true };
      if (draining.aborted)
        throw new ProblemError('unavailable', 'This gateway stops; wait again, nothing was changed.', {
          headers: { 'Retry-After': '1' },
        });
      const timer = globalThis.setTimeout(notices.notice, Math.min(left, pollMs));
      await notices.next();
      clearTimeout(timer);
      // A busy team has a hint for each step, and each look is work for it: twice as long as one took nobody looks again.
      const rest = Math.min(2 * took - (Date.now() - seenAt), due - Date.now());
      if (rest > 0) await resting(rest, [signal, draining]);
    }
  } finally {
    stop();
    notices.close();
  }
};
