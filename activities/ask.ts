import type { Context } from '@opentelemetry/api';
import type { Adapter } from '../src/contracts/adapter.js';
import type { Json } from '../src/contracts/frames.js';
import { ParleyError } from '../src/domain/errors.js';
import { feedFrame, openFeed, usageOf, type Feed } from '../src/domain/feed.js';
import type { Amount } from '../src/domain/session/setup.js';
import type { SessionPolicy } from '../src/contracts/session.js';
import type { ModelCall } from '../src/domain/team/model-call.js';
import type { AgentPort, AgentRequest } from './ports.js';

export interface AskInput {
  workId: string;
  /** 32 hex digits: the trace that all spans of the session are in. */
  traceId: string;
  /** Who is asked, for spans and for scripts: "judge", "arbiter", "merge". */
  role: string;
  adapter: Adapter;
  prompt: string;
  instructions: string | null;
  /** How many calls of this agent have ended before. */
  callsBefore: number;
  gaps: SessionPolicy['gaps'];
  /** Whose voice it is; else the role's name. */
  personaId?: string;
  /** Most tokens the answer may have; left out: the adapter's own limit. */
  maxTokens?: number | null;
  /** The folder that a program runs in. */
  workspace?: string;
  /** Of an agent of a team: see `AgentRequest`. */
  folder?: string | undefined;
  /** Of a model whose adapter names none. */
  temperature?: number;
  /** Whose call it is, where a provider's limits make calls wait. */
  tenant?: string;
  /** Of a call whose time is limited by a budget: where a person is asked for its tenant's it ends, and is made again. */
  comesAgain?: true;
  /** What an agent of a team is asked with; the prompt is the same as one text. */
  messages?: AgentRequest['messages'];
  tools?: AgentRequest['tools'];
}

export interface Answered {
  answer: Json;
  usage: Amount;
  /** Of tools; left out: none. */
  calls?: ModelCall[];
}

/** A call that brought no answer; what it used is spent all the same. */
export class AskError extends Error {
  constructor(
    readonly code: string,
    /** What went wrong, without the code. */
    readonly why: string,
    readonly usage: Amount,
    /** Left out: not known. */
    readonly retryable?: boolean,
  ) {
    super(`${code}: ${why}`);
  }
}

/** Why an agent did not answer. */
export interface AgentFailure {
  code: string;
  message: string;
  /** Whether asking it again can help; left out: that is not known. */
  retryable?: boolean;
}

/** What an error of an agent, or of its adapter, says of itself. */
export const failureOf = (error: unknown): AgentFailure => {
  const message = error instanceof AskError ? error.why : error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'EAGENTDOWN';
  const known = error instanceof AskError ? error : error instanceof ParleyError ? error.options : {};
  return { code, message, ...(known.retryable !== undefined && { retryable: known.retryable }) };
};

/**
 * One question to one agent, whole answer back; `onText` hears it as it comes, with the time of `performance` at
 * which it came.
 * @throws AskError the agent's own failure, or EAGENTDOWN when `signal` stopped it; what `open` throws when it was not dispatched
 */
export const ask = async (
  agents: AgentPort,
  input: AskInput,
  signal: AbortSignal,
  trace: Context,
  onText: (text: string, arrivedAt: number) => void = () => {},
): Promise<Answered> => {
  const controller = new AbortController();
  // The SDKs take an abort with a reason for a failed call; ours carries none.
  signal.addEventListener('abort', () => controller.abort(), { once: true });
  let feed: Feed = openFeed(
    { gaps: input.gaps, pause_grace_ms: 0 },
    'gold',
    { maxParallel: null, maxTokens: null, maxUsdMicros: null },
    input.prompt,
  );
  let stated: Amount | null = null;
  let text = '';
  const frames = await agents.open(
    {
      workId: input.workId,
      laneId: input.role,
      personaId: input.personaId ?? input.role,
      instructions: input.instructions,
      diversitySeed: 1,
      prompt: input.prompt,
      adapter: input.adapter,
      maxTokens: input.maxTokens ?? null,
      temperature: input.temperature ?? null,
      workspace: input.workspace,
      folder: input.folder,
      ...(input.messages && { messages: input.messages }),
      ...(input.tools && { tools: input.tools }),
      callsBefore: input.callsBefore,
      tenant: input.tenant,
      ...(input.comesAgain && { comesAgain: true }),
    },
    {
      signal: controller.signal,
      onControl: () => {},
      onUsage: (usage) => (stated = usageOf(feed, usage)),
      trace,
    },
  );
  for await (const frame of frames) {
    if (frame.type === 'control') continue;
    const arrivedAt = performance.now();
    const calls = frame.type === 'final' ? frame.calls : undefined;
    const fed = feedFrame(feed, frame, 0);
    feed = fed.feed;
    for (const report of fed.reports) {
      if (report.type === 'PARTIAL') {
        text += report.text;
        onText(report.text, arrivedAt);
      }
      if (report.type === 'FAIL')
        throw new AskError(report.code, report.message, stated ?? usageOf(feed, null), report.retryable);
      if (report.type !== 'FINAL') continue;
      const answer = report.answer ?? text + (report.text ?? '');
      return { answer, usage: stated ?? report.usage, ...(calls && { calls }) };
    }
  }
  if (controller.signal.aborted)
    throw new AskError('EAGENTDOWN', 'the call was stopped', stated ?? usageOf(feed, null));
  return { answer: text, usage: stated ?? usageOf(feed, null) };
};
