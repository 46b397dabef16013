import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { McpServerSettings } from './settings.js';

/** Milliseconds that a server may take to begin, and to say which tools it has. */
const openMs = 30_000;
/** Of what a server writes to its standard error, for the operator. */
const errorChars = 1_000;
const mostPages = 100;

/** A server that answers. */
export interface Connection {
  client: Client;
  tools: Tool[];
  /** Ends it: a program that was started ends, too. */
  close(): Promise<void>;
}

export interface ConnectionEvents {
  /** It is gone, by itself. */
  onGone: () => void;
  /** It has other tools now. */
  onTools: (tools: Tool[]) => void;
}

interface Opened {
  transport: Transport;
  /** What it has said on its standard error. */
  errors: () => string;
  /** Before the transport closes. */
  leave: () => Promise<void>;
}

/** The SDK is loaded by those alone that have a server. */
const transportOf = async (settings: McpServerSettings): Promise<Opened> => {
  if ('command' in settings) {
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const { command, args, env, cwd } = settings;
    // Of the worker's environment the SDK gives it what every program needs (PATH, HOME, ...) and nothing else.
    const transport = new StdioClientTransport({
      command,
      args,
      env,
      stderr: 'pipe',
      ...(cwd !== undefined && { cwd }),
    });
    let errors = '';
    transport.stderr?.on('data', (piece: Buffer) => {
      errors = (errors + piece.toString('utf8')).slice(-errorChars);
    });
    return { transport, errors: () => errors.trim(), leave: () => Promise.resolve() };
  }
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const transport = new StreamableHTTPClientTransport(new URL(settings.url), {
    requestInit: { headers: settings.headers },
  });
  // A server that has no sessions, or is gone, says so: nothing is left to be done about it.
  const leave = (): Promise<void> => transport.terminateSession().catch(() => undefined);
  return { transport: transport as Transport, errors: () => '', leave };
};

const within = async (work: Promise<void>, milliseconds: number): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
};

const toolsOf = async (client: Client, signal: AbortSignal): Promise<Tool[]> => {
  const { ListToolsResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
  if (!client.getServerCapabilities()?.tools) return [];
  const tools: Tool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method: 'tools/list', params }, ListToolsResultSchema, {
      signal,
      timeout: openMs,
    });
    tools.push(...answer.tools);
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  return tools;
};

/** Starts or reaches a server and asks which tools it has. @throws Error that says why it does not answer */
export const connect = async (
  settings: McpServerSettings,
  { onGone, onTools }: ConnectionEvents,
  signal: AbortSignal,
): Promise<Connection> => {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { ToolListChangedNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const { transport, errors, leave } = await transportOf(settings);
  const client = new Client({ name: 'parley', version: '0.1.0' });
  const close = async (): Promise<void> => {
    await within(leave(), 1_000);
    await client.close();
  };
  try {
    await client.connect(transport, { timeout: openMs, signal });
    const tools = await toolsOf(client, signal);
    client.onclose = onGone;
    client.setNotificationHandler(ToolListChangedNotificationSchema, async () => {
      onTools(await toolsOf(client, signal));
    });
    return { client, tools, close };
  } catch (error) {
    await close();
    const said = errors();
    const why = error instanceof Error ? whyOf(error) : String(error);
    throw new Error(said === '' ? why : `${why}; it said: ${said}`, { cause: error });
  }
};

/** `fetch failed` alone says nothing. */
const whyOf = (error: Error): string =>
  error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
