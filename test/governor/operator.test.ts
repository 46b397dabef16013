import type { Provider, ProviderList } from '../../src/contracts/provider-limits.js';
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

/** Says nothing for as long as nobody cancels it, and is the one call that may be under way. */
const hold = async (): Promise<() => Promise<void>> => {
  const { id } = await product.start({ prompt: 'p', lanes: [silent('only')] } as never);
  await product.until(id, ({ state }) => state === 'STREAMING');
  return async () => void (await product.post(`/v1/sessions/${id}/cancel`));
};

const isHeld = { for: 'provider_limit', detail: '1 call waits for the limits of scripted' };

describe('work whose calls may not be made yet', () => {
  test('waits for the limits of their provider, until it may call it', async () => {
    const release = await hold();
    const began = Date.now();
    const { id } = await product.start({ prompt: 'p', lanes: [silent('a')] } as never);
    const refinement = await product.refinements.start(aRefinement());
    const fanOut = await product.fanOuts.start(aFanOut());
    const { waiting, state } = await product.until(id, (status) => status.waiting?.for === 'provider_limit');
    expect(state).toBe('DISPATCHED');
    expect(waiting).toMatchObject({
      detail: `${isHeld.detail}; no lane is dispatched yet: a`,
      who_can_unblock: expect.stringContaining('parley providers scripted'),
    });
    expect(Date.parse(waiting!.since)).toBeGreaterThanOrEqual(began);
    const { out } = await runCli({ PARLEY_URL: product.url }, ['why', id]);
    expect(out).toContain('waits for provider limit');
    expect(out).toMatch(/parley providers +what is used of the limits/);
    const others = [
      await product.refinements.until(refinement, (status) => status.waiting?.for === 'provider_limit'),
      await product.fanOuts.until(fanOut, (status) => status.waiting?.for === 'provider_limit'),
    ];
    expect(others.map((status) => status.waiting?.detail)).toEqual([
      expect.stringContaining(`${isHeld.detail}; the generator`),
      expect.stringMatching(/^3 calls wait for the limits of scripted; 3 of 3 tasks/),
    ]);
    await product.post(`/v1/refinements/${refinement}/cancel`);
    await product.post(`/v1/fan-outs/${fanOut}/cancel`);
    await release();
    const after = await product.until(id, (status) => status.waiting?.for === 'lane');
    expect(after.waiting?.detail).toBe('1 of 1 lanes have not ended: a');
    await product.post(`/v1/sessions/${id}/cancel`);
    expect((await product.until(id, ({ lifecycle }) => lifecycle === 'cancelled')).waiting).toBeNull();
  });

  test('is told of agents, and of their team', async () => {
    const release = await hold();
    const id = await product.teams.start({ agents: [hangs('a'), hangs('a.1')] } as never);
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
    await product.post(`/v1/teams/${id}/cancel`);
    await product.teams.until(id, ({ lifecycle }) => lifecycle === 'cancelled');
  });
});

describe('an operator', () => {
  const parley = (...argv: string[]) => runCli({ PARLEY_URL: product.url }, argv);
  const provider = async (name: string) => (await product.get(`/v1/providers/${name}`)).body as Provider;

  test('sees what is used of a provider, and who waits, by tenant and tier', async () => {
    const release = await hold();
    const { id } = await product.start({
      tenant: 'acme',
      prompt: 'p',
      lanes: [silent('a', 'gold'), silent('b', 'bronze')],
    } as never);
    await product.until(id, (status) => status.waiting?.for === 'provider_limit');
    const { limits: pools, tenants, ...about } = await provider('scripted');
    expect(about).toEqual({
      provider: 'scripted',
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
    await product.post(`/v1/sessions/${id}/cancel`);
    await release();
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
