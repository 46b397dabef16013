import type { Adapter } from '../../contracts/adapter.js';
import type { Json } from '../../contracts/frames.js';
import { isHosted, overridden, overridesOf } from './overrides.js';

/** Most tokens of an agent's answer where its adapter says nothing: a file that it writes is part of its answer. */
export const agentMaxTokens = 4096;

/**
 * Who answers for an agent as he is asked: with its overrides, and with a limit where a hosted model has none. What is priced is what is
 * called. Overrides that are faulty have been refused before, and are left out here.
 */
export const answering = (adapter: Adapter, overrides: Readonly<Record<string, Json>>): Adapter => {
  const read = overridesOf(overrides);
  const asked = 'faults' in read ? adapter : overridden(adapter, read.overrides);
  return isHosted(asked) ? { ...asked, max_tokens: asked.max_tokens ?? agentMaxTokens } : asked;
};
