import type { Client } from '@a2a-js/sdk/client';
import { z } from 'zod';
import { ParleyError } from '../../src/domain/errors.js';
import { type Environment, meaningOfStatus } from './connections.js';

type Fetch = typeof globalThis.fetch;

const keysSchema = z.record(z.url({ protocol: /^https?$/ }), z.string().min(1));
const keysExample = '{"https://agents.example.com":"the key"}';

/** The key for an origin, of those that the operator gives in PARLEY_AGENT_KEYS; null: none. @throws ParleyError invalid_request */
export const keyFor = (origin: string, environment: Environment): string | null => {
  const given = environment['PARLEY_AGENT_KEYS'];
  if (given === undefined || given === '') return null;
  let keys: z.infer<typeof keysSchema>;
  try {
    keys = keysSchema.parse(JSON.parse(given));
  } catch {
    // What it holds is secret, so no part of it is told.
    throw new ParleyError(
      'invalid_request',
      `PARLEY_AGENT_KEYS must be JSON such as ${keysExample}: a key for each origin`,
    );
  }
  return Object.entries(keys).find(([url]) => new URL(url).origin === origin)?.[1] ?? null;
};

const loopback = new Set(['127.0.0.1', 'localhost', '[::1]']);
/** Agents of this machine call themselves by either name. */
const originOf = ({ protocol, hostname, port }: URL): string =>
  `${protocol}//${loopback.has(hostname) ? 'localhost' : hostname}:${port}`;

const urlOf = (input: Parameters<Fetch>[0]): URL => new URL(input instanceof Request ? input.url : input);

/**
 * A fetch that stays with the origin of the agent's card, so that a card cannot send what is asked, or a key, elsewhere.
 */
const guarded = (fetch: Fetch, home: URL, key: string | null, onRefusal: (error: ParleyError) => void): Fetch => {
  const refuse = (error: ParleyError): never => {
    onRefusal(error);
    throw error;
  };
  return async (input, init) => {
    const url = urlOf(input);
    if (originOf(url) !== originOf(home))
      return refuse(
        new ParleyError(
          'ESEC',
          `the card at ${home.origin} sends to ${url.origin}; an agent is asked at the origin of its card alone`,
        ),
      );
    const headers = {
      ...Object.fromEntries(new Headers(init?.headers)),
      ...(key !== null && { authorization: `Bearer ${key}` }),
    };
    const response = await fetch(url.href, { ...init, headers, redirect: 'manual' });
    const { status } = response;
    if (status >= 300 && status < 400) {
      await response.body?.cancel();
      return refuse(
        new ParleyError('ESEC', `${url.origin} redirects with ${status}; give the address that it redirects to`),
      );
    }
    const { code, retryable } = meaningOfStatus(status);
    if (status < 400 || (code === 'EPROTO' && status !== 404)) return response; // the body says it in the protocol's words
    await response.body?.cancel();
    return refuse(new ParleyError(code, `the agent answered ${status} at ${url.pathname}`, { retryable }));
  };
};

/** Reads the card at the agent's address, or at the card's own (`….json`), and chooses how to talk. @throws ParleyError, Error */
export const connectA2a = async (
  address: string,
  fetch: Fetch,
  environment: Environment,
  refusal: { last: ParleyError | null },
): Promise<Client> => {
  const { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } = await import(
    '@a2a-js/sdk/client'
  );
  const home = new URL(address);
  const fetchImpl = guarded(fetch, home, keyFor(home.origin, environment), (error) => (refusal.last = error));
  const options = { fetchImpl, legacyCompat: { enabled: true } };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)],
    cardResolver: new DefaultAgentCardResolver(options),
  });
  const isCard = home.pathname.endsWith('.json');
  // Below the agent's own path, where it has one.
  const base = isCard || address.endsWith('/') ? address : `${address}/`;
  return await (isCard ? factory.createFromUrl(base, '') : factory.createFromUrl(base));
};
