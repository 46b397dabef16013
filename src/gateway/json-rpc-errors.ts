import type { JsonRpc } from '../contracts/json-rpc.js';
import { oneMessage, type ProblemError } from './problem.js';

/** Paths whose callers speak JSON-RPC. */
const paths = /^\/(a2a|mcp)\/?$/;

const codes: Partial<Record<ProblemError['code'], number>> = { invalid_json: -32_700, invalid_request: -32_600 };

/**
 * A body that is no message of JSON-RPC, in its own words, with status 400; null: the path is another, or the problem is one of HTTP,
 * such as a key that is missing.
 */
export const jsonRpcError = (path: string, problem: ProblemError): JsonRpc | null => {
  const code = codes[problem.code];
  if (code === undefined || !paths.test(path)) return null;
  return { jsonrpc: '2.0', id: null, error: { code, message: oneMessage(problem) } };
};
