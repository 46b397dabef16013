import type { AggregatedRun, Aggregation, AggregationChange } from '../../contracts/coordinator-status.js';
import type { CoordinatorState } from './state.js';

/** Whether two reports say the same of a run. What it asks is as a rule one and the same value, which need not be written out. */
const isSame = (one: AggregatedRun, other: AggregatedRun | undefined): boolean => {
  if (!other) return false;
  const names = Object.keys({ ...one, ...other }) as (keyof AggregatedRun)[];
  return names.every((name) => one[name] === other[name] || JSON.stringify(one[name]) === JSON.stringify(other[name]));
};

/**
 * What is new in a report, as its event tells it: all events of a coordinator together grow with what its runs do, and not
 * with runs times reports.
 * @param before the report before it; null: all of it is new
 */
export const changeSince = (before: Aggregation | null, report: Aggregation): AggregationChange => {
  if (!before) return { ...report, since: null };
  const known = new Map(before.runs.map((run) => [run.run_id, run]));
  return { ...report, since: before.report, runs: report.runs.filter((run) => !isSame(run, known.get(run.run_id))) };
};

/** The whole report after the one before it; null: it tells the changes to another one. */
export const withChange = (before: Aggregation | null, { since, ...told }: AggregationChange): Aggregation | null => {
  if (since === null) return told;
  if (before?.report !== since) return null;
  const changed = new Map(told.runs.map((run) => [run.run_id, run]));
  return { ...told, runs: before.runs.map((run) => changed.get(run.run_id) ?? run) };
};

/**
 * A coordinator as a new run of the workflow takes it on: its events tell the next report whole, so that a report can be read
 * without those of an earlier run, which Temporal may have deleted.
 */
export const carriedOn = (coordinator: CoordinatorState): CoordinatorState => ({
  ...coordinator,
  isReportTold: false,
});
