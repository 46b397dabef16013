import { ParleyError } from '../../src/domain/errors.js';
import type { GovernorEvent } from '../../src/domain/governor/hear.js';
import type { GovernorAnswer } from '../../src/domain/governor/messages.js';
import type { GovernorSettings } from '../../src/domain/governor/state.js';
import { CallLine, type LineOptions } from '../owner/call-line.js';
import type { Saying } from '../owner/conversation.js';
import type { GovernorLink } from './link.js';
import type { ProviderMetrics } from './metrics.js';
import { OpenCall } from './open-call.js';
import type { Admission, ProviderCall } from './port.js';

export interface ProviderLineOptions extends LineOptions<GovernorSettings> {
  link: GovernorLink;
  metrics: ProviderMetrics;
}

const unused = (id: string): GovernorEvent => ({
  ...{ type: 'ended', id, outcome: 'unused', tokens: null, agoMs: 0, retryAfterMs: null },
});

/** One worker's calls of one provider, and its conversation with the governor. */
export class ProviderLine {
  private readonly line: CallLine<string, GovernorEvent, GovernorSettings, GovernorAnswer, OpenCall>;

  constructor(private readonly options: ProviderLineOptions) {
    const { link, settings, worker, metrics, onError, now } = options;
    const { provider, leaseMs } = settings;
    this.line = new CallLine({
      ...{ settings, worker, now, leaseMs, unused },
      exchange: (said) => link.exchange(settings, said),
      say: (said) => link.say(settings, said),
      keyOf: (number) => `${worker}/${number}`,
      withdrawn: (id) => ({ type: 'withdrawn', id }),
      alive: (_, open) => this.alive(open),
      counted: (counts, waitedMs) => {
        metrics.counted(counts);
        if (waitedMs !== null) metrics.waited(waitedMs);
      },
      hear: (answer, onTheWayMs) => this.hear(answer, onTheWayMs),
      onError: (error, isAsked) => {
        const what = isAsked
          ? `the limits of ${provider} cannot be asked for`
          : `the governor of ${provider} cannot be told`;
        onError(error, `${what}; it is tried again`);
      },
    });
  }

  /** @see ProviderGovernor.admit */
  admit({ model, tenant, tier, tokens }: ProviderCall, signal: AbortSignal): Promise<Admission> {
    const { worker } = this.options;
    const wantedAs = (id: string): GovernorEvent => ({
      type: 'wanted',
      demand: { id, tenant, tier, model, tokens, worker },
    });
    return this.line.ask(wantedAs, signal);
  }

  /** A lease ends what is not heard. */
  close(): Promise<void> {
    return this.line.close();
  }

  private alive(open: ReadonlyMap<string, OpenCall>): Saying<GovernorEvent>[] {
    const { worker, settings, now } = this.options;
    const sent = [...open]
      .filter(([, call]) => call.isWorthTelling(now(), settings.windowMs / 4))
      .map(
        ([id, call]) =>
          (): GovernorEvent => ({ type: 'sent', id, agoMs: call.agoMs(now()) }),
      );
    return [...sent, () => ({ type: 'alive', worker, ids: [...open.keys()] })];
  }

  private hear({ granted, refused }: GovernorAnswer, onTheWayMs: number): void {
    for (const { id, leftMs } of granted) {
      const isLate = leftMs <= onTheWayMs; // it may have been given to another
      this.line.grant(id, isLate ? null : () => this.opened(id), unused(id));
    }
    for (const { id, message, retryable } of refused)
      this.line.refuse(id, new ParleyError('EWINDOW', message, { retryable }));
  }

  private opened(id: string): OpenCall {
    const { now } = this.options;
    return new OpenCall(now, ({ outcome, tokens, retryAfterMs = null }, agoMs) => {
      const endedAt = now();
      const isSentUnused = outcome === 'unused' && agoMs !== null;
      const sent: Saying<GovernorEvent> = (at) => ({ type: 'sent', id, agoMs: at - endedAt + (agoMs ?? 0) });
      this.line.end(id, ...(isSentUnused ? [sent] : []), (at) => ({
        ...{ type: 'ended', id, outcome, tokens, retryAfterMs },
        agoMs: at - endedAt + (agoMs ?? 0),
      }));
    });
  }
}
