import type { SandboxOptions } from '../../src/contracts/execution.js';
import type { Json } from '../../src/contracts/frames.js';
import type { JsonObject } from '../../src/domain/model-json.js';
import type { ToolDefinition } from '../../src/domain/team/model-call.js';

/** One call of a tool that is not about agents. */
export interface ToolCall {
  /** The team. */
  workId: string;
  agentId: string;
  /** Of the team's own: no other call of it has this id. */
  callId: string;
  name: string;
  /** As the model gave them. */
  given: JsonObject;
  /** The agent whose folder it works in; its own, or that of who it explores or works for. */
  folderOf: string;
  /** The folder that all agents of the team share in place of their own. */
  workspace: { path: string; isReadOnly: boolean } | null;
  /** How commands are run; left out: as the worker chooses, without network. */
  sandbox?: SandboxOptions;
}

/** A source of tools that cannot be used at the moment, or a tool that cannot be offered. */
export interface ToolFailure {
  /** `files`, `shell`, or `mcp:` and the server's name. */
  source: string;
  /** What is wrong and what to do about it. */
  message: string;
}

/** Tools of one kind, or from one server. */
export interface ToolSource {
  name: string;
  /** Opens what it needs; a source that cannot be opened says so in `failures`. */
  open(): Promise<void>;
  list(): ToolDefinition[];
  /** Whether a tool of this name would be its, now or once it can be used. */
  owns(name: string): boolean;
  failures(): string[];
  /**
   * Whether a call may be made twice when a worker dies in it: it only looks, or comes to the same.
   * @param name one of `list`
   */
  isRepeatable(name: string): boolean;
  /** What the agent does wrong is an answer. @throws what this machine does wrong; the signal's reason when it was aborted */
  call(call: ToolCall, signal: AbortSignal): Promise<Json>;
  /** May be called twice. */
  close(): Promise<void>;
}

/** The tools of a worker that are not about agents (spec 05 "Tools for agents"). */
export interface AgentTools {
  /** Opens every source, all at once; one that fails is named and holds up nobody. */
  open(): Promise<void>;
  /** Settles when every source has opened or failed, or has taken too long; opens them where nobody has. */
  ready(): Promise<void>;
  /** What can be offered now. A server that was not there is tried again meanwhile. */
  list(): ToolDefinition[];
  failures(): ToolFailure[];
  /** Whether there is such a tool now. */
  isKnown(name: string): boolean;
  /** @returns false for a tool that nobody has */
  isRepeatable(name: string): boolean;
  /**
   * `{status: "ok", ...}`, or `{status: "error", code, message}` for whatever the agent did wrong and for a tool that failed. At most
   * 200,000 characters; what is cut says so.
   * @throws what this machine does wrong; the signal's reason when it was aborted
   */
  call(call: ToolCall, signal: AbortSignal): Promise<Json>;
  close(): Promise<void>;
}
