import type { NumberedRunEvent } from '../contracts/run-events.js';
import type { RunFeedback, RunResult, RunStatus } from '../contracts/run-status.js';
import { answeredLine, errorLines, headline, restoredLines, spentLine, waitingLines } from './lines.js';
import { type Presenter, watchByLines } from './presenter.js';

const marks = {
  pending: ' ',
  in_progress: '…',
  awaiting_feedback: '?',
  completed: '✓',
  failed: '✗',
  skipped: '–',
  cancelled: '⊘',
} as const;

const resultLines = ({ outcome, reason, steps, branch }: RunResult): string[] => [
  `★ ${outcome.toUpperCase().padEnd(10)} ${reason}`,
  `            ${steps.completed} of ${steps.total} steps completed${steps.skipped > 0 ? `, ${steps.skipped} skipped` : ''}${branch ? `; on branch ${branch}` : ''}`,
];

const requestLines = (id: string, { state, request }: RunFeedback): string[] => {
  if (state !== 'open') return [];
  const { options, prompt, expires_at: until, request_id: asked, type } = request;
  return [
    `? ${headline(prompt, 120)}${until ? `  (until ${until})` : ''}`,
    ...options.map(({ value, effect }) => `    ${value}: ${effect}`),
    `  parley run answer ${id} ${type === 'input' ? 'TEXT' : options.map(({ value }) => value).join('|')}    (request ${asked})`,
  ];
};

const eventLines = ({ event, data }: NumberedRunEvent): string[] => {
  switch (event) {
    case 'step': {
      if (data.state === 'pending') return [];
      const again = data.attempt > 1 ? `, try ${data.attempt}` : '';
      const what = data.output !== null && data.state === 'completed' ? `: ${headline(data.output, 90)}` : '';
      const work = data.work_id !== null && data.state === 'in_progress' ? `  ${data.work_id}` : '';
      return [`${marks[data.state]} ${data.phase} -> ${data.step} (${data.kind}${again}) ${data.state}${work}${what}`];
    }
    case 'feedback_requested':
      return [
        `? ${headline(data.request.prompt, 120)}  (${data.request.request_id}: ${data.request.options.map(({ value }) => value).join(', ') || 'a text'})`,
      ];
    case 'feedback_received':
      return [answeredLine(data.answer)];
    case 'feedback_expired':
      return [`  answer    nobody answered ${data.request_id} in time; it counts as ${data.counts_as}`];
    case 'budget':
      return [`  budget    ${data.message}`];
    case 'final':
      return resultLines(data);
    case 'error':
      return [`✗ ERROR     ${data.code}: ${headline(data.message, 200)}`];
    case 'restored':
      return restoredLines(data);
    case 'log':
      return [`  ${data.message}`];
    case 'waiting':
    case 'state':
      return [];
  }
};

const statusLines = (status: RunStatus): string[] => [
  `${status.id}  ${status.state}  (${status.lifecycle})  work ${status.work_id}`,
  ...(status.workspace.path
    ? [`folder: ${status.workspace.path}${status.workspace.branch ? `, branch ${status.workspace.branch}` : ''}`]
    : []),
  ...status.phases.flatMap(({ name, steps }) => [
    `  ${name}`,
    ...steps.map(
      ({ name: step, kind, state, attempts }) =>
        `    ${marks[state]} ${step} (${kind}) ${state}${attempts.length > 1 ? `, ${attempts.length} tries` : ''}`,
    ),
  ]),
  ...status.feedback.flatMap((feedback) => requestLines(status.id, feedback)),
  ...waitingLines(status),
  ...(status.result ? resultLines(status.result) : []),
  ...errorLines(status),
  spentLine(status),
];

/** Runs: each step as it goes, what people are asked, and the end. */
export const runPresenter: Presenter<'run'> = {
  kind: 'run',
  statusLines,
  watch: watchByLines<'run'>(eventLines, () => []),
};
