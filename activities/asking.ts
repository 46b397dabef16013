import type { Context as TraceContext } from '@opentelemetry/api';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Beat } from '../src/contracts/call-wait.js';
import { inSpan, workContext } from '../src/tracing.js';
import type { Amount } from '../src/domain/session/setup.js';
import { AskError, type Answered, type AskInput } from './ask.js';
import { leaveToPerson } from './budgets/person-asked.js';
import { CallWaits } from './call-waits.js';
import type { WorkMetrics } from './metrics.js';

/** Often enough that the SDK always has one to send; it sends at most one per 0.8 of the heartbeat timeout. */
const beatMs = 1_000;

/** Past the SDK, which may hold a beat back for longer than the news in it lasts. */
const tellNow = async (context: Context, beat: Beat | undefined): Promise<void> => {
  try {
    await context.client.activity.heartbeat(context.info.taskToken, beat);
  } catch (error) {
    // The next beat says the same; whether the activity was cancelled, or is over, is heard from those.
    context.log.debug('a beat was not taken', { error });
  }
};

/** Beats for the activity that this is called in, and says with it what its calls wait for. @returns ends it */
export const startBeating = (waits: CallWaits): (() => void) => {
  const context = Context.current();
  let isTold = false;
  const beat = (): void => {
    const said = waits.beat();
    context.heartbeat(said);
    if (isTold === (said !== undefined)) return;
    isTold = said !== undefined;
    void tellNow(context, said);
  };
  const timer = setInterval(beat, beatMs);
  waits.onEnd(() => {
    if (isTold) beat();
  });
  return () => {
    isTold = false;
    clearInterval(timer);
  };
};

/** Beats while something is under way, which hears of a cancel by `signal`. */
export const beating = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const { cancellationSignal } = Context.current();
  const waits = new CallWaits();
  const stop = startBeating(waits);
  try {
    return await waits.around(() => work(cancellationSignal));
  } finally {
    stop();
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
        leaveToPerson(error);
        throw ApplicationFailure.fromError(error, { nonRetryable: true, details: usage === null ? [] : [{ usage }] });
      }
    }),
  );
};
