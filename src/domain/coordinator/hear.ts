import { iso } from '../instant.js';
import { shownId } from '../feedback-list.js';
import { runOnWire } from './aggregate.js';
import { type Outcome, settle } from './calls.js';
import { type CoordinatorDraft, replaceRun, say } from './draft.js';
import type { CoordinatorEvent } from './effects.js';
import { hasMoved, hearRun, loseRun } from './runs.js';
import type { TrackedRun } from './state.js';

type OfRun = Extract<CoordinatorEvent, { runId: string }>;

/**
 * Keeps what has become of a run, and tells it where people would see another run than before.
 * @param isNews whether the latest report does not have it so
 */
const keep = (draft: CoordinatorDraft, before: TrackedRun, after: TrackedRun, isNews = true): void => {
  const { coordinator, now } = draft;
  replaceRun(draft, after);
  if (before.isTracked && !hasMoved(before, after)) return;
  coordinator.hasChanged ||= isNews;
  const reason = after.reason === null ? {} : { reason: after.reason };
  say(draft, { event: 'run', data: { at: iso(now), ...runOnWire(after), ...reason } });
};

/** What has ended stays what it was when nobody can read it any more, and so does what could not be resumed. */
const isSettled = ({ status }: TrackedRun): boolean =>
  status === 'completed' || status === 'cancelled' || status === 'resume_failed';

/** A run that has taken its answer is in progress, unless it has said already where it stands since. */
const resumed = (run: TrackedRun): TrackedRun => ({
  ...run,
  resuming: null,
  status: run.resuming?.seq === run.seq && run.status === 'pending' ? 'in_progress' : run.status,
});

/** A run that did not go on with its answer stands where it stood, unless it has said otherwise since. */
const asBefore = (run: TrackedRun): TrackedRun => {
  const { resuming } = run;
  if (resuming?.seq !== run.seq) return resumed(run);
  const { status, request, error } = resuming;
  return { ...run, resuming: null, status, request, error };
};

const outcomeOf = ({ workId }: TrackedRun, event: Extract<OfRun, { requestId: string }>): Outcome => {
  switch (event.type) {
    case 'RESUMED':
      return { type: 'taken', note: null };
    case 'COUNTED':
      return { type: 'taken', note: `${shownId(workId)}: ${event.message}` };
    case 'STILL_ASKS':
      return { type: 'refused', message: event.message, asks: true };
    case 'ANSWERED_ELSEWHERE':
    case 'RESUME_FAILED':
      return { type: 'refused', message: event.message, asks: false };
  }
};

/**
 * What a run says of itself, and what became of its answer. What comes late, again, or of no run of this coordinator is counted
 * and changes nothing.
 */
export const hearOfRun = (draft: CoordinatorDraft, event: OfRun): void => {
  const { coordinator, now } = draft;
  const run = coordinator.runs.find(({ runId }) => runId === event.runId);
  const drop = (): void => {
    coordinator.dropped += 1;
  };
  if (!run) return drop();
  switch (event.type) {
    case 'RUN': {
      const heard = hearRun(coordinator.setup, run, event.word, now);
      return heard ? keep(draft, run, heard) : drop();
    }
    case 'UNREADABLE':
      if (isSettled(run)) return drop();
      keep(draft, run, loseRun(run, event.message));
      return settle(draft, run, { type: 'refused', message: event.message, asks: false });
    case 'RESUMED':
    case 'COUNTED':
    case 'STILL_ASKS':
    case 'ANSWERED_ELSEWHERE':
    case 'RESUME_FAILED': {
      const { resuming } = run;
      if (resuming?.requestId !== event.requestId) return drop();
      // A run that has moved since goes on, even where the reply to it was lost.
      const hasFailed = event.type === 'RESUME_FAILED' && run.seq === resuming.seq;
      if (event.type !== 'RESUMED') {
        say(draft, { event: 'log', data: { at: iso(now), message: `${run.runId}: ${event.message}` } });
      }
      const asksOn = event.type === 'STILL_ASKS' || event.type === 'COUNTED';
      const after = asksOn ? asBefore(run) : resumed(run);
      // Where it stands as it stood, a report would say once more what people have read.
      const isNews = !asksOn || run.seq !== resuming.seq || event.isNews === true;
      keep(draft, run, hasFailed ? { ...after, status: 'resume_failed', reason: event.message } : after, isNews);
      return settle(draft, run, outcomeOf(run, event));
    }
  }
};
