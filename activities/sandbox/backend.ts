import type { Enforced, SandboxBackend } from '../../src/contracts/execution.js';
import type { ControlGroups } from './control-groups.js';
import type { SandboxCommand } from './port.js';

/** After the standard streams and the one on which a command says that it has begun. */
export const firstData = 4;

/** How one command is started by one backend. */
export interface Launch {
  program: string;
  args: string[];
  /** Of `program` itself. The command's own is given to it later, so that nothing in it reaches what sets limits. */
  env: Record<string, string>;
  cwd: string;
  /** Written into the scratch folder before the start, by name. */
  files: Record<string, string>;
  /** What can be read from the file descriptors from `firstData` on. */
  data: (string | Buffer)[];
  /** Whether the command says on descriptor 3 that it has begun (see `beginScript`). */
  tellsBegin: boolean;
  /** Whether what the command started may outlive it, in its process group: no namespace ends with it. */
  leadsGroup: boolean;
  /** An exit code by which `program` says that it could not start the command. */
  failureCode?: number;
  /** Sends a signal to the command where its processes are no descendants of `program`. */
  signal?: (name: 'SIGTERM' | 'SIGKILL') => void;
}

export interface LaunchInput {
  /** Absolute, without symbolic links. */
  workspace: string;
  /** Absolute, in the workspace. */
  cwd: string;
  command: SandboxCommand;
  network: boolean;
  /** A folder that this user alone can enter and that goes when the command has ended. */
  scratch: string;
  /** Who owns the workspace, where the worker is root and it is somebody else. */
  runAs: { uid: number; gid: number } | null;
}

export interface Backend {
  name: SandboxBackend;
  version(): Promise<string | null>;
  /** What is missing, as far as it can be seen without a trial, and how to get it. */
  missing(): Promise<string | null>;
  /** What may help when a trial failed with these words. */
  advice(said: string): string;
  enforces(network: boolean): Enforced;
  launch(input: LaunchInput): Promise<Launch>;
}

/** What this machine offers to every backend that runs processes on it. */
export interface Means {
  groups: ControlGroups | null;
  /** Path of `setpriv`; null: not installed. */
  setpriv: string | null;
  isRoot: boolean;
}
