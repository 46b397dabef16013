import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { artifactFolder, createFolderStore } from '../../activities/artifacts/folder.js';
import { runCli } from '../support/run-cli.js';

const data = mkdtempSync(join(tmpdir(), 'parley-cli-artifacts-'));
afterAll(() => rmSync(data, { recursive: true }));

const parley = (...argv: string[]) => runCli({ PARLEY_DATA: data }, ['artifacts', ...argv]);

describe('parley artifacts', () => {
  test('says that there are none', async () => {
    expect(await parley('list')).toEqual({ code: 0, out: '', notes: 'There are no artifacts.' });
    expect(await parley('verify')).toMatchObject({ code: 0, out: 'ok: 0 artifacts, 0 bytes' });
  });

  test('refuses a data folder that is not there', async () => {
    const { code, notes } = await parley('verify', '--data', join(data, 'none'));
    expect(code).toBe(2);
    expect(notes).toContain('is not there; name a data folder with --data FOLDER or PARLEY_DATA');
  });

  test('lists what there is, and names what is corrupt with exit code 1', async () => {
    const folder = artifactFolder(data);
    const { hash } = await createFolderStore(folder).put('acme', Buffer.from('words'));
    expect((await parley('list')).out).toMatch(new RegExp(`^${hash} +5  \\S+Z  acme$`));
    expect(JSON.parse((await parley('list', '--json')).out)).toMatchObject({
      items: [{ tenant: 'acme', hash, size_bytes: 5 }],
    });
    expect(await parley('verify')).toMatchObject({ code: 0, out: 'ok: 1 artifact, 5 bytes' });

    writeFileSync(join(folder, 'acme', hash.slice(7, 9), hash.slice(7)), 'WORDS');
    const { code, out } = await parley('verify');
    expect(code).toBe(1);
    expect(out).toContain(
      `1 corrupt: 1 artifact, 5 bytes\n  acme: artifact ${hash} is corrupt: its content has the digest`,
    );
    expect(JSON.parse((await parley('verify', '--json')).out)).toMatchObject({
      ok: false,
      corrupt: [{ tenant: 'acme', hash }],
    });
  });
});
