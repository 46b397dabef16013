import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Adapter } from '../../src/contracts/adapter.js';
import type { Provider, ProviderList } from '../../src/contracts/provider-limits.js';
import { type Product, startProduct } from '../support/product.js';
import { runCli } from '../support/run-cli.js';
import { scratchFolder } from '../support/scratch.js';

const program = fileURLToPath(new URL('../support/mcp-server.js', import.meta.url));
const closed = 'http://127.0.0.1:9';

let product: Product;
let answering: Server;
let hostOfAnswering: string;
beforeAll(async () => {
  answering = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ frames: [{ type: 'final', msg_seq: 1, text: 'Here.' }] }));
  }).listen(0, '127.0.0.1');
  await once(answering, 'listening');
  hostOfAnswering = `127.0.0.1:${(answering.address() as AddressInfo).port}`;
  const folder = scratchFolder();
  const log = join(folder, 'log');
  writeFileSync(log, '');
  const own = { command: process.execPath, args: [program, log] };
  const servers = { own, free: own, gone: { url: `${closed}/mcp` } };
  writeFileSync(join(folder, 'servers.json'), JSON.stringify({ mcpServers: servers }));
  const providers = {
    mcp: { concurrency: 2 },
    'mcp:gone': { concurrency: 9 },
    'mcp:free': null,
    http: { requests: 40 },
    a2a: {},
  };
  product = await startProduct({
    PARLEY_MCP_SERVERS: join(folder, 'servers.json'),
    PARLEY_PROVIDER_LIMITS: JSON.stringify({ providers }),
  });
}, 60_000);
afterAll(async () => {
  await product?.stop();
  answering?.close();
});

const provider = async (name: string): Promise<Provider> =>
  (await product.get(`/v1/providers/${encodeURIComponent(name)}`)).body as Provider;
const echo = (server: string): Adapter => ({
  kind: 'mcp',
  server,
  tool: 'echo',
  arguments: {},
  prompt_argument: 'said',
});

test.each<[string, Adapter, string, () => Adapter, () => string, string]>([
  ['MCP servers', echo('gone'), 'mcp:gone', () => echo('own'), () => 'mcp:own', 'Here.'],
  [
    'hosts of remote agents',
    { kind: 'http', url: `${closed}/asked` },
    'http:127.0.0.1:9',
    (): Adapter => ({ kind: 'http', url: `http://${hostOfAnswering}/any` }),
    () => `http:${hostOfAnswering}`,
    'Here.',
  ],
  [
    'agents of A2A',
    { kind: 'a2a', url: `${closed}/` },
    'a2a:127.0.0.1:9',
    (): Adapter => ({ kind: 'a2a', url: product.url }),
    () => `a2a:${new URL(product.url).host}`,
    'A simulated answer to: Here.',
  ],
])('of %s one that is dead stops no other', async (_, dead, deadName, alive, aliveName, answer) => {
  const lanes = Array.from({ length: 6 }, (_unused, index) => ({ lane_id: `l${index}`, adapter: dead }));
  const { id } = await product.start({ prompt: 'Here.', lanes });
  let broken: Provider;
  for (const deadline = Date.now() + 60_000; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    broken = await provider(deadName);
    if (broken.breaker === 'open' || Date.now() > deadline) break;
  }
  expect(broken).toMatchObject({ provider: deadName, breaker: 'open', running: true });
  const { result } = await product.run({ prompt: 'Here.', lanes: [{ lane_id: 'a', adapter: alive() }] });
  expect(result?.answer).toBe(answer);
  expect(await provider(aliveName())).toMatchObject({ breaker: 'closed', running: true });
  await product.post(`/v1/sessions/${id}/cancel`);
});

describe('limits of remote agents', () => {
  const most = ({ limits }: Provider) => limits[0]?.concurrency.limit;

  test('are those of their name, else those of their kind', async () => {
    expect([most(await provider('mcp:own')), most(await provider('mcp:gone'))]).toEqual([2, 9]);
    expect((await provider('http:agents.example.com')).limits[0]?.requests.limit).toBe(40);
    await product.run({ prompt: 'Here.', lanes: [{ lane_id: 'a', adapter: echo('free') }] });
    expect((await product.get('/v1/providers/mcp:free')).status).toBe(404);
  });

  test('are shown by name, and those of a kind as what holds for each', async () => {
    const { items } = (await product.get('/v1/providers')).body as ProviderList;
    const shown = items.map(({ provider: name, for_each: each, running }) => [name, each, running]);
    expect(shown).toEqual(
      expect.arrayContaining([
        ['a2a', 'host', false],
        ['http', 'host', false],
        ['mcp', 'server', false],
        ['mcp:gone', null, true],
        ['mcp:own', null, true],
      ]),
    );
    const parley = (...argv: string[]) => runCli({ PARLEY_URL: product.url }, argv);
    expect((await parley('providers', 'mcp:own')).out).toMatch(
      /^mcp:own {2}breaker closed\n {2}all models: .*\/2 under way/,
    );
    expect((await parley('providers', 'mcp')).out).toMatch(
      /^mcp {2}for each server that has no limits of its own, as mcp:SERVER\n/,
    );
    expect((await parley('providers')).out).toMatch(
      /^http {2,}for each host that has no limits of its own, as http:HOST /m,
    );
  });
});
