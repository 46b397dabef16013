import type { CommandAdapter } from '../../src/contracts/adapter.js';
import type { Frame } from '../../src/contracts/frames.js';
import type { AgentFrame, AgentRequest } from '../ports.js';
import type { SandboxPort } from '../sandbox/port.js';
import type { Environment } from './connections.js';
import { createNumbering, failFrame, finalOfPartials, type Call, frameStream } from './frame-stream.js';
import { cleanEnvironment, isTrusted, refuseSubverting } from './program.js';
import type { ProgramEnd, RunningProgram } from './running-program.js';
import { startSandboxed } from './sandboxed-program.js';
import { startTrusted } from './trusted-program.js';

const outputLimitBytes = 1_048_576;

export interface CommandPorts {
  environment: Environment;
  trustedCommands: readonly (readonly string[])[];
  sandbox: Pick<SandboxPort, 'choose' | 'open'>;
  cwd: string;
}

/**
 * Runs a program without a shell: the prompt (or `stdin`) on its standard input, its standard output as partials. As in a
 * shell's `$(…)`, line ends at the very end are not part of the answer. Output that is not pulled stays in the pipe and so
 * holds the program. What the operator trusts runs with the rights of the worker, everything else in a sandbox.
 * @throws ParleyError ESEC when it is not trusted and no sandbox works here, EAGENTDOWN when it is not there or does not
 * start
 */
export const openCommand = async (
  adapter: CommandAdapter,
  request: AgentRequest,
  call: Call,
  ports: CommandPorts,
): Promise<AsyncIterable<AgentFrame>> => {
  const program = await startProgram(adapter, request, ports);
  if (call.signal.aborted) program.stop();
  else call.signal.addEventListener('abort', () => program.stop(), { once: true });
  return frameStream(call, framesOf(program, adapter.argv[0] ?? '', call));
};

const startProgram = async (
  { argv, env = {}, stdin }: CommandAdapter,
  request: AgentRequest,
  { environment, trustedCommands, sandbox, cwd }: CommandPorts,
): Promise<RunningProgram> => {
  const added = {
    PARLEY_SESSION_ID: request.workId,
    PARLEY_LANE_ID: request.laneId,
    PARLEY_PERSONA_ID: request.personaId,
    PARLEY_INSTRUCTIONS: request.instructions ?? '',
    PARLEY_DIVERSITY_SEED: String(request.diversitySeed),
    // A program in a namespace is a worker: by this parley itself refuses to start workers for it.
    ...(request.workspace !== undefined && { PARLEY_WORKER: request.workId }),
    ...(request.folder !== undefined && { PARLEY_FOLDER: request.folder }),
    ...env,
  };
  const input = stdin ?? request.prompt;
  if (!isTrusted(argv, trustedCommands))
    return await startSandboxed({ argv, env: added, stdin: input }, sandbox, request.workspace ?? request.folder);
  refuseSubverting(env);
  return await startTrusted(
    { argv, env: cleanEnvironment(environment, added), stdin: input },
    request.workspace ?? cwd,
  );
};

async function* framesOf(program: RunningProgram, name: string, call: Call): AsyncGenerator<Frame, void, undefined> {
  const numbering = createNumbering();
  const decoder = new TextDecoder();
  let bytes = 0;
  let lineEnds = '';
  try {
    for await (const chunk of program.stdout) {
      bytes += chunk.length;
      if (bytes > outputLimitBytes) {
        yield failFrame(
          'EPROTO',
          `${name} wrote more than ${outputLimitBytes} bytes; an answer has at most that`,
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
    const end = await program.ended;
    if (call.signal.aborted) return;
    yield end.exitCode === 0
      ? finalOfPartials(numbering.next())
      : failFrame('EAGENTDOWN', `${name} ${failureOf(end)}`, false);
  } catch (error) {
    // Ending it on abort ends the reading with an error that tells nothing new.
    if (!call.signal.aborted) throw error;
  } finally {
    program.stop();
    await program.ended;
  }
}

const failureOf = ({ exitCode, signal, errors, remark }: ProgramEnd): string => {
  const how = exitCode === null ? `was ended by ${signal ?? 'the sandbox'}` : `ended with exit code ${exitCode}`;
  const said = errors.trim();
  return `${how}${said === '' ? '' : `: ${said}`}${remark === undefined ? '' : ` (${remark})`}`;
};
