import type { Context, Span } from '@opentelemetry/api';
import type { Amount, LaneSetup } from '../src/domain/session/setup.js';
import { failSpan, openSpan, workContext } from '../src/tracing.js';
import type { LaneEnd, WorkMetrics } from './metrics.js';

/** What one call of a lane looks like from outside: a span, and at its end the worker's metrics. */
export class LaneCall {
  /** In which the calls that it makes are its children. */
  readonly context: Context;
  private readonly span: Span;
  private ended = false;

  constructor(
    work: { workId: string; traceId: string },
    private readonly setup: LaneSetup,
    attempt: number,
    private readonly metrics: WorkMetrics,
    private readonly now: () => number,
    private readonly startedAt = now(),
  ) {
    const attributes = {
      session_id: work.workId,
      lane_id: setup.laneId,
      persona_id: setup.personaId,
      diversity_seed: setup.diversitySeed,
      tier: setup.tier,
      adapter: setup.adapter.kind,
      attempt,
    };
    const opened = openSpan('lane', attributes, workContext({ id: work.workId, traceId: work.traceId }));
    this.span = opened.span;
    this.context = opened.context;
  }

  /** Only the first end counts; `code` says why a lane failed or was cancelled. */
  end(state: LaneEnd, used: Amount, code: string | null): void {
    if (this.ended) return;
    this.ended = true;
    this.span.setAttributes({ state, tokens: used.tokens, usd_micros: used.usdMicros });
    if (state === 'FAILED') failSpan(this.span, code ?? 'EAGENTDOWN');
    else if (code !== null) this.span.setAttribute('reason', code);
    this.span.end();
    this.metrics.laneEnded(this.setup.adapter, this.setup.tier, state, this.now() - this.startedAt);
    this.metrics.spent(this.setup.adapter, used);
  }
}
