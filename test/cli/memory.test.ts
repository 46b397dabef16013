import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { memoryIn, readerOf } from '../activities/memory/stored.js';
import { aFolder, aTrace, change, minute, shop, traceId } from '../activities/memory/traces.js';
import { createRig } from '../gateway/rig.js';
import { runCli } from '../support/run-cli.js';

const folder = aFolder();
const memory = memoryIn(folder);
const reader = readerOf(folder);
const server = createServer(createRig({ memory: reader }).app);
let url = '';

beforeAll(async () => {
  await memory.store(aTrace('index', { created_at: minute(1) }));
  await memory.store(
    shop('login', 'Rename the login button', { created_at: minute(2), elo_changes: [change('critic', -5)] }),
  );
  await memory.store(
    aTrace('vetoed', {
      tenant: 'acme',
      outcome: 'blocked',
      decision: 'VETO',
      verified: false,
      passes: 2,
      plan: null,
      report: null,
      summary: '',
      tags: [],
      votes: [{ role: 'critic', persona_id: 'critic', stance: 'abstain', confidence: 0, weight: 0 }],
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await reader.close();
  await memory.close();
});

const parley = (...argv: string[]) => runCli({ PARLEY_URL: url }, argv);

describe('parley memory search', () => {
  test('lists what is found, with the ids that show takes', async () => {
    const { code, out } = await parley('memory', 'search', 'rename the login button', '--limit', '1');
    expect(code).toBe(0);
    expect(out).toBe(
      `${traceId('login')}  2026-11-20 10:02  succeeded            alike 1.00   Rename the login button`,
    );
  });

  test('lists the newest without a text', async () => {
    const { out } = await parley('memory', 'search');
    expect(out.split('\n').map((line) => line.slice(0, 32))).toEqual([traceId('login'), traceId('index')]);
  });

  test('prints one document with --json', async () => {
    const { out } = await parley('memory', 'search', 'orders', '--json');
    expect(JSON.parse(out)).toMatchObject({ items: [{ work_id: 'debate-index' }] });
  });

  test('says when there is nothing', async () => {
    expect((await parley('memory', 'search', 'zeppelin')).out).toMatch(/^Nothing in memory is like that/);
  });

  test('passes on what the gateway says of a wrong limit', async () => {
    const { code, notes } = await parley('memory', 'search', 'x', '--limit', 'many');
    expect(code).toBe(2);
    expect(notes).toContain('query.limit');
  });
});

describe('parley memory show', () => {
  test('shows a trace whole', async () => {
    const { code, out } = await parley('memory', 'show', traceId('index'));
    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([
      'debate debate-index, 2026-11-20 10:01, tenant default',
      '  task       Add an index to the orders table',
      '  outcome    succeeded; PROCEED at 82 % after 1 pass; verified',
      '  why        All tasks ran.',
      '  vote       critic: against, 75 %, weight 1.5',
      '  plan       t1: psql -c CREATE INDEX orders_by_customer ON orders (customer)',
      '  report     1 of 1 tasks succeeded, repairs: 0',
      '  tags       database 0.90',
      '  rating     critic: 1200 +10 = 1210',
      '  rating     solution: 1200 −10 = 1190',
    ]);
  });

  test('shows a blocked one without the parts that it has not', async () => {
    const { out } = await parley('memory', 'show', traceId('vetoed'), '--tenant', 'acme');
    expect(out.split('\n').slice(2, 4)).toEqual([
      '  outcome    blocked; VETO at 82 % after 2 passes',
      '  vote       critic: abstains',
    ]);
  });

  test('fails for a trace that is not there, with the gateway’s reason', async () => {
    const { code, notes } = await parley('memory', 'show', traceId('vetoed'));
    expect(code).toBe(2);
    expect(notes).toContain(`There is no trace ${traceId('vetoed')} of the tenant default`);
  });
});

describe('parley memory ratings', () => {
  test('lists personas from the highest', async () => {
    expect((await parley('memory', 'ratings')).out.split('\n')).toEqual([
      'critic      1205  matches: 2, successes: 2',
      'solution    1190  matches: 1, successes: 1',
    ]);
  });

  test('says when there are none', async () => {
    expect((await parley('memory', 'ratings', '--tenant', 'nobody')).out).toMatch(/^No persona has a rating yet/);
  });
});
