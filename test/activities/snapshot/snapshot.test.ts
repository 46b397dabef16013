import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createSnapshots } from '../../../activities/snapshot/index.js';
import { createRoom, inventory, ordinaryUser, removeRooms, shell, type Room, nearly } from './room.js';
import { removeBuilt, startWorker } from './worker-process.js';

const { signal } = new AbortController();
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const aside = (room: Room) => createSnapshots(room.data);

/** As if the call came later: files must have been left alone for 2 s to be known again by their looks. */
const later = async <T>(call: () => Promise<T>): Promise<T> => {
  const { now } = Date;
  Date.now = () => now() + 3_000;
  try {
    return await call();
  } finally {
    Date.now = now;
  }
};

afterAll(() => {
  removeRooms();
  removeBuilt();
});

describe('a snapshot', () => {
  test('is taken once: later takes of its key are answered with the first', async () => {
    const room = createRoom();
    shell(room, 'echo one > a; echo two > b; ln -s a l');
    const first = await aside(room).take('work', room.workspace, signal);
    expect(first).toEqual({ snapshot: first.digest, digest: expect.stringMatching(/^[0-9a-f]{64}$/), files: 2 });
    shell(room, 'echo two > a');
    expect(await aside(room).take('work', room.workspace, signal)).toEqual(first);
    expect((await aside(room).take('other', room.workspace, signal)).digest).not.toBe(first.digest);
  });

  test('taken several times at once is one snapshot, and whole', async () => {
    const room = createRoom();
    shell(room, 'for i in $(seq 200); do echo $i > f$i; done');
    const was = inventory(room.workspace);
    // Each of them knows as little of the others as a worker of its own.
    const taken = await Promise.all([1, 2, 3].map(() => aside(room).take('work', room.workspace, signal)));
    expect(new Set(taken.map(({ snapshot }) => snapshot)).size).toBe(1);
    expect(readdirSync(join(room.data, 'work'))).toEqual(['start']);
    shell(room, 'rm *');
    await aside(room).restore('work', room.workspace, taken[0]!.snapshot, signal);
    expect(inventory(room.workspace)).toEqual(nearly(was));
  });

  test('has the same digest for the same names, types, modes, targets and bytes, whenever and wherever', async () => {
    const [one, other] = [createRoom(), createRoom()];
    for (const room of [one, other]) shell(room, 'umask 022; mkdir -m 755 d; echo one > d/a; ln -s d/a l; mkfifo p');
    shell(other, 'touch -d 2001-01-01 d/a; ln d/a x; rm x');
    const [taken, same] = await Promise.all([one, other].map((room) => aside(room).take('w', room.workspace, signal)));
    expect(taken!.digest).toBe(same!.digest);
  });

  test.each([
    ['a name', 'mv a b'],
    ['a byte', 'echo One > a'],
    ['a mode', 'chmod 4644 a'],
    ['a type', 'rm a; mkdir a'],
    ['a target', 'ln -sfn elsewhere l'],
    ['an empty folder', 'mkdir d'],
    ["the workspace's mode", 'chmod 700 .'],
  ])('has another digest when %s differs', async (_, change) => {
    const room = createRoom();
    shell(room, 'umask 022; echo one > a; ln -s nowhere l');
    const { digest } = await aside(room).take('one', room.workspace, signal);
    shell(room, change);
    expect((await aside(room).take('two', room.workspace, signal)).digest).not.toBe(digest);
  });

  test('leaves the workspace as it is, a repository and its index included', async () => {
    const room = createRoom();
    shell(room, 'git init -q; echo one > a; git add a; echo two > a');
    const was = inventory(room.workspace);
    await aside(room).take('work', room.workspace, signal);
    expect(inventory(room.workspace)).toEqual(nearly(was));
  });

  test('is refused when something cannot be read: all of that is named, and nothing kept', async () => {
    const room = createRoom(ordinaryUser);
    shell(room, 'echo one > a; mkdir -p d/e; echo two > d/b; chmod 0 d/b d/e');
    const worker = startWorker(room.data, ordinaryUser);
    await expect(worker.call('take', 'work', room.workspace)).rejects.toMatchObject({
      code: 'wrong_state',
      message: expect.stringMatching(
        /^The worker \(user id \d+\) cannot read "d\/b", "d\/e" in the workspace .+right to read/,
      ),
    });
    expect(readdirSync(join(room.data, 'work'))).toEqual([]);
    shell(room, 'chmod 755 d/b d/e');
    await expect(worker.call('take', 'work', room.workspace)).resolves.toMatchObject({ files: 2 });
    await worker.stop();
  });

  test('of a workspace that is gone is refused', async () => {
    const room = createRoom();
    shell(room, 'rm -r "$PWD"');
    const refusal = { code: 'wrong_state', message: expect.stringContaining('make it again') };
    await expect(aside(room).take('work', room.workspace, signal)).rejects.toMatchObject(refusal);
    await expect(aside(room).take('work', join(room.workspace, 'in', 'it'), signal)).rejects.toMatchObject(refusal);
  });

  test('is given up when the signal says so, and leaves nothing', async () => {
    const room = createRoom();
    shell(room, 'for i in $(seq 500); do echo $i > f$i; done');
    const controller = new AbortController();
    const taking = aside(room).take('work', room.workspace, controller.signal);
    controller.abort(new Error('cancelled'));
    await expect(taking).rejects.toThrow('cancelled');
    expect(readdirSync(join(room.data, 'work'))).toEqual([]);
  });

  test.each(['', '.', '..', '../other', 'a/b', 'x'.repeat(201)])('has no key %j', async (key) => {
    const room = createRoom();
    await expect(aside(room).take(key, room.workspace, signal)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  test('is gone with its key', async () => {
    const room = createRoom();
    const { snapshot } = await aside(room).take('work', room.workspace, signal);
    await aside(room).mark('work', room.workspace, 't1', signal);
    await aside(room).remove('work');
    await aside(room).remove('work');
    expect(readdirSync(room.data)).toEqual([]);
    await expect(aside(room).restore('work', room.workspace, snapshot, signal)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('run the work where it was taken'),
    });
  });
});

describe('changes', () => {
  test('are what was added, modified and removed since a mark, sorted, with the hashes of the files', async () => {
    const room = createRoom();
    shell(room, 'umask 022; echo one > a; echo two > b; mkdir d; echo three > d/c; ln -s a l; echo same > s; touch m');
    const snapshots = aside(room);
    const { snapshot } = await snapshots.take('work', room.workspace, signal);
    shell(room, 'echo unseen > z');
    const mark = await snapshots.mark('work', room.workspace, 't1', signal);
    shell(
      room,
      String.raw`echo One > a; rm -r d; ln -sfn b l; mkdir n; echo new > n/f; echo same > s; chmod 600 m; echo x > "$(printf '\303\244\377')"`,
    );
    const changed = [
      { path: 'a', change: 'modified', sha256: sha256('One\n') },
      { path: 'd', change: 'removed', sha256: null },
      { path: 'd/c', change: 'removed', sha256: null },
      { path: 'l', change: 'modified', sha256: null },
      { path: 'm', change: 'modified', sha256: expect.stringMatching(/^e3b0c44298fc1c14/) },
      { path: 'n', change: 'added', sha256: null },
      { path: 'n/f', change: 'added', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ];
    const odd = { path: String.raw`\xc3\xa4\xff`, change: 'added', sha256: expect.any(String) };
    expect(await snapshots.changes('work', room.workspace, mark, signal)).toEqual([...changed, odd]);
    expect(await snapshots.changes('work', room.workspace, snapshot, signal)).toEqual([
      ...changed,
      { path: 'z', change: 'added', sha256: expect.any(String) },
      odd,
    ]);
  });

  test('see a rewritten file that looks the same but for the time of the change', async () => {
    const room = createRoom();
    shell(room, 'echo one > a; touch -d 2001-01-01 a');
    const mark = await later(() => aside(room).mark('work', room.workspace, 't1', signal));
    shell(room, 'echo two > a; touch -d 2001-01-01 a');
    expect(await aside(room).changes('work', room.workspace, mark, signal)).toMatchObject([
      { path: 'a', change: 'modified' },
    ]);
  });

  test('see a file that is rewritten right after it was looked at', async () => {
    const room = createRoom();
    const snapshots = aside(room);
    const file = openSync(join(room.workspace, 'a'), 'w');
    for (let count = 0; count < 10; count += 1) {
      const mark = await snapshots.mark('work', room.workspace, `t${count}`, signal);
      writeSync(file, String(count % 10), 0);
      expect(await snapshots.changes('work', room.workspace, mark, signal)).toHaveLength(1);
    }
  });

  test('are told from the first mark of a name, however often it is made', async () => {
    const room = createRoom();
    const mark = await aside(room).mark('work', room.workspace, 't1', signal);
    shell(room, 'echo one > a');
    expect(await aside(room).mark('work', room.workspace, 't1', signal)).toBe(mark);
    expect(await aside(room).changes('work', room.workspace, mark, signal)).toMatchObject([{ path: 'a' }]);
  });

  test('are seen where a task has forbidden to look, and the modes are left as they are', async () => {
    const room = createRoom(ordinaryUser);
    const worker = startWorker(room.data, ordinaryUser);
    const mark = await worker.call('mark', 'work', room.workspace, 't1');
    shell(room, 'mkdir -p d/e; echo one > d/e/a; chmod 0 d/e/a d/e d');
    expect(await worker.call('changes', 'work', room.workspace, mark)).toMatchObject([
      { path: 'd', change: 'added' },
      { path: 'd/e', change: 'added' },
      { path: 'd/e/a', change: 'added', sha256: expect.stringMatching(/^2c8b08da5ce60398/) },
    ]);
    await worker.stop();
    expect(statSync(join(room.workspace, 'd')).mode & 0o777).toBe(0);
  });

  test('in a tree deeper than a path can be long are refused with what is wrong', async () => {
    const room = createRoom();
    const mark = await aside(room).mark('work', room.workspace, 't1', signal);
    shell(room, `perl -e 'for (1..2500) { mkdir "d"; chdir "d" }'`);
    await expect(aside(room).changes('work', room.workspace, mark, signal)).rejects.toMatchObject({
      code: 'wrong_state',
      message: expect.stringContaining('its path has more than 4096 bytes'),
    });
    await aside(room).take('empty', room.outside, signal);
  });

  test('since a mark that was not made are not known', async () => {
    const room = createRoom();
    await aside(room).take('work', room.workspace, signal);
    for (const since of ['mark-t1', '0'.repeat(64)])
      await expect(aside(room).changes('work', room.workspace, since, signal)).rejects.toMatchObject({
        code: 'not_found',
      });
  });
});

describe('a restore', () => {
  test('puts back owners, as far as the worker may', async () => {
    const room = createRoom();
    const { uid, gid } = statSync(room.workspace);
    // Root may give a file to anyone, others to one of their groups.
    const owner = uid === 0 ? ([1234, 4321] as const) : ([uid, process.getgroups!().at(-1) ?? gid] as const);
    shell(room, 'echo one > a; echo two > b; mkdir d; chmod 6755 b');
    for (const name of ['a', 'b', 'd']) chownSync(join(room.workspace, name), ...owner);
    chmodSync(join(room.workspace, 'b'), 0o6755);
    const was = inventory(room.workspace);
    const { snapshot } = await aside(room).take('work', room.workspace, signal);
    shell(room, 'rm a; rm -r d; echo three > b');
    chownSync(join(room.workspace, 'b'), uid, gid);
    expect(await aside(room).restore('work', room.workspace, snapshot, signal)).toMatchObject({ manual: [] });
    expect(inventory(room.workspace)).toEqual(nearly(was));
  });

  test('puts back names outside of the workspace that a file has', async () => {
    const room = createRoom();
    shell(room, 'echo one > "$OUTSIDE/stored"; ln "$OUTSIDE/stored" a');
    const { snapshot } = await aside(room).take('work', room.workspace, signal);
    const both = () => inventory(room.folder).filter(({ path }) => !path.startsWith('./data'));
    const was = both();
    shell(room, 'echo twelve > a; chmod 600 a');
    await aside(room).restore('work', room.workspace, snapshot, signal);
    expect(readFileSync(join(room.outside, 'stored'), 'utf8')).toBe('one\n');
    expect(both()).toEqual(nearly(was));
  });

  test('writes into no file outside that a task has linked to', async () => {
    const room = createRoom();
    shell(room, 'echo one > a; echo two > b');
    const was = inventory(room.outside);
    const { snapshot } = await aside(room).take('work', room.workspace, signal);
    shell(room, 'ln -f "$OUTSIDE/secret" a; rm b; ln "$OUTSIDE/secret" b');
    const { digest } = await aside(room).restore('work', room.workspace, snapshot, signal);
    expect(digest).toBe(snapshot);
    expect(inventory(room.outside)).toEqual(nearly(was));
  });

  test('says what it cannot put back, and does the rest', async () => {
    const room = createRoom();
    shell(room, 'mkfifo p; echo one > a; echo two > b');
    const server = createServer().listen(join(room.workspace, 's'));
    await once(server, 'listening');
    const { snapshot } = await aside(room).take('work', room.workspace, signal);
    server.close();
    await once(server, 'close');
    shell(room, 'rm -f s p a b');
    const pack = join(room.data, 'work', 'start', 'pack');
    chmodSync(pack, 0o600);
    writeSync(openSync(pack, 'r+'), 'ONE', 0);
    const { digest, manual } = await aside(room).restore('work', room.workspace, snapshot, signal);
    expect(digest).not.toBe(snapshot);
    expect(manual).toEqual([
      'a could not be put back: its copy in the snapshot is damaged.',
      'p was a pipe and has been replaced or removed; make it again.',
      's was a socket and has been replaced or removed; start the program that listens on it.',
    ]);
    expect(readdirSync(room.workspace)).toEqual(['b']);
  });

  test('of a workspace that is another one is refused', async () => {
    const room = createRoom();
    const { snapshot } = await aside(room).take('work', room.workspace, signal);
    await expect(aside(room).restore('work', room.outside, snapshot, signal)).rejects.toMatchObject({
      code: 'conflict',
      message: `The snapshot is of ${room.workspace}, and not of ${room.outside}.`,
    });
  });

  test('is refused where the folder above the workspace leads elsewhere by now', async () => {
    const room = createRoom();
    const workspace = join(room.workspace, 'project');
    mkdirSync(workspace);
    const { snapshot } = await aside(room).take('work', workspace, signal);
    shell(room, 'mkdir "$OUTSIDE/project"; echo one > "$OUTSIDE/project/kept"');
    renameSync(room.workspace, `${room.workspace}-old`);
    shell({ ...room, workspace: room.folder }, 'ln -s "$OUTSIDE" workspace');
    await expect(aside(room).restore('work', workspace, snapshot, signal)).rejects.toMatchObject({ code: 'conflict' });
    expect(readdirSync(join(room.outside, 'project'))).toEqual(['kept']);
  });

  test('writes no file that has its bytes, known by its looks or not', async () => {
    const room = createRoom();
    shell(room, 'echo one > a; echo two > b');
    const inode = (): number => statSync(join(room.workspace, 'a')).ino;
    const { snapshot } = await aside(room).take('work', room.workspace, signal);
    const before = inode();
    shell(room, 'touch a; echo three > b');
    await aside(room).restore('work', room.workspace, snapshot, signal);
    expect(inode()).toBe(before);
  });

  test('does not read again what looks as it did: what is remembered of it counts', async () => {
    const room = createRoom();
    shell(room, 'echo one > a; echo two > b');
    const { snapshot } = await later(() => aside(room).take('work', room.workspace, signal));
    await later(() => aside(room).mark('work', room.workspace, 't1', signal));
    const latest = join(room.data, 'work', 'latest');
    const [one, wrong] = [sha256('one\n'), sha256('wrong')];
    writeFileSync(latest, readFileSync(latest, 'utf8').replace(one, wrong));
    const changes = await aside(room).changes('work', room.workspace, snapshot, signal);
    expect(changes).toEqual([{ path: 'a', change: 'modified', sha256: wrong }]);
    const before = statSync(join(room.workspace, 'a')).ino;
    await aside(room).restore('work', room.workspace, snapshot, signal);
    expect(statSync(join(room.workspace, 'a')).ino).not.toBe(before);
  });
});
