import type { z } from 'zod';
import { parseWhole } from '../../parse.js';
import { invalidRequest } from '../problem.js';
import type { AnyRoute, Call, Ports } from '../route.js';
import type { InputSchema } from './input-schema.js';

/** What a tool does to the world, for hosts that ask a person before they let it. */
export interface Hints {
  readOnlyHint: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
}

/** What one call of a tool works with. */
export interface ToolCall {
  ports: Ports;
  call: Call;
  routes: readonly AnyRoute[];
  /** Of the request that brought the call, by lower-case name. */
  headers: Readonly<Record<string, unknown>>;
}

/** One tool of Parley as an MCP server: a route, or some of them, under another protocol. */
export interface McpTool {
  name: string;
  description: string;
  inputSchema: () => InputSchema;
  hints: Hints;
  /** @throws ProblemError or ParleyError, as over HTTP */
  run: (given: Record<string, unknown>, circumstances: ToolCall) => Promise<unknown>;
}

/** @throws ProblemError invalid_request with every fault */
export const readGiven = <S extends z.ZodType>(schema: S, given: unknown): z.output<S> => {
  const read = parseWhole(schema, given);
  if (read.ok) return read.value;
  throw invalidRequest(read.faults);
};
