import type { Context as TraceContext } from '@opentelemetry/api';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { inSpan, workContext } from '../src/tracing.js';
import type { Answered, AskInput } from './ask.js';
import type { WorkMetrics } from './metrics.js';

/** Often enough that the SDK always has one to send; it sends at most one per 0.8 of the heartbeat timeout. */
export const beatMs = 1_000;

/** Beats while something is under way, which hears of a cancel by `signal`. */
export const beating = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), beatMs);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(beat);
  }
};

/**
 * One call to an agent beside the lanes, in a span of its own that is named by its role. What the agent itself refuses is
 * not asked again: only a dead worker's call is.
 */
export const asking = async <T extends Answered>(
  input: AskInput,
  metrics: WorkMetrics,
  call: (signal: AbortSignal, trace: TraceContext) => Promise<T>,
): Promise<T> => {
  const { workId, traceId, role, adapter } = input;
  const attributes = { session_id: workId, adapter: adapter.kind, attempt: Context.current().info.attempt };
  return await beating((signal) =>
    inSpan(role, attributes, workContext({ id: workId, traceId }), async (span, trace) => {
      try {
        const answered = await call(signal, trace);
        const { tokens, usdMicros } = answered.usage;
        span.setAttributes({ tokens, usd_micros: usdMicros });
        metrics.spent(adapter, answered.usage);
        return answered;
      } catch (error) {
        if (signal.aborted) throw error;
        throw ApplicationFailure.fromError(error, { nonRetryable: true });
      }
    }),
  );
};
