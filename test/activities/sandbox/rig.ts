import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSandbox, type CreateSandboxOptions } from '../../../activities/sandbox/index.js';
import type { OutputStream, SandboxPort } from '../../../activities/sandbox/port.js';
import { type CommandReport, sandboxBackends, type SandboxOptions } from '../../../src/contracts/execution.js';
import { type TaskLimits, taskLimitsSchema } from '../../../src/contracts/plan.js';
import { findSandbox } from '../../support/parts.js';

/** Skips, counted and named, where bubblewrap does not work; `npm run pretest` says what to do. */
export const describeWithBubblewrap = findSandbox() === null ? describe.skip : describe;

export const sandboxOf = (
  given: Partial<CreateSandboxOptions['settings']> = {},
  hidden: string[] = [],
  more: Partial<CreateSandboxOptions> = {},
): SandboxPort =>
  createSandbox({
    settings: { backends: sandboxBackends, network: false, readFolders: [], image: 'node:20-bookworm-slim', ...given },
    environment: process.env,
    bubblewrap: findSandbox(),
    hidden,
    ...more,
  });

export interface Given {
  backend?: SandboxOptions['backend'];
  network?: boolean;
  cwd?: string;
  env?: Record<string, string>;
  stdin?: string;
  limits?: Partial<TaskLimits>;
  signal?: AbortSignal;
  onOutput?: (stream: OutputStream, text: string) => void;
}

export const limitsOf = (given: Partial<TaskLimits> = {}): TaskLimits =>
  taskLimitsSchema.parse({ timeout_ms: 20_000, memory_mb: 512, processes: 128, ...given });

/** A folder of its own for each test, and commands in it. */
export const workspaceOf = (sandbox: () => SandboxPort) => {
  const made: string[] = [];
  const folder = (): string => {
    const path = realpathSync(mkdtempSync(join(tmpdir(), 'parley-workspace-')));
    made.push(path);
    return path;
  };
  return {
    folder,
    remove: (): void => {
      for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
    },
    run: async (argv: string[], workspace: string | null, given: Given = {}): Promise<CommandReport> =>
      await sandbox().run(
        workspace,
        { backend: given.backend ?? 'bubblewrap', network: given.network ?? false },
        {
          argv,
          cwd: given.cwd ?? '.',
          env: given.env ?? {},
          stdin: given.stdin ?? '',
          limits: limitsOf(given.limits),
        },
        given.signal ?? new AbortController().signal,
        given.onOutput,
      ),
  };
};

/** Whether some process of this machine has these words on its command line. */
export const isRunning = (words: string): boolean =>
  readdirSync('/proc').some((name) => {
    const file = join('/proc', name, 'cmdline');
    try {
      return /^\d+$/.test(name) && readFileSync(file, 'utf8').replaceAll('\0', ' ').includes(words);
    } catch {
      return false; // it has ended since
    }
  });

/** What sandboxes of this process have left: folders, control groups, processes that nobody collects. */
export const leftovers = (): string[] => {
  const mine = new RegExp(`^parley-(sandbox-)?\\d+-${process.pid}-`);
  const groups = readFileSync('/proc/self/cgroup', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, controllers = '', path = ''] = line.split(':');
      return ['memory', 'pids'].includes(controllers) ? [join('/sys/fs/cgroup', controllers, path)] : [];
    });
  const zombies = readdirSync('/proc').filter((name) => {
    try {
      const stat = /^\d+$/.test(name) ? readFileSync(join('/proc', name, 'stat'), 'utf8') : '';
      return new RegExp(`\\) Z ${process.pid} `).test(stat);
    } catch {
      return false;
    }
  });
  return [
    ...[tmpdir(), ...groups].flatMap((place) =>
      existsSync(place) ? readdirSync(place).filter((name) => mine.test(name)) : [],
    ),
    ...zombies.map((pid) => `zombie ${pid}`),
  ];
};
