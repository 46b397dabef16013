import type { Adapter } from './contracts/adapter.js';

/** Kinds of adapter that stand for many who answer, each with limits and a breaker of its own, and what tells these apart. */
export const sharedKinds = { http: 'host', a2a: 'host', mcp: 'server' } as const;
export type SharedKind = keyof typeof sharedKinds;

/** By what remote agents are told apart: the host as URLs have it, with its port where that is not the usual one. */
const hostOf = (url: string): string => new URL(url).host;

/**
 * Who is called, and so whose limits and breaker hold: one for each provider of models, each host of remote agents (`http:HOST`,
 * `a2a:HOST`) and each MCP server (`mcp:SERVER`); of anything else its kind.
 */
export const providerOf = (adapter: Adapter): string => {
  switch (adapter.kind) {
    case 'openai-compatible':
      return adapter.provider;
    case 'http':
    case 'a2a':
      return `${adapter.kind}:${hostOf(adapter.url)}`;
    case 'mcp':
      return `mcp:${adapter.server}`;
    default:
      return adapter.kind;
  }
};

/** As `providerOf`, but of few values whatever is asked for: all hosts and servers of a kind are one. */
export const providerLabel = (adapter: Adapter): string =>
  adapter.kind === 'openai-compatible' ? adapter.provider : adapter.kind;

/** The kind whose limits hold for a provider that has none of its own; null: it is no host or server. */
export const sharedKindOf = (provider: string): SharedKind | null => {
  const kind = provider.slice(0, Math.max(0, provider.indexOf(':')));
  return Object.hasOwn(sharedKinds, kind) ? (kind as SharedKind) : null;
};

/** What is wrong with a name that stands for a host, so that nothing is ever called so; null: nothing. */
export const hostNameFault = (provider: string): string | null => {
  const kind = sharedKindOf(provider);
  if (kind === null || sharedKinds[kind] !== 'host') return null;
  const given = provider.slice(kind.length + 1);
  const host = URL.canParse(`http://${given}`) ? hostOf(`http://${given}`) : '';
  if (given !== '' && host === given) return null;
  return `must be ${kind}:HOST or ${kind}:HOST:PORT as in the URL of the agent, in small letters, such as ${kind}:agents.example.com:8080`;
};
