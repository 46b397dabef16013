import { APICallError, RetryError, streamText, type TextStreamPart, type ToolSet } from 'ai';
import type { Dispatcher } from 'undici';
import type { ModelAdapter } from '../../src/contracts/adapter.js';
import type { Frame, Json, Usage } from '../../src/contracts/frames.js';
import { approximateTokens } from '../../src/domain/budget.js';
import { type ErrorCode, ParleyError } from '../../src/domain/errors.js';
import type { ModelCall } from '../../src/domain/team/model-call.js';
import type { Prices } from '../../src/pricing.js';
import { GovernedFetch } from '../governor/governed-fetch.js';
import type { Admission } from '../governor/port.js';
import { mostTokens } from '../governor/tokens.js';
import type { AgentFrame, AgentRequest } from '../ports.js';
import { describeError, type Environment, fetchOver, isTimeout, meaningOfStatus } from './connections.js';
import { createNumbering, failFrame, finalOfPartials, type Call, frameStream } from './frame-stream.js';
import { openChat } from './chat-span.js';
import { createGate, gatedFetch } from './gate.js';
import { askedWith, toolSetOf } from './model-messages.js';
import { type Model, modelFor } from './model-provider.js';

// A setting that a model does not know is left out by the SDK; its console is not ours to write to.
globalThis.AI_SDK_LOG_WARNINGS = false;

/** Tries after the first one, for 429, 5xx and lost connections before the first token; Retry-After is kept to. */
const retries = 2;
const defaultMaxTokens = 1024;

type Part = TextStreamPart<ToolSet>;

export interface ModelPorts {
  environment: Environment;
  prices: Prices;
  dispatcher: Dispatcher;
  /** Admits each request to the provider, which may use so many tokens at most. */
  admit: (tokens: number) => Promise<Admission>;
}

interface Failure {
  code: ErrorCode;
  message: string;
  retryable: boolean;
}

/** A provider's words, and what they mean for the lane. */
const failureOf = (error: unknown, model: Model): Failure => {
  const cause = RetryError.isInstance(error) ? error.lastError : error;
  if (cause instanceof ParleyError) {
    return { code: cause.code, retryable: cause.options.retryable === true, message: cause.message };
  }
  if (APICallError.isInstance(cause) && cause.statusCode !== undefined && cause.statusCode >= 400) {
    const { code, retryable } = meaningOfStatus(cause.statusCode);
    const wait = cause.responseHeaders?.['retry-after'];
    const hints = [
      ...(code === 'ESEC' ? [model.keyHint] : []),
      ...(wait === undefined ? [] : [`retry after ${wait} s`]),
    ];
    const said = `${model.provider} answered ${cause.statusCode}: ${cause.message}`;
    return { code, retryable, message: [said, ...hints].join('; ') };
  }
  if (isTimeout(cause)) {
    return { code: 'ETIMEOUT', retryable: true, message: `${model.provider}: ${describeError(cause)}` };
  }
  // A provider may report an error inside its stream as a plain object.
  const told =
    cause instanceof Error ? describeError(cause) : typeof cause === 'string' ? cause : JSON.stringify(cause);
  return { code: 'EAGENTDOWN', retryable: true, message: `${model.provider}: ${told}` };
};

/**
 * Asks a model through the AI SDK. Once the first token is there nothing is retried: the text is already on its way, so a
 * stream that is cut ends as a retryable EAGENTDOWN. An answer that stops at its length limit is an answer.
 * @throws ParleyError when no key, no address or no connection is to be had; everything later is a `fail` frame.
 */
export const openModel = async (
  adapter: ModelAdapter,
  request: AgentRequest,
  call: Call,
  { environment, prices, dispatcher, admit }: ModelPorts,
): Promise<AsyncIterable<AgentFrame>> => {
  const maxOutputTokens = Math.min(adapter.max_tokens ?? defaultMaxTokens, request.maxTokens ?? Infinity);
  const requests = new GovernedFetch((body) => admit(mostTokens(body) + maxOutputTokens), call.signal);
  const { fetch, dispatched } = fetchOver(dispatcher, () => requests.started());
  const gate = createGate();
  call.signal.addEventListener('abort', gate.open, { once: true });
  const model = modelFor(adapter, environment, gatedFetch(requests.over(fetch), gate));
  const chat = openChat(model.provider, adapter.model, request, call);
  const tools = toolSetOf(request);
  const temperature = adapter.temperature ?? request.temperature ?? null;
  const result = streamText({
    model: model.model,
    ...askedWith(request),
    ...(Object.keys(tools).length === 0 ? {} : { tools }),
    maxOutputTokens,
    ...(temperature === null ? {} : { temperature }),
    ...(model.takesSeed ? { seed: request.diversitySeed } : {}),
    maxRetries: retries,
    abortSignal: call.signal,
    // The default writes to the console; the error comes as a part as well, and is handled there.
    onError: () => {},
  });
  const parts: AsyncIterator<Part> = result.fullStream[Symbol.asyncIterator]();
  // The SDK may throw what it could as well say in a part.
  const pull = async (): Promise<Part | null> => {
    try {
      const next = await parts.next();
      return next.done === true ? null : next.value;
    } catch (error) {
      return { type: 'error', error };
    }
  };
  let pending = pull();
  for (;;) {
    const first = await Promise.race([dispatched, pending]);
    if (first === 'dispatched' || call.signal.aborted) break;
    if (first?.type === 'error') {
      const { code, message, retryable } = failureOf(first.error, model);
      chat.fail(code);
      requests.end({ outcome: 'failed', tokens: null });
      throw new ParleyError(code, message, { retryable });
    }
    if (first === null) break;
    pending = pull();
  }
  return frameStream(call, speak());

  /** A failure of the provider, told to the lane and to the span. */
  function failed(code: ErrorCode, message: string, retryable: boolean): Frame {
    chat.fail(code);
    requests.end({ outcome: 'failed', tokens: null });
    return failFrame(code, message, retryable);
  }

  async function* speak(): AsyncGenerator<AgentFrame, void, undefined> {
    const numbering = createNumbering();
    // The prompt of a request with messages holds the instructions, too.
    const told = request.messages === undefined ? approximateTokens(request.instructions ?? '') : 0;
    const promptTokens = approximateTokens(request.prompt) + told;
    const calls: ModelCall[] = [];
    /** Characters of its text and of its calls' arguments. */
    let written = 0;
    const writtenTokens = (): number => Math.ceil(written / 4);
    const usageOf = (input: number, output: number): Usage => {
      const usd = prices.cost(model.provider, adapter.model, input, output);
      const usage = { tokens: input + output, ...(usd === null ? {} : { usd }) };
      call.onUsage(usage);
      return usage;
    };
    for (;;) {
      const part = await pending;
      if (call.signal.aborted) return;
      if (part === null) {
        yield failed('EAGENTDOWN', `${model.provider}: the stream ended before its answer was complete`, true);
        return;
      }
      if (part.type === 'error') {
        const { code, message, retryable } = failureOf(part.error, model);
        const frame = failed(code, message, retryable);
        // The request may still be open when only its stream reported the error.
        call.abort();
        yield frame;
        return;
      }
      if (part.type === 'text-delta' && part.text !== '') {
        written += part.text.length;
        usageOf(promptTokens, writtenTokens());
        gate.close();
        yield numbering.partial(part.text);
        gate.open();
        if (call.signal.aborted) return;
      }
      if (part.type === 'tool-input-delta') {
        written += part.delta.length;
        usageOf(promptTokens, writtenTokens());
      }
      // Arguments that the SDK cannot read are handed on as the text that they are.
      if (part.type === 'tool-call')
        calls.push({ callId: part.toolCallId, name: part.toolName, arguments: part.input as Json });
      if (part.type === 'finish') {
        const { inputTokens = promptTokens, outputTokens = writtenTokens() } = part.totalUsage;
        // Without the provider's reason for ending, the stream just stopped.
        if (part.rawFinishReason === undefined) {
          yield failed('EAGENTDOWN', `${model.provider}: the stream ended without a finish reason`, true);
          return;
        }
        chat.end(part.totalUsage);
        requests.end({ outcome: 'answered', tokens: part.totalUsage.totalTokens ?? null });
        const final = finalOfPartials(numbering.next(), usageOf(inputTokens, outputTokens));
        yield { ...final, ...(calls.length > 0 && { calls }) };
        return;
      }
      pending = pull();
    }
  }
};
