import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { EmbeddingModel, LanguageModel } from 'ai';
import type { ModelAdapter } from '../../src/contracts/adapter.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { Environment } from './connections.js';

export interface Model {
  model: LanguageModel;
  /** The name its prices go by. */
  provider: string;
  /** What an operator can do when the provider does not accept the key; '' when there is nothing to add. */
  keyHint: string;
  takesSeed: boolean;
}

const present = (environment: Environment, name: string): string | undefined => environment[name]?.trim() || undefined;

/** `my-provider` reads MY_PROVIDER_API_KEY and MY_PROVIDER_BASE_URL. */
const prefixOf = (provider: string): string => provider.replace(/[^A-Za-z0-9]+/g, '_').toUpperCase();

const isLoopback = (url: URL): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);

const parseUrl = (text: string, where: string): URL => {
  if (!URL.canParse(text)) {
    throw new ParleyError('EPROTO', `${where} must be an http or https URL; got ${JSON.stringify(text)}`);
  }
  return new URL(text);
};

const missingKey = (name: string): ParleyError =>
  new ParleyError('ESEC', `no key for this model: set ${name} in the worker's environment`);

/**
 * Keys come from the worker's environment alone (spec 10) and go only where the operator sends them: to the base URL of
 * the environment, or to this machine. A `base_url` that a request names elsewhere is called without a key, since whoever
 * may write a request could otherwise have the key sent to himself.
 */
const compatibleServer = (
  name: string,
  givenUrl: string | undefined,
  environment: Environment,
  fetch: typeof globalThis.fetch,
) => {
  const prefix = prefixOf(name);
  const configured = [`${prefix}_BASE_URL`, 'OPENAI_BASE_URL'].flatMap((variable) => {
    const value = present(environment, variable);
    return value === undefined ? [] : [{ value, url: parseUrl(value, variable) }];
  });
  const baseUrl = givenUrl ?? configured[0]?.value;
  if (baseUrl === undefined) {
    throw new ParleyError(
      'EPROTO',
      `no address for provider "${name}": give base_url, or set ${prefix}_BASE_URL or OPENAI_BASE_URL in the worker's environment`,
    );
  }
  const url = parseUrl(baseUrl, 'base_url');
  const mayHaveKey = isLoopback(url) || configured.some((known) => known.url.origin === url.origin);
  const key = present(environment, `${prefix}_API_KEY`) ?? present(environment, 'OPENAI_API_KEY');
  const server = createOpenAICompatible({
    name,
    baseURL: baseUrl,
    apiKey: (mayHaveKey ? key : undefined) ?? 'none',
    includeUsage: true,
    fetch,
  });
  const keyHint = !mayHaveKey
    ? `no key was sent, since ${url.origin} is not the operator's: set ${prefix}_BASE_URL to it and ${prefix}_API_KEY in the worker's environment`
    : `check ${prefix}_API_KEY or OPENAI_API_KEY in the worker's environment`;
  return { server, keyHint };
};

const openaiCompatible = (
  adapter: Extract<ModelAdapter, { kind: 'openai-compatible' }>,
  environment: Environment,
  fetch: typeof globalThis.fetch,
): Model => {
  const { server, keyHint } = compatibleServer(adapter.provider, adapter.base_url, environment, fetch);
  return { model: server.chatModel(adapter.model), provider: adapter.provider, keyHint, takesSeed: true };
};

const openaiServer = (environment: Environment, fetch: typeof globalThis.fetch) => {
  const baseURL = present(environment, 'OPENAI_BASE_URL');
  const apiKey = present(environment, 'OPENAI_API_KEY') ?? (baseURL === undefined ? undefined : 'none');
  if (apiKey === undefined) throw missingKey('OPENAI_API_KEY');
  return createOpenAI({ apiKey, baseURL: baseURL ?? 'https://api.openai.com/v1', fetch });
};

const openai = (
  adapter: Extract<ModelAdapter, { kind: 'openai' }>,
  environment: Environment,
  fetch: typeof globalThis.fetch,
): Model => ({
  // The chat interface and not the newer one, which takes no seed and which few compatible servers offer.
  model: openaiServer(environment, fetch).chat(adapter.model),
  provider: 'openai',
  keyHint: "check OPENAI_API_KEY in the worker's environment",
  takesSeed: true,
});

const anthropic = (
  adapter: Extract<ModelAdapter, { kind: 'anthropic' }>,
  environment: Environment,
  fetch: typeof globalThis.fetch,
): Model => {
  const configured = present(environment, 'ANTHROPIC_BASE_URL')?.replace(/\/+$/, '');
  const apiKey = present(environment, 'ANTHROPIC_API_KEY') ?? (configured === undefined ? undefined : 'none');
  if (apiKey === undefined) throw missingKey('ANTHROPIC_API_KEY');
  // Anthropic's own tools leave /v1 out of the variable, the SDK wants it.
  const baseURL = `${(configured ?? 'https://api.anthropic.com').replace(/\/v1$/, '')}/v1`;
  return {
    model: createAnthropic({ apiKey, baseURL, fetch })(adapter.model),
    provider: 'anthropic',
    keyHint: "check ANTHROPIC_API_KEY in the worker's environment",
    takesSeed: false,
  };
};

/** @throws ParleyError ESEC without a key, EPROTO without an address: the call cannot be made at all. */
export const modelFor = (adapter: ModelAdapter, environment: Environment, fetch: typeof globalThis.fetch): Model => {
  switch (adapter.kind) {
    case 'openai-compatible':
      return openaiCompatible(adapter, environment, fetch);
    case 'openai':
      return openai(adapter, environment, fetch);
    case 'anthropic':
      return anthropic(adapter, environment, fetch);
  }
};

/**
 * The model that turns texts into vectors, named as PROVIDER/MODEL: `openai`, or any provider that speaks as it does.
 * @throws ParleyError ESEC without a key, EPROTO without an address or for a name that is none
 */
export const embeddingModelFor = (
  name: string,
  environment: Environment,
  fetch: typeof globalThis.fetch,
): EmbeddingModel => {
  const [, provider, model] = /^([^/]+)\/(.+)$/.exec(name) ?? [];
  if (provider === undefined || model === undefined || provider === 'anthropic') {
    throw new ParleyError(
      'EPROTO',
      `PARLEY_EMBEDDING_MODEL must be PROVIDER/MODEL, such as openai/text-embedding-3-small, of a provider that has embeddings; got ${JSON.stringify(name)}`,
    );
  }
  if (provider === 'openai') return openaiServer(environment, fetch).embeddingModel(model);
  return compatibleServer(provider, undefined, environment, fetch).server.embeddingModel(model);
};
