import type { CoordinatedStatus, RunFault } from '../../contracts/coordinator-status.js';
import type { FeedbackOption, FeedbackRequest } from '../../contracts/feedback.js';
import { feedbackOptions } from '../feedback.js';
import { iso } from '../instant.js';
import { sha256 } from '../sha256.js';
import type { RunWord } from './effects.js';
import { runStatuses } from './state-names.js';
import type { CoordinatorSetup, PlannedRun, TrackedRun } from './state.js';

/** What a coordinator does not wait for: where a run stands still, and what it can learn nothing more of (details 5.1). */
const stops: readonly CoordinatedStatus[] = [
  'completed',
  'awaiting_feedback',
  'error',
  'cancelled',
  'unknown',
  'resume_failed',
];

export const isStopped = ({ isTracked, status, resuming }: TrackedRun): boolean =>
  isTracked && resuming === null && stops.includes(status);

/** Whether a person has to decide about it (details 5.1). */
export const needsPerson = ({ status }: Pick<TrackedRun, 'status'>): boolean =>
  status === 'awaiting_feedback' || status === 'error';

const dayOf = (now: number): string => iso(now).slice(0, 10).replaceAll('-', '');

/** `fr-YYYYMMDD-xxxxxx` (spec 06), the same at every replay. */
export const requestIdFor = ({ id, traceId }: CoordinatorSetup, about: string, now: number): string =>
  `fr-${dayOf(now)}-${sha256(`${id}\n${traceId}\n${about}`).slice(0, 6)}`;

/** `coord-YYYYMMDD-xxxxxx` (details 5.4): the id of the work where it has this form, else one made of it. */
export const coordinatorIdOf = ({ id, traceId }: CoordinatorSetup, startedAt: number): string =>
  /^coord-\d{8}-[0-9a-f]{6}$/.test(id)
    ? id
    : `coord-${dayOf(startedAt)}-${sha256(`${id}\n${traceId}\ncoordinator`).slice(0, 6)}`;

/** A failed run is done again or given up; where doing it again cannot help it is given up (details 5.2). */
const resolutions = (retryable: boolean): FeedbackOption[] =>
  feedbackOptions('error_resolution', retryable ? ['retry', 'abort'] : ['abort']);

/** What is asked about a failed run: its own request, without what is not offered there, or one made for it. */
const failureRequest = (
  setup: CoordinatorSetup,
  runId: string,
  { seq, request }: RunWord,
  fault: RunFault,
  now: number,
): FeedbackRequest => {
  const offered = resolutions(fault.retryable);
  if (request) {
    const own = request.options.filter(({ value }) => offered.some((option) => option.value === value));
    return { ...request, options: own.length > 0 ? own : offered };
  }
  const { phase, step, message } = fault;
  return {
    request_id: requestIdFor(setup, `${runId}\n${seq}`, now),
    type: 'error_resolution',
    prompt: `It failed: ${message}`.slice(0, 100_000),
    options: offered,
    phase,
    step,
    digest: null,
    opened_at: iso(now),
    expires_at: null,
    on_timeout: null,
  };
};

type Standing = Pick<TrackedRun, 'status' | 'request' | 'error' | 'reason'>;
const unknown = (reason: string): Standing => ({ status: 'unknown', request: null, error: null, reason });

/** Where a run stands by its own word; `failed` is `error`, and a status that nobody knows is unknown (details 5.1). */
const standing = (setup: CoordinatorSetup, runId: string, word: RunWord, now: number): Standing => {
  const said = word.status === 'failed' ? 'error' : word.status;
  const status = runStatuses.find((known) => known === said);
  if (!status) return unknown(`says that it is ${JSON.stringify(said.slice(0, 60))}, which no run can be`);
  if (status === 'awaiting_feedback' && !word.request) return unknown('awaits feedback, but does not say on what');
  if (status === 'awaiting_feedback') return { status, request: word.request, error: null, reason: null };
  if (status !== 'error') return { status, request: null, error: null, reason: null };
  const fault = word.error ?? { phase: null, step: null, message: 'it did not say why', retryable: true };
  return { status, request: failureRequest(setup, runId, word, fault, now), error: fault, reason: null };
};

/**
 * The run after its own word, or null: the word comes late or again, or the run is not waited for any more since it could not
 * be resumed (details 5.4).
 */
export const hearRun = (setup: CoordinatorSetup, run: TrackedRun, word: RunWord, now: number): TrackedRun | null => {
  if (run.status === 'resume_failed' || word.seq <= run.seq) return null;
  const { seq, workId, branch, outcome, artifacts } = word;
  return { ...run, isTracked: true, seq, workId, branch, outcome, artifacts, ...standing(setup, run.runId, word, now) };
};

/** Whether people would see another run than before: it stands elsewhere, asks something else, or failed otherwise. */
export const hasMoved = (before: TrackedRun, after: TrackedRun): boolean =>
  before.status !== after.status ||
  before.request?.request_id !== after.request?.request_id ||
  before.error?.message !== after.error?.message;

/** The run whose state cannot be read: it counts as stopped, and the others go on (spec 06). */
export const loseRun = (run: TrackedRun, message: string): TrackedRun => ({
  ...run,
  ...unknown(message),
  isTracked: true,
  resuming: null,
});

/**
 * The runs of a coordinator: one for each body, each work id and each id to adopt; a repeated work id of the list, and a
 * repeated run, once (spec 06).
 */
export const planRuns = (
  coordinatorId: string,
  given: {
    runs: readonly { id?: string | undefined; work_id: string }[];
    work_ids: readonly string[];
    adopt: readonly string[];
  },
): PlannedRun[] => {
  const bodies = given.runs.map(({ id, work_id: workId }, index): PlannedRun => {
    return { runId: id ?? `${coordinatorId}.run.${index + 1}`, workId, origin: 'started', body: index };
  });
  const listed = [...new Set(given.work_ids)].map((workId, index): PlannedRun => {
    const runId = `${coordinatorId}.run.${bodies.length + index + 1}`;
    return { runId, workId, origin: 'started', body: null };
  });
  const adopted = given.adopt.map((runId): PlannedRun => ({ runId, workId: runId, origin: 'adopted', body: null }));
  const all = [...bodies, ...listed, ...adopted];
  const firsts = new Map<string, PlannedRun>();
  for (const run of all) if (!firsts.has(run.runId)) firsts.set(run.runId, run);
  return [...firsts.values()];
};
