import { hostname } from 'node:os';
import type { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { createAgents } from '../activities/adapters/index.js';
import { budgetedAgents } from '../activities/budgets/budgeted-agents.js';
import { createTenantBudgets } from '../activities/budgets/index.js';
import { createBudgetLink } from '../activities/budgets/link.js';
import { createBudgetMetrics } from '../activities/budgets/metrics.js';
import { createActivities } from '../activities/index.js';
import { createProviderGovernor } from '../activities/governor/index.js';
import { createGovernorLink } from '../activities/governor/link.js';
import { createGovernorMetrics } from '../activities/governor/metrics.js';
import { createLink } from '../activities/link.js';
import { createWorkMetrics } from '../activities/metrics.js';
import { createWebhookSender } from '../activities/webhooks/sender.js';
import type { Config } from '../src/config.js';
import type { BusPort } from '../src/contracts/bus.js';
import { createOperator } from '../src/operator.js';
import { createPrices } from '../src/pricing.js';
import { builtBundle } from './built-bundle.js';
import { cleanUpOf } from './clean-up.js';
import { createCoordinatedRuns } from './coordinated-runs.js';
import { createTeamReads } from './team-reads.js';
import { createTeamTurns } from './team-turns.js';
import { converterOf } from './data-converter.js';
import { workflowSinks } from './workflow-sinks.js';
import { hostQueueOf } from './host-queue.js';
import { workerIdentity } from './identity.js';
import { failDeadAttempts } from './recovery.js';
import { parleyTaskQueue } from './task-queue.js';
import { openWorkerParts } from './worker-parts.js';
import { openSandbox } from './worker-sandbox.js';
import { createParleyWorker } from './worker.js';

export interface RunWorkerOptions {
  config: Config;
  connection: NativeConnection;
  client: Client;
  namespace: string;
  bus: BusPort;
  logger: Logger;
  /** Where the metrics of its work are kept. */
  registry: Registry;
  environment: NodeJS.ProcessEnv;
  /** Programs to trust beside those of the configuration. */
  trustedCommands?: string[][];
  taskQueue?: string;
  /** Default: the bundle of this build. */
  bundlePath?: string;
  /** How long running activities may go on once it drains; default 10 s. */
  shutdownGraceMs?: number;
}

export interface RunningWorker {
  /** Rejects when the worker ends by itself. */
  failed: Promise<never>;
  /** Takes no new tasks, lets what runs end for a while, then closes the agents' connections. May be called twice. */
  drain(): Promise<void>;
}

/** A worker with Parley's adapters and activities, on a client's connection, that also wakes what a dead one left behind. */
export async function runWorker(options: RunWorkerOptions): Promise<RunningWorker> {
  const { config, connection, client, namespace, bus, logger, environment, taskQueue = parleyTaskQueue } = options;
  const sandbox = openSandbox(config, environment);
  const owners = { client, taskQueue, onBegunAnew: logger.warn.bind(logger) };
  const governor = createProviderGovernor({
    limits: config.limits,
    link: createGovernorLink(owners),
    metrics: createGovernorMetrics(options.registry),
    name: workerIdentity(),
    onError: (error, what) => logger.warn({ err: error }, what),
  });
  const budgets = createTenantBudgets({
    budgets: config.tenantBudgets,
    link: createBudgetLink(owners),
    metrics: createBudgetMetrics(options.registry, (tenant) => Object.hasOwn(config.tenantBudgets, tenant)),
    name: workerIdentity(),
    onError: (error, what) => logger.warn({ err: error }, what),
  });
  const parts = openWorkerParts(config, environment, sandbox, logger);
  const prices = createPrices(config.prices);
  const operator = createOperator(config, prices);
  const agents = createAgents({
    environment,
    sandbox,
    trustedCommands: [...config.trustedCommands, ...(options.trustedCommands ?? [])],
    prices,
    governor,
    mcp: parts.mcp,
  });
  const metrics = createWorkMetrics(options.registry);
  const hostQueue = hostQueueOf(config.dataFolder, taskQueue);
  const webhooks = createWebhookSender({ environment, now: Date.now });
  const activities = createActivities({
    budgets,
    agents: budgetedAgents(agents, {
      budgets,
      operator,
      prices,
      onCheaper: (call) => logger.info(call, 'the budget of a tenant asks a cheaper model'),
    }),
    bus,
    link: createLink(client),
    metrics,
    ...parts,
    hostQueue,
    webhooks,
    coordinated: createCoordinatedRuns({ client, taskQueue }),
    teamTurns: createTeamTurns({ client }),
    teamReads: createTeamReads({ client }),
    operator,
    cleanUp: cleanUpOf(config, client),
    onCleaned: (report) => logger.info({ report }, 'cleaned up what nothing refers to'),
  });
  const common = {
    connection,
    namespace,
    activities,
    dataConverter: converterOf(client, 'worker'),
    shutdownGraceMs: options.shutdownGraceMs,
  };
  const workers = [
    await createParleyWorker({
      ...common,
      taskQueue,
      deployment: config.deployment,
      bundlePath: options.bundlePath ?? builtBundle(),
      sinks: workflowSinks(bus, metrics, logger),
    }),
    // What touches this machine's folders comes by a queue of its own, to whichever version runs here: the folders stay.
    await createParleyWorker({ ...common, taskQueue: hostQueue, bundlePath: null }),
  ];
  let draining = false;
  const run = Promise.all(workers.map((worker) => worker.run()));
  const failed = run.then(
    () => new Promise<never>(() => {}), // it was asked to
    (error: unknown) => {
      if (draining) return new Promise<never>(() => {});
      throw error;
    },
  );
  failed.catch(() => undefined); // for who does not wait on it; `drain` throws the same
  const recovered = failDeadAttempts({ client, taskQueue }).then(
    (count) => {
      if (count > 0)
        logger.info({ count, host: hostname() }, 'failed the attempts of a worker that died; they are tried again');
    },
    // Not vital: without it they are tried again when their heartbeat lapses.
    (error: unknown) => logger.warn({ err: error }, 'the attempts of dead workers could not be looked for'),
  );
  const drain = async (): Promise<void> => {
    draining = true;
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    await run;
    await recovered;
    await agents.close();
    await governor.close();
    await budgets.close();
    await webhooks.close();
    await parts.close();
  };
  let drained: Promise<void> | null = null;
  return { failed, drain: () => (drained ??= drain()) };
}
