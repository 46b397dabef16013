import type { Client } from '@temporalio/client';
import type { Config } from '../src/config.js';
import type { WorkIndex } from '../src/gateway/work-port.js';
import { listRecent } from './recent-work.js';
import { translated } from './temporal-errors.js';
import { listWaiting, listWork } from './work-list.js';

const reachDeadlineMs = 2_000;

/** All work of an installation, from Temporal's visibility store; a list that takes longer than `deadlineMs` is given up. */
export const createWorkIndex = (
  client: Client,
  config: Pick<Config, 'webUiUrl' | 'temporal'>,
  deadlineMs = 10_000,
): WorkIndex => {
  const within = async <T>(ask: () => Promise<T>): Promise<T> => {
    try {
      return await client.withDeadline(Date.now() + deadlineMs, ask);
    } catch (error) {
      throw translated(error, 'work', '');
    }
  };
  return {
    list: (filter) => listWork(client, config, filter, within),
    recent: (filter) => listRecent(client, config, filter, within),
    waiting: (filter) => listWaiting(client, config, filter, within),
    isReachable: async () => {
      try {
        const { namespace } = client.options;
        await client.withDeadline(Date.now() + reachDeadlineMs, () =>
          client.workflowService.describeNamespace({ namespace }),
        );
        return true;
      } catch {
        return false;
      }
    },
  };
};
