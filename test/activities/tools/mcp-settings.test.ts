import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mcpServersIn, readMcpServers } from '../../../activities/tools/mcp/index.js';
import { rooms } from './rig.js';

const { folder, remove } = rooms();
afterAll(remove);

const environment = { TOKEN: 's3cret', HOST: 'mcp.example.com', EMPTY: '' };
const read = (servers: unknown) => mcpServersIn(JSON.stringify({ mcpServers: servers }), environment);
const refusal = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing is refused';
};

describe('the file of MCP servers', () => {
  test('is what other programs read, too', () => {
    expect(
      read({
        files: { command: 'npx', args: ['-y', 'a-server', '${HOST}'], env: { API_TOKEN: '${TOKEN}', MODE: 'x' } },
        'far-1': { type: 'http', url: 'https://${HOST}/mcp', headers: { Authorization: 'Bearer ${TOKEN}' } },
        off: { command: 'x', disabled: true },
        slow: { command: 'x', cwd: '/srv', timeout_ms: 5 },
      }),
    ).toEqual([
      {
        ...{ name: 'files', timeoutMs: 60_000, command: 'npx', args: ['-y', 'a-server', 'mcp.example.com'] },
        ...{ env: { API_TOKEN: 's3cret', MODE: 'x' }, cwd: undefined },
      },
      {
        ...{ name: 'far-1', timeoutMs: 60_000, url: 'https://mcp.example.com/mcp' },
        headers: { Authorization: 'Bearer s3cret' },
      },
      { name: 'slow', timeoutMs: 5, command: 'x', args: [], env: {}, cwd: '/srv' },
    ]);
  });

  test('may be YAML', () => {
    expect(mcpServersIn('mcpServers:\n  a:\n    command: x\n    args: [--port, "1"]\n', {})).toMatchObject([
      { name: 'a', command: 'x', args: ['--port', '1'] },
    ]);
  });

  test('takes a preset where a variable is not set or empty', () => {
    expect(read({ a: { command: '${MISSING:-node}', args: ['${EMPTY:-}', '$HOME', '${}'] } })).toMatchObject([
      { command: 'node', args: ['', '$HOME', '${}'] },
    ]);
  });

  test.each<[string, unknown, string]>([
    ['neither', { a: {} }, 'mcpServers.a must have a command (stdio) or a url (HTTP), and not both'],
    [
      'both',
      { a: { command: 'x', url: 'http://h' } },
      'mcpServers.a must have a command (stdio) or a url (HTTP), and not both',
    ],
    ['a list', { a: [] }, 'mcpServers.a must be an object with a command or a url'],
    ['an old transport', { a: { type: 'sse', url: 'http://h/sse' } }, 'mcpServers.a.type "sse" is not spoken'],
    ['another transport than its own', { a: { type: 'http', command: 'x' } }, 'mcpServers.a.type'],
    [
      'a misspelt name',
      { a: { command: 'x', arg: [] } },
      'mcpServers.a.arg unknown field "arg"; it takes type, command, args',
    ],
    ['no text', { a: { command: 'x', args: [1] } }, 'mcpServers.a.args[0] must be a text'],
    ['no program', { a: { command: '' } }, 'mcpServers.a.command must name a program'],
    ['no address', { a: { url: 'mcp.example.com' } }, 'mcpServers.a.url must be an http or https URL'],
    ['no time', { a: { command: 'x', timeout_ms: 0 } }, 'mcpServers.a.timeout_ms must be at least 1'],
    [
      'more time than a connection has',
      { a: { url: 'http://h', timeout_ms: 300_001 } },
      'mcpServers.a.timeout_ms must be at most 300000',
    ],
    [
      'a variable that is not set',
      { a: { url: 'https://h/${MISSING}' } },
      'mcpServers.a names ${MISSING}, which is not set in the worker',
    ],
    ['a variable that is empty', { a: { command: '${EMPTY}' } }, 'mcpServers.a names ${EMPTY}, which is not set'],
    ['two "_" in a name', { a__b: { command: 'x' } }, 'mcpServers.a__b: a name has 1 to 32 letters'],
    ['a dot in a name', { 'a.b': { command: 'x' } }, 'mcpServers.a.b: a name has 1 to 32 letters'],
    [
      'a secret in it',
      { a: { url: 'http://h', headers: { Authorization: 'Bearer hunter2' } } },
      'mcpServers.a.headers.Authorization must come from the environment',
    ],
    [
      'a key in it',
      { a: { command: 'x', env: { GITHUB_TOKEN: 'hunter2' } } },
      'mcpServers.a.env.GITHUB_TOKEN must come from the environment',
    ],
  ])('with %s is refused', (_, servers, message) => {
    const said = refusal(() => read(servers));
    expect(said).toContain(message);
    expect(said).not.toContain('hunter2');
  });

  test('is refused with every fault, and without a secret', () => {
    const said = refusal(() =>
      read({
        a: { command: '', args: 'x', env: { KEY: '${TOKEN}', N: 1 } },
        b: { url: 'ftp://${TOKEN}', extra: true },
        'c c': { url: '${NOWHERE}' },
      }),
    );
    for (const part of ['a.command', 'a.args', 'a.env.N', 'b.url', 'b.extra', 'c c: a name', '${NOWHERE}'])
      expect(said).toContain(part);
    expect(said).not.toContain('s3cret');
  });

  test.each<[string, string]>([
    ['{"mcpServers": ', 'it is neither JSON nor YAML'],
    ['[]', 'it must hold one object'],
    ['{"servers": {}}', 'it must hold one object'],
    ['{"mcpServers": {}, "inputs": []}', 'inputs is not known; there is mcpServers alone'],
  ])('%s is refused', (text, message) => expect(refusal(() => mcpServersIn(text, {}))).toContain(message));

  test('is read where the operator names one, and named where it cannot be', () => {
    const file = join(folder(), 'servers.json');
    expect(readMcpServers(null, {})).toEqual([]);
    expect(refusal(() => readMcpServers(file, {}))).toContain(`PARLEY_MCP_SERVERS (${file}) cannot be used: ENOENT`);
    writeFileSync(file, '{"mcpServers": {"a": {"command": "x"}}}');
    expect(readMcpServers(file, {})).toMatchObject([{ name: 'a' }]);
  });
});
