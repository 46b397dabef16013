import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBudgetLink } from '../../activities/budgets/link.js';
import { createGovernorLink } from '../../activities/governor/link.js';
import { providerLimitsSchema } from '../../src/contracts/provider-limits.js';
import { type TenantBudget, tenantBudgetLimitsSchema } from '../../src/contracts/tenant-budget.js';
import { governorSettings } from '../../src/domain/governor/settings.js';
import { governorId } from '../../src/domain/governor/messages.js';
import { tenantBudgetId } from '../../src/domain/tenant-budget/messages.js';
import { tenantBudgetSettings } from '../../src/settings/budgets.js';
import { connectForWorker } from '../../temporal/client.js';
import { createParleyWorker } from '../../temporal/worker.js';
import { writeEditedBundle } from '../support/edited-bundle.js';

type Connected = Awaited<ReturnType<typeof connectForWorker>>;

const current = process.env['TEST_WORKFLOW_BUNDLE'] ?? '';
let folder: string;
let later: string;
let temporal: Connected;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-begun-anew-'));
  later = join(folder, 'later.cjs');
  // As a later version would have it, whose histories this one cannot replay.
  const from = /\(0, ?(\w+)\.setHandler\)\(\w+\.knownBudgetQuery,/;
  writeEditedBundle(later, [{ from, to: "(0,$1.patched)('later');$&" }]);
  const address = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  temporal = await connectForWorker({ address, namespace: 'default', isEmbedded: true });
});
afterAll(async () => {
  await temporal?.connection.close();
  rmSync(folder, { recursive: true, force: true });
});

/** While a worker of that version runs. */
const withWorker = async <T>(taskQueue: string, bundlePath: string, act: () => Promise<T>): Promise<T> => {
  const { connection } = temporal;
  const worker = await createParleyWorker({ connection, namespace: 'default', taskQueue, activities: {}, bundlePath });
  return await worker.runUntil(act);
};

/** What was logged, beside a way to the owners of one installation. */
const installation = () => {
  const logged: { about: Record<string, unknown>; message: string }[] = [];
  const onBegunAnew = (about: Record<string, unknown>, message: string) => void logged.push({ about, message });
  const taskQueue = `test-${randomUUID()}`;
  return { taskQueue, logged, options: { client: temporal.client, taskQueue, onBegunAnew } };
};

describe('the budget of a tenant that was ended by hand', () => {
  const limits = tenantBudgetLimitsSchema.parse({ max_tokens: 100 });
  const settings = tenantBudgetSettings({ acme: limits }, 'acme')!;
  const used = { tokens: 40, usdMicros: 0 };
  const spends40 = { type: 'ended' as const, worker: 'w', number: 1, since: null, used };

  test.each([
    ['begins anew with a warning where this version cannot replay its history', () => later, 0],
    ['begins with what it knew, and nothing is said, where this version can', () => current, 40],
  ])(
    '%s',
    async (_, version, spent) => {
      const { taskQueue, logged, options } = installation();
      const link = createBudgetLink(options);
      const handle = temporal.client.workflow.getHandle(tenantBudgetId(taskQueue, 'acme'));
      const statusOf = () => handle.query<TenantBudget>('status');
      const first = await withWorker(taskQueue, version(), async () => {
        await link.say(settings, { worker: 'w', settings, events: [spends40] });
        // What was said is counted with all that came with it.
        while ((await statusOf()).spent.tokens !== 40) await new Promise((resolve) => setTimeout(resolve, 20));
        return (await handle.describe()).runId;
      });
      await handle.terminate('by hand');
      const again = await withWorker(taskQueue, current, async () => {
        await link.say(settings, { worker: 'w', settings, events: [] });
        return await statusOf();
      });
      expect(again).toMatchObject({ spent: { tokens: spent }, limits: { max_tokens: 100 } });
      const warning = {
        about: { tenant: 'acme', run_id: first, ended_as: 'terminated', limits: settings, err: expect.any(Error) },
        message:
          'the budget of tenant acme begins anew, with nothing spent: what the one before had counted is lost, as this version cannot replay its history',
      };
      expect(logged).toEqual(
        spent === 0 ? [expect.objectContaining({ ...warning, about: expect.objectContaining(warning.about) })] : [],
      );
      await handle.terminate('the test is over');
    },
    120_000,
  );
});

describe('the governor of a provider that was ended by hand', () => {
  test('begins anew with a warning that says what is lost, and until when nothing is let out', async () => {
    const { taskQueue, logged, options } = installation();
    const link = createGovernorLink(options);
    const settings = governorSettings('lab', providerLimitsSchema.parse({ requests: 5, window_ms: 1_000 }), {});
    const handle = temporal.client.workflow.getHandle(governorId(taskQueue, 'lab'));
    const demand = { id: 'w/1', worker: 'w', tenant: 'default', tier: 'gold' as const, model: 'm', tokens: 1 };
    const said = { worker: 'w', settings, events: [{ type: 'wanted' as const, demand }] };
    await withWorker(taskQueue, current, async () => {
      expect((await link.exchange(settings, said)).granted).toMatchObject([{ id: 'w/1' }]);
      expect(logged).toEqual([]);
      await handle.terminate('by hand');
      await link.exchange(settings, said);
    });
    expect(logged).toEqual([
      {
        about: expect.objectContaining({ provider: 'lab', ended_as: 'terminated' }),
        message: expect.stringMatching(
          /^the limits of lab begin anew, with a closed breaker: .* is lost; nothing is let out until/,
        ),
      },
    ]);
    const { ran_until: until, paused_until: paused } = logged[0]!.about;
    expect(Date.parse(String(paused)) - Date.parse(String(until))).toBe(1_000 + 2_000);
    await handle.terminate('the test is over');
  }, 120_000);
});
