import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { McpAdapter } from '../../src/contracts/adapter.js';
import type { Json } from '../../src/contracts/frames.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { JsonObject } from '../../src/domain/model-json.js';
import type { AgentFrame, AgentRequest } from '../ports.js';
import { resultText } from '../tools/mcp/results.js';
import { describeError } from './connections.js';
import { type Call, failFrame, frameStream } from './frame-stream.js';

/** The servers of the worker, by name. */
export interface McpRequests {
  /** Whether the operator has configured such a server. */
  has(server: string): boolean;
  /** @throws ParleyError that says why there is no result; the signal's reason, and the server has been told then */
  request(server: string, tool: string, given: JsonObject, signal: AbortSignal): Promise<CallToolResult>;
}

const argumentsOf = ({ arguments: given, prompt_argument: name }: McpAdapter, request: AgentRequest): JsonObject => {
  if (name === null) return given;
  const { instructions, prompt } = request;
  return { ...given, [name]: instructions === null ? prompt : `${instructions}\n\n${prompt}` };
};

const frameOf = (tool: string, result: CallToolResult): AgentFrame => {
  const { structuredContent, isError } = result;
  const text = resultText(result);
  if (isError === true) return failFrame('EAGENTDOWN', `${tool} failed${text === '' ? '' : `: ${text}`}`, false);
  // A server that speaks to older clients too says the same as text.
  if (structuredContent !== undefined && (text === '' || text === JSON.stringify(structuredContent)))
    return { type: 'final', msg_seq: 1, json: structuredContent as Json };
  return text === '' ? failFrame('EPROTO', `${tool} answered nothing`, false) : { type: 'final', msg_seq: 1, text };
};

/**
 * A tool of an MCP server as a lane (spec 10 "mcp"): it is called once, with the prompt as one of its arguments, and what it gives is
 * the answer. A call that may have had its effect is never made again by itself.
 * @throws ParleyError EPROTO where the worker has no servers; everything later is a `fail` frame
 */
export const openMcp = async (
  adapter: McpAdapter,
  request: AgentRequest,
  call: Call,
  servers: McpRequests | undefined,
  /** Its server has answered, so that whatever the answer is says nothing against it. */
  answered: () => void,
): Promise<AsyncIterable<AgentFrame>> => {
  if (!servers) throw new ParleyError('EPROTO', 'this worker has no MCP servers; PARLEY_MCP_SERVERS names their file');
  const { server, tool } = adapter;
  return frameStream(call, listen(servers));

  async function* listen(asked: McpRequests): AsyncGenerator<AgentFrame, void, undefined> {
    try {
      const result = await asked.request(server, tool, argumentsOf(adapter, request), call.signal);
      answered();
      yield frameOf(tool, result);
    } catch (error) {
      // A call that was ended tells nothing new by its error.
      if (call.signal.aborted) return;
      const known = error instanceof ParleyError ? error : null;
      const code = known === null ? 'EAGENTDOWN' : known.code === 'not_found' ? 'EPROTO' : known.code;
      yield failFrame(code, known?.message ?? `${tool} failed: ${describeError(error)}`, known?.retryable ?? false);
    }
  }
};
