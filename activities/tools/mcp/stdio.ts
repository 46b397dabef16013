import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { cleanEnvironment, findProgram } from '../../adapters/program.js';
import { signalGroup } from '../../adapters/trusted-program.js';
import type { McpServerSettings } from './settings.js';

export type StdioSettings = Extract<McpServerSettings, { command: string }>;

/** Milliseconds that a server has to end once its input has, and once more after SIGTERM. */
const graceMs = 1_000;
/** Of what it writes to its standard error, for the operator. */
const errorChars = 1_000;

/**
 * A server that is a program of this machine, which the operator trusts. It leads a group of its own, so that what it starts ends with
 * it; the SDK's own transport ends the program alone, and leaves one that does not answer to itself.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  private child: ChildProcessWithoutNullStreams | null = null;
  private closing: Promise<void> | null = null;
  private said = '';
  private readonly buffer = new ReadBuffer();

  constructor(
    private readonly settings: StdioSettings,
    private readonly environment: Readonly<Record<string, string | undefined>>,
  ) {}

  /** The end of what it has written to its standard error. */
  get errors(): string {
    return this.said.trim();
  }

  /** @throws ParleyError EAGENTDOWN when the program is not there; Error when the system does not start it */
  async start(): Promise<void> {
    const { command, args, env, cwd = process.cwd() } = this.settings;
    const given = cleanEnvironment(this.environment, env);
    const program = await findProgram(command, cwd, given['PATH'] ?? '');
    const child = spawn(program, args, { cwd, env: given, argv0: command, detached: true });
    await once(child, 'spawn');
    this.child = child;
    child.stdout.on('data', (piece: Buffer) => this.hear(piece));
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      this.said = (this.said + piece).slice(-errorChars);
    });
    // It may end without having read its input.
    child.stdin.on('error', (error) => this.onerror?.(error));
    child.once('exit', () => this.signal('SIGKILL'));
    child.once('close', () => this.onclose?.());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { child } = this;
    if (child === null || !child.stdin.writable) throw new Error('the MCP server has ended');
    if (!child.stdin.write(serializeMessage(message)))
      await Promise.race([once(child.stdin, 'drain'), once(child, 'exit')]);
  }

  /** Settles when it has ended, and all it started. */
  close(): Promise<void> {
    return (this.closing ??= this.end());
  }

  private async end(): Promise<void> {
    const { child } = this;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.stdin.end();
    const timers = [
      setTimeout(() => this.signal('SIGTERM'), graceMs),
      setTimeout(() => this.signal('SIGKILL'), 2 * graceMs),
    ];
    await closed;
    for (const timer of timers) clearTimeout(timer);
  }

  private signal(name: 'SIGTERM' | 'SIGKILL'): void {
    // Never undefined once spawned; and group 0 would be the worker's own.
    if (this.child?.pid !== undefined) signalGroup(this.child.pid, name);
  }

  private hear(piece: Buffer): void {
    try {
      this.buffer.append(piece);
    } catch (error) {
      this.onerror?.(error as Error);
      void this.close(); // of an answer that is too long nobody knows where the next begins
      return;
    }
    for (let isEmpty = false; !isEmpty; ) {
      try {
        const message = this.buffer.readMessage();
        isEmpty = message === null;
        if (message !== null) this.onmessage?.(message);
      } catch (error) {
        this.onerror?.(error as Error); // a line that is no message
      }
    }
  }
}
