import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveWorkspace } from '../../activities/workspace.js';
import { ConfigError, loadConfig } from '../../src/config.js';
import { createRoom, removeRooms } from './snapshot/room.js';

afterAll(removeRooms);

/** allowed/project, allowed/data, elsewhere/project, and links: allowed/out to elsewhere, allowed/in to the project. */
const createFolders = () => {
  const { folder } = createRoom();
  for (const path of ['allowed/project/deep', 'allowed/data/snapshots', 'elsewhere/project', 'allowedly'])
    mkdirSync(join(folder, path), { recursive: true });
  writeFileSync(join(folder, 'allowed', 'file'), '');
  symlinkSync('../elsewhere/project', join(folder, 'allowed', 'out'));
  symlinkSync('project', join(folder, 'allowed', 'in'));
  symlinkSync('allowed', join(folder, 'other-name'));
  const at = (path: string): string => join(folder, path);
  return { at, rules: { allowed: [at('allowed')], dataFolder: at('allowed/data') } };
};

describe('a workspace', () => {
  test.each([
    ['a folder below an allowed one', 'allowed/project', 'allowed/project'],
    ['a folder deep below an allowed one', 'allowed/project/deep', 'allowed/project/deep'],
    ['a link to such a folder', 'allowed/in', 'allowed/project'],
    ['a folder by another way', 'other-name/in/../project', 'allowed/project'],
  ])('is %s, named by the path it really has', async (_, given, real) => {
    const { at, rules } = createFolders();
    expect(await resolveWorkspace(at(given), rules)).toBe(at(real));
  });

  test('is the allowed folder itself, where the data folder is elsewhere', async () => {
    const { at, rules } = createFolders();
    expect(await resolveWorkspace(at('allowed'), { ...rules, dataFolder: at('not/made/yet') })).toBe(at('allowed'));
    expect(await resolveWorkspace(at('allowed/in'), { ...rules, allowed: [at('other-name')] })).toBe(
      at('allowed/project'),
    );
  });

  test.each([
    [
      'is no path of this machine',
      'project',
      'invalid_request',
      /is no absolute path; give the folder as the worker sees it/,
    ],
    ['is no path at all', '/a\0b', 'invalid_request', /is no absolute path/],
    [
      'does not exist',
      'allowed/missing',
      'invalid_request',
      /does not exist on this worker's machine; create the folder first/,
    ],
    ['lies below a file', 'allowed/file/project', 'invalid_request', /does not exist/],
    ['is a file', 'allowed/file', 'invalid_request', /is no folder/],
    [
      'is not allowed',
      'elsewhere/project',
      'ESEC',
      /lies in no folder that the operator allows\. Allowed: .+allowed; .+PARLEY_WORKSPACES/,
    ],
    ['leads out of what is allowed', 'allowed/out', 'ESEC', /allows \(it leads to .+elsewhere\/project\)/],
    ['climbs out of what is allowed', 'allowed/../elsewhere', 'ESEC', /lies in no folder/],
    ['only begins like what is allowed', 'allowedly', 'ESEC', /lies in no folder/],
    ['is above what is allowed', '.', 'ESEC', /lies in no folder/],
    ['holds the data folder', 'allowed', 'invalid_request', /holds the data folder .+PARLEY_DATA/],
    ['is the data folder', 'allowed/data', 'invalid_request', /(lies in|holds) the data folder/],
    ['lies in the data folder', 'allowed/data/snapshots', 'invalid_request', /lies in the data folder/],
  ])('that %s is refused with what would be right', async (_, given, code, message) => {
    const { at, rules } = createFolders();
    const path = given.startsWith('/') || given === 'project' ? given : given === '.' ? at('') : `${at('')}/${given}`;
    await expect(resolveWorkspace(path, rules)).rejects.toMatchObject({
      code,
      retryable: false,
      message: expect.stringMatching(message),
    });
  });

  test("is not the system's temporary folder, which is everybody's", async () => {
    const { rules } = createFolders();
    await expect(resolveWorkspace(tmpdir(), { ...rules, allowed: ['/'] })).rejects.toThrow(
      'make a folder of its own in it',
    );
  });

  test('is looked for where PARLEY_WORKSPACES says, else where the worker is and in the temporary folder', () => {
    expect(loadConfig({}).workspaces).toEqual([process.cwd(), tmpdir()]);
    expect(loadConfig({ PARLEY_WORKSPACES: '/srv/a:/srv/b/../c:' }).workspaces).toEqual(['/srv/a', '/srv/c']);
    expect(() => loadConfig({ PARLEY_WORKSPACES: '/srv/a:relative' })).toThrow(ConfigError);
    expect(() => loadConfig({ PARLEY_WORKSPACES: 'a' })).toThrow(
      'PARLEY_WORKSPACES must be absolute paths with ":" between',
    );
  });
});
