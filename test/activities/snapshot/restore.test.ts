import { createRoom, everything, ordinaryUser, removeRooms, shell, nearly } from './room.js';
import { removeBuilt, startWorker, type WorkerProcess } from './worker-process.js';

const repository = `
  git init -q . && git config user.email a@b.c && git config user.name n
  echo one > tracked; echo '*.log' > .gitignore; git add . && git commit -qm one
  echo untracked > new; echo ignored > debug.log; echo staged > staged; git add staged
`;

/** What was there, and what a task did to it. */
const cases: [title: string, before: string, task: string][] = [
  ['puts back a file that was edited', 'echo one > a', 'echo two > a'],
  ['puts back a file of the same length', 'echo one > a; touch -d 2001-01-01 a', 'echo two > a; touch -d 2001-01-01 a'],
  ['puts back a file that was emptied', 'echo one > a', ': > a'],
  ['puts back an empty file', ': > a', 'echo one > a'],
  ['puts back a file that was removed', 'mkdir d; echo one > d/a', 'rm d/a'],
  ['removes new files', 'echo one > a', 'echo two > b; mkdir -p d/e; echo three > d/e/f'],
  [
    'puts back a file of many blocks',
    'head -c 5000001 /dev/zero > a',
    'printf x | dd of=a bs=1 seek=4000000 conv=notrunc 2>&1',
  ],
  ['puts back two equal files', 'echo one > a; echo one > b', 'rm a b'],
  ['puts back two equal files of many blocks', 'head -c 3000000 /dev/zero | tee a > b', 'rm a; echo > b'],
  ['puts back a file that became a folder', 'echo one > a', 'rm a; mkdir -p a/b; echo two > a/b/c'],
  ['puts back a folder that became a file', 'mkdir -p a/b; echo two > a/b/c', 'rm -r a; echo one > a'],
  ['puts back a file that became a link out', 'echo one > a', 'ln -sf "$OUTSIDE/secret" a'],
  [
    'puts back a folder that became a link out',
    'mkdir -p inner/d; echo one > inner/d/a',
    'rm -r inner; ln -s "$OUTSIDE/inner" inner',
  ],
  ['puts back an empty folder', 'mkdir -p a/b/c', 'rm -r a'],
  ['puts back a dangling link', 'ln -s nowhere a', 'rm a; ln -s elsewhere a'],
  ['puts back a link with any target', String.raw`ln -s "$(printf '\377\n')" l`, 'ln -sfn / l'],
  ['puts back a link to a folder', 'mkdir d; echo one > d/a; ln -s d l', 'rm l; cp -r d l; echo two > l/a'],
  ['puts back a link to a file', 'echo one > a; ln -s a l', 'rm l; cp a l'],
  ['puts back a link out', 'ln -s "$OUTSIDE" l', 'rm l; mkdir l; echo two > l/secret'],
  [
    'puts back every bit of a mode',
    'touch a b; mkdir d; chmod 6751 a; chmod 600 b; chmod 3750 d',
    'chmod 644 a b; chmod 777 d',
  ],
  ['puts back the mode of a file that was rewritten', 'echo one > a; chmod 4755 a', 'echo two > a; chmod 600 a'],
  ['puts back the mode of the workspace', 'chmod 750 .', 'chmod 777 .'],
  [
    'puts back times',
    'echo one > a; mkdir d; ln -s a l; touch -h -d 2001-02-03T04:05:06.123456 a d l',
    'touch -h a d l; echo two > a',
  ],
  [
    'puts back names that are no UTF-8',
    String.raw`echo one > "$(printf 'a\377\300b')"; mkdir "$(printf '\200')"`,
    'rm -r *; echo two > x',
  ],
  ['puts back names with newlines', String.raw`echo one > "$(printf 'a\nb\tc"d\\')"`, 'rm *'],
  ['puts back a name that looks like an option', 'echo one > ./-rf', 'rm ./-rf'],
  ['puts back one file under several names', 'echo one > a; ln a b; mkdir d; ln a d/c', 'echo two > a; rm d/c'],
  ['puts back one file whose names are all gone', 'echo one > a; ln a b; mkdir d; ln a d/c', 'rm -r *'],
  ['makes one file again of names that became two', 'echo one > a; ln a b', 'cp -p a c; mv c b'],
  ['makes two files again of what became one', 'echo one > a; cp -p a b', 'ln -f a b'],
  ['takes back a name that a file was given', 'echo one > a', 'mkdir d; ln a d/b'],
  [
    'puts back a repository with its index and branches',
    repository,
    'git checkout -qb b; git add -A; git commit -qm two; git gc -q; rm debug.log',
  ],
  ['puts back a repository that was removed', repository, 'rm -rf .git; git init -q .'],
  [
    'puts back a repository in a repository',
    `${repository} mkdir sub; cd sub; ${repository}`,
    'rm -rf sub/.git/refs sub/debug.log',
  ],
  [
    'puts back folders that nobody may enter',
    'mkdir -p d/e; echo one > d/e/f',
    'echo two > d/e/f; chmod 000 d/e; chmod 000 d',
  ],
  [
    'removes new folders that nobody may enter',
    'echo one > a',
    'mkdir -p d/e/f; echo > d/e/f/g; chmod 000 d/e/f; chmod 500 d/e; chmod 000 d',
  ],
  ['puts back files that nobody may read', 'echo one > a', 'echo two > a; chmod 000 a'],
  [
    'puts back a folder that nobody may write',
    'mkdir d; echo one > d/a; chmod 500 d',
    'chmod 700 d; rm d/a; chmod 500 d',
  ],
  ['puts back a workspace that nobody may enter', 'echo one > a', 'rm a; chmod 000 .'],
  ['puts back a workspace that is gone', 'mkdir -p a/b; echo one > a/b/c', 'rm -r "$PWD"'],
  [
    'puts back a workspace that became a link out',
    'mkdir inner; echo one > inner/a',
    'cd ..; rm -r workspace; ln -s "$OUTSIDE" workspace',
  ],
  ['puts back a workspace that became a file', 'echo one > a', 'cd ..; rm -r workspace; echo > workspace'],
  ['leaves a pipe that is still there', 'mkfifo -m 640 p', 'chmod 666 p; echo > a'],
  ['removes new pipes', 'echo one > a', 'rm a; mkfifo a b'],
  [
    'removes a new tree that is deeper than a path can be long',
    'echo one > a',
    `perl -e 'for (1..2500) { mkdir "d"; chdir "d" }'`,
  ],
];

describe('a restore', () => {
  const { data } = createRoom(ordinaryUser);
  let worker: WorkerProcess;
  beforeAll(() => {
    worker = startWorker(data, ordinaryUser);
  });
  afterAll(async () => {
    await worker.stop();
    removeRooms();
    removeBuilt();
  });

  test.each(cases)('%s', async (title, before, task) => {
    const room = createRoom(ordinaryUser);
    const key = title.replace(/\W+/g, '-');
    shell(room, before);
    const was = everything(room);
    const taken = await worker.call('take', key, room.workspace);
    expect(everything(room)).toEqual(nearly(was));

    shell(room, task);
    const restored = await worker.call('restore', key, room.workspace, taken.snapshot);
    expect(restored).toEqual({ digest: taken.digest, manual: [] });
    expect(everything(room)).toEqual(nearly(was));
  });
});
