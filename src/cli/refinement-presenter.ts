import type { NumberedRefinementEvent } from '../contracts/refinement-events.js';
import type { CritiqueBody, RefinementResult, RefinementStatus } from '../contracts/refinement-status.js';
import { errorLines, headline, percent, restoredLines, spentLine, waitingLines } from './lines.js';
import { type Presenter, watchByLines } from './presenter.js';
import { answerText } from './view.js';

const critiqueLines = (
  version: number,
  { score, scores, improvement, feedback, issues, slow, calls }: CritiqueBody,
) => [
  `  score     ${percent(score)} for version ${version}${improvement === null ? '' : ` (${improvement < 0 ? '' : '+'}${percent(improvement)})`}${calls > 1 ? ', asked twice' : ''}${slow ? ', slow' : ''}`,
  ...(scores
    ? [
        `            ${Object.entries(scores)
          .map(([criterion, of]) => `${criterion} ${percent(of)}`)
          .join(', ')}`,
      ]
    : []),
  ...(feedback === '' ? [] : [`            ${headline(feedback, 120)}`]),
  ...issues.map(
    ({ severity, where, why }) => `            ${severity}${where ? ` at ${where}` : ''}: ${headline(why, 90)}`,
  ),
];

const resultLines = (result: RefinementResult): string[] => [
  `★ ${result.status.padEnd(10)} ${result.reason}: version ${result.version} of ${result.iterations}, score ${percent(result.score)}`,
  `            ${result.why}`,
];

const eventLines = ({ event, data }: NumberedRefinementEvent): string[] => {
  switch (event) {
    case 'version':
      return [`  version ${data.version} ${headline(data.output, 90)}`];
    case 'critique':
      return critiqueLines(data.version, data);
    case 'budget':
      return [`  budget    the ${data.role} may not be asked: ${data.message}`];
    case 'final':
      return resultLines(data);
    case 'error':
      return [`✗ ERROR     ${data.code}: ${data.message}`];
    case 'restored':
      return restoredLines(data);
    case 'log':
      return [`  ${data.message}`];
    case 'waiting':
    case 'state':
      return [];
  }
};

const statusLines = (status: RefinementStatus): string[] => [
  `${status.id}  ${status.state}  (${status.lifecycle})  iteration ${status.iteration} of at most ${status.loop_control.max_iterations}`,
  `task: ${headline(status.task)}`,
  ...status.history.flatMap(({ version, output, critique }) => [
    `  version ${version} ${headline(output, 90)}`,
    ...(critique ? critiqueLines(version, critique) : []),
  ]),
  ...waitingLines(status),
  ...(status.result ? resultLines(status.result) : []),
  ...errorLines(status),
  ...(status.best
    ? [`best so far, version ${status.best.version} (${percent(status.best.score)}):`, answerText(status.best.output)]
    : []),
  spentLine(status),
];

/** Refinements: versions and scores as they come, and the output at the end. */
export const refinementPresenter: Presenter<'refinement'> = {
  kind: 'refinement',
  statusLines,
  watch: watchByLines<'refinement'>(eventLines, ({ id, lifecycle, best }) => [
    ...(lifecycle === 'cancelled' ? [`refinement ${id} was cancelled`] : []),
    ...(best ? [answerText(best.output)] : []),
  ]),
};
