import {
  type A2AError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { oneMessage, type ProblemCode, type ProblemError, problems } from '../problem.js';

type Made = new (message: string) => A2AError;
const kinds: Partial<Record<ProblemCode, Made>> = {
  not_found: TaskNotFoundError,
  wrong_state: TaskNotCancelableError,
  invalid_request: RequestMalformedError,
  model_not_found: RequestMalformedError,
  conflict: UnsupportedOperationError,
};

/** A problem as A2A names it; null: it is one of HTTP (who may, and whether anybody can at all), whatever the protocol. */
export const a2aError = (problem: ProblemError): A2AError | null => {
  const Kind = kinds[problem.code];
  return Kind && problems[problem.code].status < 500 ? new Kind(oneMessage(problem)) : null;
};
