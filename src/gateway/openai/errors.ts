import type { ChatError } from '../../contracts/chat.js';
import { oneMessage, type ProblemError, problems } from '../problem.js';

/** Paths whose callers read errors as OpenAI's API has them, those of it that are not here among them. */
export const isOpenAiPath = (path: string): boolean =>
  /^\/v1\/(chat\/completions|models(\/[^/]*)?|responses|completions|embeddings)\/?$/.test(path);

const typeOf = (status: number): string => {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
};

/**
 * A problem as OpenAI's API tells it. Clients try again by themselves after some statuses: where the session itself has failed
 * they are told not to, as that would be another session.
 */
export const openAiError = (
  error: ProblemError,
): { status: number; body: ChatError; headers: Record<string, string> } => {
  const { status } = problems[error.code];
  return {
    // What this gateway answers with 422 elsewhere is a 400 there, and clients tell them apart.
    status: status === 422 ? 400 : status,
    body: {
      error: {
        message: oneMessage(error),
        type: typeOf(status),
        code: error.code,
        param: error.code === 'model_not_found' ? 'model' : (error.options.errors?.[0]?.path ?? null),
      },
    },
    headers: {
      ...error.options.headers,
      ...(error.code === 'work_failed' || status === 409 ? { 'x-should-retry': 'false' } : {}),
    },
  };
};
