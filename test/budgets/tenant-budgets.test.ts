import type { WorkflowHandle } from '@temporalio/client';
import { type AskedOfProvider, startLimitedProvider } from '../../bench/limits/provider.js';
import type { DebateStatus } from '../../src/contracts/debate-status.js';
import type { FanOutStatus } from '../../src/contracts/fan-out-status.js';
import type { RefinementStatus } from '../../src/contracts/refinement-status.js';
import type { RunStatus } from '../../src/contracts/run-status.js';
import type { SessionStatus } from '../../src/contracts/session-status.js';
import type { TeamStatus } from '../../src/contracts/team-status.js';
import type { TenantBudget, TenantBudgetList } from '../../src/contracts/tenant-budget.js';
import { tenantBudgetId, tenantBudgetWorkflowType } from '../../src/domain/tenant-budget/messages.js';
import type { TenantBudgetState } from '../../src/domain/tenant-budget/state.js';
import { parleyTaskQueue } from '../../temporal/task-queue.js';
import { aDebate, agrees, removeWorkspaces } from '../support/debate-bodies.js';
import { aFanOut, anAgent, tasks } from '../support/fan-out-bodies.js';
import { call, makeInstallation, until as untilAt } from '../support/installation.js';
import { startModelServer, type ModelServer } from '../support/model-server.js';
import { startOwnServer } from '../support/own-server.js';
import { type Product, startProduct } from '../support/product.js';
import { aRefinement } from '../support/refinement-bodies.js';
import { runCli } from '../support/run-cli.js';
import {
  aRun,
  debate as debateStep,
  fanOut as fanOutStep,
  refinement as refinementStep,
  session as sessionStep,
  team as teamStep,
} from '../support/run-bodies.js';
import { lane } from '../support/session-bodies.js';
import { says } from '../support/team-bodies.js';

const budgets = {
  shared: { max_usd: 1, per: 'month' },
  racers: { max_tokens: 1_000 },
  poor: { max_tokens: 0 },
  asker: { max_tokens: 100, when_used_up: 'ask' },
  lean: { max_tokens: 0 },
  patient: { max_tokens: 100, when_used_up: 'ask' },
  terminated: { max_tokens: 100, per: 'month' },
  cancelled: { max_tokens: 100, per: 'month' },
  early: { max_tokens: 100, per: 'month' },
  lasting: { max_tokens: 101 },
  stopped: { max_tokens: 100, when_used_up: 'ask' },
  thrifty: { max_tokens: 50_000, cheaper_at: 0.01, cheaper_models: { dear: 'cheap' } },
};

/** Of a tenant whose worker dies. */
const orphan = { orphan: { max_tokens: 300, lease_ms: 5_000 } };

let one: Product;
let other: Product;
let models: ModelServer;
beforeAll(async () => {
  models = await startModelServer();
  const environment = {
    PARLEY_TENANT_BUDGETS: JSON.stringify(budgets),
    PARLEY_PRICES: JSON.stringify({ 'lab/*': { input: 1, output: 1 } }),
    OPENAI_COMPATIBLE_API_KEY: 'none',
  };
  one = await startProduct(environment);
  other = await startProduct(environment, one.taskQueue);
});
afterAll(async () => {
  await one?.stop();
  await other?.stop();
  await models?.close();
  removeWorkspaces();
});

const budgetOf = async (tenant: string, product = one): Promise<TenantBudget> =>
  (await product.get(`/v1/budgets/${tenant}`)).body;
/** Polls until it holds: what a call used is told a moment after its end. */
const until = async (tenant: string, holds: (budget: TenantBudget) => boolean): Promise<TenantBudget> => {
  for (const deadline = Date.now() + 45_000; ; ) {
    const budget = await budgetOf(tenant);
    if (holds(budget)) return budget;
    if (Date.now() > deadline) throw new Error(`not reached: ${JSON.stringify(budget)}`);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
};
const words = (tokens: number, usd = 0) => [{ final: 'yes', usage: { tokens, usd } }];
const aSession = (tenant: string, tokens: number, usd = 0) => ({
  tenant,
  prompt: 'Which?',
  lanes: [lane('a', words(tokens, usd))],
});
const micros = (usd: string): number => Math.round(Number(usd) * 1e6);

describe('the budget of a tenant', () => {
  test('counts what all its work of all kinds uses, over both workers', async () => {
    const used: (SessionStatus | RefinementStatus | DebateStatus | TeamStatus | FanOutStatus)[] = await Promise.all([
      one.run({ ...aSession('shared', 120, 0.02), lanes: [lane('a', words(120, 0.02)), lane('b', words(80, 0.01))] }),
      other.refinements.run(aRefinement({ tenant: 'shared', versions: ['x'], critiques: [0.95] })),
      other.debates.run(aDebate({ tenant: 'shared', says: { analyst: [agrees(0.9)] } })),
      one.teams.run({ tenant: 'shared', agents: [says('a', [{ final: 'done', usage: { tokens: 33, usd: 0.004 } }])] }),
      other.fanOuts.run(aFanOut({ tenant: 'shared', agents: [anAgent('w')], fan_out: { tasks: tasks(3) } })),
    ]);
    const tokens = used.reduce((sum, { spend }) => sum + spend.tokens, 0);
    const spent = used.reduce((sum, { spend }) => sum + micros(spend.usd), 0);
    expect(used.every(({ spend }) => spend.tokens > 0)).toBe(true);
    const budget = await until(
      'shared',
      ({ calls, spent: { tokens: told } }) => calls.under_way === 0 && told >= tokens,
    );
    expect([budget.spent.tokens, micros(budget.spent.usd)]).toEqual([tokens, spent]);
    expect(budget).toMatchObject({ limits: { max_usd: '1', max_tokens: null }, per: 'month', state: 'open' });
    expect(await (await fetch(`${one.url}/metrics`)).text()).toContain(
      `parley_tenant_budget_limit_usd{tenant="shared"} 1`,
    );
  });

  test('is passed by no more than one call, whoever races over it', async () => {
    const products = [one, other];
    const ends = await Promise.all(
      Array.from({ length: 16 }, (_, index) => products[index % 2]!.run(aSession('racers', 90))),
    );
    const budget = await until('racers', ({ calls }) => calls.under_way + calls.waiting === 0);
    expect(budget.spent.tokens).toBe(90 * ends.filter(({ state }) => state === 'COMPLETE').length);
    expect(budget.spent.tokens).toBeGreaterThanOrEqual(1_000);
    expect(budget.spent.tokens).toBeLessThanOrEqual(1_090);
    expect(budget.steps.map(({ step }) => step)).toEqual(['warn', 'stop']);
  });

  test('that is used up ends work of every kind by EBUDGET, in words that say who can help', async () => {
    const [session, refinement, debate, team, fanOut, run] = await Promise.all([
      one.run(aSession('poor', 10)),
      other.refinements.run(aRefinement({ tenant: 'poor' })),
      one.debates.run(aDebate({ tenant: 'poor' })),
      other.teams.run({ tenant: 'poor', agents: [says('a', ['never said'])] }),
      one.fanOuts.run(aFanOut({ tenant: 'poor' })),
      // It asks a person what to do with its step.
      other.runs
        .start(aRun([sessionStep('ask')], { tenant: 'poor', work_id: 'poor' }))
        .then((id) => other.runs.until(id, ({ lifecycle }) => lifecycle === 'waiting')),
    ]);
    const why = 'the budget of tenant poor: needs';
    for (const status of [session, refinement, debate, team, fanOut, run]) {
      expect(JSON.stringify(status)).toContain('EBUDGET');
      expect(JSON.stringify(status)).not.toContain('internal');
    }
    for (const status of [session, refinement, debate, team, fanOut]) expect(JSON.stringify(status)).toContain(why);
    expect((await budgetOf('poor')).spent).toEqual({ tokens: 0, usd: '0' });
  });

  test('that is used up lets a run go on where it stands, once it has been given more and its step is tried again', async () => {
    const steps = [
      sessionStep('ask'),
      refinementStep('write'),
      fanOutStep('spread'),
      debateStep('argue', { says: { analyst: [agrees(0.9)] } }),
      teamStep('work', [says('a', ['done'])]),
    ];
    const ids = await Promise.all(
      steps.map((step, at) => one.runs.start(aRun([step], { tenant: 'lean', work_id: `${at}` }))),
    );
    const failed = await Promise.all(ids.map((id) => other.runs.until(id, ({ lifecycle }) => lifecycle === 'waiting')));
    const offered = failed.map(({ feedback }) => feedback.at(-1)!.request);
    expect(offered.map(({ options }) => options.map(({ value }) => value))).toEqual(
      steps.map(() => ['retry', 'abort']),
    );
    expect((await one.post('/v1/budgets/lean', { max_tokens: 1_000_000 })).status).toBe(200);
    for (const [at, id] of ids.entries()) {
      const given = { request_id: offered[at]!.request_id, response: 'retry', provided_by: 'anna' };
      expect((await one.post(`/v1/runs/${id}/feedback`, given)).status).toBe(200);
    }
    const again = ({ lifecycle, phases }: RunStatus) =>
      lifecycle !== 'running' && phases[0]!.steps[0]!.attempts.length === 2;
    const ended = await Promise.all(ids.map((id) => other.runs.until(id, again)));
    // The debate is argued, and has no tasks to carry out.
    expect(ended.map(({ state, error }) => error?.code ?? state)).toEqual([
      ...['completed', 'completed', 'completed', 'ECONSENSUS', 'completed'],
    ]);
  });

  test('asks a person: a run whose step waits goes on by itself once it has been given more', async () => {
    await one.run(aSession('patient', 100));
    const waits = sessionStep('ask');
    const id = await one.runs.start(aRun([waits], { tenant: 'patient', work_id: 'patient' }));
    await until('patient', ({ state, calls }) => state === 'asking' && calls.waiting === 1);
    expect(await one.runs.status(id)).toMatchObject({ lifecycle: 'running', waiting: { for: 'lane' } });
    await other.post('/v1/budgets/patient', { max_tokens: 1_000 });
    expect(await one.runs.until(id, ({ lifecycle }) => lifecycle !== 'running')).toMatchObject({ state: 'completed' });
  });

  test('asks a person: work waits, and goes on by what is answered', async () => {
    await one.run(aSession('asker', 100));
    const { id } = await other.start(aSession('asker', 60));
    const { waiting } = await other.until(id, (status) => status.waiting?.for === 'budget');
    expect(waiting?.detail).toMatch(/^1 call waits for the budget of tenant asker/);
    const asking = await until('asker', ({ state, calls }) => state === 'asking' && calls.waiting === 1);
    expect(asking.left).toEqual({ tokens: 0, usd: null });
    const raised = await one.post('/v1/budgets/asker', { max_tokens: 500 });
    expect(raised).toMatchObject({ status: 200, body: { limits: { max_tokens: 500 }, state: 'open' } });
    expect((await other.until(id, ({ lifecycle }) => lifecycle !== 'running')).state).toBe('COMPLETE');
    await until('asker', ({ spent }) => spent.tokens === 160);
  });

  test('asks a person, who may say that it stops; a call that is cancelled waits no longer', async () => {
    await one.run(aSession('stopped', 100));
    const [waiting, cancelled] = await Promise.all([
      one.start(aSession('stopped', 5)),
      other.start(aSession('stopped', 5)),
    ]);
    await until('stopped', ({ calls }) => calls.waiting === 2);
    await other.post(`/v1/sessions/${cancelled.id}/cancel`, {});
    await until('stopped', ({ calls }) => calls.waiting === 1);
    expect((await other.post('/v1/budgets/stopped', { stop: true })).body).toMatchObject({ state: 'stopped' });
    const ended = await one.until(waiting.id, ({ lifecycle }) => lifecycle !== 'running');
    expect(ended.lanes[0]?.reason).toMatchObject({ code: 'EBUDGET' });
    expect(JSON.stringify(ended)).toContain('was stopped by a person');
  });

  test('asks a cheaper model from its share on', async () => {
    models.reset();
    models.mock.on({}, { content: 'yes' });
    const adapter = { kind: 'openai-compatible' as const, provider: 'lab', model: 'dear', base_url: models.baseUrl };
    const ask = { tenant: 'thrifty', prompt: 'Which?', lanes: [{ lane_id: 'a', adapter }] };
    await one.run(aSession('thrifty', 600));
    await until('thrifty', ({ steps }) => steps.some(({ step }) => step === 'cheaper_model'));
    expect((await other.run(ask)).state).toBe('COMPLETE');
    expect(models.bodies().map(({ model }) => model)).toEqual(['cheap']);
  });

  test('is kept over the end of a history: the next run knows what is spent, what is held and who waits', async () => {
    await one.run(aSession('lasting', 40));
    const { id } = await one.start({
      ...aSession('lasting', 0),
      lanes: [lane('a', [{ after_ms: 600_000, final: 'never', usage: { tokens: 100 } }])],
    });
    await until('lasting', ({ calls }) => calls.under_way === 1);
    const waiting = await other.start({ ...aSession('lasting', 0), lanes: [lane('a', words(61))] });
    const before = await until('lasting', ({ calls }) => calls.under_way === 1 && calls.waiting === 1);
    const handle = one.client.workflow.getHandle(tenantBudgetId(one.taskQueue, 'lasting'));
    const { runId } = await handle.describe();
    const noise = { worker: 'noise', events: [{ type: 'withdrawn', worker: 'noise', number: 1 }] };
    while ((await handle.describe()).runId === runId)
      await Promise.all(Array.from({ length: 8 }, () => handle.executeUpdate('said', { args: [noise] })));
    for (const wrong of [
      null,
      'wanted',
      {},
      { worker: 'w', events: [{ type: 'wanted' }] },
      { worker: 'w', events: {} },
    ])
      await handle.executeUpdate('said', { args: [wrong] });
    await handle.executeUpdate('answer', { args: [{ maxTokens: 'all' }] });
    expect(await budgetOf('lasting')).toEqual(before);
    await one.post(`/v1/sessions/${id}/cancel`, {});
    expect((await other.until(waiting.id, ({ lifecycle }) => lifecycle !== 'running')).state).toBe('COMPLETE');
  });

  /** A tenant has used 40 tokens. @returns the workflow of its budget */
  const spends40 = async (tenant: string): Promise<WorkflowHandle> => {
    await one.run(aSession(tenant, 40));
    await until(tenant, ({ spent: { tokens }, calls }) => tokens === 40 && calls.under_way === 0);
    return one.client.workflow.getHandle(tenantBudgetId(one.taskQueue, tenant));
  };
  const beginsWith40 = async (tenant: string): Promise<void> => {
    expect(await budgetOf(tenant, other)).toMatchObject({ spent: { tokens: 40 }, limits: { max_tokens: 100 } });
    const raised = await other.post(`/v1/budgets/${tenant}`, { max_tokens: 100 });
    expect(raised).toMatchObject({ status: 200, body: { spent: { tokens: 40 } } });
  };

  test.each<[string, (handle: WorkflowHandle) => Promise<unknown>]>([
    ['terminated', (handle) => handle.terminate('by hand')],
    ['cancelled', (handle) => handle.cancel()],
  ])('is kept where its workflow is %s by hand: the next call begins it with what it knew', async (how, end) => {
    const handle = await spends40(how);
    await end(handle);
    while ((await handle.describe()).status.name === 'RUNNING') await new Promise((resolve) => setTimeout(resolve, 20));
    await beginsWith40(how);
    expect((await handle.describe()).status.name).toBe('RUNNING');
  });

  test('is kept where its workflow is terminated by hand before a worker has taken it up', async () => {
    const handle = await spends40('early');
    const carried = await handle.query<TenantBudgetState>('known');
    await handle.terminate('by hand');
    const begun = await one.client.workflow.start(tenantBudgetWorkflowType, {
      ...{ workflowId: handle.workflowId, taskQueue: one.taskQueue, args: [{ settings: carried.settings, carried }] },
      startDelay: '1 hour',
    });
    await begun.terminate('by hand');
    await beginsWith40('early');
  });

  test('costs a tenant that has none nothing', async () => {
    await one.run(aSession('free', 10));
    await expect(one.client.workflow.getHandle(tenantBudgetId(one.taskQueue, 'free')).describe()).rejects.toThrow();
    const { status, body } = await one.get('/v1/budgets/free');
    expect([status, (body as { detail: string }).detail]).toEqual([
      404,
      'Tenant free has no budget: PARLEY_TENANT_BUDGETS names neither it nor "*", so that nothing limits what it uses.',
    ]);
  });

  test('is listed, and answered in words where the answer is wrong', async () => {
    const { items } = (await other.get('/v1/budgets')).body as TenantBudgetList;
    expect(items.map(({ tenant }) => tenant)).toEqual(Object.keys(budgets).toSorted());
    for (const body of [{}, { stop: true, max_usd: 3 }, { max_usd: -1 }, { max_usd: 'all' }])
      expect((await one.post('/v1/budgets/asker', body)).status).toBe(422);
    expect((await one.post('/v1/budgets/nobody', { max_usd: 3 })).status).toBe(404);
  });

  test('is shown and raised in the terminal', async () => {
    const parley = (...argv: string[]) => runCli({ PARLEY_URL: other.url }, ['budget', ...argv]);
    expect((await parley()).out.split('\n')).toHaveLength(Object.keys(budgets).length);
    expect((await parley('shared')).out).toMatch(
      /^shared {2}open, this month, until \d{4}-\d{2}-01\n {2}0\.\d+ of 1 USD spent, 0 held\n/,
    );
    const raised = await parley('poor', '--max-tokens', '100');
    expect([raised.code, raised.out]).toEqual([0, expect.stringContaining('0 of 100 tokens spent')]);
    expect((await parley('poor', '--stop')).out).toContain(
      'Give it more: parley budget poor --max-usd or --max-tokens',
    );
    expect((await one.run(aSession('poor', 5))).state).toBe('ERROR');
    expect(await parley('--max-usd', '5')).toMatchObject({
      code: 2,
      notes: expect.stringContaining('name the tenant') as string,
    });
    expect(await parley('poor', '--max-usd', 'all')).toMatchObject({
      code: 2,
      notes: expect.stringContaining('must be a number') as string,
    });
    expect(await parley('free')).toMatchObject({ code: 2, notes: expect.stringContaining('has no budget') as string });
  });
});

describe('a worker that is killed with a call of a tenant in hand', () => {
  test('has spent what it held, once its lease is over; its work goes on with another worker', async () => {
    const provider = await startLimitedProvider();
    const server = await startOwnServer();
    const environment = {
      PARLEY_TENANT_BUDGETS: JSON.stringify(orphan),
      PARLEY_PRICES: JSON.stringify({ 'lab/*': { input: 1, output: 1 } }),
      OPENAI_COMPATIBLE_API_KEY: 'none',
    };
    const address = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
    const killed = makeInstallation({ ...environment, TEMPORAL_ADDRESS: address });
    let heir: Product | null = null;
    let release = (): void => {};
    provider.held = new Promise((resolve) => (release = () => resolve()));
    try {
      const first = await killed.start();
      const prompt = JSON.stringify({ tenant: 'orphan', tokens: 40, ms: 0 } satisfies AskedOfProvider);
      const adapter = {
        kind: 'openai-compatible',
        provider: 'lab',
        model: 'm',
        base_url: provider.url,
        max_tokens: 150,
      };
      const asked = { id: 'orphan', tenant: 'orphan', prompt, lanes: [{ lane_id: 'a', adapter }] };
      expect((await call(first.url, '/v1/sessions', asked)).status).toBe(202);
      const { held } = await untilAt<TenantBudget>(
        first.url,
        '/v1/budgets/orphan',
        () => provider.arrivals.length === 1,
      );
      expect(held.tokens).toBeGreaterThan(150);
      await killed.kill(first);
      provider.held = Promise.resolve();
      heir = await startProduct(environment, parleyTaskQueue);
      const ended = await untilAt<SessionStatus>(
        heir.url,
        '/v1/sessions/orphan',
        ({ lifecycle }) => lifecycle !== 'running',
      );
      expect([ended.state, ended.result?.answer]).toEqual(['COMPLETE', 'yes']);
      const budget = await untilAt<TenantBudget>(heir.url, '/v1/budgets/orphan', ({ calls }) => calls.under_way === 0);
      expect(budget).toMatchObject({ spent: { tokens: held.tokens + 40 }, held: { tokens: 0 }, calls: { waiting: 0 } });
      expect(provider.arrivals).toHaveLength(2);
    } finally {
      release();
      killed.remove();
      await heir?.stop();
      await server.stop();
      await provider.close();
    }
  });
});
