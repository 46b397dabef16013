import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { SandboxProbe } from '../../activities/sandbox/port.js';
import type { CommandReport } from '../../src/contracts/execution.js';
import { findSandbox } from '../support/parts.js';

const bubblewrap = findSandbox();
const describeWithBubblewrap = bubblewrap === null ? describe.skip : describe;

let folder: string;
/** Where its workers keep what they make: those of other tests would remove what a dead one has left. */
let temporary: string;
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'parley-temporary-'));
  chmodSync(temporary, 0o1777);
  folder = mkdtempSync(join(tmpdir(), 'parley-sandboxed-'));
  chmodSync(folder, 0o755);
});
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const made of [folder, temporary]) rmSync(made, { recursive: true, force: true });
});

/** A worker's sandbox in a process of its own, from the build; it says what came of each command as a line of JSON. */
const script = (build: string): string => `
  import { createSandbox } from ${JSON.stringify(join(build, 'activities/sandbox/index.js'))};
  const sandbox = createSandbox({
    settings: { backends: ['bubblewrap', 'none'], network: false, readFolders: [], image: 'none' },
    environment: process.env,
    bubblewrap: process.env.BWRAP,
    hidden: [],
  });
  const say = (what) => console.log(JSON.stringify(what));
  const { workspace, probe, commands } = JSON.parse(process.env.INPUT);
  if (probe) say((await sandbox.probe())[0]);
  for (const { argv, backend = 'bubblewrap', limits } of commands) {
    const command = { argv, cwd: '.', env: {}, stdin: '', limits: { timeout_ms: 20000, memory_mb: 512, processes: 40, output_bytes: 10000, ...limits } };
    say(await sandbox.run(workspace, { backend, network: false }, command, new AbortController().signal));
  }
`;

const startWorker = (input: object, build = resolve('dist'), before: string[] = []): ChildProcess => {
  const [program, ...args] = [...before, process.execPath, '--input-type=module', '-e', script(build)];
  const child = spawn(program, args, {
    env: { ...process.env, TMPDIR: temporary, BWRAP: bubblewrap ?? '', INPUT: JSON.stringify(input) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  return child;
};

const linesOf = async <T>(child: ChildProcess): Promise<T[]> => {
  const lines: T[] = [];
  for await (const line of createInterface({ input: child.stdout! })) lines.push(JSON.parse(line) as T);
  return lines;
};

/** Numbers of the processes of this machine that have these words on their command line. */
const processesWith = (words: string): number[] =>
  readdirSync('/proc')
    .filter((name) => {
      try {
        const file = join('/proc', name, 'cmdline');
        return /^\d+$/.test(name) && readFileSync(file, 'utf8').replaceAll('\0', ' ').includes(words);
      } catch {
        return false; // it has ended since
      }
    })
    .map(Number);
const isRunning = (words: string): boolean => processesWith(words).length > 0;
/** Nothing tells when another's process is there or gone, so it is looked for. */
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((next) => setTimeout(next, 50));
};
const scratchOf = (pid: number): string[] =>
  readdirSync(temporary).filter((name) => new RegExp(`^parley-sandbox-\\d+-${pid}-`).test(name));
const groupsOf = (pid: number): string[] =>
  readFileSync('/proc/self/cgroup', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, controllers = '', path = ''] = line.split(':');
      const place = join('/sys/fs/cgroup', controllers, path);
      return existsSync(place)
        ? readdirSync(place).filter((name) => new RegExp(`^parley-\\d+-${pid}-`).test(name))
        : [];
    });

describeWithBubblewrap('a worker that is killed', () => {
  test('takes its commands with it, and the next one removes what it left', async () => {
    const worker = startWorker({
      workspace: folder,
      commands: [{ argv: ['sh', '-c', 'setsid sleep 86995 & sleep 86994'] }],
    });
    await until(() => isRunning('sleep 86995') && isRunning('sleep 86994'));
    const exited = once(worker, 'exit');
    worker.kill('SIGKILL');
    await exited;
    await until(() => !isRunning('sleep 86995') && !isRunning('sleep 86994'));
    expect(scratchOf(worker.pid!)).not.toEqual([]);
    const [next] = await linesOf<CommandReport>(startWorker({ workspace: folder, commands: [{ argv: ['true'] }] }));
    expect(next!.exit_code).toBe(0);
    expect([scratchOf(worker.pid!), groupsOf(worker.pid!)]).toEqual([[], []]);
  });

  test('has what ran outside of a sandbox ended by the next one, where control groups hold it', async () => {
    const worker = startWorker({ workspace: folder, commands: [{ argv: ['sleep', '86993'], backend: 'none' }] });
    await until(() => isRunning('sleep 86993'));
    const isGrouped = groupsOf(worker.pid!).length > 0;
    const exited = once(worker, 'exit');
    worker.kill('SIGKILL');
    await exited;
    const [next] = await linesOf<CommandReport>(
      startWorker({ workspace: folder, commands: [{ argv: ['true'], backend: 'none' }] }),
    );
    expect(next!.enforced.tree).toBe(isGrouped);
    expect(isRunning('sleep 86993')).toBe(!isGrouped);
    for (const pid of processesWith('sleep 86993')) process.kill(pid, 'SIGKILL');
  });
});

/** Whether the user nobody can run Node here at all. */
const asNobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'];
const canBeNobody =
  process.getuid?.() === 0 && spawnSync(asNobody[0]!, [...asNobody.slice(1), process.execPath, '-e', '']).status === 0;
const describeAsNobody = bubblewrap !== null && canBeNobody ? describe : describe.skip;

describeAsNobody('a worker without rights (needs bubblewrap, and root to be another user)', () => {
  /** The build where that user can read it. */
  const copyBuild = (): string => {
    const build = join(folder, 'build');
    for (const part of ['activities', 'src', 'package.json']) {
      const from = part === 'package.json' ? part : join('dist', part);
      cpSync(from, join(build, part), { recursive: true });
    }
    cpSync(join('node_modules', 'zod'), join(build, 'node_modules', 'zod'), { recursive: true });
    cpSync(bubblewrap!, join(folder, 'bwrap'));
    return build;
  };

  test('has the same sandbox, limited by the means of an ordinary user', async () => {
    const build = copyBuild();
    const workspace = join(folder, 'workspace');
    mkdirSync(workspace);
    spawnSync('chown', ['65534:65534', workspace]);
    writeFileSync(join(folder, 'secret'), 'of somebody else', { mode: 0o600 });
    const commands = [
      { argv: ['sh', '-c', 'id -u; echo x > made; cat /etc/shadow ../secret; echo x > /usr/planted; echo $?'] },
      // More than its limit of processes, which counts those of this sandbox alone.
      { argv: ['sh', '-c', 'i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i + 1)); done'] },
      {
        argv: [process.execPath, '-e', 'const held = []; for (;;) held.push(Buffer.alloc(1e7, 1))'],
        limits: { memory_mb: 256 },
      },
      {
        argv: ['sh', '-c', 'setsid sleep 86992 & trap "" TERM; sleep 86991; sleep 86991'],
        limits: { timeout_ms: 300 },
      },
    ];
    const worker = startWorker({ workspace, probe: true, commands }, build, [
      ...asNobody,
      'env',
      `BWRAP=${join(folder, 'bwrap')}`,
      `HOME=${folder}`,
    ]);
    const [probe, ...reports] = await linesOf<SandboxProbe & CommandReport>(worker);
    expect(probe).toMatchObject({
      ok: true,
      enforces: { filesystem: true, user: true, memory: 'address_space', processes: 'user', tree: true },
    });
    const [first, forks, memory, time] = reports;
    expect(first).toMatchObject({ exit_code: 0, stdout_tail: '1000\n2\n' });
    expect(first!.stderr_tail).toMatch(/No such file[\s\S]*No such file[\s\S]*Read-only/);
    expect(spawnSync('stat', ['-c', '%u', join(workspace, 'made')]).stdout.toString()).toBe('65534\n');
    expect(forks!.exit_code).not.toBe(0);
    expect(forks!.stderr_tail).toMatch(/[Cc]annot fork/);
    expect(memory!.exit_code).not.toBe(0);
    expect(time).toMatchObject({ exit_code: null, limit: 'time' });
    expect([isRunning('sleep 86992'), isRunning('sleep 86991'), scratchOf(worker.pid!)]).toEqual([false, false, []]);
  });
});
