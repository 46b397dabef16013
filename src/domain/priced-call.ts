import type { Adapter } from '../contracts/adapter.js';
import type { Tier } from '../contracts/session.js';
import { noAmount } from './budget.js';
import type { Amount, Operator } from './session/setup.js';
import { tierRank } from './tier.js';

/** Calls beside the lanes of sessions have no tier; estimates take the middle guard band. */
const middle: Tier = 'silver';
const tiers = Object.keys(tierRank) as Tier[];

/** A length of prompt, to see what a longer one costs more. */
const sampleCharacters = 100_000;
const sample = 'x'.repeat(sampleCharacters);

const per1000 = (short: Amount, long: Amount): Amount => ({
  tokens: ((long.tokens - short.tokens) * 1000) / sampleCharacters,
  usdMicros: ((long.usdMicros - short.usdMicros) * 1000) / sampleCharacters,
});

/** What calls of one agent are likely to use, whatever their prompts. */
export interface PricedCall {
  /** With an empty prompt. */
  estimate: Amount;
  /** For each 1,000 characters of prompt, over and above `estimate`: prompts grow. */
  per1000Characters: Amount;
}

/** An agent that has to answer for the work to go on: each fault stands against its start (policy, no price). */
export const pricedCall = (
  operator: Operator,
  tenant: string,
  adapter: Adapter,
  tier: Tier = middle,
): { priced: PricedCall; faults: string[] } => {
  const faults: string[] = [];
  const forbidden = tiers.map((of) => operator.policyFault(tenant, adapter, of));
  if (!forbidden.includes(null)) faults.push(operator.policyFault(tenant, adapter, tier) ?? '');
  const short = operator.estimate(adapter, '', tier);
  const long = operator.estimate(adapter, sample, tier);
  if ('unpriced' in short) faults.push(short.unpriced);
  const isPriced = !('unpriced' in short) && !('unpriced' in long);
  return {
    priced: {
      estimate: isPriced ? short : noAmount,
      per1000Characters: isPriced ? per1000(short, long) : noAmount,
    },
    faults,
  };
};

/** A call's estimate with its real prompt. */
export const estimateOf = ({ estimate, per1000Characters }: PricedCall, characters: number): Amount => ({
  tokens: estimate.tokens + Math.ceil((per1000Characters.tokens * characters) / 1000),
  usdMicros: estimate.usdMicros + Math.ceil((per1000Characters.usdMicros * characters) / 1000),
});
