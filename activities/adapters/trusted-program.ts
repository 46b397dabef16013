import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { ParleyError } from '../../src/domain/errors.js';
import { findProgram } from './program.js';
import type { ProgramEnd, ProgramStart, RunningProgram } from './running-program.js';

const stderrTailLength = 2000;
const graceMs = 500;

interface Started {
  child: ChildProcessWithoutNullStreams;
  /** Its process id, which is its group's id too. */
  leader: number;
}

/** Signals the whole group a program leads. Nobody left in it is what was wanted (macOS calls that EPERM). */
export const signalGroup = (leader: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-leader, signal);
  } catch (error) {
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
};

/** Waits until the program runs. @throws ParleyError when the system does not start it. */
const start = async (
  program: string,
  argv: readonly string[],
  options: { cwd: string; env: Record<string, string> },
): Promise<Started> => {
  try {
    // A group of its own, so that what it starts ends with it.
    const child = spawn(program, argv.slice(1), { ...options, argv0: argv[0] ?? program, detached: true });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    // Never undefined once spawned; and group 0 would be the worker's own.
    if (child.pid === undefined) throw new Error('the system gave it no process id');
    return { child, leader: child.pid };
  } catch (error) {
    throw new ParleyError(
      'EAGENTDOWN',
      `program ${JSON.stringify(program)} could not be started in ${options.cwd}: ${(error as Error).message}`,
    );
  }
};

/**
 * Runs a program that the operator trusts, with the rights of the worker and without a shell. When it ends, so does
 * everything it started; stopped, its group gets SIGTERM and, half a second later, SIGKILL.
 * @throws ParleyError EAGENTDOWN when it is not there or does not start
 */
export const startTrusted = async ({ argv, env, stdin }: ProgramStart, cwd: string): Promise<RunningProgram> => {
  const program = await findProgram(argv[0] ?? '', cwd, env['PATH'] ?? '');
  const { child, leader } = await start(program, argv, { cwd, env });
  let forceKill: NodeJS.Timeout | undefined;
  const exited = new Promise<Omit<ProgramEnd, 'errors'>>((resolve) => {
    child.once('exit', (exitCode, signal) => {
      clearTimeout(forceKill);
      // Its children would otherwise live on, and hold its output open.
      signalGroup(leader, 'SIGKILL');
      resolve({ exitCode, signal });
    });
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    errors = (errors + piece).slice(-stderrTailLength);
  });
  const errorsTold = new Promise<void>((resolve) => child.stderr.once('close', resolve));
  // A program may end without having read its input.
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  return {
    stdout: child.stdout as AsyncIterable<Buffer>,
    ended: exited.then(async (end) => {
      await errorsTold;
      return { ...end, errors };
    }),
    stop: () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      signalGroup(leader, 'SIGTERM');
      forceKill ??= setTimeout(() => signalGroup(leader, 'SIGKILL'), graceMs);
      // What nobody will read any more must not keep the program from ending.
      child.stdout.destroy();
    },
  };
};
