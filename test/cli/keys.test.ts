import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readKeyFile, sha256Of } from '../../src/api-keys.js';
import { loadConfig } from '../../src/config.js';
import { runCli } from '../support/run-cli.js';

const root = mkdtempSync(join(tmpdir(), 'parley-cli-keys-'));
afterAll(() => rmSync(root, { recursive: true }));
let made = 0;
const newFile = (): string => join(root, `folder-${(made += 1)}`, 'keys.json');

const on = (file: string) => (argv: string[]) => runCli({ PARLEY_KEYS_FILE: file }, ['keys', ...argv]);

describe('parley keys add', () => {
  test('prints a new key once and keeps its sha256, for its owner alone', async () => {
    const file = newFile();
    const { code, out, notes } = await on(file)(['add', 'anna', '--role', 'operator', '--tenant', 'acme']);
    expect([code, out]).toEqual([0, expect.stringMatching(/^parley_[A-Za-z0-9_-]{43}$/)]);
    expect(notes).toBe(
      `The key of anna: operator, tenant acme. It is shown this once; ${file} keeps its sha256.\nA gateway that was open asks for keys from now on.`,
    );
    expect(readFileSync(file, 'utf8')).not.toContain(out);
    expect(readKeyFile(file)).toEqual([{ name: 'anna', sha256: sha256Of(out), tenant: 'acme', role: 'operator' }]);
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
  });

  test('writes the file that a gateway with the same environment reads', async () => {
    const environments = [
      { PARLEY_DATA: join(root, 'data') },
      { PARLEY_DATA: join(root, 'data'), PARLEY_KEYS_FILE: join(root, 'named.json') },
      { PARLEY_API_KEYS: join(root, 'as-keys.json') },
    ];
    for (const env of environments) {
      await runCli(env, ['keys', 'add', 'anna', '--role', 'admin']);
      const { keysFile, apiKeys } = loadConfig({ HOST: '0.0.0.0', ...env });
      expect([readKeyFile(keysFile).map(({ name }) => name), apiKeys]).toEqual([['anna'], []]);
    }
  });

  test.each<[string[], RegExp]>([
    [['add', 'anna'], /required option '--role <role>' not specified/],
    [['add', 'anna', '--role', 'boss'], /Allowed choices are viewer, operator, approver, admin/],
    [['add', 'a b', '--role', 'viewer'], /must be 1 to 64 letters, digits/],
    [['add', 'anna', '--role', 'viewer', '--tenant', 'a b'], /must be "\*" for every tenant, or the name of one/],
    [['add', 'TAKEN', '--role', 'viewer'], /There is a key taken already; revoke it first/],
  ])('refuses %j and changes nothing', async (argv, message) => {
    const file = newFile();
    await on(file)(['add', 'taken', '--role', 'viewer']);
    const before = readFileSync(file, 'utf8');
    const { code, notes } = await on(file)(argv);
    expect([code, notes]).toEqual([2, expect.stringMatching(message)]);
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect(existsSync(`${file}.new`)).toBe(false);
  });

  test('waits for nobody: while another changes the file it says so', async () => {
    const file = newFile();
    await on(file)(['add', 'anna', '--role', 'viewer']);
    writeFileSync(`${file}.new`, '');
    const { code, notes } = await on(file)(['add', 'bert', '--role', 'viewer']);
    expect([code, notes]).toEqual([
      2,
      expect.stringMatching(/Another parley keys changes .* now\. If none does, remove .*\.new\.$/),
    ]);
  });

  test('leaves a file alone that holds something else', async () => {
    const file = newFile();
    await on(file)(['add', 'anna', '--role', 'viewer']);
    writeFileSync(file, '{"keys":[{"name":"anna"}]}');
    const { code, notes } = await on(file)(['add', 'bert', '--role', 'viewer']);
    expect([code, notes]).toEqual([2, expect.stringContaining('"anna": ')]);
    expect(readFileSync(file, 'utf8')).toBe('{"keys":[{"name":"anna"}]}');
  });
});

describe('parley keys list and revoke', () => {
  test('show the keys without the keys, and take one back', async () => {
    const file = newFile();
    const keys = on(file);
    expect((await keys(['list'])).out).toContain('parley keys add NAME --role operator');
    await keys(['add', 'anna', '--role', 'operator', '--tenant', 'acme']);
    const { out: key } = await keys(['add', 'bert', '--role', 'approver', '--json']);
    expect(JSON.parse(key)).toMatchObject({ name: 'bert', tenant: '*', role: 'approver', file });
    const { out } = await keys(['list']);
    expect(out.split('\n')).toEqual([
      expect.stringMatching(/^anna +operator +tenant acme +\d{4}-\d\d-\d\d$/),
      expect.stringMatching(/^bert +approver +every tenant +\d{4}-\d\d-\d\d$/),
    ]);
    expect((await keys(['revoke', 'ANNA'])).out).toBe('revoked ANNA');
    expect(JSON.parse((await keys(['list', '--json'])).out)).toMatchObject({ keys: [{ name: 'bert' }] });
    const gone = await keys(['revoke', 'anna']);
    expect([gone.code, gone.notes]).toEqual([2, `There is no key anna in ${file}; it has bert.`]);
  });
});
