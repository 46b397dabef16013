import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Given } from './rig.js';
import { describeWithBubblewrap, isRunning, leftovers, limitsOf, sandboxOf, workspaceOf } from './rig.js';

const sandbox = sandboxOf();
const { folder, remove, run } = workspaceOf(() => sandbox);
afterEach(remove);
const sh = (script: string): string[] => ['sh', '-c', script];

describeWithBubblewrap.each(['bubblewrap', 'unshare', 'none'] as const)('a command in %s', (backend) => {
  const of = (argv: string[], given: Given = {}, workspace = folder()) => run(argv, workspace, { ...given, backend });

  test.each<[string, number | null, string | null]>([
    ['true', 0, null],
    ['exit 3', 3, null],
    ['exit 255', 255, null],
    ['kill -9 $$', null, 'SIGKILL'],
    ['kill -TERM $$', null, 'SIGTERM'],
    ['no-such-program', 127, null],
  ])('that is `%s` ends with exit code %j and signal %j', async (script, exit_code, signal) => {
    expect(await of(sh(script))).toMatchObject({ exit_code, signal, limit: null });
  });

  test.each([['no-such-program'], ['./no-such-file'], ['-a'], ['--help']])(
    'that is not there (%s) is exit code 127',
    async (program) => {
      const { exit_code, stderr_tail } = await of([program, 'argument']);
      expect([exit_code, stderr_tail]).toEqual([127, expect.stringContaining('not found')]);
    },
  );

  test('whose file is no program is exit code 126', async () => {
    const workspace = folder();
    writeFileSync(join(workspace, 'text'), 'text');
    expect(await of(['./text'], {}, workspace)).toMatchObject({ exit_code: 126 });
  });

  test('is run by no shell: builtins, options and metacharacters are arguments', async () => {
    expect(await of(['exit', '3'])).toMatchObject({ exit_code: 127 });
    const words = ['$HOME', '*', '; exit 4', '`id`', "it's", '"', '', 'a\nb', '-n', 'ü€'];
    const { stdout_tail } = await of(['printf', '%s\\0', ...words]);
    expect(stdout_tail).toBe(words.map((word) => `${word}\0`).join(''));
  });

  test('begins in its folder of the workspace and writes there as the owner of the workspace', async () => {
    const workspace = folder();
    mkdirSync(join(workspace, 'a b/ü'), { recursive: true });
    const { stdout_tail } = await of(sh('pwd; echo new > file; chmod 750 file'), { cwd: 'a b/ü' }, workspace);
    expect(stdout_tail.trim()).toBe(join(workspace, 'a b/ü'));
    expect(readFileSync(join(workspace, 'a b/ü/file'), 'utf8')).toBe('new\n');
    const { uid, gid, mode } = statSync(join(workspace, 'a b/ü/file'));
    expect({ uid, gid, mode: mode & 0o7777 }).toEqual({ uid: process.getuid!(), gid: process.getgid!(), mode: 0o750 });
  });

  test('sees the variables that are named for it and PATH, HOME, LANG, TMPDIR, and none of the worker', async () => {
    process.env['PARLEY_TEST_SECRET'] = 'of the worker';
    const env = { COLOUR: 'it\'s `blue` $HOME\n"2"', EMPTY: '', LD_PRELOAD: '' };
    const { stdout_tail } = await of(['env', '-0'], { env });
    const seen = Object.fromEntries(
      stdout_tail
        .split('\0')
        .slice(0, -1)
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    expect(seen).toMatchObject(env);
    // A shell may add where it is.
    expect(
      Object.keys(seen)
        .filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name))
        .sort(),
    ).toEqual(['COLOUR', 'EMPTY', 'HOME', 'LANG', 'LD_PRELOAD', 'PATH', 'TMPDIR'].sort());
  });

  test('may write to HOME and TMPDIR, and nothing of it stays', async () => {
    const script =
      'for f in "$HOME" "$TMPDIR" /dev/shm; do echo x > "$f/parley-test-file" && cat "$f/parley-test-file"; rm "$f/parley-test-file"; done; echo $HOME';
    const { exit_code, stdout_tail } = await of(sh(script));
    expect([exit_code, stdout_tail.split('\n').slice(0, 3)]).toEqual([0, ['x', 'x', 'x']]);
    expect(stdout_tail).not.toContain(process.env['HOME']! + '\n');
    expect(leftovers()).toEqual([]);
  });

  test.each([
    ['by its descriptor', 'cat; echo said >&2'],
    ['by their names', 'cat /dev/stdin > /dev/stdout; echo said > /dev/stderr'],
  ])('reads its input and writes both outputs %s', async (_, script) => {
    const stdin = `${'x'.repeat(300_000)}€`;
    const report = await of(sh(script), { stdin });
    expect(report).toMatchObject({ stderr_tail: 'said\n', output_bytes: 300_008 });
    expect(report.stdout_tail).toBe(`${'x'.repeat(16_381)}€`);
  });

  test('may end without reading its input', async () => {
    expect(await of(['true'], { stdin: 'x'.repeat(900_000) })).toMatchObject({ exit_code: 0 });
  });

  test('keeps the tail of each output, beginning with a whole character', async () => {
    const script = 'yes € | head -n 10000 | tr -d "\\n"; printf %s "abcdefghij" >&2';
    const report = await of(sh(script));
    // 16 KiB hold 5,461 signs of three bytes, and one byte of the sign before them.
    expect(report).toMatchObject({ stderr_tail: 'abcdefghij', output_bytes: 30_010, truncated: true });
    expect(report.stdout_tail).toBe('€'.repeat(5_461));
  });

  test('tells its output in the pieces that come', async () => {
    const heard: string[] = [];
    await of(sh('echo one; echo two >&2; printf "\\342\\202"; sleep 0.05; printf "\\254"'), {
      onOutput: (stream, text) => void heard.push(`${stream}: ${text}`),
    });
    expect(heard.filter((each) => each.startsWith('stderr')).join('')).toBe('stderr: two\n');
    expect(
      heard
        .filter((each) => each.startsWith('stdout'))
        .map((each) => each.slice(8))
        .join(''),
    ).toBe('one\n€');
  });

  test('that writes more than its limit is ended', async () => {
    const report = await of(['yes'], { limits: { output_bytes: 1_000 } });
    expect(report).toMatchObject({ exit_code: null, limit: 'output' });
    expect(report.output_bytes).toBeGreaterThan(1_000);
  });

  test.each([
    ['gets SIGTERM', 'sleep 1000 & wait', 'SIGTERM'],
    ['may tidy up', 'trap "echo tidy; exit 0" TERM; sleep 1000 & wait', null],
    ['is killed when it does not heed that', 'trap "" TERM; sleep 1000 & while :; do sleep 0.1; done', 'SIGKILL'],
  ])('whose time is up %s', async (_, script, signal) => {
    const report = await of(sh(script), { limits: { timeout_ms: 500 } });
    expect(report).toMatchObject({ exit_code: null, signal, limit: 'time' });
    expect(report.stdout_tail).toBe(signal === null ? 'tidy\n' : '');
  });

  test('ends with everything it started, also in sessions of their own', async () => {
    const report = await of(sh('setsid sleep 87654 & (sleep 87653 &) ; echo started'));
    expect(report).toMatchObject({ exit_code: 0, stdout_tail: 'started\n' });
    expect([isRunning('sleep 87654'), isRunning('sleep 87653')]).toEqual([false, false]);
  });

  test('that is aborted ends with everything it started, and its run rejects with the reason', async () => {
    const controller = new AbortController();
    const reason = new Error('cancelled by the test');
    const running = of(sh('setsid sleep 87652 & echo started; sleep 87651'), {
      signal: controller.signal,
      onOutput: () => controller.abort(reason),
    });
    await expect(running).rejects.toBe(reason);
    expect([isRunning('sleep 87652'), isRunning('sleep 87651'), leftovers()]).toEqual([false, false, []]);
  });

  test('that was aborted before does not start', async () => {
    const workspace = folder();
    await expect(of(sh('touch started'), { signal: AbortSignal.abort() }, workspace)).rejects.toThrow('aborted');
    expect(readdirSync(workspace)).toEqual([]);
  });

  test('leaves nothing behind however it ends', async () => {
    await of(['true']);
    await of(['no-such-program']);
    await of(sh('sleep 1000'), { limits: { timeout_ms: 50 } });
    await expect(of(['true'], { cwd: 'no-such-folder' })).rejects.toThrow('no-such-folder');
    expect(leftovers()).toEqual([]);
  });

  test('ten at once each keep to their own', async () => {
    const reports = await Promise.all(
      Array.from({ length: 10 }, (_, index) => of(sh(`cat; sleep 0.1; exit ${index}`), { stdin: `${index}` })),
    );
    expect(reports.map(({ exit_code, stdout_tail }) => [exit_code, stdout_tail])).toEqual(
      Array.from({ length: 10 }, (_, index) => [index, `${index}`]),
    );
    expect(leftovers()).toEqual([]);
  });
});

describeWithBubblewrap('a command that is opened', () => {
  const open = (argv: string[], signal = new AbortController().signal, limits = {}) =>
    sandbox.open(
      null,
      { backend: 'bubblewrap', network: false },
      { argv, cwd: '.', env: {}, stdin: '', limits: limitsOf(limits) },
      signal,
    );

  test('is held by its own output while nobody pulls', async () => {
    const workspace = folder();
    const script = `require('fs').writeSync(1, 'x'.repeat(600000)); require('fs').writeFileSync('written', '')`;
    const start = () =>
      sandbox.open(
        workspace,
        { backend: 'bubblewrap', network: false },
        { argv: [process.execPath, '-e', script], cwd: '.', env: {}, stdin: '', limits: limitsOf() },
        new AbortController().signal,
      );
    const held = await start();
    // The same program, started later, is through.
    const through = await open([process.execPath, '-e', script]);
    let bytes = 0;
    for await (const piece of through.stdout) bytes += piece.length;
    expect([bytes, (await through.ended).exit_code, readdirSync(workspace)]).toEqual([600_000, 0, []]);
    bytes = 0;
    for await (const piece of held.stdout) bytes += piece.length;
    expect([bytes, (await held.ended).exit_code, readdirSync(workspace)]).toEqual([600_000, 0, ['written']]);
  });

  test('ends when its output is left', async () => {
    const { stdout, ended } = await open(sh('echo first; exec sleep 87650'));
    for await (const piece of stdout) {
      expect(piece.toString()).toBe('first\n');
      break;
    }
    expect(await ended).toMatchObject({ exit_code: null, limit: null });
    expect(isRunning('sleep 87650')).toBe(false);
  });

  test('ends on abort although nobody ever pulls', async () => {
    const controller = new AbortController();
    const { ended } = await open(['yes'], controller.signal);
    controller.abort();
    await expect(ended).rejects.toThrow('aborted');
    expect(leftovers()).toEqual([]);
  });

  test('has an empty folder of its own where no workspace is given, which is gone afterwards', async () => {
    const script = 'ls -A; echo x > file && pwd';
    const { stdout, ended } = await open(sh(script));
    let said = '';
    for await (const piece of stdout) said += piece.toString();
    expect((await ended).exit_code).toBe(0);
    expect(said).toMatch(/^\/\S+\n$/);
    expect(() => statSync(said.trim())).toThrow('ENOENT');
  });
});

describe('a command that cannot be given to a program', () => {
  test.each<[string, string[], Record<string, string>, string]>([
    ['nothing', [], {}, 'argv names no program'],
    ['NUL in an argument', ['echo', 'a\0b'], {}, 'argv holds the character NUL'],
    ['NUL in a variable', ['env'], { A: 'a\0b' }, 'env "A" is no variable, or holds NUL'],
    ['a variable that is a command', ['env'], { 'A=1; touch x #': '' }, 'env "A=1; touch x #" is no variable'],
    ['an argument of 200 kB', ['echo', 'x'.repeat(200_000)], {}, 'argv is longer than the system takes'],
  ])('(%s) is refused with what is wrong, and leaves nothing', async (_, argv, env, message) => {
    await expect(run(argv, folder(), { backend: 'none', env })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(message) as string,
    });
    expect(leftovers()).toEqual([]);
  });
});

describe('a workspace', () => {
  test.each([
    ['/', 'is a folder of the system'],
    ['/usr', 'is a folder of the system'],
    ['/proc/self', 'is a folder of the system'],
    ['/etc', 'is a folder of the system'],
    ['/home', 'is a folder of the system'],
    ['/no/such/folder', 'is not a folder that the worker sees'],
    ['/etc/passwd', 'is not a folder that the worker sees'],
  ])('is never %s: it %s', async (workspace, message) => {
    const trial = run(['true'], workspace, { backend: 'none' });
    await expect(trial).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(message) as string,
    });
  });

  test.each(['no-such-folder', 'a-file', 'a-way-out'])('has no %s to begin in', async (cwd) => {
    const workspace = folder();
    writeFileSync(join(workspace, 'a-file'), '');
    symlinkSync('/etc', join(workspace, 'a-way-out'));
    await expect(run(['true'], workspace, { backend: 'none', cwd })).rejects.toMatchObject({
      code: 'invalid_request',
      message: `cwd ${JSON.stringify(cwd)} is not a folder in the workspace; it is relative to it, "." by default`,
    });
  });
});
