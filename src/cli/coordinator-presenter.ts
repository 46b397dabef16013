import type { CoordinatorAnswer } from '../contracts/coordinator.js';
import type { NumberedCoordinatorEvent } from '../contracts/coordinator-events.js';
import type {
  Aggregation,
  AggregationChange,
  CoordinatedRun,
  CoordinatorResult,
  CoordinatorStatus,
} from '../contracts/coordinator-status.js';
import { withChange } from '../domain/coordinator/changes.js';
import { promptOf } from '../domain/coordinator/prompt.js';
import { shownId } from '../domain/feedback-list.js';
import { errorLines, headline, restoredLines, waitingLines } from './lines.js';
import { type Presenter, watchByLines } from './presenter.js';

const marks: Readonly<Record<CoordinatedRun['status'], string>> = {
  pending: ' ',
  in_progress: '…',
  completed: '✓',
  awaiting_feedback: '?',
  error: '✗',
  cancelled: '⊘',
  unknown: '!',
  resume_failed: '!',
};

const runLine = ({ work_id: workId, run_id: runId, status, branch }: CoordinatedRun, why = ''): string =>
  `${marks[status]} ${shownId(workId).padEnd(8)} ${status.padEnd(17)} ${runId}${branch === undefined ? '' : `  on ${branch}`}${why === '' ? '' : `: ${headline(why, 120)}`}`;

/** The runs of a coordinator, a line each, as they are known to it. */
export const runLines = ({ runs }: { runs: readonly CoordinatedRun[] }): string[] => runs.map((run) => runLine(run));

const counted = ({ summary: { total_runs: total, ...summary } }: Pick<Aggregation, 'summary'>): string =>
  [
    `${total} ${total === 1 ? 'run' : 'runs'}`,
    ...Object.entries(summary).flatMap(([name, count = 0]) =>
      count > 0 ? [`${count} ${name.replaceAll('_', ' ')}`] : [],
    ),
  ].join(', ');

/** How the runs of a report are answered; null: there is none, and the coordinator itself asks. */
export const howToAnswer = (id: string, report: number | null): string =>
  `Answer with: parley coordinator answer ${id} FILE${report === null ? '' : ` --as-of ${report}`}, or lines on standard input with - for FILE`;

const resultLines = ({ outcome, rounds, aggregation }: CoordinatorResult): string[] => [
  `★ ${outcome.toUpperCase().padEnd(10)} ${counted(aggregation)}; ${rounds} ${rounds === 1 ? 'report' : 'reports'}`,
];

/** What became of a set of answers, a line each. */
export const answerLines = ({ applied, warnings, errors }: CoordinatorAnswer): string[] => [
  ...applied.map(
    ({ work_id: id, response, comment }) => `✓ ${shownId(id)}: ${response}${comment ? `: ${headline(comment)}` : ''}`,
  ),
  ...warnings.map((warning) => `! ${warning}`),
  ...errors.map(({ message }) => `✗ ${message}`),
];

/** What a report asks that none has asked before, and how much else is open. */
const askedLines = (told: AggregationChange, report: Aggregation | null): string[] => {
  const { needs_feedback: isAsking, since, summary, runs } = told;
  if (!isAsking) return [];
  const asked = runs.filter(({ feedback_request: request }) => request !== undefined).length;
  const before = since === null ? 0 : summary.awaiting_feedback + summary.error - asked;
  return [
    '',
    ...promptOf(report ?? told, new Set(runs.map(({ run_id: id }) => id))).split('\n'),
    ...(before > 0
      ? [`  ${before} more ${before === 1 ? 'was' : 'were'} asked about before: parley coordinator report ID`, '']
      : []),
  ];
};

/** @param report the latest one, whole; null: what it changes was not heard */
const eventLines = ({ event, data }: NumberedCoordinatorEvent, report: Aggregation | null): string[] => {
  switch (event) {
    case 'run':
      return [runLine(data, data.reason)];
    case 'aggregation':
      return [`≡ REPORT    ${data.report}: ${counted(data)}`, ...askedLines(data, report)];
    case 'responses':
      return answerLines(data);
    case 'feedback_requested':
      return [
        `? ${headline(data.request.prompt, 160)}  (${data.request.request_id}: ${data.request.options.map(({ value }) => value).join(', ')})`,
      ];
    case 'feedback_received':
      return 'work_id' in data
        ? [`  answer    ${shownId(data.work_id)}: ${data.message}, by ${data.metadata.provided_by}`]
        : [`  answer    ${data.answer.response} by ${data.answer.provided_by}`];
    case 'final':
      return resultLines(data);
    case 'restored':
      return restoredLines(data);
    case 'log':
      return [`  ${data.message}`];
    case 'waiting':
    case 'state':
      return [];
  }
};

const questionLines = ({ id, feedback }: CoordinatorStatus): string[] =>
  feedback.flatMap(({ state, request }) =>
    state === 'open'
      ? [
          `? ${request.prompt}`,
          ...request.options.map(({ value, effect }) => `    ${value}: ${effect}`),
          `  parley inbox answer ${id} ${request.options.map(({ value }) => value).join('|')}`,
        ]
      : [],
  );

const statusLines = (status: CoordinatorStatus): string[] => [
  `${status.id}  ${status.state}  (${status.lifecycle})  ${status.total_runs} runs`,
  ...runLines(status).map((line) => `  ${line}`),
  ...status.reports.map((report) => `  ≡ ${report.report}: ${counted(report)}`),
  ...questionLines(status),
  ...waitingLines(status),
  ...(status.state === 'PRESENTING' ? [`  parley coordinator report ${status.id}    what is asked`] : []),
  ...(status.result ? resultLines(status.result) : []),
  ...errorLines(status),
  `Web UI ${status.links.web_ui}`,
];

/** Coordinators: each run as it moves, each report with what it asks, what was answered, and the end. */
export const coordinatorPresenter: Presenter<'coordinator'> = {
  kind: 'coordinator',
  statusLines,
  watch: (terminal) => {
    let report: Aggregation | null = null;
    const lines = (told: NumberedCoordinatorEvent): string[] => {
      if (told.event === 'aggregation') report = withChange(report, told.data);
      return eventLines(told, report);
    };
    return watchByLines<'coordinator'>(lines, () => [])(terminal);
  },
};
