import type { ChatRequest, ChatUsage } from '../../contracts/chat.js';
import type { SessionDurableEvent } from '../../contracts/session-events.js';
import type { SessionStatus } from '../../contracts/session-status.js';
import { ProblemError } from '../problem.js';
import type { SseMessage } from '../sse.js';
import { completionId, createdAt, failureOf, howOf, stopped, textOf, usageOf } from './completion.js';
import { openAiError } from './errors.js';

interface Choice {
  index: 0;
  delta: { role?: 'assistant'; content?: string };
  logprobs: null;
  finish_reason: 'stop' | null;
}

/** What a chunk says of the session, which clients of OpenAI read over. */
type Extension = { event: string; session_id: string } & Record<string, unknown>;

const answered = (answer: Parameters<typeof textOf>[0] | null): string | null =>
  answer === null ? null : textOf(answer);

/** What an event means to who watches a chat; null: nothing. The texts are not deltas: a plain client shows the final alone. */
const extensionOf = (id: string, { event, data }: SessionDurableEvent): Extension | null => {
  switch (event) {
    case 'provisional': {
      const { number, answer, agreement, lanes } = data;
      return { event, session_id: id, number, text: textOf(answer), agreement, lanes };
    }
    case 'revision': {
      const { replaces, because, agreement, answer } = data;
      return { event, session_id: id, replaces, because, agreement, text: answered(answer) };
    }
    default:
      return null;
  }
};

export interface ChatStream {
  session: Pick<SessionStatus, 'id' | 'started_at'>;
  request: ChatRequest;
  /** The session's event stream, from its beginning. */
  messages: AsyncIterable<SseMessage>;
  status: () => Promise<SessionStatus>;
  /** Told once there is nothing to cancel any more. */
  onEnd: () => void;
}

/**
 * A session's events as chunks of a chat completion: the final is the one delta with content, provisional answers and revisions
 * are chunks with an empty delta and `parley` beside it (spec 08 "Interop").
 */
export async function* chatChunks({
  session,
  request,
  messages,
  status,
  onEnd,
}: ChatStream): AsyncGenerator<SseMessage> {
  const { id } = session;
  const wantsUsage = request.stream_options?.include_usage === true;
  const chunk = (choices: Choice[], extension?: Extension, usage: ChatUsage | null = null): SseMessage => ({
    data: {
      id: completionId(id),
      object: 'chat.completion.chunk',
      created: createdAt(session),
      model: request.model,
      choices,
      ...(wantsUsage && { usage }),
      ...(extension && { parley: extension }),
    },
  });
  const delta = (said: Choice['delta'], end: Choice['finish_reason'] = null): Choice[] => [
    { index: 0, delta: said, logprobs: null, finish_reason: end },
  ];
  const failed = (error: ProblemError): SseMessage => ({ data: openAiError(error).body });

  yield chunk(delta({ role: 'assistant', content: '' }), { event: 'started', session_id: id });
  let text: string | null = null;
  let hasEnded = false;
  for await (const { event, data } of messages) {
    if (event === 'end') hasEnded = true;
    if (event === undefined || event === 'partial' || event === 'end') continue;
    const told = { event, data } as SessionDurableEvent;
    if (told.event === 'final') {
      onEnd();
      text = stopped(textOf(told.data.answer), request.stop);
      yield chunk(delta({ content: text }));
      yield chunk(delta({}, 'stop'), { event: 'final', ...howOf(id, told.data) });
      if (!wantsUsage) break;
    }
    const extension = extensionOf(id, told);
    if (extension) yield chunk(delta({}), extension);
  }
  onEnd();
  if (text === null) {
    yield failed(
      hasEnded
        ? failureOf(await status())
        : new ProblemError(
            'unavailable',
            `This gateway stops. Session ${id} goes on: GET /v1/sessions/${id} has its answer.`,
          ),
    );
    return;
  }
  if (wantsUsage) yield chunk([], undefined, usageOf(await status(), text));
  yield { line: '[DONE]' };
}
