import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { CommandAdapter } from '../../src/contracts/adapter.js';
import type { Frame } from '../../src/contracts/frames.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { AgentRequest } from '../ports.js';
import type { Environment } from './connections.js';
import { createNumbering, failFrame, finalOfPartials, type Call, frameStream } from './frame-stream.js';
import { cleanEnvironment, findProgram, requireTrust } from './program.js';

const outputLimitBytes = 1_048_576;
const stderrTailLength = 2000;
const graceMs = 500;

export interface CommandPorts {
  environment: Environment;
  trustedCommands: readonly (readonly string[])[];
  cwd: string;
}

interface Ended {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
}

interface Started {
  child: ChildProcessWithoutNullStreams;
  /** Its process id, which is its group's id too. */
  leader: number;
}

/** Signals the whole group a program leads. Nobody left in it is what was wanted (macOS calls that EPERM). */
const signalGroup = (leader: number, signal: NodeJS.Signals): void => {
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
 * Runs a trusted program without a shell: the prompt (or `stdin`) on its standard input, its standard output as partials.
 * As in a shell's `$(…)`, line ends at the very end are not part of the answer. Output that is not pulled stays in the
 * pipe and so holds the program. When the program ends, so does everything it started; on abort its group gets SIGTERM
 * and, half a second later, SIGKILL.
 * @throws ParleyError ESEC when the operator does not trust it, EAGENTDOWN when it is not there or does not start.
 */
export const openCommand = async (
  adapter: CommandAdapter,
  request: AgentRequest,
  call: Call,
  { environment, trustedCommands, cwd }: CommandPorts,
): Promise<AsyncIterable<Frame>> => {
  requireTrust(adapter.argv, adapter.env ?? {}, trustedCommands);
  const env = cleanEnvironment(environment, {
    PARLEY_SESSION_ID: request.workId,
    PARLEY_LANE_ID: request.laneId,
    PARLEY_PERSONA_ID: request.personaId,
    PARLEY_INSTRUCTIONS: request.instructions ?? '',
    PARLEY_DIVERSITY_SEED: String(request.diversitySeed),
    ...adapter.env,
  });
  const program = await findProgram(adapter.argv[0] ?? '', cwd, env['PATH'] ?? '');
  const { child, leader } = await start(program, adapter.argv, { cwd, env });
  let forceKill: NodeJS.Timeout | undefined;
  const ended = new Promise<Ended>((resolve) => {
    child.once('exit', (exitCode, signal) => {
      clearTimeout(forceKill);
      // Its children would otherwise live on, and hold its output open.
      signalGroup(leader, 'SIGKILL');
      resolve({ exitCode, signal });
    });
  });
  const stop = (): void => {
    signalGroup(leader, 'SIGTERM');
    forceKill ??= setTimeout(() => signalGroup(leader, 'SIGKILL'), graceMs);
    // What nobody will read any more must not keep the program from ending.
    child.stdout.destroy();
  };
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    errors = (errors + piece).slice(-stderrTailLength);
  });
  const errorsTold = new Promise<void>((resolve) => child.stderr.once('close', resolve));
  // A program may end without having read its input.
  child.stdin.on('error', () => {});
  child.stdin.end(adapter.stdin ?? request.prompt);

  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  const onAbort = (): void => {
    if (isRunning()) stop();
  };
  if (call.signal.aborted) onAbort();
  else call.signal.addEventListener('abort', onAbort, { once: true });
  return frameStream(call, read());

  async function* read(): AsyncGenerator<Frame, void, undefined> {
    const numbering = createNumbering();
    const decoder = new TextDecoder();
    let bytes = 0;
    let lineEnds = '';
    try {
      for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > outputLimitBytes) {
          yield failFrame(
            'EPROTO',
            `${adapter.argv[0]} wrote more than ${outputLimitBytes} bytes; an answer has at most that`,
            false,
          );
          return;
        }
        const heard = lineEnds + decoder.decode(chunk, { stream: true });
        const text = heard.replace(/[\r\n]+$/, '');
        lineEnds = heard.slice(text.length);
        if (text !== '') yield numbering.partial(text);
        if (call.signal.aborted) return;
      }
      const rest = decoder.decode();
      if (rest !== '') yield numbering.partial(lineEnds + rest);
      const { exitCode, signal } = await ended;
      await errorsTold;
      if (call.signal.aborted) return;
      if (exitCode === 0) {
        yield finalOfPartials(numbering.next());
        return;
      }
      const how = exitCode === null ? `was ended by ${signal}` : `ended with exit code ${exitCode}`;
      const said = errors.trim();
      yield failFrame('EAGENTDOWN', `${adapter.argv[0]} ${how}${said === '' ? '' : `: ${said}`}`, false);
    } catch (error) {
      // Destroying its output on abort ends the reading with an error that tells nothing new.
      if (!call.signal.aborted) throw error;
    } finally {
      if (isRunning()) stop();
      await ended;
    }
  }
};
