import { type Attributes, ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import { failSpan, openSpan } from '../../src/tracing.js';
import type { AgentRequest } from '../ports.js';
import type { Call } from './frame-stream.js';

export interface ChatSpan {
  end(usage: { inputTokens: number | undefined; outputTokens: number | undefined }): void;
  fail(code: string): void;
}

/**
 * The span of one model call, by the GenAI semantic conventions; tokens as the provider counted them. A call that is
 * aborted ends its span at once.
 */
export const openChat = (provider: string, model: string, request: AgentRequest, call: Call): ChatSpan => {
  const attributes: Attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model,
    session_id: request.workId,
    lane_id: request.laneId,
    persona_id: request.personaId,
    diversity_seed: request.diversitySeed,
  };
  const { span } = openSpan(`chat ${model}`, attributes, call.trace ?? ROOT_CONTEXT, SpanKind.CLIENT);
  let ended = false;
  const endWith = (finish: () => void): void => {
    if (ended) return;
    ended = true;
    finish();
    span.end();
  };
  call.signal.addEventListener('abort', () => endWith(() => {}), { once: true });
  return {
    end: ({ inputTokens, outputTokens }) =>
      endWith(() => {
        if (inputTokens !== undefined) span.setAttribute('gen_ai.usage.input_tokens', inputTokens);
        if (outputTokens !== undefined) span.setAttribute('gen_ai.usage.output_tokens', outputTokens);
      }),
    fail: (code) => endWith(() => failSpan(span, code)),
  };
};
