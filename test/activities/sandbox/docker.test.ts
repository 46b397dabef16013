import { chmodSync, existsSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { dockerArgs } from '../../../activities/sandbox/docker.js';
import { createSandbox } from '../../../activities/sandbox/index.js';
import type { SandboxPort } from '../../../activities/sandbox/port.js';
import { limitsOf } from './rig.js';

const image = 'node:20-bookworm-slim';
const inputOf = (given: { network?: boolean; limits?: Parameters<typeof limitsOf>[0] } = {}) => ({
  workspace: '/srv/shop',
  cwd: '/srv/shop/src',
  command: { argv: ['npm', 'test'], cwd: 'src', env: { CI: 'true' }, stdin: '', limits: limitsOf(given.limits) },
  network: given.network ?? false,
  scratch: '/unused',
  runAs: null,
});

describe('a container of docker', () => {
  const argsOf = (given: Parameters<typeof inputOf>[0] = {}): string =>
    dockerArgs('parley-1', { image, language: 'C.UTF-8', user: { uid: 501, gid: 20 } }, inputOf(given)).join(' ');

  test('has a read-only root, no network, no rights, the user of the worker, and the workspace alone to write', () => {
    expect(argsOf({ limits: { memory_mb: 256, processes: 64 } })).toBe(
      [
        'run --rm --interactive --init --pull never --name parley-1 --hostname sandbox',
        '--network none --read-only --cap-drop ALL --security-opt no-new-privileges --user 501:20',
        '--memory 256m --memory-swap 256m --pids-limit 65 --ulimit core=0',
        '--tmpfs /tmp:rw,exec,nosuid,nodev,mode=1777,uid=501,gid=20,size=256m',
        '--tmpfs /home/parley:rw,exec,nosuid,nodev,mode=0700,uid=501,gid=20,size=256m',
        '--env HOME=/home/parley --env LANG=C.UTF-8 --env TMPDIR=/tmp --env CI=true',
        `--volume /srv/shop:/srv/shop --workdir /srv/shop/src --entrypoint npm ${image} test`,
      ].join(' '),
    );
  });

  test.each<[string, string, Parameters<typeof inputOf>[0]]>([
    ['the engine’s network where it is asked for', '--network bridge', { network: true }],
    ['a limit of processor time in whole seconds', '--ulimit cpu=2:3', { limits: { cpu_ms: 1_500 } }],
  ])('has %s', (_, part, given) => {
    expect(argsOf(given)).toContain(part);
  });
});

/** No engine runs where the tests run: a program in its place plays one, and notes what it is told. */
const engine = `#!/bin/sh
echo "$*" >> "$0.told"
case $1 in
version) echo 27.1 ;;
ps) echo parley-1-1-1-7; echo parley-of-somebody ;;
image) [ "$3" = '${image}' ] ;;
run)
  while [ "$1" != --entrypoint ]; do shift; done
  shift; program=$1; shift 2
  [ "$program" != broken ] || { echo 'docker: Error response from daemon: no space left on device.' >&2; exit 125; }
  echo $$ > "$0.pid"
  exec "$program" "$@"
  ;;
kill) kill "-$3" "$(cat "$0.pid")" ;;
rm) kill -9 "$(cat "$0.pid")" 2>/dev/null ;;
esac
`;

describe('the docker sandbox', () => {
  let folder: string;
  let sandbox: SandboxPort;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-docker-'));
    writeFileSync(join(folder, 'docker'), engine);
    chmodSync(join(folder, 'docker'), 0o755);
    sandbox = sandboxWith(image);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const sandboxWith = (name: string): SandboxPort =>
    createSandbox({
      settings: { backends: ['docker'], network: false, readFolders: [], image: name },
      environment: { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH']}` },
      bubblewrap: null,
      hidden: [],
    });
  const run = (argv: string[], limits: Parameters<typeof limitsOf>[0] = {}, stdin = '') =>
    sandbox.run(
      null,
      { backend: 'auto', network: false },
      { argv, cwd: '.', env: {}, stdin, limits: limitsOf(limits) },
      new AbortController().signal,
    );
  const told = (): string[] => readFileSync(join(folder, 'docker.told'), 'utf8').split('\n');

  test('gives a command its input and reports its end', async () => {
    expect(await run(['sh', '-c', 'cat; exit 3'], {}, 'hello')).toMatchObject({
      exit_code: 3,
      stdout_tail: 'hello',
      limit: null,
      enforced: { backend: 'docker', memory: 'cgroup', processes: 'cgroup' },
    });
  });

  test('ends a container whose time is up by its name', async () => {
    const report = await run(['sleep', '86997'], { timeout_ms: 300 });
    expect(report).toMatchObject({ exit_code: null, limit: 'time' });
    expect(told().some((line) => /^kill --signal TERM parley-\d+-\d+-\d+-\d+$/.test(line))).toBe(true);
  });

  test('takes a kill that it did not send for the engine’s limit of memory', async () => {
    expect(await run(['sh', '-c', 'kill -9 $$'])).toMatchObject({ exit_code: null, limit: 'memory' });
  });

  test('tells what docker says when no container starts', async () => {
    await expect(run(['broken'])).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('no space left on device') as string,
    });
  });

  test('removes containers that killed workers left, and no others', async () => {
    // A process 1 that began in the first tick of another boot is not there.
    const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))![0];
    writeFileSync(join(folder, 'docker'), engine.replace('parley-1-1-1-7', `parley-${namespace}-1-999999999-7`));
    await run(['true']);
    expect(told().filter((line) => line.startsWith('rm'))).toEqual([`rm --force parley-${namespace}-1-999999999-7`]);
  });

  test('asks for its image to be fetched beforehand', async () => {
    const [, docker] = await sandboxWith('other:1').probe();
    expect(docker).toMatchObject({
      ok: false,
      missing: 'the image other:1 is not there; get it: docker pull other:1, or name another in PARLEY_SANDBOX_IMAGE',
    });
  });

  test('says when no engine answers', async () => {
    writeFileSync(join(folder, 'docker'), '#!/bin/sh\necho "Cannot connect to the Docker daemon" >&2\nexit 1\n');
    const [, docker] = await sandbox.probe();
    expect(docker!.missing).toContain('no Docker engine answers; start it');
    expect(existsSync(join(folder, 'docker.pid'))).toBe(false);
  });
});
