import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shellTools } from '../../../activities/tools/shell.js';
import type { ToolCall, ToolSource } from '../../../activities/tools/port.js';
import { fileTools } from '../../../activities/tools/files/index.js';
import { workTools } from '../../../src/domain/team/known-tools.js';
import { admissionFaults } from '../../../src/domain/security-rules/index.js';
import { describeWithBubblewrap, isRunning, sandboxOf } from '../sandbox/rig.js';
import { never, rooms, toolCall } from './rig.js';

const { folder, remove } = rooms();
let namespaces: string;
let tools: ToolSource;
beforeAll(() => {
  const data = folder();
  namespaces = join(data, 'namespaces');
  tools = shellTools({ sandbox: sandboxOf({}, [data]), admission: admissionFaults, namespaces });
});
afterAll(remove);

const run = async (given: Record<string, unknown>, over: Partial<ToolCall> = {}, signal = never) =>
  (await tools.call(toolCall('run_command', given, over), signal)) as Record<string, unknown>;

describeWithBubblewrap('run_command', () => {
  test('runs a line of the shell in the folder of the agent, and says how it ended', async () => {
    const answer = await run({ command: 'echo out; echo err >&2; echo kept > file.txt; exit 3' });
    expect(answer).toMatchObject({ status: 'ok', exit_code: 3, stdout: 'out\n', stderr: 'err\n' });
    expect(readFileSync(join(namespaces, 'team-1', 'a', 'file.txt'), 'utf8')).toBe('kept\n');
  });

  test('runs a program whose arguments no shell reads, with an input, in a folder below', async () => {
    await run({ argv: ['mkdir', '-p', 'sub folder'] });
    const argv = ['sh', '-c', 'cat; pwd; printf "%s" "$1"', 'sh', '$(id); *'];
    const answer = await run({ argv, cwd: 'sub folder', stdin: 'given\n' });
    expect(answer['stdout']).toMatch(/^given\n.*\/sub folder\n\$\(id\); \*$/);
  });

  test('sees neither the network nor the folder of another agent, and writes nowhere else', async () => {
    mkdirSync(join(namespaces, 'team-1', 'b'), { recursive: true });
    writeFileSync(join(namespaces, 'team-1', 'b', 'secret.txt'), 'secret');
    const elsewhere = folder();
    const command = `cat ../b/secret.txt ${join(namespaces, 'team-1', 'b', 'secret.txt')}; echo x > ${elsewhere}/x; ls /sys/class/net`;
    const answer = await run({ command });
    expect(answer['stdout']).not.toContain('secret');
    expect(
      String(answer['stdout'])
        .trim()
        .split('\n')
        .filter((name) => name !== 'lo'),
    ).toEqual(['']);
    expect(existsSync(join(elsewhere, 'x'))).toBe(false);
  });

  test('works in the workspace of the team, unless that is only read', async () => {
    const path = folder();
    const workspace = { path, isReadOnly: false };
    expect(await run({ command: 'echo 1 > made' }, { workspace })).toMatchObject({ exit_code: 0 });
    expect(readFileSync(join(path, 'made'), 'utf8')).toBe('1\n');
    const refused = await run({ command: 'rm made' }, { workspace: { path, isReadOnly: true } });
    expect(refused).toMatchObject({ status: 'error', code: 'forbidden' });
    expect(existsSync(join(path, 'made'))).toBe(true);
  });

  test('ends what takes too long, with all it has started, and says so', async () => {
    const answer = await run({ command: 'echo begun; sleep 3123 & sleep 3123', timeout_seconds: 1 });
    expect(answer).toMatchObject({ status: 'ok', exit_code: null, stdout: 'begun\n' });
    expect(answer['ended_by']).toContain('its time was up');
    expect(isRunning('sleep 3123')).toBe(false);
  });

  test('ends when it is cancelled', async () => {
    const stop = new AbortController();
    const path = folder();
    const ended = run({ command: 'echo > begun; sleep 3124' }, { workspace: { path, isReadOnly: false } }, stop.signal);
    const refused = expect(ended).rejects.toThrow('stopped');
    while (!existsSync(join(path, 'begun'))) await new Promise((resolve) => setTimeout(resolve, 20));
    stop.abort(new Error('stopped'));
    await refused;
    expect(isRunning('sleep 3124')).toBe(false);
  });

  test('shows of 5 MB the beginning and the end, and says how much is left out', async () => {
    const answer = await run({ command: 'echo first; head -c 5000000 /dev/zero | tr "\\0" x; echo; echo last' });
    const stdout = String(answer['stdout']);
    expect(stdout).toMatch(
      /^first\nx+\n\[\.\.\. 4,940,012 of 5,000,012 characters are left out here \.\.\.\]\nx+\nlast\n$/,
    );
    expect(stdout.length).toBeLessThan(60_200);
  });

  test.each<[string, Record<string, unknown>, string, string]>([
    ['no command', {}, 'invalid_arguments', 'command must be given, or argv, and not both'],
    [
      'two commands',
      { command: 'ls', argv: ['ls'] },
      'invalid_arguments',
      'command must be given, or argv, and not both',
    ],
    ['a blank command', { command: '  ' }, 'invalid_arguments', 'command must not be blank'],
    [
      'every fault',
      { argv: [], cwd: '/etc', timeout_seconds: 0, shell: true },
      'invalid_arguments',
      'argv must name a program',
    ],
    ['a folder above', { command: 'ls', cwd: '..' }, 'invalid_arguments', 'cwd must stay inside'],
    [
      'a folder that is not there',
      { command: 'ls', cwd: 'nowhere' },
      'invalid_request',
      'is not a folder in the workspace',
    ],
    ['a folder by a link out', { command: 'ls', cwd: 'out' }, 'invalid_request', 'is not a folder in the workspace'],
    [
      'a privileged container',
      { command: 'docker run --privileged alpine' },
      'ESEC',
      'run_command was not carried out',
    ],
  ])('refuses %s', async (_, given, code, message) => {
    const path = folder();
    symlinkSync('/etc', join(path, 'out'));
    const answer = await run(given, { workspace: { path, isReadOnly: false } });
    expect(answer).toMatchObject({ status: 'error', code });
    expect(answer['message']).toContain(message);
  });

  test('says that a program is not there', async () => {
    expect(await run({ argv: ['no-such-program'] })).toMatchObject({ status: 'ok', exit_code: 127 });
  });
});

test('the tools of a worker are those that a team may name', () => {
  const names = [...fileTools(namespaces).list(), ...tools.list()].map(({ name }) => name);
  expect(names.toSorted()).toEqual([...workTools].toSorted());
});

test('run_command says what to do where no sandbox works', async () => {
  const without = shellTools({ sandbox: sandboxOf({ backends: [] }), admission: admissionFaults, namespaces });
  const answer = await without.call(toolCall('run_command', { command: 'ls' }), never);
  expect(answer).toMatchObject({ status: 'error', code: 'ESEC' });
});
