import type { CommandReport, Enforced, SandboxBackend, SandboxOptions } from '../../src/contracts/execution.js';
import type { TaskLimits } from '../../src/contracts/plan.js';

/** One command; no shell reads it unless the program is one. */
export interface SandboxCommand {
  argv: string[];
  /** Relative to the workspace. */
  cwd: string;
  /** Added to the clean environment (PATH, HOME, LANG, TMPDIR); wins over it. */
  env: Record<string, string>;
  stdin: string;
  limits: TaskLimits;
}

/** What one backend can do on this machine, in the worker's process, under the operator's settings. */
export interface SandboxProbe {
  backend: SandboxBackend;
  /** It works here and the operator allows it. */
  ok: boolean;
  version: string | null;
  /** Why it is not ok and what to do about it: a program to install and how, or a setting; null when ok. */
  missing: string | null;
  /** What it would hold a command without network to. */
  enforces: Enforced;
}

export type OutputStream = 'stdout' | 'stderr';

/** A command that has been started. */
export interface RunningCommand {
  /** Standard output as it comes. It has to be read to its end; while nobody pulls, the command is held by its own output. */
  stdout: AsyncIterable<Buffer>;
  /**
   * Settles once every process of the command has ended and nothing of it is left over.
   * @throws the signal's reason when it was aborted
   */
  ended: Promise<CommandReport>;
}

/** Runs commands in sandboxes (spec 02 "Execution"). */
export interface SandboxPort {
  /** Every backend, strongest first. One that works is not tried again; a program is looked for once. */
  probe(): Promise<SandboxProbe[]>;

  /**
   * The backend that the options stand for: `auto` is bubblewrap, then docker.
   * @throws ParleyError ESEC when the operator does not allow it, `unavailable` when it does not work here; the message
   * names what to set or install
   */
  choose(options: SandboxOptions): Promise<SandboxBackend>;

  /**
   * Starts a command with the workspace (an absolute path) as the only folder it can write; null: an empty one of its
   * own, which is gone afterwards.
   * @throws as `choose`, and ParleyError `invalid_request` when the workspace is no folder or one of the system's, `cwd` is no
   * folder inside of it, or argv or env cannot be given to a program; nothing has run
   */
  open(
    workspace: string | null,
    options: SandboxOptions,
    command: SandboxCommand,
    signal: AbortSignal,
  ): Promise<RunningCommand>;

  /**
   * As `open`, to the end. A program that is not there is exit code 127, as in a shell; limits are no errors either, they
   * stand in the report. `onOutput` hears both streams as text, in the pieces that come.
   * @throws as `open`; the signal's reason when it was aborted, after everything has ended
   */
  run(
    workspace: string | null,
    options: SandboxOptions,
    command: SandboxCommand,
    signal: AbortSignal,
    onOutput?: (stream: OutputStream, text: string) => void,
  ): Promise<CommandReport>;
}
