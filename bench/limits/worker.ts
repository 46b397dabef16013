import { setMaxListeners } from 'node:events';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { Registry } from 'prom-client';
import { createAgents } from '../../activities/adapters/index.js';
import { createProviderGovernor } from '../../activities/governor/index.js';
import { createGovernorLink } from '../../activities/governor/link.js';
import { createGovernorMetrics } from '../../activities/governor/metrics.js';
import { adapterSchema } from '../../src/contracts/adapter.js';
import type { Tier } from '../../src/contracts/session.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { LimitSettings } from '../../src/settings/limits.js';
import { createPrices } from '../../src/pricing.js';
import { builtBundle } from '../../temporal/built-bundle.js';
import { connectForWorker } from '../../temporal/client.js';
import { workerIdentity } from '../../temporal/identity.js';
import { createParleyWorker } from '../../temporal/worker.js';
import type { AskedOfProvider } from './provider.js';

export interface GovernedWorkerOptions {
  address: string;
  taskQueue: string;
  limits: LimitSettings;
  bundlePath?: string;
}

export interface GovernedCall extends AskedOfProvider {
  provider: string;
  model?: string;
  url: string;
  tier?: Tier;
  maxTokens?: number;
}

export interface GovernedWorker {
  /** Makes one call. @returns `final`, or the code that it failed with */
  call(call: GovernedCall, signal?: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

const noSandbox = () => Promise.reject(new ParleyError('unavailable', 'there is no sandbox here'));

/** One worker's way to call models, its governor's side included, on a connection of its own; it runs governors too. */
export const startGovernedWorker = async (options: GovernedWorkerOptions): Promise<GovernedWorker> => {
  const { address, taskQueue, limits, bundlePath = builtBundle() } = options;
  const { connection, client } = await connectForWorker({ address, namespace: 'default', isEmbedded: true });
  const worker = await createParleyWorker({ connection, namespace: 'default', taskQueue, activities: {}, bundlePath });
  const running = worker.run();
  const governor = createProviderGovernor({
    limits,
    link: createGovernorLink({ client, taskQueue, onBegunAnew: () => undefined }),
    metrics: createGovernorMetrics(new Registry()),
    name: workerIdentity(),
    onError: () => undefined, // it is tried again
  });
  const agents = createAgents({
    environment: {},
    trustedCommands: [],
    sandbox: { choose: noSandbox, open: noSandbox },
    prices: createPrices(),
    governor,
  });
  let made = 0;
  const call = async (given: GovernedCall, signal = new AbortController().signal): Promise<string> => {
    const { provider, model = 'any', url, tier, tenant, tokens, ms, maxTokens = 64 } = given;
    made += 1;
    const adapter = adapterSchema.parse({ kind: 'openai-compatible', provider, model, base_url: url });
    try {
      const frames = await agents.open(
        {
          workId: 'w',
          laneId: `${made}`,
          personaId: 'p',
          instructions: null,
          diversitySeed: 1,
          prompt: JSON.stringify({ tenant, tokens, ms } satisfies AskedOfProvider),
          adapter,
          maxTokens,
          callsBefore: 0,
          tenant,
          tier,
        },
        { signal, onControl: () => undefined, onUsage: () => undefined },
      );
      let last = 'nothing';
      for await (const frame of frames) last = frame.type === 'fail' ? frame.code : frame.type;
      return last;
    } catch (error) {
      return error instanceof ParleyError ? error.code : String(error);
    }
  };
  return {
    call,
    close: async () => {
      await agents.close();
      await governor.close();
      worker.shutdown();
      await running;
      await connection.close();
    },
  };
};

/** What a worker of its own process is told: calls that it keeps going, each followed by another, until it is told to stop. */
export interface Demand extends GovernedWorkerOptions {
  provider: string;
  url: string;
  tenants: string[];
  backlog: number;
  /** Each call uses so many tokens, from and to, and takes so long. */
  tokens: [from: number, to: number];
  ms: [from: number, to: number];
  maxTokens: number;
  seed: number;
}

/** 0 up to 1, the same for the same seed. */
const randomOf = (seed: number) => {
  let state = seed + 1;
  return (from: number, to: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return from + Math.floor((state / 2_147_483_647) * (to - from + 1));
  };
};

const work = async (demand: Demand): Promise<void> => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const worker = await startGovernedWorker(demand);
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  process.stdin.once('end', () => stop.abort()).resume();
  const random = randomOf(demand.seed);
  const ends: Record<string, number> = {};
  const one = async (index: number): Promise<void> => {
    while (!stop.signal.aborted) {
      const tenant = demand.tenants[index % demand.tenants.length] ?? 'default';
      const { provider, url, maxTokens } = demand;
      const asked = { tenant, tokens: random(...demand.tokens), ms: random(...demand.ms) };
      const end = await worker.call({ ...asked, provider, url, maxTokens }, stop.signal);
      if (!stop.signal.aborted) ends[end] = (ends[end] ?? 0) + 1;
    }
  };
  process.stdout.write('up\n');
  await Promise.all(Array.from({ length: demand.backlog }, (_, index) => one(index)));
  await worker.close();
  process.stdout.write(`${JSON.stringify(ends)}\n`);
};

const [, program = '', given] = process.argv;
if (/limits\/worker\.[jt]s$/.test(program) && given !== undefined) {
  await work(JSON.parse(given) as Demand);
  process.exit(0);
}
