import type { NumberedDebateEvent } from '../contracts/debate-events.js';
import type { DebateResult, DebateStatus, Statement, Vote } from '../contracts/debate-status.js';
import type { HealthReport, RollbackReport, TaskReport } from '../contracts/execution.js';
import type { Approval } from '../contracts/feedback.js';
import type { HealthCheck, Task, Undo } from '../contracts/plan.js';
import { currentApprovers } from '../domain/approval.js';
import { answeredLine, errorLines, headline, percent, restoredLines, spentLine } from './lines.js';
import { type Presenter, watchByLines } from './presenter.js';

const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
const commandLine = (argv: readonly string[]): string => argv.map(shellWord).join(' ');

/** A command as a shell would be told it, with where it runs and what it reads. */
const wholeCommand = ({ argv, cwd, env, stdin }: Task | Undo | HealthCheck): string => {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${shellWord(value)} `);
  const lines = stdin.trimEnd().replaceAll('\n', '⏎');
  const input = lines.length > 400 ? `${lines.slice(0, 400)}… (${stdin.length} characters)` : lines;
  return `${variables.join('')}${commandLine(argv)}${stdin === '' ? '' : ` <<< ${shellWord(input)}`}${cwd === '.' ? '' : `  (in ${cwd})`}`;
};

const taskLine = (task: Task): string => {
  const { task_id: id, depends_on: needs, undo } = task;
  return `${id}: ${wholeCommand(task)}${needs.length > 0 ? `  (after ${needs.join(', ')})` : ''}${undo ? `  [undo: ${wholeCommand(undo)}]` : ''}`;
};

const planHead = (fromPass: number | null): string =>
  `  plan      of ${fromPass ? `pass ${fromPass}` : 'the request'}:`;

const statementLines = ({
  role,
  pass,
  stance,
  confidence,
  position,
  issues,
  findings,
  failure,
}: Statement): string[] => [
  `  ${role.padEnd(9)} pass ${pass}  ${stance === 'abstain' ? 'abstains' : `${stance} (${percent(confidence)})`}: ${headline(position, 90)}`,
  ...issues.map(
    ({ severity, where, why }) => `            ${severity}${where ? ` at ${where}` : ''}: ${headline(why, 90)}`,
  ),
  ...findings.map(
    ({ rule, where, why, confidence: sure }) =>
      `            ! ${rule} at ${where} (${percent(sure)}): ${headline(why, 90)}`,
  ),
  ...(failure ? [`            ${failure.code}: ${headline(failure.message, 120)}`] : []),
];

const outcomeMark = { succeeded: '✓', failed: '✗', refused: '⊘', not_run: '–' } as const;

/** The end of what a task wrote, as far as it helps to see why it failed. */
const tailOf = ({ command }: Pick<TaskReport, 'command'>): string[] =>
  (command === null ? '' : command.stderr_tail.trim() || command.stdout_tail.trim())
    .split('\n')
    .slice(-6)
    .filter((line) => line.trim() !== '')
    .map((line) => `            │ ${line.slice(0, 140)}`);

const reportLines = (report: TaskReport): string[] => {
  const { task_id: id, outcome, argv, command, reason, unmet, attempt, files_changed_count: files } = report;
  const how = command === null ? '' : `${endOf(command)}, ${files} files changed`;
  return [
    `  task      ${outcomeMark[outcome]} ${id}: ${headline(commandLine(argv), 80)}${how === '' ? '' : `  (${how})`}`,
    ...(attempt > 1 ? [`            run again after a worker died: attempt ${attempt}`] : []),
    ...(reason ? [`            ${headline(reason, 140)}`] : []),
    ...unmet.map((line) => `            not as expected: ${headline(line, 120)}`),
    ...(outcome === 'failed' ? tailOf(report) : []),
  ];
};

const endOf = ({ exit_code: code, signal, limit, duration_ms: ms }: NonNullable<TaskReport['command']>): string =>
  `exit ${code ?? signal ?? limit ?? '?'} in ${(ms / 1000).toFixed(2)} s`;

/** What the health check said; a task that failed is never told as one that did not. */
const healthLines = (check: HealthReport): string[] => {
  const { failed_task: failed, healthy, reason, command } = check;
  const said = healthy ? 'nothing to heal' : 'not healthy';
  return [
    `  check     ${healthy ? '✓' : '✗'} after ${failed} failed: ${said}${command ? `  (${endOf(command)})` : ''}`,
    ...(reason ? [`            ${headline(reason, 140)}`] : []),
    ...tailOf(check),
  ];
};

/** The check that the request declares. */
const checkLines = ({ healing }: DebateStatus): string[] =>
  healing?.check ? [`  check     after a failed task: ${wholeCommand(healing.check)}`] : [];

const rollbackLines = ({ undone, restored, restore_error: error, manual, ...digests }: RollbackReport): string[] => [
  ...undone.map(
    ({ task_id: id, outcome, reason }) =>
      `            undo of ${id} ${outcome}${reason ? `: ${headline(reason, 120)}` : ''}`,
  ),
  restored
    ? `            workspace restored: ${digests.workspace_before?.slice(0, 12)} before, ${digests.workspace_after?.slice(0, 12)} now`
    : `            workspace not restored${error ? `: ${headline(error, 120)}` : ''}`,
  ...manual.map((line) => `            to do by hand: ${line}`),
];

const voteLines = (votes: readonly Vote[]): string[] =>
  votes.map(
    ({ role, stance, confidence, weight }) =>
      `            ${role.padEnd(9)} ${stance.padEnd(7)} ${percent(confidence).padStart(5)}  weight ${weight.toFixed(2)}`,
  );

const resultLines = (result: DebateResult): string[] => [
  `★ ${result.outcome.toUpperCase().padEnd(10)} ${result.decision ?? 'no decision'}, consensus ${percent(result.consensus)}, ${result.passes} ${result.passes === 1 ? 'pass' : 'passes'}`,
  `            ${result.reason}`,
  ...(result.report?.repairs ? [`            repairs: ${result.report.repairs}`] : []),
  ...(result.budget_note ? [`            ${result.budget_note}`] : []),
  ...result.notes.map((note) => `            ${note}`),
];

/** What is asked now. A repair that is to be approved stands nowhere else in the status as it will run. */
const gateLines = (id: string, approval: Approval): string[] => {
  const { request, outcome, needed } = approval;
  if (outcome !== 'pending') return [];
  const who = currentApprovers(approval);
  const options = request.options.map(({ value }) => value).join('|');
  return [
    `? waits for ${needed === 1 ? 'an approval' : `${needed} approvals`}${who ? ` of ${who.join(', ')}` : ''}${request.expires_at ? `, until ${request.expires_at}` : ''}`,
    ...(request.phase === 'repair' ? request.prompt.split('\n').map((line) => `  ${line}`) : []),
    `  parley debate answer ${id} ${options}    (request ${request.request_id}, digest ${request.digest?.slice(0, 12)})`,
  ];
};

const eventLines = ({ event, data }: NumberedDebateEvent): string[] => {
  switch (event) {
    case 'statement':
      return statementLines(data);
    case 'plan':
      return [planHead(data.from_pass), ...data.plan.tasks.map((task) => `            ${taskLine(task)}`)];
    case 'consensus':
      return [`≈ consensus ${percent(data.consensus)} after pass ${data.pass}: ${data.why}`];
    case 'decision':
      return [`= ${data.decision}     ${data.why}`];
    case 'task':
      return data.stage === 'ended' ? reportLines(data.report) : [];
    case 'health':
      return healthLines(data);
    case 'repair': {
      // Told when it begins, when there is a new plan, and when it is known to have helped or not: each time what is new.
      const { round, given_up: givenUp, healed, tasks, diagnosis } = data;
      if (givenUp) return [`↺ repair ${round}  given up: ${headline(givenUp.message, 120)}`];
      if (healed) return [`↺ repair ${round}  healed it`];
      if (tasks) return [`↺ repair ${round}  by`, ...tasks.map((task) => `            ${taskLine(task)}`)];
      return diagnosis ? [`↺ repair ${round}  diagnosis: ${headline(diagnosis, 120)}`] : [];
    }
    case 'rollback':
      return data.report ? rollbackLines(data.report) : [`↶ rolling back: ${data.why}`];
    case 'feedback_requested':
      return [`? ${headline(data.request.prompt, 120)}  (${data.request.request_id})`];
    case 'feedback_received':
      return [answeredLine(data.answer)];
    case 'budget':
      return [`  budget    ${data.role} may not speak: ${data.message}`];
    case 'final':
      return resultLines(data);
    case 'error':
      return [`✗ ERROR     ${data.code}: ${data.message}`];
    case 'restored':
      return restoredLines(data);
    case 'log':
      return [`  ${data.message}`];
    case 'waiting':
      return data?.for === 'person' ? [`  waiting   for a person: ${data.detail}`] : [];
    case 'state':
    case 'tags':
    case 'duels':
      return [];
  }
};

const statusLines = (status: DebateStatus): string[] => [
  `${status.id}  ${status.state}  (${status.lifecycle})  pass ${status.pass}, consensus ${percent(status.consensus)}`,
  `task: ${headline(status.task)}`,
  `workspace: ${status.workspace.path}`,
  ...status.statements.flatMap(statementLines),
  ...(status.votes.length > 0 ? ['  votes', ...voteLines(status.votes)] : []),
  ...(status.plan.tasks.length > 0
    ? [planHead(status.plan_from_pass), ...status.plan.tasks.map((task) => `            ${taskLine(task)}`)]
    : []),
  ...checkLines(status),
  ...(status.report?.tasks ?? []).flatMap(reportLines),
  ...(status.report?.checks ?? []).flatMap(healthLines),
  ...(status.report?.rollback ? rollbackLines(status.report.rollback) : []),
  ...status.feedback.flatMap((approval) => gateLines(status.id, approval)),
  ...(status.waiting && status.waiting.for !== 'person'
    ? [`waiting for ${status.waiting.for}: ${status.waiting.detail}`]
    : []),
  ...(status.result ? resultLines(status.result) : []),
  ...errorLines(status),
  spentLine(status),
];

/** Debates: the transcript as it grows, the execution and its end. */
export const debatePresenter: Presenter<'debate'> = {
  kind: 'debate',
  statusLines,
  watch: watchByLines<'debate'>(eventLines, ({ id, lifecycle, result }) =>
    lifecycle === 'cancelled' && !result ? [`debate ${id} was cancelled`] : [],
  ),
};
