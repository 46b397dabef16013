import { chmodSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { createSnapshots } from '../../../activities/snapshot/index.js';
import type { FileChange } from '../../../src/contracts/execution.js';
import { createRoom, everything, inventory, removeRooms, nearly } from './room.js';

const { signal } = new AbortController();

type Step =
  | { do: 'write'; at: string; bytes: string }
  | { do: 'folder'; at: string }
  | { do: 'remove'; at: string }
  | { do: 'age'; at: string }
  | { do: 'link'; at: string; target: string }
  | { do: 'name'; at: string; to: string }
  | { do: 'move'; at: string; to: string }
  | { do: 'mode'; at: string; mode: number };

const name = fc.constantFrom('a', 'b', 'c', 'é\n');
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
const step = (modes: number[]): fc.Arbitrary<Step> =>
  fc.oneof(
    // Few lengths and few bytes, so that files come to look alike.
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('write' as const),
        at: path,
        bytes: fc.constantFrom('', 'x', 'y', 'xyz', 'xyy'),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('folder' as const), at: path }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), at: path }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('age' as const), at: path }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('link' as const),
        at: path,
        target: fc.oneof(path, fc.constantFrom('.', '../outside', '/nowhere')),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('name' as const), at: path, to: path }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('mode' as const), at: path, mode: fc.constantFrom(...modes) }),
    },
  );
/** What is there at first can be read by its owner; a task may leave anything. */
const readable = fc.array(step([0o755, 0o700, 0o711, 0o6755, 0o1777, 0o500]), { maxLength: 25 });
const anything = fc.array(step([0, 0o111, 0o444, 0o644, 0o755, 0o4755, 0o7777]), { maxLength: 25 });

/** Many steps do not fit what is there; those do nothing. Links out of the workspace are never gone through. */
const play = (workspace: string, steps: readonly Step[]): void => {
  for (const given of steps) {
    const at = join(workspace, given.at);
    try {
      if (given.do === 'write') writeFileSync(at, given.bytes, { flag: 'wx' });
      else if (given.do === 'folder') mkdirSync(at, { recursive: true });
      else if (given.do === 'remove') rmSync(at, { recursive: true });
      else if (given.do === 'age') utimesSync(at, 1_000, 1_000);
      else if (given.do === 'link') symlinkSync(given.target, at);
      else if (given.do === 'name') linkSync(at, join(workspace, given.to));
      else if (given.do === 'mode') chmodSync(at, given.mode);
      else if (given.do === 'move') renameSync(at, join(workspace, given.to));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    }
  }
};

const runs = { seed: 20_261_121, numRuns: 30 };

afterAll(removeRooms);

describe('in random workspaces with random tasks', () => {
  test('a restore puts everything back, again when repeated, and touches nothing outside', async () => {
    await fc.assert(
      fc.asyncProperty(readable, anything, anything, async (project, task, next) => {
        const room = createRoom();
        const snapshots = createSnapshots(room.data);
        play(room.workspace, project);
        const was = inventory(room.folder, 'workspace');
        const { snapshot } = await snapshots.take('work', room.workspace, signal);
        for (const steps of [task, next]) {
          play(room.workspace, steps);
          const outside = inventory(room.folder, 'outside');
          const restored = await snapshots.restore('work', room.workspace, snapshot, signal);
          expect(restored).toEqual({ digest: snapshot, manual: [] });
          expect(everything(room)).toEqual(nearly([...outside, ...was]));
        }
      }),
      runs,
    );
  });

  test('the changes are those that two inventories differ in', async () => {
    await fc.assert(
      fc.asyncProperty(readable, readable, async (project, task) => {
        const room = createRoom();
        const snapshots = createSnapshots(room.data);
        play(room.workspace, project);
        const before = contents(room.workspace);
        const mark = await snapshots.mark('work', room.workspace, 't', signal);
        play(room.workspace, task);
        const after = contents(room.workspace);
        const changes = await snapshots.changes('work', room.workspace, mark, signal);
        expect(changes.map(({ path, change }) => [path, change])).toEqual(differing(before, after));
      }),
      runs,
    );
  });
});

/** By path, all that an inventory says but owners, times, and which names are names of one file. */
const contents = (folder: string): Map<string, string> =>
  new Map(
    inventory(folder).map(({ path, what, target, sha256 }) => [
      path === '.' ? '.' : Buffer.from(path, 'latin1').toString('utf8').slice(2),
      `${what} ${target} ${sha256}`,
    ]),
  );

const differing = (before: Map<string, string>, after: Map<string, string>): [string, FileChange['change']][] =>
  [...new Set([...before.keys(), ...after.keys()])]
    .toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
    .flatMap((path): [string, FileChange['change']][] => {
      if (!after.has(path)) return [[path, 'removed']];
      if (!before.has(path)) return [[path, 'added']];
      return before.get(path) === after.get(path) ? [] : [[path, 'modified']];
    });
