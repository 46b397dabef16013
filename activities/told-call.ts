import { Context, type Info } from '@temporalio/activity';
import type { BusPort } from '../src/contracts/bus.js';
import type { Json } from '../src/contracts/frames.js';
import { noAmount } from '../src/domain/budget.js';
import type { Amount } from '../src/domain/session/setup.js';
import { inSpan, workContext } from '../src/tracing.js';
import { type AgentFailure, ask, AskError, type AskInput, failureOf } from './ask.js';
import { beating } from './asking.js';
import { leaveToPerson } from './budgets/person-asked.js';
import type { WorkMetrics } from './metrics.js';
import type { AgentPort } from './ports.js';
import { ToldText } from './told-text.js';

export interface ToldCallPorts {
  agents: AgentPort;
  bus: BusPort;
  metrics: WorkMetrics;
}

export interface ToldCallInput extends AskInput {
  /** Under which the text is streamed. */
  lane: { lane_id: string; attempt: number };
}

/** No answer came: the agent's own code and words, or that the time was over. */
export type NoAnswer = AgentFailure | { late: true };

export interface ToldCall<O> {
  /** Milliseconds from now. */
  timeoutMs: number;
  /** Of its span, beside adapter and attempt. */
  attributes: Record<string, string | number>;
  read: (answer: Json) => O;
  fail: (why: NoAnswer) => O;
}

/**
 * One call of an agent whose text is told to those who watch, in a span that is named by its role. What the agent does wrong is
 * an outcome, not an error: only a dead worker's call is made again.
 */
export const toldCall = async <O>(
  input: ToldCallInput,
  { agents, bus, metrics }: ToldCallPorts,
  { timeoutMs, attributes, read, fail }: ToldCall<O>,
): Promise<{ outcome: O; usage: Amount }> => {
  const { workId, traceId, role, adapter } = input;
  const { attempt }: Info = Context.current().info;
  const told = new ToldText(bus, workId, input.lane);
  const about = { ...attributes, adapter: adapter.kind, attempt };
  try {
    return await beating((signal) =>
      inSpan(role, about, workContext({ id: workId, traceId }), async (span, trace) => {
        const late = AbortSignal.timeout(timeoutMs);
        try {
          const stop = AbortSignal.any([signal, late]);
          const { answer, usage } = await ask(agents, input, stop, trace, (text) => told.add(text));
          span.setAttributes({ tokens: usage.tokens, usd_micros: usage.usdMicros });
          metrics.spent(adapter, usage);
          return { outcome: read(answer), usage };
        } catch (error) {
          if (signal.aborted) throw error;
          leaveToPerson(error);
          const usage = error instanceof AskError ? error.usage : noAmount;
          metrics.spent(adapter, usage);
          return { outcome: fail(late.aborted ? { late: true } : failureOf(error)), usage };
        }
      }),
    );
  } finally {
    told.end();
  }
};
