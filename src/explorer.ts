import type { Adapter } from './contracts/adapter.js';

/** The adapter of KIND/MODEL, as the configuration has read it (PARLEY_EXPLORER_MODEL); null: none is named. */
export const explorerOf = (named: string | null): Adapter | null => {
  if (named === null) return null;
  const slash = named.indexOf('/');
  const [kind, model] = [named.slice(0, slash), named.slice(slash + 1)];
  if (kind === 'openai-compatible') return { kind, provider: kind, model };
  return { kind: kind === 'anthropic' ? 'anthropic' : 'openai', model };
};
