import type { CommandReport } from '../../src/contracts/execution.js';
import { type TaskLimits, taskLimitsSchema } from '../../src/contracts/plan.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { SandboxPort } from '../sandbox/port.js';
import { howToTrust } from './program.js';
import type { ProgramEnd, ProgramStart, RunningProgram } from './running-program.js';

const sandbox = { backend: 'auto', network: false } as const;
/** A lane's own limits end it long before. */
const longestMs = 86_400_000;

const remarkOn = ({ exit_code, limit }: CommandReport, limits: TaskLimits): string | undefined => {
  switch (limit) {
    case 'memory':
      return `it used more than ${limits.memory_mb} MiB of memory`;
    case 'processes':
      return `it started more than ${limits.processes} processes and threads`;
    case 'output':
      return 'it wrote too much';
    case 'time':
    case 'cpu':
      return 'its time was up';
    case null:
      return exit_code === 127
        ? 'in the sandbox a program finds what is in /usr, on the PATH of the worker outside of home folders, and in PARLEY_SANDBOX_READ'
        : undefined;
  }
};

/**
 * Runs a program that the operator does not trust in a sandbox, without network, in `workspace` or in an empty folder of its
 * own.
 * @throws ParleyError ESEC when no sandbox works here; it says what to install, and how to trust the program
 */
export const startSandboxed = async (
  { argv, env, stdin }: ProgramStart,
  port: Pick<SandboxPort, 'choose' | 'open'>,
  workspace?: string,
): Promise<RunningProgram> => {
  try {
    await port.choose(sandbox);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    throw new ParleyError(
      'ESEC',
      `command ${JSON.stringify(argv[0])} is not trusted by the operator of this worker, and so would run in a sandbox: ${error.message} ${howToTrust(argv[0] ?? '')}`,
    );
  }
  const stopper = new AbortController();
  const limits = taskLimitsSchema.parse({ timeout_ms: longestMs });
  const command = { argv: [...argv], cwd: '.', env, stdin, limits };
  const running = await port.open(workspace ?? null, sandbox, command, stopper.signal);
  const ended = running.ended.then(
    (report): ProgramEnd => {
      const remark = remarkOn(report, limits);
      const end = { exitCode: report.exit_code, signal: report.signal, errors: report.stderr_tail.slice(-2000) };
      return remark === undefined ? end : { ...end, remark };
    },
    (error: unknown): ProgramEnd => {
      if (!stopper.signal.aborted) throw error;
      return { exitCode: null, signal: 'SIGTERM', errors: '' };
    },
  );
  ended.catch(() => undefined); // for who waits for the output alone
  return { stdout: running.stdout, ended, stop: () => stopper.abort() };
};
