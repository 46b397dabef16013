import type { Reconciliation, Tier } from '../contracts/session.js';
import { above } from './numbers.js';
import type { Amount } from './session/setup.js';
import type { Fault } from './window.js';

export const noAmount: Amount = { tokens: 0, usdMicros: 0 };

export const add = (a: Amount, b: Amount): Amount => ({
  tokens: a.tokens + b.tokens,
  usdMicros: a.usdMicros + b.usdMicros,
});

/** What is left of `a`, component by component, never below 0. */
export const subtract = (a: Amount, b: Amount): Amount => ({
  tokens: Math.max(0, a.tokens - b.tokens),
  usdMicros: Math.max(0, a.usdMicros - b.usdMicros),
});

/** Millionths of a dollar as the wire's decimal string, without trailing zeros: "0", "0.0001", "12.5". */
export const usd = (usdMicros: number): string => {
  const whole = Math.round(usdMicros);
  const digits = String(Math.abs(whole)).padStart(7, '0');
  const fraction = digits.slice(-6).replace(/0+$/, '');
  return `${whole < 0 ? '-' : ''}${digits.slice(0, -6)}${fraction === '' ? '' : `.${fraction}`}`;
};

/** Dollars as whole millionths, to the nearest. */
export const micros = (dollars: number): number => Math.round(dollars * 1e6);

/** Characters of a token as a rule. */
export const usualCharacters = 4;

/** A rough count for estimates where no tokenizer is at hand: four characters a token, rounded up. */
export const approximateTokens = (text: string): number => Math.ceil(text.length / usualCharacters);

const guardBand: Readonly<Record<Tier, number>> = { gold: 2, silver: 1, bronze: 0.5 };

/** mean + k·√variance, k 2 for gold, 1 silver, 0.5 bronze, rounded up to whole units (details 1.6). */
export const guardBanded = ({ mean, variance }: { mean: number; variance: number }, tier: Tier): number => {
  const estimate = mean + guardBand[tier] * Math.sqrt(variance);
  // 0.1 + 0.2 must not cost a whole unit more than 0.3.
  return above(estimate, Math.floor(estimate)) ? Math.ceil(estimate) : Math.floor(estimate);
};

/** Limits of a piece of work; null is no limit. */
export interface BudgetLimits {
  maxTokens: number | null;
  maxUsdMicros: number | null;
}

/**
 * What work may use, holds for calls under way, and has used. While no call uses more than it reserved, limit = spent + reserved +
 * available. What was used is a fact: it may exceed the limit.
 */
export interface Books {
  limits: BudgetLimits;
  reserved: Amount;
  spent: Amount;
}

const left = (limit: number | null, spent: number, reserved: number): number | null =>
  limit === null ? null : Math.max(0, limit - spent - reserved);

/** What no call has used or holds; null is no limit. */
export interface AmountLeft {
  tokens: number | null;
  usdMicros: number | null;
}
export const available = ({ limits, reserved, spent }: Books): AmountLeft => ({
  tokens: left(limits.maxTokens, spent.tokens, reserved.tokens),
  usdMicros: left(limits.maxUsdMicros, spent.usdMicros, reserved.usdMicros),
});

/** Every limit that `estimate` does not fit, as EBUDGET; what reaches a limit exactly fits. */
export const budgetFaults = (books: Books, estimate: Amount): Fault[] => {
  const { tokens, usdMicros } = available(books);
  const faults: Fault[] = [];
  if (tokens !== null && estimate.tokens > tokens) {
    const message = `needs ${estimate.tokens} tokens; ${tokens} of max_tokens ${books.limits.maxTokens} are left`;
    faults.push({ code: 'EBUDGET', message });
  }
  if (usdMicros !== null && estimate.usdMicros > usdMicros) {
    const limit = usd(books.limits.maxUsdMicros ?? 0);
    const message = `needs ${usd(estimate.usdMicros)} USD; ${usd(usdMicros)} of max_usd ${limit} are left`;
    faults.push({ code: 'EBUDGET', message });
  }
  return faults;
};

/** Buffered share, in whole percent, strictly above which a policy wants what there is (details 1.4). */
const flushPercent: Readonly<Record<Reconciliation, number>> = { first_win: 80, weighted_merge: 70, consensus: 60 };

/**
 * Whether partial text is handed on under backpressure: consensus only once its majority is reached; the arbiter by the
 * share of its money that is spent, strictly above 0.8.
 */
export const shouldFlush = (facts: {
  policy: Reconciliation | 'arbiter';
  bufferedChars: number;
  limitChars: number;
  hasMajority: boolean;
  arbiterSpentShare: number;
}): boolean => {
  if (facts.policy === 'arbiter') return above(facts.arbiterSpentShare, 0.8);
  if (facts.policy === 'consensus' && !facts.hasMajority) return false;
  return facts.bufferedChars * 100 > facts.limitChars * flushPercent[facts.policy];
};
