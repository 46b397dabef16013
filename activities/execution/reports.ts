import type { Finding } from '../../src/contracts/finding.js';
import type { CommandReport, FileChange, TaskReport } from '../../src/contracts/execution.js';
import type { CommandEnded, TaskInput } from './port.js';

const maxFilesReported = 1_000;

export type Ran = {
  /** Above 1: a worker died in the attempts before. */
  attempt: number;
} & (
  | { command: CommandReport }
  /** It cannot be started as it is written, for this reason. */
  | { command: null; fault: string }
);

/** @param changed what the task changed, or why that cannot be listed */
export const ranReport = (
  { task, round }: TaskInput,
  ran: Ran,
  unmet: string[],
  changed: FileChange[] | string,
): TaskReport => {
  const reasons = [
    faultOf(ran, task.expect.exit_code),
    unmet.length > 0 ? `${unmet.length} of its assertions did not hold` : null,
    typeof changed === 'string' ? changed : null,
  ].filter((reason) => reason !== null);
  const files = typeof changed === 'string' ? [] : changed;
  return {
    task_id: task.task_id,
    argv: task.argv,
    outcome: reasons.length > 0 ? 'failed' : 'succeeded',
    reason: sentence(reasons),
    command: ran.command,
    files_changed: files.slice(0, maxFilesReported),
    files_changed_count: files.length,
    unmet,
    attempt: ran.attempt,
    round,
  };
};

export const refusedReport = ({ task, round }: TaskInput, findings: readonly Finding[]): TaskReport => ({
  task_id: task.task_id,
  argv: task.argv,
  outcome: 'refused',
  reason: refusal(findings),
  command: null,
  files_changed: [],
  files_changed_count: 0,
  unmet: [],
  attempt: 1,
  round,
});

export const refusedCommand = (taskId: string, findings: readonly Finding[]): CommandEnded => ({
  task_id: taskId,
  outcome: 'failed',
  reason: refusal(findings),
  command: null,
});

export const endedCommand = (taskId: string, ran: Ran): CommandEnded => {
  const fault = faultOf(ran, 0);
  const repeated = ran.attempt > 1 ? `it was run ${ran.attempt} times, since the worker died in it` : null;
  const reasons = [fault, repeated].filter((reason) => reason !== null);
  return {
    task_id: taskId,
    outcome: fault === null ? 'succeeded' : 'failed',
    reason: sentence(reasons),
    command: ran.command,
  };
};

/** A refused command counts as one that exits with 1 (details 2.5). */
const refusal = (findings: readonly Finding[]): string =>
  `Refused with exit code 1, never started: ${findings.map(({ rule, why }) => `${why} (${rule})`).join(' ')}`;

const faultOf = (ran: Ran, wanted: number): string | null =>
  ran.command === null ? `it could not be started: ${ran.fault}` : commandFault(ran.command, wanted);

const commandFault = ({ exit_code, signal, limit }: CommandReport, wanted: number): string | null => {
  if (limit !== null) return `it was ended at its limit of ${limit}`;
  if (signal !== null || exit_code === null) return `it was ended by ${signal ?? 'a signal'}`;
  return exit_code === wanted ? null : `it exited with ${exit_code} instead of ${wanted}`;
};

const sentence = (reasons: readonly string[]): string | null => {
  if (reasons.length === 0) return null;
  const text = reasons.join('; ');
  return `${text[0]!.toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
};
