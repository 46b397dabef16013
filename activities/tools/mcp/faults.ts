/** Why a call of a server's tool brought no result. */
export interface McpFault {
  code: string;
  message: string;
  /** The connection is of no more use. */
  isGone: boolean;
  /** The server has said that it did nothing. */
  isAnswered: boolean;
  /** It says nothing against the server, which was there and has answered. */
  isOfCall: boolean;
}

/** Of JSON-RPC and MCP. */
const requestTimeout = -32_001;
const connectionClosed = -32_000;
const invalidParams = -32_602;

const codeOf = (error: unknown): number | string | null => {
  if (!(error instanceof Error) || !('code' in error)) return null;
  return typeof error.code === 'number' || typeof error.code === 'string' ? error.code : null;
};

const mayHaveHappened = 'it may have happened; look at what is there before you do it again';

export const faultOf = (tool: string, timeoutMs: number, error: unknown): McpFault => {
  const code = codeOf(error);
  const said = error instanceof Error ? error.message : String(error);
  const fault = (name: string, message: string, isGone = false, isAnswered = false): McpFault => {
    return { code: name, message, isGone, isAnswered, isOfCall: false };
  };
  const ofCall = (name: string, message: string): McpFault => ({ ...fault(name, message), isOfCall: true });
  if (code === requestTimeout)
    return fault(
      'timeout',
      `${tool} did not answer within ${timeoutMs / 1_000} s and was told to stop; ${mayHaveHappened}`,
    );
  if (code === invalidParams) return ofCall('invalid_arguments', `${tool} was not carried out: ${said}`);
  if (code === connectionClosed)
    return fault('interrupted', `the MCP server ended while ${tool} was under way; ${mayHaveHappened}`, true);
  // An HTTP status: 404 is a session that the server does not know any more.
  if (code === 404) return fault('unavailable', `${tool} was not carried out: ${said}`, true, true);
  if (typeof code === 'number' && (code === 408 || (code >= 500 && code < 600)))
    return fault('tool_error', `${tool} failed: ${said}`);
  if (typeof code === 'number' && (code < 0 || (code >= 400 && code < 500)))
    return ofCall('tool_error', `${tool} failed: ${said}`);
  const cause = error instanceof Error ? codeOf(error.cause) : null;
  if (cause === 'ECONNREFUSED' || cause === 'ENOTFOUND')
    return fault('unavailable', `${tool} was not carried out: its MCP server cannot be reached (${cause})`, true);
  return fault(
    'interrupted',
    `the connection to the MCP server broke while ${tool} was under way (${said}); ${mayHaveHappened}`,
    true,
  );
};
