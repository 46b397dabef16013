import type { Provider, ProviderList } from '../../src/contracts/provider-limits.js';
import type { SessionStatus } from '../../src/contracts/session-status.js';
import type { AgentStatus } from '../../src/contracts/team-status.js';
import { aFanOut } from '../support/fan-out-bodies.js';
import { type Product, startProduct } from '../support/product.js';
import { runCli } from '../support/run-cli.js';
import { aRefinement } from '../support/refinement-bodies.js';
import { silent } from '../support/session-bodies.js';
import { hangs } from '../support/team-bodies.js';

/** Scripts are limited where they are named alone: of these one is under way at a time. */
const limits = {
  providers: { scripted: { concurrency: 1, requests: 50 }, simulated: { tokens: 9, window_ms: 1_000 } },
};

let product: Product;
beforeAll(async () => {
  product = await startProduct({ PARLEY_PROVIDER_LIMITS: JSON.stringify(limits) });
}, 60_000);
afterAll(() => product?.stop());

const begun: string[] = [];
/** What a test has begun holds the one slot no longer than that test. */
afterEach(async () => {
  for (const path of begun.splice(0)) {
    await product.post(`${path}/cancel`);
    await reaches(path, ({ ended_at: endedAt }) => endedAt !== null);
  }
});

const reaches = async (path: string, holds: (status: SessionStatus) => boolean): Promise<SessionStatus> => {
  for (const deadline = Date.now() + 60_000; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    const status = (await product.get(path)).body as SessionStatus;
    if (holds(status)) return status;
    if (Date.now() > deadline) throw new Error(`not reached: ${JSON.stringify(status)}`);
  }
};
const isHeldBack = ({ waiting }: SessionStatus): boolean => waiting?.for === 'provider_limit';

const session = async (body: object): Promise<string> => {
  const { id } = await product.start({ prompt: 'p', ...body } as never);
  begun.push(`/v1/sessions/${id}`);
  return id;
};

/** Says nothing for as long as nobody cancels it, and is the one call that may be under way. */
const hold = async (): Promise<() => Promise<unknown>> => {
  const path = `/v1/sessions/${await session({ lanes: [silent('only')] })}`;
  await reaches(path, ({ state }) => state === 'STREAMING');
  return () => product.post(`${path}/cancel`);
};

const isHeld = { for: 'provider_limit', detail: '1 call waits for the limits of scripted' };

describe('work whose calls may not be made yet', () => {
  test('waits for the limits of their provider, until it may call it', async () => {
    const release = await hold();
    const beginning = Date.now();
    const id = await session({ lanes: [silent('a')] });
    const { waiting, state } = await reaches(`/v1/sessions/${id}`, isHeldBack);
    expect(state).toBe('DISPATCHED');
    expect(waiting).toMatchObject({
      detail: `${isHeld.detail}; no lane is dispatched yet: a`,
      who_can_unblock: expect.stringContaining('parley providers scripted'),
    });
    expect(Date.parse(waiting!.since)).toBeGreaterThanOrEqual(beginning);
    const { out } = await runCli({ PARLEY_URL: product.url }, ['why', id]);
    expect(out).toContain('waits for provider limit');
    expect(out).toMatch(/parley providers +what is used of the limits/);
    await release();
    const after = await reaches(`/v1/sessions/${id}`, ({ waiting: now }) => now?.for === 'lane');
    expect(after.waiting?.detail).toBe('1 of 1 lanes have not ended: a');
  });

  test('does so whatever kind it is of', async () => {
    await hold();
    const refinement = `/v1/refinements/${await product.refinements.start(aRefinement())}`;
    const fanOut = `/v1/fan-outs/${await product.fanOuts.start(aFanOut())}`;
    begun.unshift(refinement, fanOut);
    expect((await reaches(refinement, isHeldBack)).waiting?.detail).toContain(`${isHeld.detail}; the generator`);
    const all = '3 calls wait for the limits of scripted; 3 of 3 tasks';
    await reaches(fanOut, ({ waiting }) => waiting?.detail.startsWith(all) === true);
  });

  test('is told of agents, and of their team', async () => {
    const release = await hold();
    const id = await product.teams.start({ agents: [hangs('a'), hangs('a.1')] } as never);
    begun.unshift(`/v1/teams/${id}`);
    const { waiting, agents } = await product.teams.until(id, (status) =>
      status.agents.every((agent) => agent.waiting !== undefined),
    );
    expect(agents).toMatchObject([{ waiting: isHeld }, { waiting: isHeld }]);
    expect(waiting).toMatchObject({
      for: 'provider_limit',
      detail: expect.stringMatching(/^2 calls wait for the limits of scripted; agents: 2 running/),
    });
    const { out } = await runCli({ PARLEY_URL: product.url }, ['team', 'show', id]);
    expect(out).toMatch(/a\.1 +RUNNING .* 1 call waits for the limits of scripted/);
    await release();
    const after = await product.teams.until(id, (status) =>
      status.agents.some((agent) => agent.streaming && agent.waiting === undefined),
    );
    const going = after.agents.find((agent) => agent.waiting === undefined)?.agent_id;
    const views = await Promise.all(['a', 'a.1'].map((agent) => product.get(`/v1/teams/${id}/agents/${agent}`)));
    const held = views.map(({ body }) => body as AgentStatus).filter((agent) => agent.waiting !== undefined);
    expect(held).toMatchObject([{ agent_id: going === 'a' ? 'a.1' : 'a', waiting: isHeld }]);
  });
});

describe('an operator', () => {
  const parley = (...argv: string[]) => runCli({ PARLEY_URL: product.url }, argv);
  const provider = async (name: string) => (await product.get(`/v1/providers/${name}`)).body as Provider;

  test('sees what is used of a provider, and who waits, by tenant and tier', async () => {
    await hold();
    await session({ tenant: 'acme', lanes: [silent('a', 'gold'), silent('b', 'bronze')] });
    const isThere = ({ tenants }: Provider): boolean =>
      tenants.some(({ tenant, waiting }) => tenant === 'acme' && waiting === 2);
    while (!isThere(await provider('scripted'))) await new Promise((resolve) => setTimeout(resolve, 50));
    const { limits: pools, tenants, ...about } = await provider('scripted');
    expect(about).toEqual({
      provider: 'scripted',
      for_each: null,
      running: true,
      window_ms: 60_000,
      breaker: 'closed',
      open_until: null,
    });
    expect(pools).toMatchObject([
      { model: null, requests: { limit: 50 }, tokens: { limit: null }, concurrency: { used: 1, limit: 1 } },
    ]);
    expect(tenants.find(({ tenant }) => tenant === 'acme')).toMatchObject({
      waiting: 2,
      waiting_by_tier: { gold: 1, silver: 0, bronze: 1 },
      under_way: 0,
    });
    const { items } = (await product.get('/v1/providers')).body as ProviderList;
    expect(items.map(({ provider: name, running }) => [name, running])).toEqual([
      ['scripted', true],
      ['simulated', false],
    ]);
    const shown = await parley('providers', 'scripted');
    expect(shown.out).toMatch(/^scripted {2}breaker closed\n {2}all models: \d+\/50 requests .*, 1\/1 under way/);
    expect(shown.out).toMatch(/tenant acme: 0 under way, 2 wait \(1 gold, 0 silver, 1 bronze, for \d+ s\)/);
    expect((await parley('providers')).out).toMatch(/scripted .*under way 1\/1 {2}2 wait/);
  });

  test('sees the limits of a provider that nobody has called', async () => {
    expect(await provider('simulated')).toMatchObject({
      running: false,
      window_ms: 1_000,
      limits: [{ model: null, concurrency: { used: 0, limit: 10 }, tokens: { used: 0, limit: 9 } }],
      tenants: [],
    });
    expect((await parley('providers', 'simulated')).out).toContain('no governor runs');
  });

  test('is told which there are when he asks for another', async () => {
    const answer = await product.get('/v1/providers/nobody');
    expect([answer.status, answer.body]).toMatchObject([
      404,
      { detail: expect.stringMatching(/provider nobody .*There is scripted, simulated/) },
    ]);
    const { code, notes } = await parley('providers', 'nobody');
    expect([code, notes]).toEqual([2, expect.stringContaining('nobody')]);
  });
});
