import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { unmetExpectations } from '../../../activities/execution/expectations.js';
import { taskReportSchema } from '../../../src/contracts/execution.js';
import type { Task } from '../../../src/contracts/plan.js';
import { createRoom, inventory, removeRooms, shell, nearly } from '../snapshot/room.js';
import { createRig, shellTask } from './rig.js';

afterAll(removeRooms);

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('a task', () => {
  test('that does what it should is reported with its command and the files that it changed', async () => {
    const rig = createRig();
    shell(rig, 'echo one > a; echo two > b');
    const task = shellTask('echo done; echo One > a; rm b; mkdir d; cat > d/c', {
      stdin: 'three\n',
      expect: { files: ['d/c', { path: 'b', exists: false }] },
    });
    const report = await rig.run(task);
    expect(taskReportSchema.parse(report)).toEqual({
      task_id: 't1',
      argv: task.argv,
      outcome: 'succeeded',
      reason: null,
      command: expect.objectContaining({ exit_code: 0, stdout_tail: 'done\n', limit: null }),
      files_changed: [
        { path: 'a', change: 'modified', sha256: sha256('One\n') },
        { path: 'b', change: 'removed', sha256: null },
        { path: 'd', change: 'added', sha256: null },
        { path: 'd/c', change: 'added', sha256: sha256('three\n') },
      ],
      files_changed_count: 4,
      unmet: [],
      attempt: 1,
      round: 0,
    });
  });

  test.each<[string, Task, string]>([
    ['another exit code', shellTask('exit 3'), 'It exited with 3 instead of 0.'],
    [
      'success where failure is expected',
      shellTask('true', { expect: { exit_code: 1 } }),
      'It exited with 0 instead of 1.',
    ],
    ['a signal', shellTask('kill -9 $$'), 'It was ended by SIGKILL.'],
    ['its limit of time', shellTask('sleep 60', { limits: { timeout_ms: 100 } }), 'It was ended at its limit of time.'],
    [
      'a program that is not there',
      { ...shellTask(''), argv: ['no-such-program'] },
      'It exited with 127 instead of 0.',
    ],
    [
      'an assertion that does not hold',
      shellTask('true', { expect: { files: ['a'] } }),
      '1 of its assertions did not hold.',
    ],
    [
      'several of those',
      shellTask('exit 2', { expect: { files: ['a', 'b'] } }),
      'It exited with 2 instead of 0; 2 of its assertions did not hold.',
    ],
    [
      'a folder that is not there',
      shellTask('true', { cwd: 'src/app' }),
      'It could not be started: cwd "src/app" is not a folder in the workspace; it is relative to it, "." by default.',
    ],
    [
      'more than the system takes as one argument',
      shellTask('true', { stdin: '', argv: ['true', ...Array.from({ length: 30 }, () => 'x'.repeat(100_000))] }),
      'It could not be started: argv is longer than the system takes (about 128 KiB for one argument, 2 MiB in all); put the text into stdin or a file.',
    ],
  ])('fails by %s', async (_, task, reason) => {
    expect(await createRig().run(task)).toMatchObject({ outcome: 'failed', reason });
  });

  test('succeeds with the exit code that is expected', async () => {
    expect(await createRig().run(shellTask('exit 7', { expect: { exit_code: 7 } }))).toMatchObject({
      outcome: 'succeeded',
    });
  });

  test('that changes very much has a thousand changes listed and all counted', async () => {
    const report = await createRig().run(shellTask('for i in $(seq 1005); do : > f$i; done'));
    expect(report.files_changed).toHaveLength(1_000);
    expect(report.files_changed_count).toBe(1_005);
  });

  test('that leaves what cannot be listed fails, and says why', async () => {
    const rig = createRig();
    const report = await rig.run(shellTask(`perl -e 'for (1..2500) { mkdir "d"; chdir "d" }'`));
    expect(report).toMatchObject({
      outcome: 'failed',
      reason: expect.stringMatching(/^What it changed cannot be listed: .+more than 4096 bytes/),
      files_changed: [],
    });
    shell(rig, 'rm -r d');
  });

  test.each([
    ['raw SQL', ['psql', '-c', "SELECT * FROM users WHERE name = '' OR 1=1; DROP TABLE users"]],
    ["the engine's socket", ['docker', 'run', '-v', '/var/run/docker.sock:/var/run/docker.sock', 'x']],
    ['a privileged container', ['docker', 'run', '--privileged', 'x']],
    ['a path of the host in a container', ['docker', 'run', '-v', '/etc:/etc', 'x']],
    ['root', ['sudo', 'true']],
  ])('with %s is refused and never started', async (_, argv) => {
    const rig = createRig({ sandbox: { run: () => Promise.reject(new Error('it was started')) } });
    const was = inventory(rig.workspace);
    const report = await rig.run({ ...shellTask(''), argv });
    expect(taskReportSchema.parse(report)).toMatchObject({
      outcome: 'refused',
      reason: expect.stringMatching(/^Refused with exit code 1, never started: .+\([a-z-]+\)/),
      command: null,
      files_changed: [],
      attempt: 1,
    });
    expect(inventory(rig.workspace)).toEqual(nearly(was));
  });

  test('whose undo would be refused is refused itself: it could not be taken back', async () => {
    const task = shellTask('touch a', { undo: { argv: ['sudo', 'rm', 'a'] } });
    expect(await createRig().run(task)).toMatchObject({ outcome: 'refused' });
  });
});

describe('assertions about files', () => {
  const build =
    'echo one > a; mkdir d; echo two > d/b; ln -s d inside; ln -s "$OUTSIDE/secret" out; ln -s nowhere dangling; ln -s "$OUTSIDE" folder-out; ln -s loop loop; mkfifo pipe';
  const secret = sha256('nobody may touch this');

  test.each<[string, unknown, string | null]>([
    ['a file that is there', 'a', null],
    ['a folder that is there', 'd', null],
    ['the workspace', '.', null],
    ['a file behind a link inside', 'inside/b', null],
    ['a file that is not there', 'c', 'c is not there.'],
    ['a file below a file', 'a/c', 'a/c is not there.'],
    ['a link to nothing', 'dangling', 'dangling is not there.'],
    ['a link to itself', 'loop', 'loop is not there.'],
    [
      'a link out',
      'out',
      expect.stringMatching(/^out is a way out of the workspace, to .+secret\.$/) as unknown as string,
    ],
    ['a file behind a link out', 'folder-out/secret', expect.stringContaining('is a way out') as unknown as string],
    ['its bytes', { path: 'a', sha256: sha256('one\n') }, null],
    [
      'other bytes',
      { path: 'a', sha256: '0'.repeat(64) },
      `a has the sha256 ${sha256('one\n')}, not ${'0'.repeat(64)}.`,
    ],
    [
      'the bytes of a file outside',
      { path: 'out', sha256: secret },
      expect.stringContaining('is a way out') as unknown as string,
    ],
    ['the bytes of a folder', { path: 'd', sha256: secret }, 'd is no file.'],
    ['the bytes of a pipe', { path: 'pipe', contains: 'x' }, 'pipe is no file.'],
    ['a text in it', { path: 'inside/b', contains: 'wo' }, null],
    ['a text that is not in it', { path: 'a', contains: 'two' }, 'a does not contain "two".'],
    ['absence', { path: 'c', exists: false }, null],
    ['absence below what is absent', { path: 'c/d', exists: false }, null],
    ['absence of what is there', { path: 'a', exists: false }, 'a is there, and should be absent.'],
    ['absence of a link to nothing', { path: 'dangling', exists: false }, 'dangling is there, and should be absent.'],
    ['absence behind a link out', { path: 'folder-out/secret', exists: false }, null],
  ])('of %s', async (_, expectation, fault) => {
    const room = createRoom();
    shell(room, build);
    const { expect: expected } = shellTask('', { expect: { files: [expectation] } });
    expect(await unmetExpectations(room.workspace, expected.files, new AbortController().signal)).toEqual(
      fault === null ? [] : [fault],
    );
  });

  test('find a text on the border of two blocks of a large file', async () => {
    const line = 'head -c 1048570 /dev/zero > a; printf "a needle" >> a; head -c 2000000 /dev/zero >> a';
    const files = [
      { path: 'a', contains: 'a needle' },
      { path: 'a', contains: 'no needle' },
    ];
    const report = await createRig().run(shellTask(line, { expect: { files } }));
    expect(report.unmet).toEqual(['a does not contain "no needle".']);
  });
});

describe('an undo', () => {
  test('is run with its own command', async () => {
    const rig = createRig();
    const task = shellTask('echo one > a', { undo: { argv: ['rm', 'a'] } });
    await rig.run(task);
    expect(readFileSync(join(rig.workspace, 'a'), 'utf8')).toBe('one\n');
    expect(await rig.undo(task)).toEqual({
      task_id: 't1',
      outcome: 'succeeded',
      reason: null,
      command: expect.objectContaining({ exit_code: 0 }),
    });
    expect(existsSync(join(rig.workspace, 'a'))).toBe(false);
  });

  test('that fails is reported, with why', async () => {
    const task = shellTask('true', { undo: { argv: ['sh', '-c', 'echo broken >&2; exit 4'] } });
    expect(await createRig().undo(task)).toMatchObject({
      outcome: 'failed',
      reason: 'It exited with 4 instead of 0.',
      command: { exit_code: 4, stderr_tail: 'broken\n' },
    });
  });

  test('that cannot be started is reported, with why', async () => {
    const task = shellTask('true', { undo: { argv: ['true'], cwd: 'gone' } });
    expect(await createRig().undo(task)).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('It could not be started: cwd "gone" is not a folder'),
      command: null,
    });
  });

  test('that is not admitted is not run', async () => {
    const task = shellTask('true', { undo: { argv: ['sudo', 'rm', 'a'] } });
    expect(await createRig().undo(task)).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('Refused with exit code 1, never started'),
      command: null,
    });
  });

  test('of a task without one is a mistake of the caller', async () => {
    await expect(createRig().undo(shellTask('true'))).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'Task t1 has no undo to run.',
    });
  });
});

describe('a workspace that is gone', () => {
  test('is an error before anything runs', async () => {
    const rig = createRig({ sandbox: { run: () => Promise.reject(new Error('it was started')) } });
    rmSync(rig.workspace, { recursive: true });
    await expect(rig.run(shellTask('true'))).rejects.toMatchObject({ code: 'wrong_state' });
  });
});
