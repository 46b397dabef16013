import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Agents } from '../../../activities/adapters/index.js';
import type { CallEnd } from '../../../activities/governor/port.js';
import { type McpServers, openMcpServers } from '../../../activities/tools/mcp/index.js';
import { scratchFolder } from '../../support/scratch.js';
import { agentsOf, allOf, ask, listening, requestOf } from './agents.js';

const program = fileURLToPath(new URL('../../support/mcp-server.js', import.meta.url));
const folder = scratchFolder();
/** Each server writes what it does. */
const logOf = (name: string): string => join(folder, name);
for (const name of ['own', 'broken', 'hasty', 'rude']) writeFileSync(logOf(name), '');
const server = (name: string, how: string[] = [], timeoutMs = 20_000) => ({
  name,
  timeoutMs,
  command: process.execPath,
  args: [program, logOf(name), ...how],
  env: {},
  cwd: undefined,
});

let servers: McpServers;
let agents: Agents;
beforeAll(() => {
  servers = openMcpServers(
    [server('own'), server('broken', ['broken']), server('hasty', [], 300), server('rude', ['rude'])],
    process.env,
  );
  agents = agentsOf({ mcp: servers });
});
afterAll(async () => {
  await agents.close();
  await servers.close();
});

const tool = (name: string, more: object = {}) => ({ kind: 'mcp' as const, server: 'own', tool: name, ...more });
const framesOf = async (name: string, more: object = {}, given = {}) =>
  (await ask(agents, tool(name, more), given)).frames;

describe('a tool of an MCP server as a lane', () => {
  test('is given the prompt, after the instructions, and what it says is the answer', async () => {
    const frames = await framesOf('echo', { prompt_argument: 'said' }, { instructions: 'Be brief.' });
    expect(frames).toEqual([{ type: 'final', msg_seq: 1, text: 'Be brief.\n\nWhich colour?' }]);
  });

  test('is given other arguments, and may answer in JSON', async () => {
    const frames = await framesOf('sum', { prompt_argument: null, arguments: { numbers: [1, 2] } });
    expect(frames).toEqual([{ type: 'final', msg_seq: 1, json: { sum: 3 } }]);
  });

  test('tells what else it has given than text', async () => {
    const [frame] = await framesOf('picture', { prompt_argument: null });
    expect(frame).toMatchObject({ type: 'final', text: 'here:\n[image, image/png, 900 bytes: not shown]' });
  });

  test.each<[string, string, object, string, boolean, RegExp]>([
    ['that fails', 'fail', { prompt_argument: null }, 'EAGENTDOWN', false, /^fail failed: the disk is full$/],
    ['whose arguments are wrong', 'echo', {}, 'EAGENTDOWN', false, /said/],
    ['whose server says why not', 'sum', { server: 'rude' }, 'EAGENTDOWN', false, /^sum failed: .*not today$/],
    ['that is not there', 'nowhere', {}, 'EAGENTDOWN', false, /nowhere/],
    [
      'of a server that is not configured',
      'echo',
      { server: 'x' },
      'EPROTO',
      false,
      /no MCP server "x"; PARLEY_MCP_SERVERS names own/,
    ],
    [
      'of a server that does not start',
      'echo',
      { server: 'broken' },
      'EAGENTDOWN',
      true,
      /broken is not there.*no licence/,
    ],
    ['whose server dies', 'die', { prompt_argument: null }, 'EAGENTDOWN', false, /may have happened/],
    ['that takes too long', 'hang', { server: 'hasty', prompt_argument: null }, 'ETIMEOUT', false, /within 0\.3 s/],
  ])('%s is a failed lane that says why', async (_, name, more, code, retryable, told) => {
    expect(await framesOf(name, more)).toMatchObject([
      { type: 'fail', code, retryable, message: expect.stringMatching(told) },
    ]);
  });

  test.each<[string, string, object, CallEnd['outcome']]>([
    ['answers', 'echo', { prompt_argument: 'said' }, 'answered'],
    ['says that its tool failed', 'fail', { prompt_argument: null }, 'answered'],
    ['does not take the arguments', 'echo', {}, 'answered'],
    ['has no such tool', 'nowhere', {}, 'answered'],
    ['says by its protocol that something went wrong', 'sum', { server: 'rude' }, 'answered'],
    ['does not start', 'echo', { server: 'broken' }, 'failed'],
    ['dies', 'die', { prompt_argument: null }, 'failed'],
    ['takes too long', 'hang', { server: 'hasty', prompt_argument: null }, 'failed'],
  ])('whose server %s: what its limits hear of %s with %j is that it has %s', async (_, name, more, outcome) => {
    const ends: CallEnd['outcome'][] = [];
    const admit = () => Promise.resolve({ sent: () => {}, end: (end: CallEnd) => void ends.push(end.outcome) });
    const close = () => Promise.resolve();
    const governed = agentsOf({ mcp: servers, governor: { governs: () => true, admit, close } });
    await ask(governed, tool(name, more));
    expect(ends[0]).toBe(outcome);
    await governed.close();
  });

  test('of a server that is not there asks for no limits', async () => {
    const admit = () => Promise.reject(new Error('asked'));
    const close = () => Promise.resolve();
    const governed = agentsOf({ mcp: servers, governor: { governs: () => true, admit, close } });
    const { frames } = await ask(governed, tool('echo', { server: 'nobody' }));
    expect(frames).toMatchObject([{ type: 'fail', code: 'EPROTO', message: expect.stringContaining('"nobody"') }]);
    await governed.close();
  });

  test('is told to stop when the lane ends before it', async () => {
    const lines = () =>
      readFileSync(logOf('own'), 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('hang'));
    const { context, controller } = listening();
    const heard = allOf(await agents.open(requestOf(tool('hang', { prompt_argument: null })), context));
    const until = async (count: number) => {
      while (lines().length < count) await new Promise((resolve) => setTimeout(resolve, 10));
    };
    await until(1);
    controller.abort();
    expect(await heard).toEqual([]);
    await until(2);
    expect(lines().at(-1)).toBe('hang cancelled');
  });

  test('cannot be asked where the worker has no servers', async () => {
    const without = agentsOf();
    const opened = without.open(requestOf(tool('echo')), listening().context);
    await expect(opened).rejects.toMatchObject({
      code: 'EPROTO',
      message: expect.stringContaining('PARLEY_MCP_SERVERS'),
    });
    await without.close();
  });
});
