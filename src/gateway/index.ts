import type { Client } from '@temporalio/client';
import { pino, type Logger } from 'pino';
import type { Registry } from 'prom-client';
import { createBudgets } from '../../temporal/budgets-client.js';
import { createCheckpoints } from '../../temporal/checkpoints.js';
import { createCoordinatorsClient } from '../../temporal/coordinators-client.js';
import { converterOf, remoteCodecOf } from '../../temporal/data-converter.js';
import { createDebatesClient } from '../../temporal/debates-client.js';
import { createFanOutsClient } from '../../temporal/fan-outs-client.js';
import { createExports } from '../../temporal/histories.js';
import { createProviders } from '../../temporal/providers-client.js';
import { createRefinementsClient } from '../../temporal/refinements-client.js';
import { createReplayer } from '../../temporal/replaying.js';
import { createRunsClient } from '../../temporal/runs-client.js';
import { createSessionsClient } from '../../temporal/sessions-client.js';
import { createTeamsClient } from '../../temporal/teams-client.js';
import { createWebhooks } from '../../temporal/webhooks-client.js';
import type { WorkClientOptions } from '../../temporal/work-client.js';
import { createWorkIndex } from '../../temporal/work-index.js';
import type { Config } from '../config.js';
import type { ArtifactReader } from '../contracts/artifact.js';
import type { AuditReader } from '../contracts/audit.js';
import type { BusPort } from '../contracts/bus.js';
import type { MemoryReader } from '../contracts/memory.js';
import { createDefaultPanel } from '../default-panel.js';
import type { Operator } from '../domain/session/setup.js';
import { createOperator } from '../operator.js';
import type { HubOptions } from './events-hub.js';
import { type Gateway, listen } from './listen.js';
import { createPanels } from './openai/panels.js';
import { createPorts, type WorkPorts } from './ports.js';

export interface GatewayOptions {
  config: Config;
  /** On the worker's NativeConnection, starts are eager; on any other it works as well. */
  client: Client;
  /** Task queue of the session workflows; the worker's default when left out. */
  taskQueue?: string;
  bus: BusPort;
  /** What checkpoints are inspected with; default: the workflow bundle of this build. */
  bundlePath?: string;
  /** Left out: questions about memory are answered with 503. */
  memory?: MemoryReader;
  /** The audit log of this machine. Left out: questions about it are answered with 503. */
  audit?: AuditReader;
  /** Left out: questions about artifacts are answered with 503. */
  artifacts?: ArtifactReader;
  operator?: Operator;
  /** What says which models the installation has; left out: it has none. */
  environment?: Record<string, string | undefined>;
  logger?: Logger;
  hub?: Partial<HubOptions>;
  /** What else /metrics shows: that of the worker in the same process. */
  registry?: Registry;
}

const createWorkPorts = (options: WorkClientOptions, config: Config): WorkPorts => ({
  sessions: createSessionsClient(options),
  debates: createDebatesClient(options),
  refinements: createRefinementsClient(options),
  fanOuts: createFanOutsClient(options),
  runs: createRunsClient(options),
  coordinators: createCoordinatorsClient(options),
  teams: createTeamsClient(options),
  work: createWorkIndex(options.client, config),
});

/** The gateway on Temporal. */
export const startGateway = async ({
  config,
  client,
  taskQueue,
  bus,
  bundlePath,
  memory,
  audit,
  artifacts,
  operator = createOperator(config),
  environment = {},
  logger = pino({ level: config.logLevel }),
  hub,
  registry,
}: GatewayOptions): Promise<Gateway> => {
  const onQueue = { client, ...(taskQueue !== undefined && { taskQueue }) };
  const onError = (error: unknown): void =>
    logger.warn({ err: error }, 'a start that was not confirmed could not be withdrawn');
  // The first task of an eager start goes to the worker of this process, whichever version is current.
  const eagerStarts = config.deployment === null;
  const panels = await createPanels(config.modelsFile, createDefaultPanel(environment));
  const replayer = createReplayer({ bundlePath, dataConverter: converterOf(client, 'replay') });
  const ports = createPorts({
    config,
    ...createWorkPorts({ ...onQueue, onError, eagerStarts }, config),
    webhooks: createWebhooks(client),
    providers: createProviders({ ...onQueue, limits: config.limits }),
    budgets: createBudgets({ ...onQueue, budgets: config.tenantBudgets, onBegunAnew: logger.warn.bind(logger) }),
    checkpoints: createCheckpoints({ client, replayer, retention: config.retention }),
    exports: createExports({ client, replayer }),
    bus,
    ...(memory && { memory }),
    ...(audit && { audit }),
    ...(artifacts && { artifacts }),
    codec: remoteCodecOf(client),
    panels,
    operator,
    logger,
    hub,
    registry,
  });
  const gateway = await listen(ports, logger);
  return {
    url: gateway.url,
    close: async () => {
      await gateway.close();
      await replayer.close();
    },
  };
};
