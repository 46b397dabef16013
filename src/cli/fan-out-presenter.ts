import type { NumberedFanOutEvent } from '../contracts/fan-out-events.js';
import type { FanOutResult, FanOutStatus } from '../contracts/fan-out-status.js';
import { errorLines, headline, percent, restoredLines, spentLine, waitingLines } from './lines.js';
import { type Presenter, watchByLines } from './presenter.js';
import { answerText } from './view.js';

const listed = (label: string, ids: readonly string[]): string[] =>
  ids.length === 0
    ? []
    : [`            ${label}: ${ids.slice(0, 20).join(', ')}${ids.length > 20 ? ` and ${ids.length - 20} more` : ''}`];

const resultLines = (result: FanOutResult): string[] => [
  `★ RESULT    by ${result.aggregation_strategy}${result.partial ? ', PARTIAL' : ''}: ${result.completed.length} answers`,
  ...listed('failed', result.failed),
  ...listed('missing', result.missing),
  ...(result.agreement === null ? [] : [`            agreement ${percent(result.agreement)}`]),
  ...result.conflicts
    .slice(0, 20)
    .map(({ pointer, chosen, by }) => `            conflict at ${pointer || 'the top'}: ${chosen} stands (${by})`),
  ...(result.quality
    ? [
        `            quality ${result.quality.score === null ? `unknown (${result.quality.failure})` : percent(result.quality.score)}${result.quality.below_threshold ? `, below ${percent(result.quality.threshold)}` : ''}`,
      ]
    : []),
  ...result.notes.map((note) => `            ${headline(note, 140)}`),
];

const marks: Record<string, string> = { RUNNING: '▸', COMPLETED: '✓', FAILED: '✗', QUEUED: '·' };

const eventLines = ({ event, data }: NumberedFanOutEvent): string[] => {
  switch (event) {
    case 'task':
      return [
        `  ${marks[data.state] ?? '⊘'} ${data.task_id} (${data.agent_id}) ${data.state}${data.late ? ', late' : ''}${data.reason ? `: ${headline(data.reason.message, 100)}` : ''}`,
      ];
    case 'barrier':
      return [
        `= BARRIER   ${data.passed ? 'passed' : 'not passed'}: ${data.completed} of ${data.total} completed (${data.released_by})`,
      ];
    case 'final':
      return resultLines(data);
    case 'error':
      return [`✗ ERROR     ${data.code}: ${data.message}`];
    case 'restored':
      return restoredLines(data);
    case 'log':
      return [`  ${data.message}`];
    case 'state':
    case 'fan_in':
    case 'waiting':
      return [];
  }
};

const statusLines = (status: FanOutStatus): string[] => [
  `${status.id}  ${status.state}  (${status.lifecycle})  ${status.barrier.completed} of ${status.barrier.total} completed, ${status.barrier.failed} failed`,
  ...status.tasks.flatMap(
    ({ task_id: id, agent_id: agent, state, reason, output, artifacts, artifacts_cut: cut, attempt }) => [
      `  ${marks[state] ?? '⊘'} ${id} (${agent}) ${state}${attempt > 1 ? `, attempt ${attempt}` : ''}${reason ? `: ${headline(reason.message, 100)}` : output === null ? '' : `: ${headline(answerText(output), 80)}`}`,
      ...listed(
        'files',
        artifacts.map(({ path }) => path),
      ),
      ...(cut === null ? [] : [`            ${headline(cut, 140)}`]),
    ],
  ),
  ...waitingLines(status),
  ...(status.result ? [...resultLines(status.result), answerText(status.result.value)] : []),
  ...errorLines(status),
  spentLine(status),
];

/** Fan-outs: tasks as they end, the barrier, and the combined value. */
export const fanOutPresenter: Presenter<'fan-out'> = {
  kind: 'fan-out',
  statusLines,
  watch: watchByLines<'fan-out'>(eventLines, ({ id, lifecycle, result }) => [
    ...(lifecycle === 'cancelled' ? [`fan-out ${id} was cancelled`] : []),
    ...(result ? [answerText(result.value)] : []),
  ]),
};
