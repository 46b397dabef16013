import type { AggregationSummary, CoordinatorReports } from '../../contracts/coordinator-status.js';
import type { CoordinatorState } from './state.js';

/** The reports so far, each by its number, from 1. */
export const reportsOf = ({ reports }: Pick<CoordinatorState, 'reports'>): CoordinatorReports => ({
  items: reports.map((report, index) => ({ number: index + 1, ...report })),
});

const counts = (summary: AggregationSummary): string =>
  Object.entries(summary)
    .flatMap(([name, count = 0]) =>
      name === 'total_runs' || count === 0 ? [] : [`${count} ${name.replaceAll('_', ' ')}`],
    )
    .join(', ');

/** The same as markdown. */
export const reportsPage = ({ items }: CoordinatorReports): string =>
  [
    '## Reports',
    '',
    ...(items.length === 0 ? ['None yet: there is one as soon as all runs are at a stop.'] : []),
    ...items.map(({ report, aggregated_at: at, summary }) => `- ${report}, ${at}: ${counts(summary)}`),
    '',
  ].join('\n');
