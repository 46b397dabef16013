import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { openStores } from '../activities/artifacts/index.js';
import { createHistories } from '../activities/clean-up/histories.js';
import { type CleanUp, createCleanUp } from '../activities/clean-up/index.js';
import type { Config } from '../src/config.js';
import { ensureCleanUp } from './clean-up-schedule.js';
import { claimScope } from './data-converter.js';
import { hostQueueOf } from './host-queue.js';

/** What removes the files of an installation that nothing in a namespace needs any more. */
export const cleanUpOf = (
  config: Pick<Config, 'dataFolder' | 's3'>,
  client: Client,
  stores = openStores(config),
): CleanUp =>
  createCleanUp({
    stores,
    isBucket: config.s3 !== null,
    dataFolder: config.dataFolder,
    histories: createHistories(client),
    scope: claimScope(client.options.namespace),
    now: Date.now,
  });

/** Has this host cleaned every now and then. Nothing else depends on it: what keeps it from being so is told and no more. */
export const scheduleCleanUp = async (client: Client, dataFolder: string, logger: Logger): Promise<void> => {
  try {
    await ensureCleanUp(client, { hostQueue: hostQueueOf(dataFolder) });
  } catch (error) {
    logger.warn({ err: error }, 'the clean-up could not be scheduled; parley artifacts clean does it by hand');
  }
};
