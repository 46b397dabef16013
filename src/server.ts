import { pino } from 'pino';
import { openReaderApart, openStores } from '../activities/artifacts/index.js';
import { createAuditReader } from '../activities/audit/audit-log.js';
import { auditFolder } from '../activities/audit/chain-folder.js';
import { createMemoryReader } from '../activities/memory/reader.js';
import { converterFor } from '../temporal/claims.js';
import { connectClient } from '../temporal/client.js';
import { createBus } from './bus/index.js';
import { ConfigError, loadConfig } from './config.js';
import { startGateway } from './gateway/index.js';
import { startTelemetry } from './telemetry.js';

/** The gateway alone as a process: workers run elsewhere and share PARLEY_BUS_URL with it. */
const main = async (): Promise<void> => {
  const config = loadConfig(process.env);
  const logger = pino({ level: config.logLevel });
  const telemetry = await startTelemetry(config.telemetry, (message) => logger.warn(message));
  const { client, connection } = await connectClient({
    ...(config.temporal.address !== null && { address: config.temporal.address }),
    namespace: config.temporal.namespace,
    converter: converterFor(config, openStores(config).claims, { isApart: true }),
  });
  const bus = await createBus(config.busUrl, (error, what) => logger.warn({ err: error }, what));
  if (config.busUrl === null) {
    logger.warn(
      'PARLEY_BUS_URL is not set: text that streams in other processes is not seen here, only durable events are.',
    );
  }
  const memory = createMemoryReader({
    ...config,
    environment: process.env,
    onError: (error, what) => logger.warn({ err: error }, what),
  });
  const audit = createAuditReader({ folder: auditFolder(config.dataFolder), isApart: true });
  const artifacts = openReaderApart(config);
  const gateway = await startGateway({
    config,
    client,
    bus,
    memory,
    audit,
    artifacts,
    environment: process.env,
    logger,
  });
  logger.info({ url: gateway.url }, 'gateway listens');

  const stop = async (): Promise<void> => {
    await gateway.close();
    await memory.close();
    audit.close();
    await bus.close();
    await connection.close();
    await telemetry.close();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      logger.info({ signal }, 'gateway drains');
      stop().then(
        () => process.exit(0),
        (error: unknown) => {
          logger.error({ err: error }, 'gateway did not stop cleanly');
          process.exit(1);
        },
      );
    });
  }
};

main().catch((error: unknown) => {
  // What a person can mend is told in words; anything else keeps its trace.
  const isTold = error instanceof ConfigError || (error instanceof Error && error.cause === undefined);
  console.error(isTold ? (error as Error).message : error);
  process.exit(1);
});
