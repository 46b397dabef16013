import type { Tier } from '../../src/contracts/session.js';
import { stepGovernor } from '../../src/domain/governor/governor.js';
import type { GovernorEvent } from '../../src/domain/governor/hear.js';
import { type Demand, type Grant, type GovernorSettings, newGovernor } from '../../src/domain/governor/state.js';

/** 0 up to 1, the same for the same seed. */
export const randomOf = (seed: number): (() => number) => {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/** A call as the provider sees it. */
export interface Arrival {
  at: number;
  endedAt: number;
  tokens: number;
  model: string;
  tenant: string;
}

export interface SimulatedWork {
  settings: GovernorSettings;
  seed: number;
  windows: number;
  workers: number;
  /** How often the governor looks at what came in. */
  everyMs: number;
  /** Calls that a worker keeps waiting; each that ends is followed by another. */
  backlog: number;
  /** One more call of a worker: what it asks for, and the share of it that it will use, 0 to 1. */
  next: (
    random: () => number,
    worker: number,
  ) => { tenant: string; tier: Tier; model: string; tokens: number; used: number };
  /** Longest call, and longest way of a message, in milliseconds. */
  longestMs: number;
  delayMs: number;
  /** Share of calls whose worker is never heard of again, and of those told as soon as they are sent. */
  lost: number;
  toldWhenSent: number;
}

/** Plays workers that always have more to do against a governor, which is restarted from its JSON now and then. */
export const simulate = (work: SimulatedWork): { arrivals: Arrival[]; steps: number } => {
  const random = randomOf(work.seed);
  const start = 1_000_000;
  const end = start + work.windows * work.settings.windowMs;
  const arrivals: Arrival[] = [];
  const shares = new Map<string, number>();
  let governor = newGovernor(work.settings);
  let made = 0;
  let steps = 0;
  /** What comes, by time. */
  const agenda: { at: number; run: () => GovernorEvent | null }[] = [];
  const plan = (at: number, run: () => GovernorEvent | null): void => {
    const index = agenda.findIndex((each) => each.at > at);
    agenda.splice(index === -1 ? agenda.length : index, 0, { at, run });
  };
  /** When a message is heard that is sent at `at`. */
  const heard = (at: number): number => Math.ceil((at + random() * work.delayMs) / work.everyMs) * work.everyMs;
  const want = (worker: number, at: number): void =>
    plan(heard(at), () => {
      made += 1;
      const { used, ...demand } = work.next(random, worker);
      const id = `c${made}`;
      shares.set(id, used);
      return { type: 'wanted', demand: { id, worker: `w${worker}`, ...demand } satisfies Demand };
    });
  const send = (grant: Grant, now: number): void => {
    const worker = Number(grant.worker.slice(1));
    const at = now + random() * work.delayMs;
    const endedAt = at + random() * work.longestMs;
    const tokens = Math.floor(grant.tokens * (shares.get(grant.id) ?? 1));
    shares.delete(grant.id);
    const isLost = random() < work.lost;
    const isTold = random() < work.toldWhenSent;
    plan(at, () => {
      arrivals.push({ at, endedAt, tokens, model: grant.model, tenant: grant.tenant });
      return null;
    });
    want(worker, endedAt);
    if (isLost) return;
    const say = (after: number, event: (agoMs: number) => GovernorEvent): void =>
      plan(heard(after), () => event(after - at));
    if (isTold) say(at, (agoMs) => ({ type: 'sent', id: grant.id, agoMs }));
    say(endedAt, (agoMs) => ({ type: 'ended', id: grant.id, outcome: 'answered', tokens, agoMs, retryAfterMs: null }));
  };
  for (let worker = 0; worker < work.workers; worker += 1) {
    for (let call = 0; call < work.backlog; call += 1) want(worker, start);
  }
  let nextAt: number | null = null;
  for (;;) {
    const now = Math.min(agenda[0]?.at ?? Infinity, nextAt ?? Infinity);
    if (now > end) break;
    const events: GovernorEvent[] = [];
    while (agenda[0] && agenda[0].at <= now) {
      const event = agenda.shift()?.run();
      if (event) events.push(event);
    }
    if (events.length === 0 && (nextAt === null || now < nextAt)) continue;
    if (random() < 0.02) governor = JSON.parse(JSON.stringify(governor)) as typeof governor;
    const step = stepGovernor(governor, events, now, random());
    steps += 1;
    governor = step.governor;
    nextAt = step.nextAt;
    for (const grant of step.granted) send(grant, now);
  }
  return { arrivals: arrivals.sort((a, b) => a.at - b.at), steps };
};
