import type { z } from 'zod';
import type { ChatRequest, chatCompletionSchema, ChatUsage } from '../../contracts/chat.js';
import type { Json } from '../../contracts/frames.js';
import type { SessionResult, SessionStatus } from '../../contracts/session-status.js';
import { approximateTokens } from '../../domain/budget.js';
import { ProblemError } from '../problem.js';

/** An answer as text: what is no text is written as JSON. */
export const textOf = (answer: Json): string => (typeof answer === 'string' ? answer : JSON.stringify(answer));

/** The answer up to the first of what ends it. */
export const stopped = (text: string, stop: ChatRequest['stop']): string => {
  const ends = [stop ?? []]
    .flat()
    .map((end) => text.indexOf(end))
    .filter((index) => index >= 0);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
};

export const completionId = (sessionId: string): string => `chatcmpl-${sessionId}`;

/** In seconds, as OpenAI's API has times. */
export const createdAt = ({ started_at: startedAt }: Pick<SessionStatus, 'started_at'>): number =>
  Math.floor(Date.parse(startedAt) / 1_000);

/** What lanes spent is known in one sum; how much of it the answer is, is estimated. */
export const usageOf = ({ spend: { tokens } }: Pick<SessionStatus, 'spend'>, text: string): ChatUsage => {
  const completion = Math.min(approximateTokens(text), tokens);
  return { prompt_tokens: tokens - completion, completion_tokens: completion, total_tokens: tokens };
};

/** How an answer came about. */
export const howOf = (id: string, result: SessionResult) => {
  const { agreement, for: backing, against, below_threshold, partial, ended_by } = result;
  return { session_id: id, agreement, for: backing, against, below_threshold, partial, ended_by };
};

/** Why a session has no answer: with each lane's reason where it failed. */
export const failureOf = ({ id, state, error }: Pick<SessionStatus, 'id' | 'state' | 'error'>): ProblemError =>
  new ProblemError(
    'work_failed',
    error === null
      ? `Session ${id} ended as ${state}, without an answer.`
      : `Session ${id}: ${error.code}, ${error.message}`,
  );

/** @throws ProblemError work_failed where the session has no answer */
export const completionOf = (status: SessionStatus, request: ChatRequest): z.infer<typeof chatCompletionSchema> => {
  if (status.result === null) throw failureOf(status);
  const content = stopped(textOf(status.result.answer), request.stop);
  return {
    id: completionId(status.id),
    object: 'chat.completion',
    created: createdAt(status),
    model: request.model,
    choices: [
      { index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason: 'stop' },
    ],
    usage: usageOf(status, content),
    parley: howOf(status.id, status.result),
  };
};
