import { existsSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxPort } from '../../../activities/sandbox/port.js';
import { createSnapshots } from '../../../activities/snapshot/index.js';
import { ParleyError } from '../../../src/domain/errors.js';
import { createRoom, removeRooms, type Room } from '../snapshot/room.js';
import { createRig, sandbox, shellTask } from './rig.js';

afterAll(removeRooms);

/** Leaves a line for each time that it runs. */
const counting = shellTask('echo ran >> count; echo once', { undo: { argv: ['sh', '-c', 'echo undone >> count'] } });
const linesOf = ({ workspace }: Room): string[] => {
  const file = join(workspace, 'count');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
};

type Run = SandboxPort['run'];
/** A worker that dies at a moment of a command: nothing that it would have done afterwards is done. */
const dyingWorker = (room: Room, when: 'before' | 'after') => {
  const run: Run = async (...args) => {
    if (when === 'after') await sandbox.run(...args);
    throw new Error('the worker died');
  };
  return createRig({ sandbox: { run }, worker: { identity: 'worker-0', isRunning: () => false } }, room);
};

describe('a task that has ended', () => {
  test('is not run again: a retry is answered with its report, by another worker too', async () => {
    const room = createRoom();
    const report = await createRig({}, room).run(counting);
    expect(await createRig({}, room).run(counting)).toEqual(report);
    const other = createRig({ worker: { identity: 'worker-2', isRunning: () => true } }, room);
    expect(await other.run(counting)).toEqual(report);
    expect(linesOf(room)).toEqual(['ran']);
  });

  test('is not undone twice', async () => {
    const room = createRoom();
    await createRig({}, room).run(counting);
    const undone = await createRig({}, room).undo(counting);
    expect(await createRig({}, room).undo(counting)).toEqual(undone);
    expect(linesOf(room)).toEqual(['ran', 'undone']);
  });

  test('is not run for the health check that has the same command, which is run once in each round', async () => {
    const room = createRoom();
    await createRig({}, room).run(counting);
    const checked = await createRig({}, room).check(counting);
    expect(checked).toMatchObject({ outcome: 'succeeded', reason: null, command: { stdout_tail: 'once\n' } });
    expect(await createRig({}, room).check(counting)).toEqual(checked);
    await createRig({}, room).check(counting, { round: 1 });
    expect(linesOf(room)).toEqual(['ran', 'ran', 'ran']);
  });

  test('and is a health check that the runner refuses, never begins', async () => {
    const rig = createRig();
    const refused = await rig.check(shellTask('touch count; docker run --privileged alpine'));
    expect(refused).toMatchObject({ outcome: 'failed', command: null, reason: expect.stringMatching(/^Refused with/) });
    expect(linesOf(rig)).toEqual([]);
  });

  test('and failed is not run again either', async () => {
    const room = createRoom();
    const failing = shellTask('echo ran >> count; exit 1');
    const report = await createRig({}, room).run(failing);
    expect(await createRig({}, room).run(failing)).toEqual(report);
    expect(linesOf(room)).toEqual(['ran']);
  });

  test('is another one in the next round, in other work, and with another command', async () => {
    const rig = createRig();
    await rig.run(counting);
    await rig.run(counting, { round: 1 });
    await rig.run(counting, { workId: 'other' });
    await rig.run({ ...counting, argv: ['sh', '-c', 'echo changed >> count'] });
    expect(linesOf(rig)).toEqual(['ran', 'ran', 'ran', 'changed']);
  });

  test('is not run again when its report was all that was missing', async () => {
    const room = createRoom();
    let broken = true;
    const rig = createRig({}, room);
    const { changes, ...snapshots } = createSnapshots(join(room.data, 'snapshots'));
    const dying = createRig(
      {
        snapshots: {
          ...snapshots,
          changes: (...args) => (broken ? Promise.reject(new Error('the worker died')) : changes(...args)),
        },
      },
      room,
    );
    await expect(dying.run(counting)).rejects.toThrow('the worker died');
    broken = false;
    expect(await rig.run(counting)).toMatchObject({
      outcome: 'succeeded',
      attempt: 1,
      command: { stdout_tail: 'once\n' },
      files_changed: [{ path: 'count', change: 'added' }],
    });
    expect(linesOf(room)).toEqual(['ran']);
  });
});

describe('a task that a dead worker had started', () => {
  test.each<['before' | 'after', string[]]>([
    ['before', ['ran']],
    ['after', ['ran', 'ran']],
  ])('is run again, with the attempt in its report, when it died %s the command had run', async (when, lines) => {
    const room = createRoom();
    await expect(dyingWorker(room, when).run(counting)).rejects.toThrow('the worker died');
    const report = await createRig({}, room).run(counting);
    expect(report).toMatchObject({ outcome: 'succeeded', attempt: 2 });
    // What both attempts changed counts.
    expect(report.files_changed).toMatchObject([{ path: 'count', change: 'added' }]);
    expect(linesOf(room)).toEqual(lines);
  });

  test('is undone again, and the undo says so', async () => {
    const room = createRoom();
    await expect(dyingWorker(room, 'after').undo(counting)).rejects.toThrow('the worker died');
    expect(await createRig({}, room).undo(counting)).toMatchObject({
      outcome: 'succeeded',
      reason: 'It was run 2 times, since the worker died in it.',
    });
  });

  test('is counted further with every death', async () => {
    const room = createRoom();
    for (let count = 0; count < 3; count += 1)
      await dyingWorker(room, 'before')
        .run(counting)
        .catch(() => {});
    expect(await createRig({}, room).run(counting)).toMatchObject({ attempt: 4 });
  });
});

describe('a task that another worker runs', () => {
  const other = (isRunning: boolean | null, room: Room) =>
    createRig({ worker: { identity: 'worker-2', isRunning: () => isRunning } }, room);
  const recordOf = (room: Room): string => {
    const folder = join(room.data, 'executions', 'work');
    return join(folder, readdirSync(folder)[0]!);
  };

  test('is waited for', async () => {
    const room = createRoom();
    await dyingWorker(room, 'before')
      .run(counting)
      .catch(() => {});
    await expect(other(true, room).run(counting)).rejects.toMatchObject({
      code: 'conflict',
      retryable: true,
      message: 'Task t1 is being run by worker-0; wait for it to end.',
    });
    expect(linesOf(room)).toEqual([]);
  });

  test('that nobody can see is waited for until it has been silent for 30 s', async () => {
    const room = createRoom();
    await dyingWorker(room, 'before')
      .run(counting)
      .catch(() => {});
    await expect(other(null, room).run(counting)).rejects.toMatchObject({ code: 'conflict', retryable: true });
    const silentSince = new Date(Date.now() - 31_000);
    utimesSync(recordOf(room), silentSince, silentSince);
    expect(await other(null, room).run(counting)).toMatchObject({ attempt: 2 });
  });
});

describe('two calls for one task at once', () => {
  test('run it once, and have the same report', async () => {
    const rig = createRig();
    const slow = shellTask('sleep 0.3; echo ran >> count');
    const [one, other] = await Promise.all([rig.run(slow), rig.run(slow)]);
    expect(one).toEqual(other);
    expect(linesOf(rig)).toEqual(['ran']);
  });

  test('do not overlap: the later one waits until the cancelled one has stopped', async () => {
    const rig = createRig();
    const controller = new AbortController();
    const task = shellTask('echo ran >> count; if [ -e again ]; then exit 0; fi; touch again; sleep 60');
    const first = rig.run(task, {}, controller.signal);
    const second = rig.run(task);
    while (!existsSync(join(rig.workspace, 'again'))) await new Promise((resolve) => setTimeout(resolve, 10));
    controller.abort(new Error('the heartbeat was late'));
    await expect(first).rejects.toThrow('the heartbeat was late');
    expect(await second).toMatchObject({ outcome: 'succeeded', attempt: 2 });
    expect(linesOf(rig)).toEqual(['ran', 'ran']);
  });
});

describe('a sandbox that refuses', () => {
  test('has run nothing: the next attempt is the first', async () => {
    const room = createRoom();
    const refusing = createRig(
      { sandbox: { run: () => Promise.reject(new ParleyError('unavailable', 'install bubblewrap')) } },
      room,
    );
    await expect(refusing.run(counting)).rejects.toMatchObject({ code: 'unavailable', message: 'install bubblewrap' });
    expect(await createRig({}, room).run(counting)).toMatchObject({ attempt: 1 });
  });
});

describe('reports', () => {
  test('are forgotten with the work', async () => {
    const rig = createRig();
    await rig.run(counting);
    await rig.execution.remove('work');
    await rig.execution.remove('work');
    expect(readdirSync(join(rig.data, 'executions'))).toEqual([]);
  });

  test.each(['', '..', 'a/b', '../work'])('are kept for no work called %j', async (workId) => {
    const rig = createRig();
    await expect(rig.run(counting, { workId })).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(rig.execution.remove(workId)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  test('that are half written are never read', async () => {
    const rig = createRig();
    await rig.run(counting);
    expect(readdirSync(join(rig.data, 'executions', 'work'))).toEqual([
      expect.stringMatching(/^0\.t1\.[0-9a-f]{16}\.run\.json$/),
    ]);
  });
});
