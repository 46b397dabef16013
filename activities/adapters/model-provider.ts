import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModel } from 'ai';
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
const openaiCompatible = (
  adapter: Extract<ModelAdapter, { kind: 'openai-compatible' }>,
  environment: Environment,
  fetch: typeof globalThis.fetch,
): Model => {
  const prefix = prefixOf(adapter.provider);
  const configured = [`${prefix}_BASE_URL`, 'OPENAI_BASE_URL'].flatMap((name) => {
    const value = present(environment, name);
    return value === undefined ? [] : [{ value, url: parseUrl(value, name) }];
  });
  const baseUrl = adapter.base_url ?? configured[0]?.value;
  if (baseUrl === undefined) {
    throw new ParleyError(
      'EPROTO',
      `no address for provider "${adapter.provider}": give base_url, or set ${prefix}_BASE_URL or OPENAI_BASE_URL in the worker's environment`,
    );
  }
  const url = parseUrl(baseUrl, 'base_url');
  const mayHaveKey = isLoopback(url) || configured.some((known) => known.url.origin === url.origin);
  const key = present(environment, `${prefix}_API_KEY`) ?? present(environment, 'OPENAI_API_KEY');
  const provider = createOpenAICompatible({
    name: adapter.provider,
    baseURL: baseUrl,
    apiKey: (mayHaveKey ? key : undefined) ?? 'none',
    includeUsage: true,
    fetch,
  });
  return {
    model: provider.chatModel(adapter.model),
    provider: adapter.provider,
    keyHint: !mayHaveKey
      ? `no key was sent, since ${url.origin} is not the operator's: set ${prefix}_BASE_URL to it and ${prefix}_API_KEY in the worker's environment`
      : `check ${prefix}_API_KEY or OPENAI_API_KEY in the worker's environment`,
    takesSeed: true,
  };
};

const openai = (
  adapter: Extract<ModelAdapter, { kind: 'openai' }>,
  environment: Environment,
  fetch: typeof globalThis.fetch,
): Model => {
  const baseURL = present(environment, 'OPENAI_BASE_URL');
  const apiKey = present(environment, 'OPENAI_API_KEY') ?? (baseURL === undefined ? undefined : 'none');
  if (apiKey === undefined) throw missingKey('OPENAI_API_KEY');
  const provider = createOpenAI({ apiKey, baseURL: baseURL ?? 'https://api.openai.com/v1', fetch });
  return {
    // The chat interface and not the newer one, which takes no seed and which few compatible servers offer.
    model: provider.chat(adapter.model),
    provider: 'openai',
    keyHint: "check OPENAI_API_KEY in the worker's environment",
    takesSeed: true,
  };
};

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
