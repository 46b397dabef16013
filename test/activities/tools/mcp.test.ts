import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { createAgentTools } from '../../../activities/tools/index.js';
import { type McpServerSettings, openMcpServers } from '../../../activities/tools/mcp/index.js';
import type { AgentTools, ToolFailure } from '../../../activities/tools/port.js';
import type { Json } from '../../../src/contracts/frames.js';
import { mcpServer } from '../../support/mcp-server.js';
import { isRunning } from '../sandbox/rig.js';
import { never, rooms, toolCall } from './rig.js';

const program = fileURLToPath(new URL('../../support/mcp-server.js', import.meta.url));
const { folder, remove } = rooms();
const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});
afterAll(remove);

let now = 0;
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
};

type Over = Partial<Pick<Extract<McpServerSettings, { command: string }>, 'name' | 'timeoutMs' | 'env'>>;

/** A server of its own, over stdio; `how` it is wrong. */
const stdio = (over: Over = {}, how: string[] = []) => {
  const log = join(folder(), 'log');
  writeFileSync(log, '');
  const settings: McpServerSettings = {
    ...{
      name: 'own',
      timeoutMs: 20_000,
      command: process.execPath,
      args: [program, log, ...how],
      env: {},
      cwd: undefined,
    },
    ...over,
  };
  const lines = (): string[] =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  return { settings, lines, log };
};

const toolsOf = async (...settings: McpServerSettings[]) => {
  const servers = openMcpServers(settings, process.env, () => now);
  const failed: ToolFailure[] = [];
  const tools = createAgentTools({ sources: servers.sources, onFailure: (failure) => failed.push(failure) });
  opened.push(tools);
  await tools.open();
  return { tools, servers, failed };
};

const call = async (tools: AgentTools, name: string, given: Record<string, unknown> = {}, signal = never) =>
  (await tools.call(toolCall(name, given), signal)) as Record<string, Json>;
const textOf = async (...asked: Parameters<typeof call>): Promise<string> => (await call(...asked))['text'] as string;

/** The same server over streamable HTTP, with sessions that it can forget. */
const http = async (at = 0) => {
  const log = join(folder(), 'log');
  writeFileSync(log, '');
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const heads: string[] = [];
  const server: Server = createServer((request, response) => {
    heads.push(request.headers.authorization ?? '');
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (id !== undefined && !known) {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}');
      return;
    }
    const serve = async (): Promise<void> => {
      if (known) return await known.handleRequest(request, response);
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (session) => void sessions.set(session, transport),
      });
      await mcpServer(log).connect(transport as Transport);
      await transport.handleRequest(request, response);
    };
    serve().catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const { port } = server.address() as AddressInfo;
  const settings: McpServerSettings = {
    ...{
      name: 'far',
      timeoutMs: 20_000,
      url: `http://127.0.0.1:${port}/mcp`,
      headers: { Authorization: 'Bearer key' },
    },
  };
  const lines = (): string[] =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  return { settings, sessions, heads, lines, port, close };
};

describe('the tools of an MCP server', () => {
  /** One server over each transport, for what leaves it as it was. */
  let far: Awaited<ReturnType<typeof http>>;
  let own: Awaited<ReturnType<typeof toolsOf>>;
  let tools: AgentTools;
  beforeAll(async () => {
    far = await http();
    process.env['PARLEY_TEST_SECRET'] = 'secret';
    own = await toolsOf(stdio({ env: { GIVEN: 'given' } }).settings, far.settings);
    delete process.env['PARLEY_TEST_SECRET'];
    opened.length = 0;
    ({ tools } = own);
  });
  afterAll(async () => {
    await tools.close();
    await far.close();
  });

  test('are offered by names that every model takes, with their schemas, and what cannot be is named', async () => {
    const failed = own.failed.filter(({ source }) => source === 'mcp:own');
    const names = tools.list().map(({ name }) => name);
    expect(names).toContain('mcp__own__a_b');
    expect(names.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name))).toBe(true);
    const echo = tools.list().find(({ name }) => name === 'mcp__own__echo');
    expect(echo).toMatchObject({
      description: 'Says it again.',
      parameters: { type: 'object', properties: { said: { type: 'string' } }, required: ['said'] },
    });
    expect(failed).toHaveLength(2);
    expect(failed[0]?.message).toContain('would be the same as "a.b"');
    expect(failed[1]?.message).toContain('6 characters longer than models take; give the server a shorter name');
    expect(await call(tools, 'mcp__own__a_b')).toEqual({ status: 'ok', text: 'dotted' });
  });

  test('may be called twice only where the server says so', async () => {
    expect(['echo', 'put', 'note', 'nothing'].map((name) => tools.isRepeatable(`mcp__own__${name}`))).toEqual([
      ...[true, true, false, false],
    ]);
  });

  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['echo', { said: 'hello' }, { status: 'ok', text: 'hello' }],
    ['sum', { numbers: [1, 2] }, { status: 'ok', structured: { sum: 3 } }],
    ['picture', {}, { status: 'ok', text: 'here:\n[image, image/png, 900 bytes: not shown]' }],
    ['fail', {}, { status: 'error', code: 'tool_error', message: 'the disk is full' }],
  ])('answer: %s %j', async (name, given, answer) => {
    for (const server of ['own', 'far']) expect(await call(tools, `mcp__${server}__${name}`, given)).toEqual(answer);
  });

  test('say which of their arguments are wrong, and which tools there are', async () => {
    const wrong = await call(tools, 'mcp__own__echo', { said: 1 });
    expect(wrong).toMatchObject({ status: 'error' });
    expect(wrong['message']).toContain('said');
    const unknown = await call(tools, 'mcp__own__invented');
    expect(unknown).toMatchObject({ status: 'error', code: 'unknown_tool' });
    expect(unknown['message']).toContain('mcp__own__echo');
  });

  test('are cut where they say 5 MB', async () => {
    const text = await textOf(tools, 'mcp__own__big');
    expect(text.replace(/x+/g, 'x')).toMatch(
      /^beginx\n\[\.\.\. 4,[\d,]+ of 5,000,008 characters are left out here \.\.\.\]\nxend$/,
    );
    expect(text.length).toBeLessThan(200_000);
  });

  test('see of the environment of the worker what every program needs, and what the operator gives them', async () => {
    const seen = JSON.parse(await textOf(tools, 'mcp__own__env')) as Record<string, string>;
    expect(seen['GIVEN']).toBe('given');
    const needed = ['HOME', 'LANG', 'PATH', 'GIVEN'];
    expect(Object.keys(seen).filter((name) => !needed.includes(name))).toEqual([]);
  });

  test('that come later are offered then', async () => {
    await call(tools, 'mcp__own__grow');
    await until(() => tools.list().some(({ name }) => name === 'mcp__own__grown'));
    expect(await call(tools, 'mcp__own__grown')).toMatchObject({ text: 'new' });
  });

  test('are called by the names that they have there, where that is wanted', async () => {
    const { servers } = own;
    const { content } = await servers.request('own', 'echo', { said: 'x' }, never);
    expect(content).toEqual([{ type: 'text', text: 'x' }]);
    await expect(servers.request('other', 'echo', {}, never)).rejects.toThrow('PARLEY_MCP_SERVERS names own, far');
  });
});

const farOff = async () => {
  const server = await http();
  opened.push(server);
  return server;
};

describe('an MCP server', () => {
  test('that hangs holds up nobody else, hears that its time is up, and serves on', async () => {
    const slow = stdio({ timeoutMs: 300 });
    const { tools } = await toolsOf(slow.settings, stdio({ name: 'quick' }).settings);
    const hanging = call(tools, 'mcp__own__hang');
    await until(() => slow.lines().includes('hang began'));
    expect(await call(tools, 'mcp__quick__echo', { said: 'x' })).toMatchObject({ status: 'ok' });
    const answer = await hanging;
    expect(answer).toMatchObject({ status: 'error', code: 'timeout' });
    expect(answer['message']).toContain('did not answer within 0.3 s and was told to stop; it may have happened');
    await until(() => slow.lines().includes('hang cancelled'));
    expect(await call(tools, 'mcp__own__echo', { said: 'x' })).toMatchObject({ status: 'ok' });
  });

  test.each(['stdio', 'http'])('hears of a cancel over %s', async (transport) => {
    const { settings, lines } = transport === 'stdio' ? stdio() : await farOff();
    const { tools } = await toolsOf(settings);
    const stop = new AbortController();
    const refused = expect(call(tools, `mcp__${settings.name}__hang`, {}, stop.signal)).rejects.toThrow('stopped');
    await until(() => lines().includes('hang began'));
    stop.abort(new Error('stopped'));
    await refused;
    await until(() => lines().includes('hang cancelled'));
  });

  test('that dies under a call says that it may have happened, and is there again for the next', async () => {
    const { settings, lines } = stdio();
    const { tools } = await toolsOf(settings);
    const answer = await call(tools, 'mcp__own__die');
    expect(answer).toMatchObject({ status: 'error', code: 'interrupted' });
    expect(answer['message']).toContain('it may have happened');
    expect(tools.failures().some(({ message }) => message.includes('ended'))).toBe(true);
    expect(await call(tools, 'mcp__own__echo', { said: 'again' })).toMatchObject({ text: 'again' });
    expect(lines().filter((line) => line.startsWith('begun'))).toHaveLength(2);
    expect(tools.failures().every(({ message }) => message.includes('is not offered'))).toBe(true);
  });

  test('that does not begin is named with what it says while others serve, and is tried again after a while', async () => {
    now = 0;
    const broken = stdio({ name: 'broken' }, ['broken']);
    const { tools, failed } = await toolsOf(broken.settings, stdio().settings);
    expect(failed.find(({ source }) => source === 'mcp:broken')?.message).toContain('it said: no licence');
    expect(await call(tools, 'mcp__own__echo', { said: 'x' })).toMatchObject({ status: 'ok' });
    const begun = (): number => broken.lines().length;
    const tried: number[] = [];
    for (now of [999, 1_000, 2_999, 3_000, 6_999, 7_000]) {
      const answer = await call(tools, 'mcp__broken__echo', { said: 'x' });
      expect(answer).toMatchObject({ status: 'error', code: 'unavailable' });
      expect(answer['message']).toContain('MCP server broken is not there');
      tried.push(begun());
    }
    expect(tried).toEqual([1, 2, 2, 3, 3, 4]);
  });

  test('that was not there is offered once it is', async () => {
    now = 0;
    const server = await http();
    await server.close();
    const { tools, failed } = await toolsOf(server.settings);
    expect(failed[0]?.message).toMatch(/fetch failed: .*ECONNREFUSED/);
    expect(tools.list()).toEqual([]);
    opened.push(await http(server.port));
    now = 1_000;
    await until(() => tools.list().length > 0);
    expect(await call(tools, 'mcp__far__echo', { said: 'x' })).toMatchObject({ text: 'x' });
  });

  test('that has forgotten its session is given a new one, and the call is made once', async () => {
    const { settings, sessions, lines, heads } = await farOff();
    const { tools } = await toolsOf(settings);
    expect(await call(tools, 'mcp__far__note', { line: 'one' })).toMatchObject({ status: 'ok' });
    sessions.clear();
    expect(await call(tools, 'mcp__far__note', { line: 'two' })).toMatchObject({ status: 'ok' });
    expect(lines()).toEqual(['one', 'two']);
    expect(new Set(heads)).toEqual(new Set(['Bearer key']));
  });

  test('ends with its worker', async () => {
    const { settings, log } = stdio();
    const { tools } = await toolsOf(settings);
    expect(isRunning(log)).toBe(true);
    await tools.close();
    expect(isRunning(log)).toBe(false);
    expect(await call(tools, 'mcp__own__echo', { said: 'x' })).toMatchObject({ status: 'error', code: 'unavailable' });
    expect(isRunning(log)).toBe(false);
  });

  test('that never answers is ended with its worker, which waits for nothing else', async () => {
    const { settings, lines, log } = stdio({}, ['mute']);
    const servers = openMcpServers([settings], process.env, () => now);
    const opening = servers.sources[0]?.open();
    await until(() => lines().length === 1);
    await servers.close();
    await opening;
    expect(isRunning(log)).toBe(false);
    expect(servers.sources[0]?.list()).toEqual([]);
  });
});
