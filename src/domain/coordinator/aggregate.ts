import type {
  AggregatedRun,
  Aggregation,
  AggregationSummary,
  CoordinatedRun,
} from '../../contracts/coordinator-status.js';
import { iso } from '../instant.js';
import { changeSince } from './changes.js';
import { type CoordinatorDraft, say } from './draft.js';
import { coordinatorIdOf, needsPerson } from './runs.js';
import type { CoordinatorState, TrackedRun } from './state.js';

/** How many runs stand where: the counts add up to the total (details 5.1). */
export const summarise = (runs: readonly Pick<TrackedRun, 'status'>[]): AggregationSummary => {
  const count = (...statuses: TrackedRun['status'][]): number =>
    runs.filter(({ status }) => statuses.includes(status)).length;
  const underWay = count('pending', 'in_progress');
  return {
    total_runs: runs.length,
    completed: count('completed'),
    awaiting_feedback: count('awaiting_feedback'),
    error: count('error'),
    cancelled: count('cancelled'),
    unknown: count('unknown'),
    resume_failed: count('resume_failed'),
    ...(underWay > 0 && { in_progress: underWay }),
  };
};

export const runOnWire = ({ runId, workId, status, branch }: TrackedRun): CoordinatedRun => ({
  run_id: runId,
  work_id: workId,
  status,
  ...(branch !== null && { branch }),
});

const aggregated = (run: TrackedRun): AggregatedRun => ({
  ...runOnWire(run),
  ...(run.outcome !== null && { outcome: run.outcome }),
  ...(run.artifacts !== null && { artifacts: run.artifacts }),
  ...(run.request !== null && { feedback_request: run.request }),
  ...(run.error !== null && { error: run.error }),
  ...(run.reason !== null && { reason: run.reason }),
});

/** `001-initial`, `002-resumed`, …; `-aborted` for the one that a coordinator is ended with before its runs are. */
export const reportName = (number: number, isAborted: boolean): string =>
  `${String(number).padStart(3, '0')}-${isAborted ? 'aborted' : number === 1 ? 'initial' : 'resumed'}`;

/** The next report over all runs as they stand now (spec 06 "Aggregation report"). */
export const aggregate = (
  { setup, startedAt, runs, reports }: CoordinatorState,
  now: number,
  isAborted = false,
): Aggregation => ({
  coordinator_id: coordinatorIdOf(setup, startedAt),
  report: reportName(reports.length + 1, isAborted),
  aggregated_at: iso(now),
  summary: summarise(runs),
  needs_feedback: runs.some(needsPerson),
  runs: runs.map(aggregated),
});

/** Makes the next report, numbered from 1, keeps it as the latest, and tells what is new in it. */
export const report = (draft: CoordinatorDraft, isAborted: boolean): void => {
  const { coordinator, now } = draft;
  const aggregation = aggregate(coordinator, now, isAborted);
  const { report: name, aggregated_at: at, summary } = aggregation;
  const shown = new Map(coordinator.aggregation?.runs.map((run) => [run.run_id, run.feedback_request?.request_id]));
  const number = coordinator.reports.length + 1;
  coordinator.runs = coordinator.runs.map((run) =>
    run.request && shown.get(run.runId) !== run.request.request_id ? { ...run, shownIn: number } : run,
  );
  const data = changeSince(coordinator.isReportTold ? coordinator.aggregation : null, aggregation);
  coordinator.aggregation = aggregation;
  coordinator.isReportTold = true;
  coordinator.reports = [...coordinator.reports, { report: name, aggregated_at: at, summary }];
  coordinator.hasChanged = false;
  say(draft, { event: 'aggregation', data });
};
