/** US dollars for a million tokens, from a day on (UTC); without `from` it has always been so. */
export interface DatedPrice {
  readonly from?: string | undefined;
  readonly input: number;
  readonly output: number;
}

/** Prices by `provider/model` or `provider/*`: one, or one for each time. They go before the built-in table. */
export type PriceOverrides = Readonly<Record<string, DatedPrice | readonly DatedPrice[]>>;

const isList = (value: DatedPrice | readonly DatedPrice[]): value is readonly DatedPrice[] => Array.isArray(value);

/** The price that holds at `at`, epoch milliseconds; null: none yet. Of two with the same day the later in the list holds. */
export const priceAt = (prices: readonly DatedPrice[], at: number): DatedPrice | null => {
  const day = new Date(at).toISOString().slice(0, 10);
  return prices.reduce<DatedPrice | null>((latest, price) => {
    if (price.from !== undefined && price.from > day) return latest;
    return latest === null || (price.from ?? '') >= (latest.from ?? '') ? price : latest;
  }, null);
};

/** What the configuration says of a model at a time: its own price, else that of all models of its provider; null: nothing. */
export const overriddenPrice = (
  overrides: PriceOverrides,
  provider: string,
  model: string,
  at: number,
): DatedPrice | null => {
  for (const key of [`${provider}/${model}`, `${provider}/*`]) {
    const given = Object.hasOwn(overrides, key) ? overrides[key] : undefined;
    const price = given === undefined ? null : priceAt(isList(given) ? given : [given], at);
    if (price !== null) return price;
  }
  return null;
};

/** Below this share of a millionth of a dollar a remainder is an artefact of binary fractions. */
const hair = 1e-6;

/** Dollars as whole millionths, rounded up: a call that costs anything is never free, and 0.1 + 0.2 is no more than 0.3. */
export const wholeMicros = (usd: number): number => Math.max(0, Math.ceil(usd * 1e6 - hair));
