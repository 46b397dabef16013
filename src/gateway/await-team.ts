import type { TeamStatus } from '../contracts/team-status.js';
import { ProblemError } from './problem.js';
import type { Call, Ports } from './route.js';

/** Milliseconds without a hint after which the team is asked anyway. */
const pollMs = 1_000;

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
  let touched = false;
  let wake: () => void = () => {};
  const notice = (): void => {
    touched = true;
    wake();
  };
  const stop = bus.subscribe(id, ({ type }) => {
    if (type === 'touched') notice();
  });
  for (const each of [signal, draining]) each.addEventListener('abort', notice);
  try {
    for (;;) {
      touched = false;
      const status = await teams.status(id);
      if (holds(status) || status.ended_at !== null) return { status, isTimeout: !holds(status) };
      const left = due - Date.now();
      if (left <= 0 || signal.aborted) return { status, isTimeout: true };
      if (draining.aborted)
        throw new ProblemError('unavailable', 'This gateway stops; wait again, nothing was changed.', {
          headers: { 'Retry-After': '1' },
        });
      const timer = setTimeout(notice, Math.min(left, pollMs));
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (touched) resolve();
      });
      clearTimeout(timer);
    }
  } finally {
    stop();
    for (const each of [signal, draining]) each.removeEventListener('abort', notice);
  }
};
