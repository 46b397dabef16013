import { Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { openStores } from '../activities/artifacts/index.js';
import { createBus } from '../src/bus/index.js';
import { loadConfig } from '../src/config.js';
import { startTelemetry } from '../src/telemetry.js';
import { untilStopped } from '../src/until-stopped.js';
import { converterFor } from './claims.js';
import { scheduleCleanUp } from './clean-up.js';
import { connectForWorker } from './client.js';
import { serveMetrics } from './metrics-server.js';
import { runWorker } from './run-worker.js';
import { ensureSearchAttributes } from './search-attributes.js';
import { sdkLogger } from './sdk-logger.js';

/** A worker alone, for many of them beside gateways of their own (docker-compose.yml). */
async function main(): Promise<number> {
  const config = loadConfig(process.env);
  const logger = pino({ level: config.logLevel });
  Runtime.install({ logger: sdkLogger(logger), shutdownSignals: [] });
  const telemetry = await startTelemetry(config.telemetry, (message) => logger.warn(message));
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const metrics = config.metricsPort === 0 ? null : await serveMetrics(registry, config.host, config.metricsPort);
  const { connection, client, address, namespace } = await connectForWorker({
    converter: converterFor(config, openStores(config).claims, { isApart: true }),
  });
  const registered = await ensureSearchAttributes(connection, namespace);
  if (registered.length > 0) logger.info({ registered }, 'registered search attributes');
  const bus = await createBus(config.busUrl, (error, what) => logger.warn({ err: error }, what));
  const worker = await runWorker({
    config,
    connection,
    client,
    namespace,
    bus,
    logger,
    registry,
    environment: process.env,
  });
  await scheduleCleanUp(client, config.dataFolder, logger);
  logger.info({ address, namespace }, 'the worker is running');
  const drain = async (): Promise<void> => {
    await worker.drain();
    await bus.close();
    await connection.close();
    await metrics?.close();
    await telemetry.close();
  };
  return await untilStopped([worker.failed], drain, (line) => logger.info(line));
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
