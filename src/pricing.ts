import { calcPrice } from '@pydantic/genai-prices';
import { overriddenPrice, type PriceOverrides } from './domain/ledger/prices.js';

export interface Price {
  inputUsdPerMtok: number;
  outputUsdPerMtok: number;
}

export interface Prices {
  /** The price of a short call made at `at`, else now; null when nobody has given one, never 0 (design "tokens, prices"). */
  priceOf(provider: string, model: string, at?: Date): Price | null;
  /** US dollars for one call made at `at`, else now, with the table's tiers for long contexts; null when the price is unknown. */
  cost(provider: string, model: string, inputTokens: number, outputTokens: number, at?: Date): number | null;
}

/**
 * The table is the one that comes with @pydantic/genai-prices, as of that package's release, read at the date of the call. A
 * provider counts as known only by its exact name there: the table itself would guess that "openai-compatible" is OpenAI.
 */
export const createPrices = (overrides: PriceOverrides = {}): Prices => {
  const overridden = (provider: string, model: string, at: Date): Price | null => {
    const price = overriddenPrice(overrides, provider, model, at.getTime());
    return price === null ? null : { inputUsdPerMtok: price.input, outputUsdPerMtok: price.output };
  };
  const tabled = (provider: string, model: string, inputTokens: number, outputTokens: number, at: Date) => {
    const found = calcPrice({ input_tokens: inputTokens, output_tokens: outputTokens }, model, {
      providerId: provider,
      timestamp: at,
    });
    return found !== null && found.provider.id === provider ? found : null;
  };
  return {
    priceOf: (provider, model, at = new Date()) => {
      const sample = 1000;
      const found = tabled(provider, model, sample, sample, at);
      return (
        overridden(provider, model, at) ??
        (found === null
          ? null
          : {
              inputUsdPerMtok: (found.input_price / sample) * 1e6,
              outputUsdPerMtok: (found.output_price / sample) * 1e6,
            })
      );
    },
    cost: (provider, model, inputTokens, outputTokens, at = new Date()) => {
      const price = overridden(provider, model, at);
      return price === null
        ? (tabled(provider, model, inputTokens, outputTokens, at)?.total_price ?? null)
        : (inputTokens * price.inputUsdPerMtok + outputTokens * price.outputUsdPerMtok) / 1e6;
    },
  };
};
