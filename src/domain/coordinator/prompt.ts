import type { CoordinatorAnswer } from '../../contracts/coordinator.js';
import type { AggregatedRun, Aggregation, AggregationSummary } from '../../contracts/coordinator-status.js';
import type { FeedbackRequest } from '../../contracts/feedback.js';
import { type AskedWork, optionsOf, shownId } from '../feedback-list.js';
import { exampleLine } from '../feedback-text.js';

/** So much of a question or an error stands in the prompt; the whole of it stands in the report. */
const shownChars = 2_000;

const capped = (text: string): string => (text.length > shownChars ? `${text.slice(0, shownChars - 1)}…` : text);
const oneLine = (text: string): string => capped(text.replace(/\s+/g, ' ').trim());
const cell = (text: string): string => oneLine(text).replaceAll('|', '\\|');
const quote = (text: string): string =>
  capped(text.trim())
    .split(/\r\n|[\n\r]/)
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
const code = (text: string): string => `\`${oneLine(text).replaceAll('`', "'")}\``;
const where = (phase: string | null, step: string | null): string | null =>
  [phase, step].filter((part) => part !== null).join(' → ') || null;

const counted: [keyof AggregationSummary, string][] = [
  ['completed', 'Completed'],
  ['awaiting_feedback', 'Awaiting feedback'],
  ['error', 'Failed'],
  ['cancelled', 'Cancelled'],
  ['unknown', 'Unknown'],
  ['resume_failed', 'Not resumed'],
  ['in_progress', 'In progress'],
];

const countLines = (summary: AggregationSummary): string[] => [
  `- Total: ${summary.total_runs}`,
  ...counted.flatMap(([name, words]) => ((summary[name] ?? 0) > 0 ? [`- ${words}: ${summary[name]}`] : [])),
];

/** Work ids that need an answer more than once do not name a run alone. */
const namesOf = (runs: readonly AggregatedRun[]): ((run: AggregatedRun) => string) => {
  const open = new Map<string, number>();
  for (const { work_id: id, feedback_request: request } of runs) {
    if (request) open.set(id, (open.get(id) ?? 0) + 1);
  }
  return ({ work_id: workId, run_id: runId }) => ((open.get(workId) ?? 0) > 1 ? runId : workId);
};

const askedOf = ({ work_id: workId, run_id: runId, status, feedback_request: request }: AggregatedRun): AskedWork => ({
  workId,
  runId,
  requests: request ? [request] : null,
  status,
});

const optionLines = (request: FeedbackRequest): string[] => {
  if (request.type === 'input') return ['Answer in your own words, in the rest of the line.'];
  return optionsOf(request).map(
    ({ value, effect }, index) => `${index + 1}. ${code(value)}${effect === '' ? '' : `: ${oneLine(effect)}`}`,
  );
};

const untilLine = ({ expires_at: until, on_timeout: then }: FeedbackRequest): string[] =>
  until === null ? [] : [`- Until: ${until}${then === null ? '' : `, then it counts as ${code(then)}`}`];

/** One run that needs an answer: what it asks, and what each answer does. */
const block = (run: AggregatedRun, name: string): string[] => {
  const { branch, error, feedback_request: request } = run;
  if (!request) return [];
  const place = where(request.phase ?? error?.phase ?? null, request.step ?? error?.step ?? null);
  return [
    `#### ${shownId(name)}`,
    '',
    ...(branch === undefined ? [] : [`- Branch: ${code(branch)}`]),
    ...(place === null ? [] : [`- Where: ${oneLine(place)}`]),
    `- Type: ${request.type}`,
    ...(error && !error.retryable ? ['- Cannot be retried'] : []),
    ...untilLine(request),
    error ? '- Error:' : '- Question:',
    '',
    quote(error ? error.message : request.prompt),
    '',
    ...optionLines(request),
    '',
  ];
};

const completedTable = (runs: readonly AggregatedRun[]): string[] => [
  '| Work | Branch | Status | PR |',
  '|---|---|---|---|',
  ...runs.map(({ work_id: id, branch, status, outcome, artifacts }) => {
    const said = outcome === undefined || outcome === status ? status : `${status}: ${outcome}`;
    return `| ${cell(shownId(id))} | ${cell(branch ?? '')} | ${cell(said)} | ${cell(artifacts?.['pr_url'] ?? '')} |`;
  }),
  '',
];

const section = (title: string, runs: readonly AggregatedRun[], lines: string[]): string[] =>
  runs.length === 0 ? [] : [`### ${title}`, '', ...lines];

/** A line for each run that needs an answer, as it may be sent back. */
const example = (runs: readonly AggregatedRun[], nameOf: (run: AggregatedRun) => string): string[] => [
  '### Provide Feedback',
  '',
  'Answer with a line for each; what follows the option is a comment, and runs that are left out stay as they are:',
  '',
  '```',
  ...runs.map((run) => exampleLine(askedOf(run), nameOf(run))),
  '```',
];

const text = (lines: readonly string[]): string => `${lines.join('\n').trimEnd()}\n`;

/**
 * The report as the one prompt that a person answers, in markdown (spec 06, details 5.4).
 * @param only ids of the runs that it shows below the counts; left out: all
 */
export const promptOf = ({ summary, runs }: Aggregation, only?: ReadonlySet<string>): string => {
  const nameOf = namesOf(runs);
  const shown = only ? runs.filter(({ run_id: id }) => only.has(id)) : runs;
  const of = (...statuses: AggregatedRun['status'][]): AggregatedRun[] =>
    shown.filter(({ status }) => statuses.includes(status));
  const [completed, awaiting, failed] = [of('completed'), of('awaiting_feedback'), of('error')];
  const others = of('cancelled', 'unknown', 'resume_failed', 'pending', 'in_progress');
  const blocks = (list: readonly AggregatedRun[]): string[] => list.flatMap((run) => block(run, nameOf(run)));
  const needing = [...awaiting, ...failed];
  return text([
    '## Parallel Workflow Status',
    '',
    ...countLines(summary),
    '',
    ...section('Completed Runs', completed, completedTable(completed)),
    ...section('Feedback Needed', awaiting, blocks(awaiting)),
    ...section('Failed Runs', failed, blocks(failed)),
    ...section('Other Runs', others, [
      ...others.map(({ work_id: id, status, reason }) => {
        return `- ${oneLine(shownId(id))}: ${status}${reason === undefined ? '' : `: ${oneLine(reason)}`}`;
      }),
      '',
    ]),
    ...(needing.length > 0 ? example(needing, nameOf) : []),
  ]);
};

/**
 * What has to be answered again, in markdown: the runs whose answers were wrong, or where nothing named a run all that are
 * still open; null: nothing was wrong.
 * @param open the runs of the report that still need an answer
 * @param wrong ids of the runs whose answers were wrong
 */
export const repromptOf = (
  { applied, errors }: Pick<CoordinatorAnswer, 'applied' | 'errors'>,
  open: readonly AggregatedRun[],
  wrong: readonly string[],
): string | null => {
  if (errors.length === 0) return null;
  const nameOf = namesOf(open);
  const namesNone = applied.length === 0 && errors.every(({ work_id: id }) => id === null);
  const again = namesNone ? open : open.filter(({ run_id: id }) => wrong.includes(id));
  return text([
    '### Please Answer Again',
    '',
    ...errors.flatMap(({ message }) => {
      const [first = '', ...rest] = message.split('\n');
      return [`- ${oneLine(first)}`, ...rest.map((line) => `      ${oneLine(line)}`)];
    }),
    '',
    ...again.flatMap((run) => block(run, nameOf(run))),
    ...(again.length > 0 ? example(again, nameOf) : []),
  ]);
};
