import type { Webhook } from '../contracts/webhook.js';
import { setUpWebhooks } from '../webhook-targets.js';
import { invalidRequest, ProblemError } from './problem.js';
import type { Ports } from './route.js';
import type { WorkSetup } from './work-port.js';

/**
 * A setup with the webhooks of its request.
 * @throws ProblemError invalid_request that names what stands against them beside what stands against the rest
 */
export const withWebhooks = <Setup extends WorkSetup>(
  asked: readonly Webhook[],
  source: string,
  { config, access }: Ports,
  setUp: () => Setup,
): Setup => {
  const { webhooks, faults } = setUpWebhooks(asked, source, { ...config.webhooks, isLocal: access.isOpen() });
  try {
    const setup = setUp();
    if (faults.length > 0) throw invalidRequest(faults);
    return webhooks.length === 0 ? setup : { ...setup, webhooks };
  } catch (error) {
    if (faults.length === 0 || !(error instanceof ProblemError) || error.code !== 'invalid_request') throw error;
    const others = (error.options.errors ?? []).filter((fault) => !faults.includes(fault));
    throw invalidRequest([...others, ...faults]);
  }
};
