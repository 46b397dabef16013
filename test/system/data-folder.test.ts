import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimDataFolder } from '../../temporal/data-folder.js';
import { workerIdentity } from '../../temporal/identity.js';

describe('the data folder', () => {
  let parent: string;
  let folder: string;
  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'parley-data-'));
  });
  beforeEach(() => {
    folder = join(parent, `${expect.getState().currentTestName?.length}`, 'data');
  });
  afterAll(() => rm(parent, { recursive: true, force: true }));

  test('is made, claimed once, and free again after its release', () => {
    const release = claimDataFolder(folder);
    expect(() => claimDataFolder(folder)).toThrow(
      `${folder} is in use by another Parley (${workerIdentity()}). Stop that one, or set PARLEY_DATA to another folder.`,
    );
    release();
    claimDataFolder(folder)();
    expect(existsSync(join(folder, 'owner'))).toBe(false);
  });

  test('of a process that was killed is free', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    claimDataFolder(folder)();
    const killed = workerIdentity().replace(`:${process.pid}`, `:${child.pid}`);
    await writeFile(join(folder, 'owner'), killed);
    claimDataFolder(folder);
    expect(await readFile(join(folder, 'owner'), 'utf8')).toBe(workerIdentity());
  });
});
