import { setMaxListeners } from 'node:events';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Client } from '@temporalio/client';
import { pino, type Logger } from 'pino';
import type { Registry } from 'prom-client';
import { ulid } from 'ulid';
import type { Config } from '../config.js';
import type { ArtifactReader } from '../contracts/artifact.js';
import type { AuditReader } from '../contracts/audit.js';
import type { BusPort } from '../contracts/bus.js';
import type { ExportReader } from '../contracts/export.js';
import type { MemoryReader } from '../contracts/memory.js';
import { ParleyError } from '../domain/errors.js';
import type { Operator } from '../domain/session/setup.js';
import { createOperator } from '../operator.js';
import { converterOf, remoteCodecOf } from '../../temporal/data-converter.js';
import { createBudgets } from '../../temporal/budgets-client.js';
import { createCheckpoints } from '../../temporal/checkpoints.js';
import { createCoordinatorsClient } from '../../temporal/coordinators-client.js';
import { createTeamsClient } from '../../temporal/teams-client.js';
import { createDebatesClient } from '../../temporal/debates-client.js';
import { createFanOutsClient } from '../../temporal/fan-outs-client.js';
import { createExports } from '../../temporal/histories.js';
import { createReplayer } from '../../temporal/replaying.js';
import { createProviders } from '../../temporal/providers-client.js';
import { createRefinementsClient } from '../../temporal/refinements-client.js';
import { createRunsClient } from '../../temporal/runs-client.js';
import { createSessionsClient } from '../../temporal/sessions-client.js';
import { createWebhooks } from '../../temporal/webhooks-client.js';
import { createWorkIndex } from '../../temporal/work-index.js';
import { createDefaultPanel } from '../default-panel.js';
import { createAccess } from './access.js';
import { createApp } from './app.js';
import { EventsHub, type HubOptions } from './events-hub.js';
import { createLaneKeys, laneSecret } from './lane-keys.js';
import { openInbox } from './open-inbox.js';
import { createMetrics } from './metrics.js';
import { createPanels, type PanelsPort } from './openai/panels.js';
import type { Ports } from './route.js';
import type { CodecPort } from './routes/codec.js';
import type { BudgetsPort } from './budgets-port.js';
import type { ProvidersPort } from './providers-port.js';
import type { WebhooksPort } from './webhooks-port.js';
import type {
  CheckpointsPort,
  CoordinatorsPort,
  DebatesPort,
  FanOutsPort,
  RefinementsPort,
  RunsPort,
  SessionsPort,
  TeamsPort,
  WorkIndex,
} from './work-port.js';

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

export interface Gateway {
  /** Where it listens, such as http://127.0.0.1:3000. */
  url: string;
  /** Drains: no new starts, event streams are told to reconnect, at most 30 s. May be called twice. */
  close(): Promise<void>;
}

/** Most milliseconds that a drain takes (spec 09 "Shutdown drains"). */
const drainMs = 30_000;

/**
 * Milliseconds that an idle connection is kept: longer than proxies and clients keep theirs (60 s as a rule), as a request that
 * meets a closing connection is lost.
 */
const keepAliveMs = 65_000;

interface PortOptions {
  config: Config;
  sessions: SessionsPort;
  debates: DebatesPort;
  refinements: RefinementsPort;
  fanOuts: FanOutsPort;
  runs: RunsPort;
  coordinators: CoordinatorsPort;
  teams: TeamsPort;
  work: WorkIndex;
  webhooks?: WebhooksPort;
  providers?: ProvidersPort;
  budgets?: BudgetsPort;
  checkpoints?: CheckpointsPort;
  exports?: ExportReader;
  bus: BusPort;
  memory?: MemoryReader;
  audit?: AuditReader;
  artifacts?: ArtifactReader;
  codec?: CodecPort;
  panels?: PanelsPort;
  operator: Operator;
  logger: Logger;
  hub?: Partial<HubOptions>;
  registry?: Registry;
}

/** In place of what this gateway was started without. */
const without = (what: string) => (): Promise<never> =>
  Promise.reject(new ParleyError('unavailable', `This gateway was started without ${what}.`));

const noMemory = without('a way to memory');
const noArtifacts = without('a way to artifacts');
const noAudit = without('a way to the audit log');
const noCheckpoints = without('a way to checkpoints');
const noPanels = without('panels');
const noWebhooks = without('a way to webhooks');
const noProviders = without('a way to providers');
const noBudgets = without('a way to budgets');
const noExports = without('a way to histories');

/** The gateway's ports over any store of work. */
export const createPorts = ({
  config,
  sessions,
  debates,
  refinements,
  fanOuts,
  runs,
  coordinators,
  teams,
  work,
  webhooks = { list: noWebhooks, status: noWebhooks, redeliver: noWebhooks },
  providers = { list: noProviders, show: noProviders },
  budgets = { list: noBudgets, show: noBudgets, answer: noBudgets },
  checkpoints = {
    list: noCheckpoints,
    inspect: noCheckpoints,
    restore: noCheckpoints,
    origin: noCheckpoints,
    beginning: noCheckpoints,
  },
  exports = { export: noExports, turns: noExports, exportTurn: noExports },
  bus,
  memory = { search: noMemory, trace: noMemory, ratings: noMemory },
  audit = { list: noAudit, verification: noAudit, close: () => undefined },
  artifacts = { open: noArtifacts },
  codec = { encode: noArtifacts, decode: noArtifacts },
  panels = { names: [], panel: noPanels },
  operator,
  logger,
  hub,
  registry,
}: PortOptions): Ports => ({
  sessions,
  debates,
  refinements,
  fanOuts,
  runs,
  coordinators,
  teams,
  work,
  ...openInbox({ work, debates, runs, coordinators, teams }, (error) =>
    logger.warn({ err: error }, 'the inbox could not be read; asking again'),
  ),
  webhooks,
  providers,
  budgets,
  checkpoints,
  exports,
  hub: new EventsHub(bus, {
    onError: (error) => logger.warn({ err: error }, 'events could not be read; asking again'),
    ...hub,
  }),
  bus,
  memory,
  audit,
  artifacts,
  codec,
  panels,
  operator,
  config,
  access: createAccess(config, (error) =>
    logger.error({ err: error }, 'the key file cannot be used; the keys stay as they were'),
  ),
  laneKeys: createLaneKeys(laneSecret(config.laneSecret, config.dataFolder)),
  metrics: createMetrics(registry),
  newId: (kind) => `${kind}-${ulid()}`,
  newTraceId: () => randomBytes(16).toString('hex'),
});

const listenError = (error: NodeJS.ErrnoException, { host, port }: Config): Error => {
  const why: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is taken. Set PORT to a free one (PORT=0 takes any).`,
    EACCES: `Port ${port} on ${host} needs rights that this process lacks. Set PORT to one above 1023.`,
    EADDRNOTAVAIL: `HOST ${host} is no address of this machine. Set HOST to one, such as 127.0.0.1.`,
    ENOTFOUND: `HOST ${host} cannot be resolved. Set HOST to an address of this machine, such as 127.0.0.1.`,
  };
  return new Error(why[error.code ?? ''] ?? `Cannot listen on ${host}:${port}: ${error.message}`, { cause: error });
};

const urlOf = ({ host }: Config, { port }: AddressInfo): string => {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') && !name.startsWith('[') ? `[${name}]` : name}:${port}`;
};

/** Serves ports over HTTP. @throws Error naming the port and PORT when it is taken */
export const listen = async (ports: Ports, logger: Logger): Promise<Gateway> => {
  const { config } = ports;
  const draining = new AbortController();
  // Each event stream listens to it; Node takes more than ten listeners for a leak, and says so.
  setMaxListeners(0, draining.signal);
  const server = createServer(createApp({ ports, logger, draining: draining.signal }));
  server.keepAliveTimeout = keepAliveMs;
  // A connection that falls idle during the drain would otherwise be kept for its keep-alive time.
  server.on('request', (_request, response) => {
    response.once('close', () => {
      if (draining.signal.aborted) setImmediate(() => server.closeIdleConnections());
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, config)));
    server.listen(config.port, config.host.replace(/^\[|\]$/g, ''), () => resolve());
  });

  const drain = async (): Promise<void> => {
    draining.abort();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    const late = setTimeout(() => server.closeAllConnections(), drainMs);
    await closed;
    clearTimeout(late);
  };
  let closing: Promise<void> | null = null;
  return {
    url: urlOf(config, server.address() as AddressInfo),
    close: () => (closing ??= drain()),
  };
};

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
  const onError = (error: unknown): void =>
    logger.warn({ err: error }, 'a start that was not confirmed could not be withdrawn');
  // The first task of an eager start goes to the worker of this process, whichever version is current.
  const eagerStarts = config.deployment === null;
  const options = { client, onError, eagerStarts, ...(taskQueue !== undefined && { taskQueue }) };
  const sessions = createSessionsClient(options);
  const debates = createDebatesClient(options);
  const refinements = createRefinementsClient(options);
  const fanOuts = createFanOutsClient(options);
  const runs = createRunsClient(options);
  const coordinators = createCoordinatorsClient(options);
  const teams = createTeamsClient(options);
  const work = createWorkIndex(client, config);
  const panels = await createPanels(config.modelsFile, createDefaultPanel(environment));
  const replayer = createReplayer({ bundlePath, dataConverter: converterOf(client, 'replay') });
  const ports = createPorts({
    config,
    sessions,
    debates,
    refinements,
    fanOuts,
    runs,
    coordinators,
    teams,
    work,
    webhooks: createWebhooks(client),
    providers: createProviders({ client, limits: config.limits, ...(taskQueue !== undefined && { taskQueue }) }),
    budgets: createBudgets({ client, budgets: config.tenantBudgets, ...(taskQueue !== undefined && { taskQueue }) }),
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
    ...(hub && { hub }),
    ...(registry && { registry }),
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
