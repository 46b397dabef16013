import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFolderStore } from '../../../activities/artifacts/folder.js';
import { checkHandOver } from '../../../activities/fan-out/namespace.js';
import { keepLeftFiles } from '../../../activities/fan-out/left-files.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-left-'));
  mkdirSync(join(folder, 'output'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const keep = (limits: { maxFiles?: number; maxBytes?: number } = {}) => {
  const store = createFolderStore(join(folder, 'store'));
  return keepLeftFiles(folder, { maxFiles: 10, maxBytes: 100, ...limits }, (content) => store.put('acme', content));
};
const leave = (name: string, content = name): void => writeFileSync(join(folder, 'output', name), content);
const pathsOf = ({ artifacts }: Awaited<ReturnType<typeof keep>>): string[] => artifacts.map(({ path }) => path);

describe('what a worker left', () => {
  test('is nothing where it left nothing', async () => {
    expect(await keep()).toEqual({ artifacts: [], cut: null });
  });

  test('is kept by path, and is the same when it is kept again', async () => {
    leave('b');
    leave('a');
    const left = await keep();
    expect(pathsOf(left)).toEqual(['output/a', 'output/b']);
    expect(await keep()).toEqual(left);
  });

  test('is cut at the limit of files, and says so', async () => {
    for (const name of ['a', 'b', 'c', 'd']) leave(name);
    const left = await keep({ maxFiles: 3 });
    expect(pathsOf(left)).toEqual(['output/a', 'output/b', 'output/c']);
    expect(left.cut).toBe('not kept: 1 files beyond the first 3');
  });

  test('is kept as far as the bytes go: a smaller file after one that is too large still is', async () => {
    leave('a', 'x'.repeat(60));
    leave('b', 'x'.repeat(41));
    leave('c', 'x'.repeat(40));
    const left = await keep();
    expect(pathsOf(left)).toEqual(['output/a', 'output/c']);
    expect(left.cut).toBe('not kept: output/b has 41 bytes, and the files of a worker may have 100 in all');
  });

  test('is neither what a link leads to nor what is no file', async () => {
    writeFileSync(join(folder, 'secret'), 'secret');
    mkdirSync(join(folder, 'elsewhere'));
    writeFileSync(join(folder, 'elsewhere', 'x'), 'x');
    symlinkSync('../secret', join(folder, 'output', 'soft'));
    symlinkSync('../elsewhere', join(folder, 'output', 'folder'));
    linkSync(join(folder, 'secret'), join(folder, 'output', 'hard'));
    execFileSync('mkfifo', [join(folder, 'output', 'pipe')]);
    leave('own');
    const left = await keep();
    expect(pathsOf(left)).toEqual(['output/own']);
    expect(left.cut).toBe(
      'not kept: output/folder is a symbolic link; output/hard is a hard link; output/pipe is no file; output/soft is a symbolic link',
    );
  });

  test('is nothing where its folders are too deep to be looked through', async () => {
    const deeper = `for (let n = 0; n < 60; n += 1) { fs.mkdirSync('x'.repeat(100)); process.chdir('x'.repeat(100)); }`;
    execFileSync(process.execPath, ['-e', deeper], { cwd: join(folder, 'output') });
    expect(await keep()).toEqual({ artifacts: [], cut: 'not kept: output/ cannot be looked through (ENAMETOOLONG)' });
    await expect(checkHandOver(folder)).rejects.toMatchObject({
      code: 'ESEC',
      message: expect.stringContaining('output/ of a worker cannot be looked through (ENAMETOOLONG)'),
    });
    execFileSync('rm', ['-rf', join(folder, 'output')]);
  });

  test.each(['gone', 'a link'])('is nothing where output/ itself is %s', async (what) => {
    rmSync(join(folder, 'output'), { recursive: true });
    if (what === 'a link') symlinkSync('/etc', join(folder, 'output'));
    expect(await keep()).toEqual({ artifacts: [], cut: 'not kept: output/ is gone, or no folder' });
  });
});
