import type { Problem } from '../contracts/problem.js';
import { ParleyError } from '../domain/errors.js';
import type { Fault } from '../faults.js';

interface Kind {
  status: number;
  title: string;
  /** What a client can do about it; the documentation page shows it. */
  advice: string;
}

/**
 * Every problem this gateway answers with (RFC 9457). The code is stable, the title never changes with the case, the
 * detail says what was given and what would be right; `/problems/<code>` explains each.
 */
export const problems = {
  invalid_json: {
    status: 400,
    title: 'The body is not JSON',
    advice: 'Send one JSON document; detail says where it breaks.',
  },
  bad_request: { status: 400, title: 'The request cannot be read', advice: 'Correct what detail names.' },
  unauthorized: { status: 401, title: 'A key is needed', advice: 'Send Authorization: Bearer KEY.' },
  forbidden_host: {
    status: 403,
    title: 'This host name is not served',
    advice: 'Without API keys only requests to localhost are answered, so that no foreign page can reach them.',
  },
  forbidden: {
    status: 403,
    title: 'Not allowed',
    advice: 'Detail names who may: use a key with that role or of that tenant.',
  },
  not_found: { status: 404, title: 'Nothing is here', advice: 'Check the id or the path; detail names what exists.' },
  model_not_found: { status: 404, title: 'There is no such model', advice: 'Use one that GET /v1/models lists.' },
  method_not_allowed: { status: 405, title: 'This path takes other methods', advice: 'Use a method named in Allow.' },
  wrong_state: { status: 409, title: 'Not possible in this state', advice: 'Detail names the state and why.' },
  conflict: {
    status: 409,
    title: 'The id is taken by other content',
    advice: 'Use another id or Idempotency-Key, or send the same body again to get the same run.',
  },
  gone: {
    status: 410,
    title: 'No longer kept',
    advice: 'It was there; detail says what removed it. Use a newer one.',
  },
  too_large: { status: 413, title: 'The body is too large', advice: 'Send at most 1 MiB.' },
  unsupported_media_type: {
    status: 415,
    title: 'This type is not read',
    advice: 'Send Content-Type: application/json, or another that detail names.',
  },
  invalid_request: {
    status: 422,
    title: 'The request has faults',
    advice: 'errors lists every fault by path, each with what would be right. Nothing has been started.',
  },
  rate_limited: { status: 429, title: 'Too many requests', advice: 'Wait for Retry-After seconds.' },
  EWINDOW_AGENT: {
    status: 429,
    title: 'The lane takes no more frames now',
    advice: 'Wait for Retry-After seconds and send the same frames again; duplicates are dropped.',
  },
  internal: { status: 500, title: 'The gateway failed', advice: 'The log has the reason under request_id.' },
  corrupt: {
    status: 500,
    title: 'What is kept is not what it was',
    advice: 'Put the file back from a copy; `parley artifacts verify` names every corrupt one.',
  },
  work_failed: {
    status: 502,
    title: 'The work ended without an answer',
    advice: 'Detail says why; its status and events say more. Asking again is new work.',
  },
  unavailable: {
    status: 503,
    title: 'Not able to serve now',
    advice: 'Nothing has been started. Try again after Retry-After seconds.',
  },
} as const satisfies Record<string, Kind>;
export type ProblemCode = keyof typeof problems;

/** An answer that is a problem: thrown anywhere below a route, turned into a document at one place. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  constructor(
    readonly code: ProblemCode,
    readonly detail: string,
    readonly options: { errors?: readonly Fault[]; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(detail, { cause: options.cause });
  }
}

/** Every fault in one message, for protocols that have no place for a list. */
export const oneMessage = ({ detail, options: { errors = [] } }: ProblemError): string =>
  errors.length === 0 ? detail : errors.map(({ path, message }) => [path, message].join(' ').trim()).join('; ');

export const invalidRequest = (errors: readonly Fault[]): ProblemError =>
  new ProblemError(
    'invalid_request',
    `${errors.length} ${errors.length === 1 ? 'fault' : 'faults'}; nothing was done.`,
    {
      errors,
    },
  );

const codeOf: Partial<Record<string, ProblemCode>> = {
  invalid_request: 'invalid_request',
  not_found: 'not_found',
  conflict: 'conflict',
  corrupt: 'corrupt',
  gone: 'gone',
  wrong_state: 'wrong_state',
  invalid_transition: 'wrong_state',
  unauthorized: 'unauthorized',
  forbidden: 'forbidden',
  unavailable: 'unavailable',
  EWINDOW_AGENT: 'EWINDOW_AGENT',
  EDRAINING: 'wrong_state',
  EPROTO: 'invalid_request',
  ESEQ_RETRY: 'wrong_state',
};

/** Seconds for Retry-After: whole, at least 1. */
export const retryAfter = (milliseconds: number | undefined): string =>
  String(Math.max(1, Math.ceil((milliseconds ?? 1000) / 1000)));

/** Errors that Express and its body readers throw carry a status and a type. */
interface HttpError {
  status: number;
  type?: string;
}
const isHttpError = (error: unknown): error is HttpError & Error =>
  error instanceof Error && typeof (error as Partial<HttpError>).status === 'number';

const pathOf = ({ options }: ParleyError): string => {
  const path = options.details?.['path'];
  return typeof path === 'string' ? path : '';
};

/** Any error as a problem; what is not expected becomes `internal` and keeps its reason for the log only. */
export const toProblemError = (error: unknown): ProblemError => {
  if (error instanceof ProblemError) return error;
  if (error instanceof ParleyError) {
    const code = codeOf[error.code];
    if (!code) return new ProblemError('internal', 'An unexpected error.', { cause: error });
    const waits = code === 'EWINDOW_AGENT' || code === 'unavailable';
    return new ProblemError(code, error.message, {
      cause: error,
      ...(waits && { headers: { 'Retry-After': retryAfter(error.options.retryAfterMs) } }),
      ...(code === 'invalid_request' && {
        errors: [{ path: pathOf(error), message: error.message }],
      }),
    });
  }
  if (isHttpError(error)) {
    if (error.status === 413) return new ProblemError('too_large', 'The body must be at most 1 MiB.', { cause: error });
    if (error.status === 415) return new ProblemError('unsupported_media_type', `${error.message}.`, { cause: error });
    if (error.status >= 400 && error.status < 500) {
      return new ProblemError(error.status === 404 ? 'not_found' : 'bad_request', error.message, { cause: error });
    }
  }
  if (error instanceof URIError) {
    return new ProblemError('bad_request', 'The path has a broken percent-encoding; "#" is written %23.', {
      cause: error,
    });
  }
  return new ProblemError('internal', 'An unexpected error; the log has it under this request_id.', { cause: error });
};

export const problemDocument = (error: ProblemError, requestId: string): Problem => ({
  type: `/problems/${error.code}`,
  title: problems[error.code].title,
  status: problems[error.code].status,
  code: error.code,
  detail: error.detail,
  ...(error.options.errors && { errors: error.options.errors.map(({ path, message }) => ({ path, message })) }),
  request_id: requestId,
});
