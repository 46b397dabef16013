import { calcPrice } from '@pydantic/genai-prices';

/** Prices by `provider/model` or `provider/*`, in US dollars per million tokens; they go before the built-in table. */
export type PriceOverrides = Readonly<Record<string, { readonly input: number; readonly output: number }>>;

export interface Price {
  inputUsdPerMtok: number;
  outputUsdPerMtok: number;
}

export interface Prices {
  /** The price of a short call; null when nobody has given one, never 0 (design "tokens, prices"). */
  priceOf(provider: string, model: string): Price | null;
  /** US dollars for one call, with the table's tiers for long contexts; null when the price is unknown. */
  cost(provider: string, model: string, inputTokens: number, outputTokens: number): number | null;
}

/**
 * The table is the one that comes with @pydantic/genai-prices, as of that package's release, read at today's date. A
 * provider counts as known only by its exact name there: the table itself would guess that "openai-compatible" is OpenAI.
 */
export const createPrices = (overrides: PriceOverrides = {}): Prices => {
  const overridden = (provider: string, model: string): Price | null => {
    const found = [`${provider}/${model}`, `${provider}/*`].find((key) => Object.hasOwn(overrides, key));
    const price = found === undefined ? undefined : overrides[found];
    return price === undefined ? null : { inputUsdPerMtok: price.input, outputUsdPerMtok: price.output };
  };
  const tabled = (provider: string, model: string, inputTokens: number, outputTokens: number) => {
    const found = calcPrice({ input_tokens: inputTokens, output_tokens: outputTokens }, model, {
      providerId: provider,
    });
    return found !== null && found.provider.id === provider ? found : null;
  };
  return {
    priceOf: (provider, model) => {
      const sample = 1000;
      const found = tabled(provider, model, sample, sample);
      return (
        overridden(provider, model) ??
        (found === null
          ? null
          : {
              inputUsdPerMtok: (found.input_price / sample) * 1e6,
              outputUsdPerMtok: (found.output_price / sample) * 1e6,
            })
      );
    },
    cost: (provider, model, inputTokens, outputTokens) => {
      const price = overridden(provider, model);
      return price === null
        ? (tabled(provider, model, inputTokens, outputTokens)?.total_price ?? null)
        : (inputTokens * price.inputUsdPerMtok + outputTokens * price.outputUsdPerMtok) / 1e6;
    },
  };
};
