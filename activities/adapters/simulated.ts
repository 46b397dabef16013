import type { SimulatedAdapter } from '../../src/contracts/adapter.js';
import type { Frame } from '../../src/contracts/frames.js';
import { approximateTokens } from '../../src/domain/budget.js';
import type { AgentFrame, AgentRequest } from '../ports.js';
import { type Clock, waitUntil } from './clock.js';
import { createNumbering, failFrame, finalOfPartials, type Call, frameStream } from './frame-stream.js';
import { createRandom, logNormal } from './random.js';
import { drawAnswer } from './simulated-answer.js';

/** Latency, speed and accuracy of a small, a mid-sized and a large hosted model, in round numbers. */
const sizes: Record<SimulatedAdapter['model'], { firstTokenMs: number; tokensPerSecond: number; accuracy: number }> = {
  small: { firstTokenMs: 150, tokensPerSecond: 120, accuracy: 0.65 },
  medium: { firstTokenMs: 300, tokensPerSecond: 80, accuracy: 0.78 },
  large: { firstTokenMs: 600, tokensPerSecond: 45, accuracy: 0.9 },
};
const firstTokenScatter = 0.25;
const tokenScatter = 0.4;

/** Pieces about as long as a model's tokens; joined they are the text. */
const tokensOf = (text: string): string[] => text.match(/\s*\S{1,5}|\s+$/gu) ?? [];

/**
 * Simulates a model: tokens come at their own, scattered times; answers are right, wrong or missing by seeded draws. What
 * is said depends on seed, diversity seed, prompt and number of the call alone, and so do the times. Costs no money.
 */
export const openSimulated = async (
  adapter: SimulatedAdapter,
  request: AgentRequest,
  call: Call,
  clock: Clock,
): Promise<AsyncIterable<AgentFrame>> => {
  const size = sizes[adapter.model];
  const lane = [adapter.model, adapter.seed, request.diversitySeed, request.prompt, request.callsBefore];
  const answer = drawAnswer(
    adapter,
    request.prompt,
    adapter.accuracy ?? size.accuracy,
    createRandom('answer', ...lane),
  );
  const tokens = tokensOf(answer);
  const luck = createRandom('failure', ...lane);
  const failsAfter = luck() < adapter.failure_rate ? Math.floor(luck() * (tokens.length + 1)) : Infinity;
  const pace = createRandom('pace', ...lane);
  const tokenMs = 1000 / (adapter.tokens_per_second ?? size.tokensPerSecond);
  const promptTokens = approximateTokens(request.prompt) + approximateTokens(request.instructions ?? '');
  let at = clock.now() + (adapter.first_token_ms ?? size.firstTokenMs) * logNormal(pace, firstTokenScatter);
  return frameStream(call, speak());

  async function* speak(): AsyncGenerator<Frame, void, undefined> {
    const numbering = createNumbering();
    let text = '';
    const account = (): { tokens: number; usd: number } => {
      const usage = { tokens: promptTokens + approximateTokens(text), usd: 0 };
      call.onUsage(usage);
      return usage;
    };
    for (const [index, token] of tokens.entries()) {
      if (index >= failsAfter) break;
      // A model's length limit ends the answer where it stands.
      if (request.maxTokens !== null && approximateTokens(text + token) > request.maxTokens) break;
      await waitUntil(clock, at, call.signal);
      if (call.signal.aborted) return;
      text += token;
      account();
      yield numbering.partial(token);
      at += tokenMs * logNormal(pace, tokenScatter);
    }
    if (failsAfter !== Infinity || tokens.length === 0) await waitUntil(clock, at, call.signal);
    if (call.signal.aborted) return;
    if (failsAfter !== Infinity) {
      account();
      yield failFrame('EAGENTDOWN', `simulated failure (failure_rate ${adapter.failure_rate})`, true);
      return;
    }
    const usage = account();
    yield finalOfPartials(numbering.next(), usage);
  }
};
