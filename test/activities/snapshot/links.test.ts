import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  fstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { Folder } from '../../../activities/snapshot/folder.js';
import { createSnapshots } from '../../../activities/snapshot/index.js';
import { createRoom, inventory, removeRooms, shell, nearly } from './room.js';

const { signal } = new AbortController();

/**
 * The files and folders below one of `roots` that this process has open. Not how many it has at all: what ran before in the
 * same process may still be closing its own.
 */
const openBelow = (roots: string[]): string[] =>
  readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const path = readlinkSync(join('/proc/self/fd', descriptor));
      return roots.some((root) => path.startsWith(root)) ? [path] : [];
    } catch (error) {
      // Closed since it was listed, as the one that lists is.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  });

afterAll(removeRooms);

describe('an open folder', () => {
  test.each<[string, (folder: Folder) => unknown]>([
    ['entered', (folder) => folder.enter('inner')],
    ['opened', (folder) => folder.openFile('secret')],
    ['written into', (folder) => folder.openFileToWrite('secret')],
    ['made anew', (folder) => folder.createFile('secret')],
    ['given a mode', (folder) => folder.setMode('secret', 0o777)],
    ['emptied', (folder) => folder.removeFolder('inner')],
  ])('follows no link: what it leads to is not %s', (_, act) => {
    const room = createRoom();
    shell(room, 'ln -s "$OUTSIDE/secret" "$OUTSIDE/inner" .');
    const was = inventory(room.outside);
    const folder = Folder.open(room.workspace);
    expect(() => act(folder)).toThrow();
    folder.close();
    expect(inventory(room.outside)).toEqual(nearly(was));
  });

  test('sets owner and times of a link, not of what it leads to', () => {
    const room = createRoom();
    shell(room, 'ln -s "$OUTSIDE/secret" .');
    const was = inventory(room.outside);
    const folder = Folder.open(room.workspace);
    const { uid, gid } = folder.expect('secret');
    folder.setOwner('secret', uid, gid);
    folder.setTimes('secret', 1_000, 2_000);
    expect(folder.look('secret')?.mtimeMs).toBe(2_000);
    folder.close();
    expect(inventory(room.outside)).toEqual(nearly(was));
  });

  test('stays the folder that it was when a link takes its place', () => {
    const room = createRoom();
    const path = join(room.workspace, 'd');
    mkdirSync(path);
    const workspace = Folder.open(room.workspace);
    const folder = workspace.enter('d');
    renameSync(path, join(room.workspace, 'moved'));
    symlinkSync(room.outside, path);
    closeSync(folder.createFile('made'));
    folder.createFolder('inner');
    folder.setMode('made', 0o640);
    expect(folder.list()).toEqual(['inner', 'made']);
    expect(readdirSync(join(room.workspace, 'moved'))).toEqual(['inner', 'made']);
    expect(readdirSync(room.outside)).toEqual(['inner', 'secret']);
    expect(statSync(join(room.workspace, 'moved', 'made')).mode & 0o777).toBe(0o640);
    folder.close();
    workspace.close();
  });

  test('opens a pipe without waiting for a writer', () => {
    const room = createRoom();
    shell(room, 'mkfifo p');
    const folder = Folder.open(room.workspace);
    const descriptor = folder.openFile('p');
    expect(fstatSync(descriptor).isFIFO()).toBe(true);
    closeSync(descriptor);
    folder.close();
  });

  test('leaves no descriptor open', async () => {
    const room = createRoom();
    shell(room, 'mkdir -p a/b/c; echo one > a/b/c/d; ln a/b/c/d e; ln -s nowhere l');
    const snapshots = createSnapshots(room.data);
    const { snapshot } = await snapshots.take('work', room.workspace, signal);
    shell(room, 'rm -r a l e; mkdir -p f/g/h; ln -s f a');
    await snapshots.restore('work', room.workspace, snapshot, signal);
    expect(readFileSync(join(room.workspace, 'e'), 'utf8')).toBe('one\n');
    expect(openBelow([room.workspace, room.data])).toEqual([]);
  });
});

describe('a program that swaps folders for links out while they are restored', () => {
  test('changes nothing outside', async () => {
    const room = createRoom();
    shell(room, 'mkdir -p d/sub; for i in $(seq 30); do echo one > d/f$i; echo one > d/sub/f$i; done');
    shell(
      room,
      'cp -r d/. "$OUTSIDE/inner"; for f in "$OUTSIDE"/inner/f*; do echo kept > $f; done; echo kept > "$OUTSIDE/inner/own"',
    );
    const [was, wasOutside] = [inventory(room.workspace), inventory(room.outside)];
    const snapshots = createSnapshots(room.data);
    const { snapshot } = await snapshots.take('work', room.workspace, signal);
    // What is damaged is damaged under the other name, which is never a link.
    const swap =
      'rename("d", "e"); unlink("e/f1"); open(F, ">", "e/f2"); open(F, ">", "e/sub/new"); close(F); symlink("$ENV{OUTSIDE}/inner", "d"); unlink("d"); rename("e", "d");';
    const swapper = spawn('perl', ['-e', `for (;;) { ${swap} }`], {
      cwd: room.workspace,
      env: { OUTSIDE: room.outside, PATH: process.env['PATH'] },
    });
    await once(swapper, 'spawn');
    try {
      for (let count = 0; count < 15; count += 1) {
        await snapshots.restore('work', room.workspace, snapshot, signal);
      }
    } finally {
      swapper.kill('SIGKILL');
      await once(swapper, 'exit');
    }
    expect(inventory(room.outside)).toEqual(nearly(wasOutside));
    expect(await snapshots.restore('work', room.workspace, snapshot, signal)).toEqual({ digest: snapshot, manual: [] });
    expect(inventory(room.workspace)).toEqual(nearly(was));
  });
});
