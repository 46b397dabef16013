import type { Adapter, SimulatedAdapter } from '../contracts/adapter.js';
import { approximateTokens, noAmount, usualCharacters } from './budget.js';
import { wholeMicros } from './ledger/prices.js';
import type { LedgerState } from './ledger/state.js';
import { estimateOf, type PricedCall, pricedCall } from './priced-call.js';
import { scriptedUse } from './scripted-use.js';
import type { Amount, Operator } from './session/setup.js';
import { type Held, holdCall, limitsOf } from './work-account.js';

/** The most that a call of an agent can use, whatever its prompt. */
export interface CallMost extends PricedCall {
  /** What of it nobody bounds: of a remote agent all, of a program that says nothing of money its tokens. */
  unbounded: 'nothing' | 'tokens' | 'all';
}

/** What calls of one agent are likely to use, and at most. */
export interface BoundedCall extends PricedCall {
  /** Left out: what it is likely to use is taken for the most, as it was for work that began before the two were told apart. */
  most?: CallMost;
}

/** Tokens of 1,000 characters. */
const usualTokens = 1000 / usualCharacters;
const free: PricedCall = { estimate: noAmount, per1000Characters: noAmount };

/** Sentences that a simulated model has of its own, with the line that it repeats in one of them. */
const ownAnswerCharacters = 400;

const simulated = ({ answer, wrong_answers: wrong = [] }: SimulatedAdapter): PricedCall => {
  const longest = Math.max(ownAnswerCharacters, ...[answer ?? '', ...wrong].map((text) => text.length));
  // What it is not told to say it may take from its prompt.
  const repeats = answer === undefined || wrong.length === 0;
  return {
    estimate: { tokens: approximateTokens('x'.repeat(longest)) + 1, usdMicros: 0 },
    per1000Characters: { tokens: repeats ? 2 * usualTokens : usualTokens, usdMicros: 0 },
  };
};

const larger = (a: Amount, b: Amount): Amount => ({
  tokens: Math.max(a.tokens, b.tokens),
  usdMicros: Math.max(a.usdMicros, b.usdMicros),
});

/** @see CallMost. Never less than what a call is likely to use. */
export const mostOfCalls = (operator: Operator, tenant: string, adapter: Adapter): CallMost => {
  const most = byKind(operator, tenant, adapter);
  const likely = pricedCall(operator, tenant, adapter).priced;
  return {
    ...most,
    estimate: larger(most.estimate, likely.estimate),
    per1000Characters: larger(most.per1000Characters, likely.per1000Characters),
  };
};

const byKind = (operator: Operator, tenant: string, adapter: Adapter): CallMost => {
  switch (adapter.kind) {
    case 'openai':
    case 'anthropic':
    case 'openai-compatible': {
      // The answer at its longest: its mean and two deviations. A token of a prompt has one character at the least.
      const { estimate, per1000Characters } = pricedCall(operator, tenant, adapter, 'gold').priced;
      return {
        estimate,
        per1000Characters: {
          tokens: per1000Characters.tokens * usualCharacters,
          usdMicros: per1000Characters.usdMicros * usualCharacters,
        },
        unbounded: 'nothing',
      };
    }
    case 'scripted': {
      const { stated, begun } = scriptedUse(adapter.script);
      return {
        estimate: { tokens: Math.max(stated.tokens, begun ?? 0), usdMicros: wholeMicros(stated.usd) },
        per1000Characters: { tokens: begun === null ? 0 : usualTokens, usdMicros: 0 },
        unbounded: 'nothing',
      };
    }
    case 'simulated':
      return { ...simulated(adapter), unbounded: 'nothing' };
    case 'command':
    case 'a2a':
    case 'mcp':
      return { ...free, unbounded: 'tokens' };
    case 'http':
    case 'external':
      return { ...free, unbounded: 'all' };
  }
};

const isBounded = ({ unbounded }: CallMost, { maxTokens }: { maxTokens: number | null }): boolean =>
  unbounded === 'nothing' || (unbounded === 'tokens' && maxTokens === null);

/**
 * Holds the most that a call can use, where that is known and fits: such calls go side by side. Else what it is likely to use, which has to
 * fit: then it is the only such call under way, so that what is spent never passes a limit by more than one call (decision 29).
 * `characters`: of all that it is asked with; `now`: epoch milliseconds, of work that time may be a limit of.
 */
export const holdBounded = (ledger: LedgerState, call: BoundedCall, characters: number, now?: number): Held => {
  const likely = estimateOf(call, characters);
  const { most } = call;
  if (most === undefined) return holdCall(ledger, likely, now);
  const whole = isBounded(most, limitsOf(ledger)) ? holdCall(ledger, estimateOf(most, characters), now) : null;
  return whole && 'call' in whole ? whole : holdCall(ledger, likely, now, false);
};
