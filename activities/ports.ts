import type { Context } from '@opentelemetry/api';
import type { Adapter } from '../src/contracts/adapter.js';
import type { ControlFrame, FinalFrame, Frame, Usage } from '../src/contracts/frames.js';
import type { Tier } from '../src/contracts/session.js';
import type { ContextMessage } from '../src/domain/team/context/message.js';
import type { ModelCall, ToolDefinition } from '../src/domain/team/model-call.js';

/** One call to an agent, whatever it is: a lane's question, a judgement, an arbitration, a merge. */
export interface AgentRequest {
  /** Id of the piece of work; spans carry it as session_id. */
  workId: string;
  laneId: string;
  personaId: string;
  instructions: string | null;
  diversitySeed: number;
  /** Where there are messages: all of them as one text, with the tools as action tags, for whoever takes text alone. */
  prompt: string;
  /** What an agent of a team is asked with, in place of a prompt; left out: it is asked with the prompt. */
  messages?: readonly ContextMessage[];
  /** That it may call in its answer, where it is asked with messages. */
  tools?: readonly ToolDefinition[];
  adapter: Adapter;
  /** Most tokens the answer may have; null: the adapter's own limit. */
  maxTokens: number | null;
  /** 0 to 2, for models whose adapter names none of its own; left out: the provider's. */
  temperature?: number | null;
  /** A folder that programs run in, as the only one they can write; left out: an empty one of their own. */
  workspace?: string | undefined;
  /**
   * The folder of an agent of a team, which its tools work in: a program in a sandbox works there. One that the operator trusts stays where
   * the worker is, as an agent could put there what it would then run, and is told by PARLEY_FOLDER. Left out: it has none.
   */
  folder?: string | undefined;
  /** How many calls of this agent ended before this one: a script plays on from there (spec 10 "scripted"). */
  callsBefore: number;
  /** Whose call it is, and how urgent, where a provider's limits make calls wait; left out: the default tenant's, silver. */
  tenant?: string | undefined;
  tier?: Tier | undefined;
  /** Where a person has to answer for the budget of its tenant first it fails, before it is sent, and comes again; left out: it waits. */
  comesAgain?: boolean;
}

export interface AgentContext {
  /** Aborted without a reason when the lane is cancelled, times out or the worker stops. */
  signal: AbortSignal;
  /** Control frames that must be heard while nobody pulls data (a paused lane is not pulled). */
  onControl: (frame: ControlFrame) => void;
  /** Usage so far, cumulative over the call; what a cancelled call is charged with. */
  onUsage: (usage: Usage) => void;
  /** Whose child a span of the call is. */
  trace?: Context;
}

/** What an adapter says; a final may call tools of its request beside what it says. */
export type AgentFrame = Exclude<Frame, FinalFrame> | (FinalFrame & { calls?: ModelCall[] });

/**
 * An adapter. `open` settles when the call is dispatched; a rejection is DISPATCH_ERR. The frames are pulled one by one:
 * not pulling is backpressure, and an adapter must then stop reading from its own source. A stream that ends without
 * `final` or `fail` counts as a final of the partials joined.
 */
export interface AgentPort {
  open(request: AgentRequest, context: AgentContext): Promise<AsyncIterable<AgentFrame>>;
}
