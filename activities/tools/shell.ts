import { z } from 'zod';
import { sandboxOptionsSchema } from '../../src/contracts/execution.js';
import { insidePathSchema, type Task, taskSchema } from '../../src/contracts/plan.js';
import type { Finding } from '../../src/contracts/finding.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { SandboxPort } from '../sandbox/port.js';
import { localSource, localTool } from './local-source.js';
import type { ToolSource } from './port.js';
import { roomToChange } from './room.js';
import { ShownOutput } from './shown-output.js';

/** Seconds that a command may take, where nobody says and at most. */
const presetSeconds = 120;
const mostSeconds = 3_600;
/** Characters of each stream that the answer shows; its beginning and its end. */
const shownChars = 60_000;

export interface ShellParts {
  sandbox: Pick<SandboxPort, 'run'>;
  /** What no command may do, whoever asks for it (details 2.5); `admissionFaults` of the security rules. */
  admission: (task: Task, workspace: string) => readonly Finding[];
  /** Where the folders of agents are. */
  namespaces: string;
}

const wordSchema = z.string().max(100_000);
const schema = z
  .strictObject({
    command: z.string().trim().min(1, 'must not be blank').max(100_000).optional().meta({
      description: 'A line for sh, such as "npm test 2>&1 | tail".',
    }),
    argv: z.array(wordSchema).min(1, 'must name a program').max(1_000).optional().meta({
      description: 'A program and its arguments, which no shell reads; in place of command.',
    }),
    cwd: insidePathSchema.default('.').meta({ description: 'Relative to the folder that you work in.' }),
    stdin: z.string().max(1_000_000).default(''),
    timeout_seconds: z.number().min(1).max(mostSeconds).default(presetSeconds),
  })
  .refine(({ command, argv }) => (command === undefined) !== (argv === undefined), {
    path: ['command'],
    message: 'must be given, or argv, and not both',
  });

const limitWords: Record<'time' | 'cpu' | 'memory' | 'processes' | 'output', string> = {
  time: 'its time was up; give timeout_seconds',
  cpu: 'its processor time was up',
  memory: 'it used too much memory',
  processes: 'it started too many processes',
  output: 'it wrote too much; send the output to a file and read that',
};

/** Commands in the sandbox, in the folder that an agent works in, without network unless the team has it. */
export const shellTools = ({ sandbox, admission, namespaces }: ShellParts): ToolSource =>
  localSource('shell', [
    localTool({
      name: 'run_command',
      description: `Runs a program in a sandbox, in the folder that you work in, which is all that it can write. It is ended after ${presetSeconds} seconds unless timeout_seconds says otherwise.`,
      isRepeatable: false,
      schema,
      run: async (
        { command, argv = ['sh', '-c', command ?? ''], cwd, stdin, timeout_seconds: seconds },
        call,
        signal,
      ) => {
        const room = await roomToChange(namespaces, call);
        const limits = { timeout_ms: Math.round(seconds * 1_000) };
        const task = taskSchema.parse({ task_id: 'command', argv, cwd, stdin, limits });
        const findings = admission(task, room);
        if (findings.length > 0)
          throw new ParleyError('ESEC', findings.map(({ rule, why }) => `${why} (${rule})`).join('; '));
        const shown = { stdout: new ShownOutput(shownChars), stderr: new ShownOutput(shownChars) };
        const options = call.sandbox ?? sandboxOptionsSchema.parse({});
        const report = await sandbox.run(room, options, task, signal, (stream, text) => shown[stream].add(text));
        return {
          status: 'ok',
          exit_code: report.exit_code,
          ...(report.signal !== null && { signal: report.signal }),
          ...(report.limit !== null && { ended_by: limitWords[report.limit] }),
          stdout: shown.stdout.text(),
          stderr: shown.stderr.text(),
          duration_ms: report.duration_ms,
        };
      },
    }),
  ]);
