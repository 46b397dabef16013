import { join } from 'node:path';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { openStores } from '../activities/artifacts/index.js';
import { createAuditReader } from '../activities/audit/audit-log.js';
import { auditFolder } from '../activities/audit/chain-folder.js';
import { createMemoryReader } from '../activities/memory/reader.js';
import { converterFor } from '../temporal/claims.js';
import { scheduleCleanUp } from '../temporal/clean-up.js';
import { connectForWorker } from '../temporal/client.js';
import { claimDataFolder } from '../temporal/data-folder.js';
import { findServer, waysToServer } from '../temporal/find-server.js';
import { runWorker } from '../temporal/run-worker.js';
import { ensureSearchAttributes } from '../temporal/search-attributes.js';
import { startEmbeddedServer, type EmbeddedServer } from '../temporal/server.js';
import { createBus } from './bus/index.js';
import type { Config } from './config.js';
import { ParleyError } from './domain/errors.js';
import { startGateway } from './gateway/index.js';
import { startTelemetry } from './telemetry.js';

export interface AppOptions {
  config: Config;
  environment: NodeJS.ProcessEnv;
  logger: Logger;
  /** Programs to trust beside those of the configuration. */
  trustedCommands?: string[][];
}

export interface App {
  gatewayUrl: string;
  temporalAddress: string;
  /** Of the embedded server's UI, or the configured one's. */
  webUiUrl: string;
  /** Each settles when a part ends by itself. */
  ends: Promise<unknown>[];
  /** Stops everything, last started first. May be called twice. */
  close(): Promise<void>;
}

/**
 * Everything in one process: a Temporal server (our own, unless TEMPORAL_ADDRESS names one), a worker and the gateway.
 * @throws when a part cannot start; what had started is stopped again
 */
export async function startApp({ config, environment, logger, trustedCommands = [] }: AppOptions): Promise<App> {
  const closers: (() => unknown)[] = [];
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => (closing ??= closeAll(closers));
  try {
    const telemetry = await startTelemetry(config.telemetry, (message) => logger.warn(message));
    closers.push(() => telemetry.close());
    const found = findServer(environment);
    if (found === null) throw new ParleyError('unavailable', waysToServer(environment));
    let server: EmbeddedServer | null = null;
    if ('executable' in found) {
      closers.push(claimDataFolder(config.dataFolder));
      server = await startEmbeddedServer({
        executable: found.executable,
        // Port 0 asks for a free one.
        ...(config.temporal.port === 0 ? {} : { port: config.temporal.port }),
        ...(config.temporal.uiPort === 0 ? {} : { uiPort: config.temporal.uiPort }),
        namespace: config.temporal.namespace,
        databaseFile: join(config.dataFolder, 'temporal.db'),
      });
      const embedded = server;
      closers.push(() => embedded.stop());
    }
    const { artifacts, claims } = openStores(config);
    const { connection, client, address, namespace } = await connectForWorker({
      ...(server && { address: server.address, namespace: config.temporal.namespace, isEmbedded: true }),
      converter: converterFor(config, claims),
    });
    closers.push(() => connection.close());
    await ensureSearchAttributes(connection, namespace);
    const bus = await createBus(config.busUrl, (error, what) => logger.warn({ err: error }, what));
    closers.push(() => bus.close());
    const registry = new Registry();
    const worker = await runWorker({
      config,
      connection,
      client,
      namespace,
      bus,
      logger,
      registry,
      environment,
      trustedCommands,
    });
    closers.push(() => worker.drain());
    await scheduleCleanUp(client, config.dataFolder, logger);
    const webUiUrl = environment['PARLEY_WEB_UI_URL'] ? config.webUiUrl : (server?.uiUrl ?? config.webUiUrl);
    const memory = createMemoryReader({
      ...config,
      environment,
      onError: (error, what) => logger.warn({ err: error }, what),
    });
    closers.push(() => memory.close());
    const audit = createAuditReader({ folder: auditFolder(config.dataFolder) });
    closers.push(() => audit.close());
    const gateway = await startGateway({
      config: { ...config, webUiUrl },
      client,
      bus,
      memory,
      audit,
      artifacts,
      environment,
      logger,
      registry,
    });
    closers.push(() => gateway.close());
    const died = server?.died.then((output) => {
      throw new Error(`the Temporal server ended by itself. It said:\n${output}`);
    });
    died?.catch(() => undefined); // for who does not wait on it
    return {
      gatewayUrl: gateway.url,
      temporalAddress: address,
      webUiUrl,
      ends: [worker.failed, ...(died === undefined ? [] : [died])],
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Every closer runs, whatever the others do. @throws the first error */
async function closeAll(closers: (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const closer of closers.toReversed()) {
    try {
      await closer();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
