import type { Ending } from '../../src/domain/governor/ending.js';
import { type GovernorStep, stepGovernor } from '../../src/domain/governor/governor.js';
import type { GovernorEvent } from '../../src/domain/governor/hear.js';
import {
  type Demand,
  type GovernorSettings,
  type GovernorState,
  newGovernor,
  unlimited,
} from '../../src/domain/governor/state.js';

export const settingsOf = (of: Partial<GovernorSettings> = {}): GovernorSettings => ({
  provider: 'acme',
  windowMs: 10_000,
  burst: 1,
  limits: unlimited,
  models: [],
  weights: [],
  leaseMs: 5_000,
  agingMs: 10_000,
  breaker: { failures: 3, coolMs: 1_000, longestCoolMs: 4_000 },
  backoffMs: 500,
  longestBackoffMs: 4_000,
  maxQueued: 1_000,
  ...of,
});

/** A governor and its clock, where a test shows the field that decides alone. */
export class GovernorPlay {
  state: GovernorState;
  now = 1_000_000;
  last: GovernorStep | null = null;

  constructor(settings: Partial<GovernorSettings> = {}) {
    this.state = newGovernor(settingsOf(settings));
  }

  say(events: readonly GovernorEvent[], jitter = 0): string[] {
    this.last = stepGovernor(this.state, events, this.now, jitter);
    this.state = this.last.governor;
    return this.last.granted.map(({ id }) => id);
  }

  /** @returns who may go now */
  want(...demands: (Partial<Demand> & { id: string })[]): string[] {
    const preset = { tenant: 'a', tier: 'silver' as const, model: 'm', tokens: 0, worker: 'w1' };
    return this.say(demands.map((demand) => ({ type: 'wanted', demand: { ...preset, ...demand } })));
  }

  end(id: string, ending: Partial<Ending> = {}, jitter = 0): string[] {
    const preset: Ending = { outcome: 'answered', tokens: null, agoMs: 0, retryAfterMs: null };
    return this.say([{ type: 'ended', id, ...preset, ...ending }], jitter);
  }

  after(ms: number): string[] {
    this.now += ms;
    return this.say([]);
  }

  get nextIn(): number | null {
    const nextAt = this.last?.nextAt ?? null;
    return nextAt === null ? null : nextAt - this.now;
  }
}

export interface Served {
  id: string;
  tenant: string;
  waitedMs: number;
}

/** Lets time go by until `until`; every call that is granted is answered `takesMs` later. `asks` come at their times. */
export const serve = (
  play: GovernorPlay,
  until: number,
  asks: { at: number; ask: () => string[] }[] = [],
  takesMs = 500,
  used: number | null = null,
): Served[] => {
  const served: Served[] = [];
  const coming = asks.toSorted((a, b) => a.at - b.at);
  const ends: { at: number; id: string }[] = [];
  const note = (): void => {
    for (const { id, tenant, since } of play.last?.granted ?? []) {
      served.push({ id, tenant, waitedMs: play.now - since });
      ends.push({ at: play.now + takesMs, id });
    }
  };
  note();
  for (;;) {
    const next = Math.min(coming[0]?.at ?? Infinity, ends[0]?.at ?? Infinity, play.last?.nextAt ?? Infinity);
    if (next > until) return served;
    play.now = next;
    if (coming[0]?.at === next) coming.shift()?.ask();
    else if (ends[0]?.at === next) play.end(ends.shift()?.id ?? '', { agoMs: takesMs, tokens: used });
    else play.say([]);
    note();
  }
};
