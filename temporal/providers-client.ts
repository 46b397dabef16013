import { type Client, type WorkflowExecutionDescription, WorkflowNotFoundError } from '@temporalio/client';
import { type Provider, providerStatusSchema } from '../src/contracts/provider-limits.js';
import { ParleyError } from '../src/domain/errors.js';
import { governorId, governorWorkflowType } from '../src/domain/governor/messages.js';
import { governorSettings } from '../src/domain/governor/settings.js';
import { newGovernor } from '../src/domain/governor/state.js';
import { providerStatus } from '../src/domain/governor/view.js';
import type { ProvidersPort } from '../src/gateway/providers-port.js';
import { sharedKinds } from '../src/provider.js';
import { type LimitSettings, limitsFor } from '../src/settings/limits.js';
import { statusQuery } from '../workflows/messages.js';
import { askQuery } from './ask-query.js';
import { parleyTaskQueue } from './task-queue.js';
import { translated } from './temporal-errors.js';
import { quoted } from './work-list.js';

export interface ProvidersOptions {
  client: Client;
  taskQueue?: string;
  /** As this gateway's PARLEY_PROVIDER_LIMITS has them; a governor that runs says its own. */
  limits: LimitSettings;
  /** Milliseconds for one question. */
  deadlineMs?: number;
}

/** Most governors that are asked in one list; each is a provider. */
const mostProviders = 200;

const forEach = (provider: string): Provider['for_each'] =>
  Object.entries(sharedKinds).find(([kind]) => kind === provider)?.[1] ?? null;

/** Providers as their governors say; one whose governor does not run as it is configured. */
export const createProviders = ({
  client,
  taskQueue = parleyTaskQueue,
  limits,
  deadlineMs = 10_000,
}: ProvidersOptions): ProvidersPort => {
  const within = async <T>(provider: string, ask: () => Promise<T>): Promise<T> => {
    try {
      return await client.withDeadline(Date.now() + deadlineMs, ask);
    } catch (error) {
      throw translated(error, 'provider', provider);
    }
  };
  const configured = Object.keys(limits.providers).filter((name) => limits.providers[name] !== null);

  const atRest = (provider: string): Provider | null => {
    const given = limitsFor(limits, provider, false);
    if (!given) return null;
    const settings = governorSettings(provider, given, limits.weights);
    return { ...providerStatus(newGovernor(settings), 0), for_each: forEach(provider), running: false };
  };

  const describe = (provider: string): Promise<WorkflowExecutionDescription | null> =>
    within(provider, async () => {
      try {
        return await client.workflow.getHandle(governorId(taskQueue, provider)).describe();
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return null; // nothing was ever asked of it
        throw error;
      }
    });

  /** null: neither configured nor running. */
  const find = async (provider: string): Promise<Provider | null> => {
    const description = await describe(provider);
    if (description?.status.name !== 'RUNNING') return atRest(provider);
    const governor = client.workflow.getHandle(governorId(taskQueue, provider));
    const said = await within(provider, () => askQuery(client, deadlineMs, () => governor.query(statusQuery)));
    return { ...providerStatusSchema.parse(said), for_each: forEach(provider), running: true };
  };

  const names = async (): Promise<string[]> => {
    const prefix = governorId(taskQueue, '');
    const query = `WorkflowType = '${governorWorkflowType}' AND ExecutionStatus = 'Running' AND WorkflowId STARTS_WITH ${quoted(prefix)}`;
    const running = await within('', async () => {
      const found: string[] = [];
      for await (const { workflowId } of client.workflow.list({ query, pageSize: mostProviders }))
        if (found.push(workflowId.slice(prefix.length)) === mostProviders) break;
      return found;
    });
    return [...new Set([...configured, ...running])].toSorted((a, b) => a.localeCompare(b));
  };

  return {
    list: async () => (await Promise.all((await names()).map(find))).filter((found) => found !== null),
    show: async (provider) => {
      const found = await find(provider);
      if (found) return found;
      const there = await names();
      throw new ParleyError(
        'not_found',
        `No limits of a provider ${provider} are kept now: PARLEY_PROVIDER_LIMITS of this gateway names none, and no call of it was made in the last hour. ` +
          `There ${there.length === 0 ? 'are none' : `is ${there.join(', ')}`}; a model’s provider is limited from its first call on.`,
      );
    },
  };
};
