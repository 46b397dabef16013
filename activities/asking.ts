import type { Context as TraceContext } from '@opentelemetry/api';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { inSpan, workContext } from '../src/tracing.js';
import type { Amount } from '../src/domain/session/setup.js';
import { AskError, type Answered, type AskInput } from './ask.js';
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
 * not asked again: only a dead worker's call is. What it used is told with the failure.
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
      const pay = (usage: Amount): void => {
        span.setAttributes({ tokens: usage.tokens, usd_micros: usage.usdMicros });
        metrics.spent(adapter, usage);
      };
      try {
        const answered = await call(signal, trace);
        pay(answered.usage);
        return answered;
      } catch (error) {
        const usage = error instanceof AskError ? error.usage : null;
        if (usage !== null) pay(usage);
        if (signal.aborted) throw error;
        throw ApplicationFailure.fromError(error, { nonRetryable: true, details: usage === null ? [] : [{ usage }] });
      }
    }),
  );
};
