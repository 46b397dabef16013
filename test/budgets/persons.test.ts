import type { RefinementStatus } from '../../src/contracts/refinement-status.js';
import type { TenantBudget } from '../../src/contracts/tenant-budget.js';
import type { TimeUsed, Waiting } from '../../src/contracts/work.js';
import { parleyTaskQueue } from '../../temporal/task-queue.js';
import { aDebate, agrees, removeWorkspaces } from '../support/debate-bodies.js';
import { aFanOut, anAgent, scripted, tasks } from '../support/fan-out-bodies.js';
import { call, makeInstallation, until as untilAt } from '../support/installation.js';
import { startOwnServer } from '../support/own-server.js';
import { type Product, startProduct } from '../support/product.js';
import { aRefinement } from '../support/refinement-bodies.js';
import { aRun, debate as debateStep, refinement as refinementStep, team as teamStep } from '../support/run-bodies.js';
import { runCli } from '../support/run-cli.js';
import { lane } from '../support/session-bodies.js';
import { calls, says } from '../support/team-bodies.js';

/** Of the budget of all that waits here; what it waits is more. */
const maxSeconds = 12;
const budget = { max_seconds: maxSeconds };

/** As far as all kinds have it. */
interface Status {
  lifecycle: string;
  state: string;
  waiting: Waiting | null;
  time?: TimeUsed;
  budget?: { time?: TimeUsed };
  agents?: { agent_id: string; waiting?: Waiting; budget?: { time?: TimeUsed } }[];
  feedback?: unknown[];
}

/** What waits for a person of its tenant, by where it stands; each has a tenant of its own. */
const waits: Record<string, [path: string, body: (tenant: string) => object]> = {
  debate: ['debates', (tenant) => aDebate({ tenant, budget, says: { analyst: [agrees(0.9)] } })],
  refinement: ['refinements', (tenant) => aRefinement({ tenant, budget, versions: ['x'], critiques: [0.95] })],
  'fan-out': [
    'fan-outs',
    (tenant) => aFanOut({ tenant, budget, agents: [anAgent('w')], fan_out: { tasks: tasks(2) } }),
  ],
  scored: [
    'fan-outs',
    (tenant) =>
      aFanOut({
        ...{ tenant, budget, agents: [anAgent('w', { adapter: { kind: 'scripted', script: [used100('w')] } })] },
        fan_out: { tasks: tasks(1) },
        fan_in: { quality: { critic: { adapter: scripted('{"score":0.9}') } } },
      }),
  ],
  team: ['teams', (tenant) => ({ tenant, budget, agents: [says('a', ['done'], { budget: { max_seconds: 11 } })] })],
  'a later call of an agent': [
    'teams',
    (tenant) => ({
      ...{ tenant, budget },
      agents: [says('a', [{ ...calls(['list_agents', {}]), usage: { tokens: 100 } }, 'done'])],
    }),
  ],
  'the debate of a run': [
    'runs',
    (tenant) => aRun([debateStep('argue', { says: { analyst: [agrees(0.9)] } })], { tenant, budget }),
  ],
  'the refinement of a run': ['runs', (tenant) => aRun([refinementStep('write')], { tenant, budget })],
  'the team of a run': ['runs', (tenant) => aRun([teamStep('work', [says('a', ['done'])])], { tenant, budget })],
};
const used100 = (final: string) => ({ final, usage: { tokens: 100 } });
/** Whose first call is made, and uses up what there is. */
const fresh = new Set(['scored', 'a later call of an agent']);
const kinds = Object.keys(waits);
const tenantOf = (kind: string): string => kind.replaceAll(' ', '-');

let product: Product;
const ids: Record<string, string> = {};
beforeAll(async () => {
  const asks = { max_tokens: 100, when_used_up: 'ask' };
  const tenants = [...kinds.map(tenantOf), 'a-step', 'ended', 'untimed', 'stopped'];
  product = await startProduct({
    PARLEY_TENANT_BUDGETS: JSON.stringify(Object.fromEntries(tenants.map((tenant) => [tenant, asks]))),
  });
  const usedUp = tenants.filter((tenant) => ![...fresh].map(tenantOf).includes(tenant));
  await Promise.all(
    usedUp.map((tenant) => product.run({ tenant, prompt: 'Which?', lanes: [lane('a', [used100('yes')])] })),
  );
});
afterAll(async () => {
  await product?.stop();
  removeWorkspaces();
});

const statusOf = async (path: string, id: string): Promise<Status> => (await product.get(`/v1/${path}/${id}`)).body;
const until = async <S>(look: () => Promise<S>, holds: (seen: S) => boolean): Promise<S> => {
  for (const deadline = Date.now() + 60_000; ; ) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (Date.now() > deadline) throw new Error(`not reached: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
};
const isAsking = async (tenant: string): Promise<TenantBudget> =>
  await until(
    async () => (await product.get(`/v1/budgets/${tenant}`)).body as TenantBudget,
    ({ state, calls: { waiting } }) => state === 'asking' && waiting > 0,
  );
const start = async (path: string, body: object): Promise<string> =>
  ((await product.post(`/v1/${path}`, body)).body as { id: string }).id;
const more = async (tenant: string, given: object = { max_tokens: 1_000_000 }): Promise<void> => {
  expect((await product.post(`/v1/budgets/${tenant}`, given)).status).toBe(200);
};

describe('work whose time is limited and whose tenant asks a person for more', () => {
  const waitedMs: Record<string, number> = {};
  beforeAll(async () => {
    await Promise.all(
      kinds.map(async (kind) => {
        const [path, body] = waits[kind]!;
        ids[kind] = await start(path, body(tenantOf(kind)));
      }),
    );
    ids['a step'] = await start('runs', aRun([refinementStep('write')], { tenant: 'a-step', budget }));
    await isAsking('a-step');
    await Promise.all(
      kinds.map(async (kind) => {
        const [path] = waits[kind]!;
        await isAsking(tenantOf(kind));
        if (path !== 'runs')
          await until(
            () => statusOf(path, ids[kind]!),
            ({ waiting }) => waiting?.for === 'person',
          );
      }),
    );
    const since = Date.now();
    // Longer than all of it has time.
    await new Promise((resolve) => setTimeout(resolve, maxSeconds * 1_000 + 500));
    for (const kind of kinds) waitedMs[kind] = Date.now() - since;
  });

  test.each(kinds.filter((kind) => waits[kind]![0] !== 'runs'))('(%s) says whom it waits for', async (kind) => {
    const [path] = waits[kind]!;
    const status = await statusOf(path, ids[kind]!);
    const tenant = tenantOf(kind);
    expect(status).toMatchObject({
      lifecycle: 'running',
      waiting: {
        for: 'person',
        detail: expect.stringMatching(`calls? waits? for an answer whether tenant ${tenant} may use more`) as string,
        who_can_unblock: expect.stringContaining(`parley budget ${tenant} --max-usd`) as string,
      },
    });
    const time = status.time ?? status.budget?.time;
    expect(time?.ends_at).toBeNull();
    expect(time?.elapsed_ms).toBeLessThan(maxSeconds * 1_000);
    if (path === 'teams') expect(status.agents?.map(({ waiting }) => waiting?.for)).toEqual(['person']);
  });

  test("is told in the terminal, with what to do, and is in nobody's inbox", async () => {
    const parley = (...argv: string[]) => runCli({ PARLEY_URL: product.url }, argv);
    for (const kind of ['debate', 'team']) {
      const { out } = await parley('why', ids[kind]!);
      expect(out).toContain('waits for person');
      expect(out).toContain(`parley budget ${kind} --max-tokens`);
      expect(out).not.toContain('parley inbox');
    }
    const { items } = (await product.get('/v1/inbox?limit=100')).body as { items: { work_id: string }[] };
    expect(items.filter(({ work_id }) => Object.values(ids).includes(work_id))).toEqual([]);
  });

  test('that is cancelled by itself, as the step of a run, leaves what it waited on no time of that', async () => {
    const { phases } = await product.runs.status(ids['a step']!);
    await product.post(`/v1/refinements/${phases[0]!.steps[0]!.attempts[0]!.work_id}/cancel`);
    const asked = await product.runs.until(ids['a step']!, ({ lifecycle }) => lifecycle !== 'running');
    expect(asked).toMatchObject({ lifecycle: 'waiting', error: { code: 'EPREEMPT', step: 'write' } });
    expect(asked.time?.elapsed_ms).toBeLessThan(maxSeconds * 1_000);
  });

  test.each(kinds)(
    '(%s) goes on by itself once it has been given more, and what it waited is not on its time',
    async (kind) => {
      const [path] = waits[kind]!;
      await more(tenantOf(kind));
      const ended = await until(
        () => statusOf(path, ids[kind]!),
        ({ lifecycle }) => lifecycle !== 'running',
      );
      // The debate is argued, and has no tasks to carry out: that fails the step of a run.
      const how = kind === 'the debate of a run' ? { error: { code: 'ECONSENSUS' } } : { lifecycle: 'completed' };
      expect(ended).toMatchObject(how);
      expect(JSON.stringify(ended)).not.toContain('EBUDGET');
      const time = ended.time ?? ended.budget?.time;
      expect(time?.max_ms).toBe(maxSeconds * 1_000);
      expect(time?.elapsed_ms).toBeLessThan(waitedMs[kind]!);
      if (kind === 'team') expect(ended.agents?.[0]?.budget?.time?.elapsed_ms).toBeLessThan(waitedMs[kind]!);
    },
  );
});

describe('work that waits for a person of its tenant', () => {
  const hasLongTime = { max_seconds: 600 };

  test('is cancelled at once, of every kind, and waits for nobody then', async () => {
    const started: [string, string][] = await Promise.all(
      Object.values(waits)
        .slice(0, 5)
        .map(
          async ([path, body]) =>
            [path, await start(path, { ...body('ended'), budget: hasLongTime })] as [string, string],
        ),
    );
    for (const [path, id] of started)
      await until(
        () => statusOf(path, id),
        ({ waiting }) => waiting?.for === 'person',
      );
    for (const [path, id] of started) await product.post(`/v1/${path}/${id}/cancel`);
    for (const [path, id] of started)
      await until(
        () => statusOf(path, id),
        ({ lifecycle }) => lifecycle === 'cancelled',
      );
    await until(
      async () => (await product.get('/v1/budgets/ended')).body as TenantBudget,
      ({ calls: { waiting, under_way } }) => waiting + under_way === 0,
    );
  });

  test('is refused by EBUDGET where the person says that it stops', async () => {
    const id = await start('refinements', aRefinement({ tenant: 'stopped', budget: hasLongTime }));
    await until(
      () => statusOf('refinements', id),
      ({ waiting }) => waiting?.for === 'person',
    );
    await more('stopped', { stop: true });
    const ended = await until(
      () => statusOf('refinements', id) as Promise<unknown> as Promise<RefinementStatus>,
      ({ lifecycle }) => lifecycle !== 'running',
    );
    expect(JSON.stringify(ended)).toContain('was stopped by a person');
    expect(ended.error?.code).toBe('EBUDGET');
  });

  test('says that it waits for the budget where no time of it is limited, as before', async () => {
    const id = await start('refinements', aRefinement({ tenant: 'untimed', versions: ['x'], critiques: [0.95] }));
    const { waiting } = await until(
      () => statusOf('refinements', id),
      (status) => status.waiting?.for === 'budget',
    );
    expect(waiting?.detail).toContain('1 call waits for the budget of tenant untimed');
    await more('untimed');
    await until(
      () => statusOf('refinements', id),
      ({ lifecycle }) => lifecycle === 'completed',
    );
  });
});

describe('a worker that is killed while work of it waits for a person of its tenant', () => {
  test('loses nothing: another waits in its place, and the work goes on there once it has been given more', async () => {
    const server = await startOwnServer();
    const environment = {
      PARLEY_TENANT_BUDGETS: JSON.stringify({ orphan: { max_tokens: 0, when_used_up: 'ask', lease_ms: 3_000 } }),
    };
    const killed = makeInstallation({
      ...environment,
      TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
    });
    let heir: Product | null = null;
    try {
      const first = await killed.start();
      const body = aRefinement({ tenant: 'orphan', budget: { max_seconds: 300 }, versions: ['x'], critiques: [0.95] });
      expect((await call(first.url, '/v1/refinements', { ...body, id: 'orphan' })).status).toBe(202);
      const waits = ({ waiting }: RefinementStatus): boolean => waiting?.for === 'person';
      const { waiting: before } = await untilAt<RefinementStatus>(first.url, '/v1/refinements/orphan', waits);
      await killed.kill(first);
      heir = await startProduct(environment, parleyTaskQueue);
      // The call of the dead worker is forgotten with its lease; that of the one which waits now is another.
      const isHeirs = ({ calls: { waiting } }: TenantBudget): boolean => waiting === 1;
      const handle = heir.client.workflow.getHandle('orphan');
      const attempts = async (): Promise<number> => (await handle.describe()).raw.pendingActivities?.[0]?.attempt ?? 0;
      while ((await attempts()) < 2) await new Promise((resolve) => setTimeout(resolve, 200));
      await untilAt<TenantBudget>(heir.url, '/v1/budgets/orphan', isHeirs);
      expect((await heir.refinements.status('orphan')).waiting).toEqual(before);
      await heir.post('/v1/budgets/orphan', { max_tokens: 1_000_000 });
      const ended = await heir.refinements.until('orphan', ({ lifecycle }) => lifecycle !== 'running');
      expect(ended).toMatchObject({ lifecycle: 'completed', result: { output: 'x' } });
    } finally {
      killed.remove();
      await heir?.stop();
      await server.stop();
    }
  });
});
