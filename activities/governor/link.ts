import { randomUUID } from 'node:crypto';
import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import {
  type GovernorAnswer,
  governorId,
  type GovernorSaid,
  type GovernorStart,
  governorWorkflowType,
} from '../../src/domain/governor/messages.js';
import type { GovernorSettings } from '../../src/domain/governor/state.js';
import { exchangeUpdate, saidUpdate } from '../../workflows/governor-messages.js';
import { isGone, isRunning, updateOrStart } from '../owner/link.js';

/** A worker's way to the governors, by provider alone. */
export interface GovernorLink {
  /**
   * Answers once there is something to tell. A governor that is not there is started.
   * @throws what Temporal throws: none of what was said is known to be heard then
   */
  exchange(settings: GovernorSettings, said: GovernorSaid): Promise<GovernorAnswer>;
  /** @returns false where there is no governor, so that none of its grants stands any more */
  say(settings: GovernorSettings, said: GovernorSaid): Promise<boolean>;
}

/** By how much a call may be on its way for longer than a window when its governor is ended from outside. */
const onTheWayMs = 2_000;
export const createGovernorLink = (client: Client, taskQueue: string): GovernorLink => {
  /** What a governor that was ended from outside had let out cannot be known: the next one waits until it no longer counts. */
  const pausedUntil = async (id: string, { windowMs }: GovernorSettings): Promise<number> => {
    try {
      const { status, closeTime } = await client.workflow.getHandle(id).describe();
      const isByItself = status.name === 'COMPLETED' || closeTime === undefined;
      return isByItself ? 0 : closeTime.getTime() + windowMs + onTheWayMs;
    } catch (error) {
      if (isGone(error)) return 0;
      throw error;
    }
  };

  const startOf = async (id: string, settings: GovernorSettings) =>
    new WithStartWorkflowOperation(governorWorkflowType, {
      workflowId: id,
      taskQueue,
      args: [{ settings, pausedUntil: await pausedUntil(id, settings) } satisfies GovernorStart],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowTaskTimeout: '2 seconds',
      staticSummary: `Limits of ${settings.provider}`,
      staticDetails:
        'Keeps the limits of a provider over all workers. It holds no work; without calls it ends by itself.',
    });

  return {
    exchange: async (settings, said) => {
      const id = governorId(taskQueue, settings.provider);
      const start = (): ReturnType<typeof startOf> => startOf(id, settings);
      return await updateOrStart(client, id, exchangeUpdate, { heard: said, first: { ...said, settings }, start });
    },
    say: async ({ provider }, said) => {
      const handle = client.workflow.getHandle(governorId(taskQueue, provider));
      try {
        await handle.executeUpdate(saidUpdate, { args: [said], updateId: randomUUID() });
        return true;
      } catch (error) {
        if (!isGone(error)) throw error;
        // One run may have closed, and the next not have heard it.
        if (await isRunning(handle)) throw error;
        return false;
      }
    },
  };
};
