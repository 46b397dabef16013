import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Enforced } from '../../../src/contracts/execution.js';
import { describeWithBubblewrap, type Given, isRunning, leftovers, sandboxOf, workspaceOf } from './rig.js';

/** What an escape is after: on the host, outside of the workspace. */
interface Host {
  outside: string;
  data: string;
  victim: ChildProcess;
  port: number;
  socket: string;
  calls: number;
}

const token = 'token-of-the-host';
const host: Host = { outside: '', data: '', victim: null as never, port: 0, socket: '', calls: 0 };
const servers: Server[] = [];
let sandbox: ReturnType<typeof sandboxOf>;
const { folder, remove, run } = workspaceOf(() => sandbox);

beforeAll(async () => {
  host.outside = realpathSync(mkdtempSync(join(tmpdir(), 'parley-outside-')));
  host.data = join(host.outside, 'data');
  mkdirSync(join(host.outside, 'bin'));
  mkdirSync(host.data);
  for (const file of [join(host.outside, 'secret'), join(host.data, 'parley.db')]) writeFileSync(file, token);
  host.socket = join(host.outside, 'socket');
  for (const place of [{ port: 0, host: '127.0.0.1' }, { path: host.socket }]) {
    const server = createServer((connection) => {
      host.calls += 1;
      connection.end(token);
    });
    server.listen(place);
    await once(server, 'listening');
    servers.push(server);
  }
  host.port = (servers[0]!.address() as AddressInfo).port;
  // Somebody else's program, with a secret in its environment.
  host.victim = spawn('sleep', ['86999'], { env: { PATH: process.env['PATH'], TOKEN: token }, stdio: 'ignore' });
  await once(host.victim, 'spawn');
  sandbox = sandboxOf({}, [host.data, join(host.outside, 'secret')]);
});
afterEach(remove);
afterAll(() => {
  host.victim.kill('SIGKILL');
  for (const server of servers) server.close();
  rmSync(host.outside, { recursive: true, force: true });
});

const sh = (script: string): string[] => ['sh', '-c', script];
const connect = (to: string): string[] => [
  process.execPath,
  '-e',
  `require('net').connect(${to}).on('data', (text) => console.log(String(text))).on('error', (error) => { console.log(error.code); process.exit(1) })`,
];
/** Calls for which there is no program, through perl, which every Debian has. */
const call = (numbers: Partial<Record<string, number>>, ...args: (number | string)[]): string[] => [
  'perl',
  '-e',
  `my @a = (${args.join(', ')}); my $r = syscall(${numbers[process.arch] ?? 0}, @a); print $r == -1 ? "refused: $!\\n" : "DONE $r\\n"`,
];
const ptrace = { x64: 101, arm64: 117 };
const keyctl = { x64: 250, arm64: 219 };
const addKey = { x64: 248, arm64: 217 };

/**
 * Each is tried in a folder of its own, and fails: none sees the host's secret, and the files and processes of the host are
 * as before. The third column says what the command sees instead.
 */
type Escape = [what: string, argv: () => string[], seen: RegExp | null, held: keyof Enforced, given?: Given];

const files: Escape[] = [
  [
    'writing beside the workspace',
    () => sh(`echo x > ${host.outside}/planted`),
    /Directory nonexistent|No such file/,
    'filesystem',
  ],
  [
    'writing into the temporary folder',
    () => sh('echo x > /tmp/parley-planted && echo x > /var/tmp/parley-planted'),
    /nonexistent|No such file/,
    'filesystem',
  ],
  ['writing programs', () => sh('echo x > /usr/bin/parley-planted'), /Read-only/, 'filesystem'],
  [
    'writing settings',
    () => sh('echo x > /etc/parley-planted; echo x >> /etc/passwd'),
    /Read-only.*\n.*Read-only/,
    'filesystem',
  ],
  ['writing into the root', () => sh('mkdir /parley-planted'), /Read-only/, 'filesystem'],
  [
    'making the root writable',
    () => sh('mount -o remount,rw / ; mount -o remount,rw,bind /usr; echo x > /usr/planted'),
    /Read-only/,
    'filesystem',
  ],
  ['reading a file beside the workspace', () => ['cat', `${host.outside}/secret`], /No such file/, 'filesystem'],
  ['reading the data folder', () => sh(`cat ${host.data}/parley.db; ls ${host.data}`), /No such file/, 'filesystem'],
  [
    'reading through a link',
    () => sh(`ln -s ${host.outside}/secret link; cat link; ln -s / root; cat root${host.outside}/secret`),
    /No such file/,
    'filesystem',
  ],
  [
    'writing through a link',
    () => sh(`ln -s ${host.outside} link; echo x > link/planted`),
    /nonexistent|No such file/,
    'filesystem',
  ],
  [
    'linking a file into the workspace',
    () => sh('ln /usr/bin/env here || ln /etc/passwd here'),
    /cross-device|not permitted/,
    'filesystem',
  ],
  [
    'reading home folders',
    () => sh(`ls -A /root ${homedir()} ~root /home/*/.ssh; cat ${homedir()}/.ssh/*`),
    /No such file/,
    'filesystem',
  ],
  ['reading passwords', () => sh('cat /etc/shadow /etc/gshadow /etc/sudoers'), /No such file/, 'filesystem'],
  ['reading private keys', () => sh('ls /etc/ssl/private /etc/pki/tls/private /etc/ssh'), /No such file/, 'filesystem'],
  ['looking at what runs and logs', () => sh('ls /run /var /sys /boot /srv /mnt'), /No such file/, 'filesystem'],
  [
    'reaching the engine of containers',
    () => sh('ls /var/run/docker.sock /run/docker.sock /run/containerd'),
    /No such file/,
    'filesystem',
  ],
  [
    'going back to the old root',
    () => sh('cat /proc/1/root/etc/shadow; chroot /proc/1/root cat /etc/shadow; ls /proc/1/cwd/..'),
    /No such file|not permitted/,
    'filesystem',
  ],
];

const processes: Escape[] = [
  ['reading environments of others', () => sh('cat /proc/*/environ | tr "\\0" "\\n"'), null, 'tree'],
  [
    'finding processes of the host',
    () => sh(`ls /proc/${host.victim.pid}/; ls -d /proc/[0-9]*`),
    /No such file/,
    'tree',
  ],
  ['killing a process of the host', () => sh(`kill -9 ${host.victim.pid}`), /No such process/, 'tree'],
  ['killing all it can', () => sh('kill -9 -1'), null, 'tree'],
  [
    'tracing a process of the host',
    () => call(ptrace, 16, host.victim.pid ?? 0, 0, 0),
    /^refused: No such process/,
    'tree',
  ],
  ['reading the memory of another', () => sh(`cat /proc/${host.victim.pid}/mem`), /No such file/, 'tree'],
  ['becoming root', () => sh('su -c id; sudo -n id; setpriv --reuid 0 id; id'), /uid=1000/, 'user'],
  // 0: which keyring is that of the session; of a user (-4) it is made when it is asked for.
  ['reading keys of the kernel', () => call(keyctl, 0, -4, 1), /^refused: Function not implemented/, 'user'],
  [
    'adding keys to the kernel',
    () => call(addKey, '"user"', '"planted"', '"x"', 1, -4),
    /^refused: Function not/,
    'user',
  ],
  [
    'having a capability, or getting one',
    () => sh('grep -E "^(Cap|NoNewPrivs)" /proc/self/status'),
    /^(Cap\w+:\t0{16}\n){5}NoNewPrivs:\t1\n$/,
    'user',
  ],
  [
    'having rights of its own in new namespaces',
    () => sh('unshare -Ur id; unshare -m id; nsenter -t 1 -m id'),
    /failed|denied|not permitted|No space/,
    'user',
  ],
  [
    'mounting',
    () => sh('mount -t tmpfs none /tmp; mount --bind / /tmp; umount /proc'),
    /only root|denied|not permitted|must be superuser/,
    'user',
  ],
  ['making a device', () => sh('mknod disk b 8 0; mknod memory c 1 1; ls -l disk memory'), /not permitted/, 'user'],
  [
    'writing to devices',
    () => sh('echo x > /dev/kmsg; echo x > /dev/sda; echo x > /dev/mem; ls /dev/sda /dev/vda /dev/mem'),
    /No such file/,
    'filesystem',
  ],
  [
    "changing the kernel's settings",
    () => sh('echo 7 > /proc/sys/kernel/printk; echo x > /proc/sys/kernel/core_pattern; echo b > /proc/sysrq-trigger'),
    /Read-only/,
    'filesystem',
  ],
  [
    'changing the clock and the name',
    () => sh('date -s 2001-01-01; hostname planted'),
    /not permitted|must be root|Operation/,
    'user',
  ],
];

const network: Escape[] = [
  ['calling the host', () => connect(`${host.port}, '127.0.0.1'`), /ECONNREFUSED/, 'network'],
  ['calling a socket of the host', () => connect(JSON.stringify(host.socket)), /ENOENT/, 'network'],
  ['calling the world', () => connect(`53, '192.0.2.1'`), /ENETUNREACH/, 'network'],
  ['looking at interfaces', () => sh('tail -n +3 /proc/net/dev | cut -d: -f1'), /^\s*lo\s*$/, 'network'],
];

/** Only root can act as others. */
const testAsRoot = process.getuid?.() === 0 ? test : test.skip;

/** All that must be as before, whatever a command tried. */
const stateOf = () => ({
  outside: readdirSync(host.outside).sort(),
  data: readdirSync(host.data),
  secret: readFileSync(join(host.outside, 'secret'), 'utf8'),
  planted: ['/tmp', '/var/tmp', '/usr/bin', '/etc', '/'].filter((place) => existsSync(join(place, 'parley-planted'))),
  passwords: readFileSync('/etc/passwd', 'utf8'),
  printk: readFileSync('/proc/sys/kernel/printk', 'utf8'),
  core: readFileSync('/proc/sys/kernel/core_pattern', 'utf8'),
  victim: [host.victim.exitCode, host.victim.signalCode],
  victimIsStopped: /^State:\s+[Tt]/m.test(readFileSync(`/proc/${host.victim.pid}/status`, 'utf8')),
  calls: host.calls,
});

describeWithBubblewrap('in a sandbox', () => {
  test.each([...files, ...processes, ...network])('%s comes to nothing', async (_, argv, seen, held) => {
    const before = stateOf();
    const report = await run(argv(), folder());
    const said = report.stdout_tail + report.stderr_tail;
    expect(said).not.toContain(token);
    if (seen !== null) expect(said).toMatch(seen);
    expect(report.enforced[held]).toBe(true);
    expect(stateOf()).toEqual(before);
    expect(leftovers()).toEqual([]);
  });

  test('the data folder is out of sight even in the workspace', async () => {
    const script = 'cat secret; ls data; cat data/parley.db; echo x > data/planted; rm -rf data secret';
    const { stdout_tail, stderr_tail } = await run(sh(`${script}; ls`), host.outside);
    expect(stdout_tail + stderr_tail).not.toContain(token);
    expect([readdirSync(host.data), readFileSync(join(host.outside, 'secret'), 'utf8')]).toEqual([
      ['parley.db'],
      token,
    ]);
  });

  test('the process around a command does not let itself be ended, stopped or fooled', async () => {
    const script =
      'kill -9 1; kill -TERM 1; kill -STOP 1; echo forged > /proc/1/fd/3; echo forged > /proc/1/fd/8; echo still here; exit 7';
    expect(await run(sh(script), folder())).toMatchObject({
      exit_code: 7,
      stdout_tail: 'still here\n',
      enforced: { tree: true },
    });
  });

  test('an environment cannot reach what is around the command', async () => {
    const workspace = folder();
    writeFileSync(join(workspace, 'planted.sh'), 'echo planted >> planted');
    const planted = join(workspace, 'planted.sh');
    const env = {
      PATH: workspace,
      ENV: planted,
      BASH_ENV: planted,
      LD_PRELOAD: join(workspace, 'planted.so'),
      IFS: 'x',
      PS4: '$(echo planted >> planted)',
      SHELLOPTS: 'xtrace',
    };
    const { exit_code } = await run(['/bin/true'], workspace, { env });
    expect([exit_code, readdirSync(workspace)]).toEqual([0, ['planted.sh']]);
  });

  test('a setuid program is not left in the workspace', async () => {
    const workspace = folder();
    const script = 'cp /usr/bin/env planted; chmod 6755 planted; ls -l planted; ./planted id -u';
    const { stdout_tail } = await run(sh(script), workspace);
    expect(stdout_tail).toMatch(/^-rws[\s\S]*\n1000\n$/);
    expect(statSync(join(workspace, 'planted')).mode & 0o7777).toBe(0o755);
  });

  testAsRoot(
    'a worker that is root acts as the owner of the workspace, and what is made belongs to that user',
    async () => {
      const other = folder();
      chownSync(other, 12_345, 12_346);
      const { exit_code } = await run(sh('echo x > made && mkdir -p a/b && id -u'), other);
      const { uid, gid } = statSync(join(other, 'a/b'));
      expect([exit_code, uid, gid]).toEqual([0, 12_345, 12_346]);
    },
  );
});

describeWithBubblewrap('in a sandbox with limits', () => {
  const limits = { memory_mb: 64, processes: 32, timeout_ms: 10_000, output_bytes: 1_000_000 };

  test.each<[string, string[], Given, 'memory' | 'processes' | 'output' | 'time' | 'cpu']>([
    [
      'a memory bomb',
      [process.execPath, '-e', 'const held = []; for (;;) held.push(Buffer.alloc(1e7, 1))'],
      {},
      'memory',
    ],
    [
      'a memory bomb of many processes',
      sh(
        'for i in 1 2 3 4 5 6 7 8; do (head -c 20000000 /dev/zero | tail -c 20000000 | tail -c 20000000 >/dev/null) & done; wait; exit 1',
      ),
      {},
      'memory',
    ],
    // As much memory as so many shells may take, so that it is not that which ends them.
    ['a fork bomb', sh('f() { f | f & }; f; sleep 0.5'), { limits: { ...limits, memory_mb: 1_024 } }, 'processes'],
    [
      'a fork bomb that goes on',
      sh('(f() { f | f & }; f) & while :; do :; done'),
      { limits: { ...limits, memory_mb: 1_024, timeout_ms: 500 } },
      'time',
    ],
    ['endless output', ['yes'], {}, 'output'],
    ['endless output on both streams', sh('yes >&2 & yes'), {}, 'output'],
    ['an endless loop', sh('while :; do :; done'), { limits: { ...limits, cpu_ms: 300 } }, 'cpu'],
    [
      'an endless loop that goes on after the signal',
      sh('trap "" XCPU; while :; do :; done'),
      { limits: { ...limits, cpu_ms: 300 } },
      'cpu',
    ],
    ['an endless sleep', ['sleep', '86998'], { limits: { ...limits, timeout_ms: 200 } }, 'time'],
  ])('%s is held', async (_, argv, given, limit) => {
    const report = await run(argv, folder(), { limits, ...given });
    expect(report.limit).toBe(limit);
    expect([isRunning('sleep 86998'), leftovers()]).toEqual([false, []]);
  });

  test('what it writes to its private folders counts as memory', async () => {
    const script = 'for f in /tmp "$HOME" /dev/shm; do head -c 100000000 /dev/zero > $f/x || exit 9; done';
    const { exit_code, limit } = await run(sh(script), folder(), { limits });
    expect(exit_code === 9 || limit === 'memory').toBe(true);
  });

  test('a command within its limits is none the worse', async () => {
    const report = await run([process.execPath, '-e', 'console.log("fine")'], folder(), { limits });
    expect(report).toMatchObject({ exit_code: 0, limit: null, stdout_tail: 'fine\n' });
  });
});
