import type { Adapter, ModelAdapter } from '../../src/contracts/adapter.js';
import { approximateTokens } from '../../src/domain/budget.js';
import { wholeMicros } from '../../src/domain/ledger/prices.js';
import { assumedTokens } from '../../src/domain/session/set-up-session.js';
import type { Amount, Operator } from '../../src/domain/session/setup.js';
import type { Prices } from '../../src/pricing.js';
import { providerOf } from '../../src/provider.js';
import { mostTokens } from '../governor/tokens.js';
import type { AgentRequest } from '../ports.js';
import type { BudgetRules } from './port.js';

/** What an answer may have where neither the call nor its adapter says. */
const ungivenMaxTokens = 1024;

export type Asked = Pick<AgentRequest, 'prompt' | 'instructions' | 'messages' | 'maxTokens' | 'tier'>;

export const isModel = (adapter: Adapter): adapter is ModelAdapter =>
  adapter.kind === 'openai' || adapter.kind === 'anthropic' || adapter.kind === 'openai-compatible';

/** All that is sent: one prompt holds the instructions where there are messages. */
export const sentText = ({ prompt, instructions, messages }: Asked): string =>
  messages === undefined ? prompt + (instructions ?? '') : prompt;

/**
 * What is held for a call: the most that it can use, where its provider keeps it within that, as for a model's longest answer; else
 * what it is likely to use. A program, an agent of A2A and a tool of MCP tell nobody what they cost, so that they cost no money here.
 */
export const mostOf = (
  asked: Asked,
  adapter: Adapter,
  { operator, prices, rules }: { operator: Operator; prices: Prices; rules: BudgetRules },
): { amount: Amount; isCapped: boolean } => {
  if (isModel(adapter)) {
    const input = mostTokens(sentText(asked));
    const output = Math.min(adapter.max_tokens ?? ungivenMaxTokens, asked.maxTokens ?? Infinity);
    // A model without a price is refused when work starts.
    const dollars = prices.cost(providerOf(adapter), adapter.model, input, output) ?? 0;
    return { amount: { tokens: input + output, usdMicros: wholeMicros(dollars) }, isCapped: true };
  }
  const sent = sentText(asked);
  const likely = operator.estimate(adapter, sent, asked.tier ?? 'silver');
  const { tokens, usdMicros } = 'unpriced' in likely ? { tokens: assumedTokens, usdMicros: 0 } : likely;
  switch (adapter.kind) {
    case 'scripted':
    case 'simulated':
      return { amount: { tokens, usdMicros }, isCapped: true };
    case 'command':
    case 'a2a':
    case 'mcp':
      return { amount: { tokens: tokens + approximateTokens(sent), usdMicros }, isCapped: !rules.limitsTokens };
    default:
      return { amount: { tokens: tokens + approximateTokens(sent), usdMicros }, isCapped: false };
  }
};
