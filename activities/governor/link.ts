import { randomUUID } from 'node:crypto';
import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import {
  type GovernorAnswer,
  governorId,
  type GovernorSaid,
  type GovernorStart,
  governorWorkflowType,
} from '../../src/domain/governor/messages.js';
import { iso } from '../../src/domain/instant.js';
import type { GovernorSettings } from '../../src/domain/governor/state.js';
import { exchangeUpdate, saidUpdate } from '../../workflows/governor-messages.js';
import { endedRun, isGone, isRunning, type OnBegunAnew, updateOrStart } from '../owner/link.js';

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

export interface GovernorLinkOptions {
  client: Client;
  taskQueue: string;
  onBegunAnew: OnBegunAnew;
}

export const createGovernorLink = ({ client, taskQueue, onBegunAnew }: GovernorLinkOptions): GovernorLink => {
  /** What a governor that was ended from outside had let out cannot be known: the next one waits until it no longer counts. */
  const pausedUntil = async (id: string, { provider, windowMs }: GovernorSettings): Promise<number> => {
    try {
      const ended = await client.workflow.getHandle(id).describe();
      if (ended.status.name === 'COMPLETED' || ended.closeTime === undefined) return 0;
      const until = ended.closeTime.getTime() + windowMs + onTheWayMs;
      const message = `the limits of ${provider} begin anew, with a closed breaker: what the governor before had let out, and what it knew of the provider, is lost; nothing is let out until what was no longer counts`;
      onBegunAnew({ provider, ...endedRun(ended), paused_until: iso(until) }, message);
      return until;
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
