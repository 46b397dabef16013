import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { type Arrival, type LimitedProvider, startLimitedProvider } from '../../bench/limits/provider.js';
import { type GovernedCall, type GovernedWorker, startGovernedWorker } from '../../bench/limits/worker.js';
import { type ProviderLimits, providerLimitsSchema, type ProviderStatus } from '../../src/contracts/provider-limits.js';
import { governorId } from '../../src/domain/governor/messages.js';
import type { LimitSettings } from '../../src/settings/limits.js';
import { connectClient } from '../../temporal/client.js';

export const bundlePath = process.env['TEST_WORKFLOW_BUNDLE'] ?? '';
/** What all of them call. */
export const provider = 'lab';

/** Workers of one installation, each with a connection of its own. */
export interface Governed {
  workers: GovernedWorker[];
  taskQueue: string;
  limits: LimitSettings;
  /** Makes a call from one of the workers. @returns how it ended */
  call(worker: number, call?: Partial<GovernedCall>, signal?: AbortSignal): Promise<string>;
  /** What the provider saw. */
  arrivals(): Arrival[];
  /** Polls until it holds; the first call of all starts the governor. */
  until(holds: (status: ProviderStatus) => boolean): Promise<ProviderStatus>;
  /** The governor's workflow id. */
  id: string;
}

export interface GovernedRig {
  model: LimitedProvider;
  /** Answers nobody from now on. @returns answers all */
  hold(): () => void;
  client: Client;
  install(count: number, limits: Partial<ProviderLimits>, address?: string): Promise<Governed>;
  /** Ends what was installed last. */
  uninstall(): Promise<void>;
  close(): Promise<void>;
}

/** A provider, and workers that keep to its limits, on a Temporal server. */
export const startGovernedRig = async (server: string): Promise<GovernedRig> => {
  const model = await startLimitedProvider();
  const { client, connection } = await connectClient({ address: server, namespace: 'default', isEmbedded: true });
  let installed: Governed | null = null;
  const install: GovernedRig['install'] = async (count, given, address = server) => {
    const taskQueue = `test-${randomUUID()}`;
    const limits = { providers: { [provider]: providerLimitsSchema.parse(given) }, weights: {} };
    const workers = await Promise.all(
      Array.from({ length: count }, () => startGovernedWorker({ address, taskQueue, limits, bundlePath })),
    );
    model.arrivals.length = 0;
    model.refuse = () => null;
    model.held = Promise.resolve();
    const id = governorId(taskQueue, provider);
    const until: Governed['until'] = async (holds) => {
      let last = 'it is not there';
      for (const deadline = Date.now() + 60_000; Date.now() < deadline; ) {
        const status = await client.workflow
          .getHandle(id)
          .query<ProviderStatus>('status')
          .catch((error: unknown) => void (last = String(error)));
        if (status && holds(status)) return status;
        if (status) last = JSON.stringify(status);
        await new Promise((resolve) => setTimeout(resolve, 40));
      }
      throw new Error(`not reached: ${last}`);
    };
    const call: Governed['call'] = (worker, more = {}, signal) =>
      workers[worker]!.call({ provider, url: model.url, tenant: 'a', tokens: 10, ms: 5, ...more }, signal);
    installed = { workers, taskQueue, limits, call, until, id, arrivals: () => model.arrivals };
    return installed;
  };
  const uninstall = async (): Promise<void> => {
    const { workers = [], id } = installed ?? {};
    installed = null;
    if (id !== undefined)
      await client.workflow
        .getHandle(id)
        .terminate('the test is over')
        .catch(() => undefined);
    await Promise.all(workers.map((worker) => worker.close()));
  };
  return {
    model,
    hold: () => {
      let release = (): void => {};
      model.held = new Promise((resolve) => (release = resolve));
      return release;
    },
    client,
    install,
    uninstall,
    close: async () => {
      await model.close();
      await connection.close();
    },
  };
};

/** Calls that wait or are under way, of all tenants. */
export const countOf = (status: ProviderStatus, what: 'waiting' | 'under_way'): number =>
  status.tenants.reduce((sum, tenant) => sum + tenant[what], 0);
