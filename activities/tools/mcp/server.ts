import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Json } from '../../../src/contracts/frames.js';
import { type ErrorCode, ParleyError } from '../../../src/domain/errors.js';
import type { JsonObject } from '../../../src/domain/model-json.js';
import type { ToolDefinition } from '../../../src/domain/team/model-call.js';
import { toolError } from '../answers.js';
import { connect, type Connection, type Environment } from './connection.js';
import { faultOf } from './faults.js';
import { offeredBy, type OfferedTool, prefixOf } from './names.js';
import { answerOf } from './results.js';
import type { McpServerSettings } from './settings.js';

/** Milliseconds after which a server that failed is tried again: twice as many after each failure. */
const firstWaitMs = 1_000;
const longestWaitMs = 60_000;

/** What a fault is to a lane: what may have happened is not tried again. */
const codes: Readonly<Record<string, ErrorCode>> = { timeout: 'ETIMEOUT', invalid_arguments: 'EPROTO' };

/** One server, which comes and goes: it is opened again by the next call, and not before a while where it keeps failing. */
export class McpServer {
  private connection: Connection | null = null;
  private opening: Promise<Connection> | null = null;
  private offered = new Map<string, OfferedTool>();
  private faults: string[] = [];
  private failure: string | null = null;
  private failed = 0;
  private due = 0;
  private readonly stopper = new AbortController();

  constructor(
    private readonly settings: McpServerSettings,
    private readonly environment: Environment,
    /** Milliseconds. */
    private readonly now: () => number,
  ) {}

  get name(): string {
    return this.settings.name;
  }

  owns(tool: string): boolean {
    return tool.startsWith(prefixOf(this.name));
  }

  /** What it had when it was there last. */
  list(): ToolDefinition[] {
    if (this.connection === null) this.retry();
    return [...this.offered.values()].map(({ definition }) => definition);
  }

  failures(): string[] {
    return [...(this.failure === null ? [] : [this.failure]), ...this.faults];
  }

  isRepeatable(tool: string): boolean {
    return this.offered.get(tool)?.isRepeatable ?? false;
  }

  /** Settles when it is there or has failed. */
  async open(): Promise<void> {
    await this.opened(this.stopper.signal).catch(() => undefined); // `failures` says it
  }

  /**
   * Calls one of its tools by the name that is offered to models. What goes wrong is the answer.
   * @throws the signal's reason when it was aborted; the server has been told then
   */
  async call(tool: string, given: JsonObject, signal: AbortSignal, isAgain = false): Promise<Json> {
    const wait = this.due - this.now();
    if (this.connection === null && this.opening === null && wait > 0)
      return toolError(
        'unavailable',
        `MCP server ${this.name} is not there (${this.failure}); it is tried again in ${Math.ceil(wait / 1_000)} s`,
      );
    let connection: Connection;
    try {
      connection = await this.opened(signal);
    } catch {
      signal.throwIfAborted();
      return toolError(
        'unavailable',
        `MCP server ${this.name} is not there (${this.failure}); try again later, or go on without it`,
      );
    }
    const offered = this.offered.get(tool);
    if (!offered) {
      const names = [...this.offered.keys()].join(', ') || 'none';
      return toolError('unknown_tool', `MCP server ${this.name} offers no tool ${tool}; it offers ${names}`);
    }
    try {
      return answerOf(tool, await this.ask(connection, offered.tool, given, signal));
    } catch (error) {
      signal.throwIfAborted();
      const { code, message, isGone, isAnswered } = faultOf(tool, this.settings.timeoutMs, error);
      if (isGone) this.gone(connection, message);
      // A session that the server has forgotten: it has done nothing, and a new one is made.
      if (isGone && isAnswered && !isAgain) return await this.call(tool, given, signal, true);
      return toolError(code, message);
    }
  }

  /**
   * As `call`, by the tool's own name and as the server answers, which may be that it failed.
   * @throws ParleyError that says why there is no result; the signal's reason when it was aborted, and the server has been told then
   */
  async request(tool: string, given: JsonObject, signal: AbortSignal, isAgain = false): Promise<CallToolResult> {
    let connection: Connection;
    try {
      connection = await this.opened(signal);
    } catch {
      signal.throwIfAborted();
      throw new ParleyError('EAGENTDOWN', `MCP server ${this.name} is not there (${this.failure})`, {
        retryable: true,
      });
    }
    try {
      return await this.ask(connection, tool, given, signal);
    } catch (error) {
      signal.throwIfAborted();
      const fault = faultOf(tool, this.settings.timeoutMs, error);
      if (fault.isGone) this.gone(connection, fault.message);
      // A session that the server has forgotten: it has done nothing, and a new one is made.
      if (fault.isGone && fault.isAnswered && !isAgain) return await this.request(tool, given, signal, true);
      if (fault.isOfCall && fault.code === 'tool_error') return failed(error);
      throw new ParleyError(codes[fault.code] ?? 'EAGENTDOWN', fault.message, {
        retryable: fault.code === 'unavailable',
      });
    }
  }

  async close(): Promise<void> {
    this.stopper.abort();
    await this.opening?.catch(() => undefined);
    const { connection } = this;
    this.connection = null;
    await connection?.close();
  }

  private async ask(
    { client }: Connection,
    name: string,
    given: JsonObject,
    signal: AbortSignal,
  ): Promise<CallToolResult> {
    const { CallToolResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
    const options = { signal: AbortSignal.any([signal]), timeout: this.settings.timeoutMs };
    return await client.request(
      { method: 'tools/call', params: { name, arguments: given } },
      CallToolResultSchema,
      options,
    );
  }

  /** @throws the signal's reason when it is aborted; the server is opened all the same */
  private async opened(signal: AbortSignal): Promise<Connection> {
    if (this.connection) return this.connection;
    this.stopper.signal.throwIfAborted();
    this.opening ??= this.start().finally(() => {
      this.opening = null;
    });
    return await unless(signal, this.opening);
  }

  private async start(): Promise<Connection> {
    try {
      const connection = await connect(
        this.settings,
        {
          environment: this.environment,
          onGone: () => this.gone(connection, 'it ended by itself'),
          onTools: (tools) => this.take(offeredBy(this.name, tools)),
        },
        // One of its own: who listens to it is forgotten with it.
        AbortSignal.any([this.stopper.signal]),
      );
      this.take(offeredBy(this.name, connection.tools));
      this.connection = connection;
      this.failure = null;
      this.failed = 0;
      return connection;
    } catch (error) {
      this.failure = error instanceof Error ? error.message : String(error);
      this.due = this.now() + Math.min(longestWaitMs, firstWaitMs * 2 ** this.failed);
      this.failed += 1;
      throw error;
    }
  }

  private take({ offered, faults }: ReturnType<typeof offeredBy>): void {
    this.offered = offered;
    this.faults = faults;
  }

  private retry(): void {
    if (this.opening === null && this.now() >= this.due && !this.stopper.signal.aborted) void this.open();
  }

  private gone(connection: Connection, why: string): void {
    if (this.connection !== connection) return;
    this.connection = null;
    this.failure = why;
    this.due = 0;
    void connection.close().catch(() => undefined); // what is left of it
  }
}

/** What a server says by an error of its protocol, as it would by one of the tool. */
const failed = (error: unknown): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: error instanceof Error ? error.message : String(error) }],
});

/** What settles first: the work, or the abort. */
const unless = async <T>(signal: AbortSignal, work: Promise<T>): Promise<T> => {
  const stop = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true, signal: stop.signal });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    stop.abort();
  }
};
