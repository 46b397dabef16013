import type { Config } from './config.js';
import type { Allowance } from './settings/policy.js';
import type { Adapter, ModelAdapter, ScriptEntry } from './contracts/adapter.js';
import type { Tier } from './contracts/session.js';
import { approximateTokens, guardBanded } from './domain/budget.js';
import { wholeMicros } from './domain/ledger/prices.js';
import { scriptedUse } from './domain/scripted-use.js';
import type { Amount, Operator, WindowLimits } from './domain/session/setup.js';
import { assumedTokens } from './domain/session/set-up-session.js';
import { createPrices, type Prices } from './pricing.js';
import { providerOf } from './provider.js';

/** Tokens a model may answer with when the request names no limit. */
const presetMaxTokens = 1024;

const isModel = (adapter: Adapter): adapter is ModelAdapter =>
  adapter.kind === 'openai' || adapter.kind === 'anthropic' || adapter.kind === 'openai-compatible';

const modelOf = (adapter: Adapter): string | null => ('model' in adapter ? adapter.model : null);

/** What a script says it uses, else the size of prompt and answer. */
const scriptedEstimate = (script: readonly ScriptEntry[], prompt: string): Amount => {
  const { stated, answers } = scriptedUse(script);
  const asked = answers === null ? 0 : approximateTokens(prompt);
  return { tokens: Math.max(stated.tokens, answers ?? 0) + asked, usdMicros: wholeMicros(stated.usd) };
};

/** The answer's length is not known before: mean half the limit, deviation a quarter, guard-banded by tier (details 1.6). */
const likelyOutput = (maxTokens: number, tier: Tier): number =>
  guardBanded({ mean: maxTokens / 2, variance: (maxTokens / 4) ** 2 }, tier);

const modelEstimate = (
  prices: Prices,
  adapter: ModelAdapter,
  prompt: string,
  tier: Tier,
): Amount | { unpriced: string } => {
  const provider = providerOf(adapter);
  const input = approximateTokens(prompt);
  const output = likelyOutput(adapter.max_tokens ?? presetMaxTokens, tier);
  const usd = prices.cost(provider, adapter.model, input, output);
  if (usd === null) {
    return {
      unpriced:
        `no price is known for ${provider}/${adapter.model}; give one in PARLEY_PRICES, ` +
        `such as {"${provider}/${adapter.model}":{"input":0.5,"output":1.5}} (US dollars for a million tokens; 0 is a price too)`,
    };
  }
  return { tokens: input + output, usdMicros: wholeMicros(usd) };
};

const refusal = (
  tenant: string,
  what: string,
  value: string | null,
  allowed: readonly string[] | undefined,
): string | null =>
  allowed === undefined || value === null || allowed.includes(value)
    ? null
    : `the operator allows ${tenant} ${allowed.length === 0 ? `no ${what}` : `the ${what}s ${allowed.join(', ')}`}; got ${value}`;

/** The operator's side of planning, from the configuration: who may use what, how much, and what it is likely to cost. */
export const createOperator = (config: Config, prices: Prices = createPrices(config.prices)): Operator => {
  const allowanceOf = (tenant: string): Allowance => {
    const own = Object.hasOwn(config.policy.tenants, tenant) ? config.policy.tenants[tenant] : undefined;
    return { ...config.policy.default, ...own };
  };
  const window: WindowLimits = {
    maxParallel: config.window.max_parallel ?? null,
    maxTokens: config.window.max_tokens ?? null,
    maxUsdMicros: config.window.max_usd_micros ?? null,
  };
  return {
    policyFault: (tenant, adapter, tier) => {
      const allowance = allowanceOf(tenant);
      const faults = [
        refusal(tenant, 'adapter', adapter.kind, allowance.adapters),
        refusal(tenant, 'provider', isModel(adapter) ? providerOf(adapter) : null, allowance.providers),
        refusal(tenant, 'model', modelOf(adapter), allowance.models),
        refusal(tenant, 'tier', tier, allowance.tiers),
      ].filter((fault) => fault !== null);
      return faults.length > 0 ? faults.join('; ') : null;
    },
    estimate: (adapter, prompt, tier) => {
      switch (adapter.kind) {
        case 'openai':
        case 'anthropic':
        case 'openai-compatible':
          return modelEstimate(prices, adapter, prompt, tier);
        case 'scripted':
          return scriptedEstimate(adapter.script, prompt);
        case 'simulated':
          return { tokens: approximateTokens(prompt) + approximateTokens(adapter.answer ?? prompt), usdMicros: 0 };
        case 'command':
        case 'http':
        case 'a2a':
        case 'mcp':
        case 'external':
          return { tokens: assumedTokens, usdMicros: 0 };
      }
    },
    window: () => window,
  };
};
