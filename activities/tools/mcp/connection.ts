import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { McpServerSettings } from './settings.js';

/** Milliseconds that a server may take to begin, and to say which tools it has. */
const openMs = 30_000;
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

/** Of the worker; a program is given what every program needs of it, and nothing else. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface Opened {
  transport: Transport;
  /** What it has said on its standard error. */
  errors: () => string;
  /** Before the transport closes. */
  leave: () => Promise<void>;
}

/** The SDK is loaded by those alone that have a server. */
const transportOf = async (settings: McpServerSettings, environment: Environment): Promise<Opened> => {
  if ('command' in settings) {
    const { StdioTransport } = await import('./stdio.js');
    const transport = new StdioTransport(settings, environment);
    return { transport, errors: () => transport.errors, leave: () => Promise.resolve() };
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
  { environment, onGone, onTools }: ConnectionEvents & { environment: Environment },
  signal: AbortSignal,
): Promise<Connection> => {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { ToolListChangedNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const { transport, errors, leave } = await transportOf(settings, environment);
  const client = new Client({ name: 'parley', version: '0.1.0' });
  const close = async (): Promise<void> => {
    await within(leave(), 1_000);
    await client.close();
    await transport.close(); // for who was never connected
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
