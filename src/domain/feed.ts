import type { Frame, Usage } from '../contracts/frames.js';
import type { SessionPolicy, Tier } from '../contracts/session.js';
import { approximateTokens, micros } from './budget.js';
import {
  bufferLimit,
  expire,
  isFull,
  nextExpiry,
  openBuffer,
  receive,
  type Delivery,
  type LaneBuffer,
  type Received,
} from './frames.js';
import type { FrameCounts, LaneReport } from './lane.js';
import type { Amount, WindowLimits } from './session/setup.js';
import { answerText } from './text.js';
import { control as changed, effectiveWindow, isPausing, readyControl, toWire, type AdapterControl } from './window.js';

type Unplaced<T> = T extends unknown ? Omit<T, 'lane' | 'at' | 'attempt'> : never;
/** A lane report without its lane, time and attempt: whoever drives the feed knows them. */
export type FeedReport = Unplaced<LaneReport>;

/**
 * The way from an adapter's frames to a lane's reports, the same for lanes run by an activity and for external ones:
 * reassembly, adapter control and pause (spec 01 "Frames"). Plain JSON.
 */
export interface Feed {
  buffer: LaneBuffer;
  control: AdapterControl;
  /** What is in order but must wait for RESUME. */
  held: Delivery[];
  /** Why the lane is paused: its agent said so, or its buffer is full. */
  paused: 'agent' | 'buffer' | null;
  router: WindowLimits;
  graceMs: number;
  promptTokens: number;
  /** Characters delivered so far. */
  chars: number;
  ended: boolean;
}

export interface Fed {
  feed: Feed;
  reports: FeedReport[];
  /** What became of the frame; control frames are always accepted. */
  outcome: Received['outcome'];
  problem?: string;
}

export const openFeed = (
  policy: Pick<SessionPolicy, 'gaps' | 'pause_grace_ms'>,
  tier: Tier,
  router: WindowLimits,
  prompt: string,
): Feed => ({
  buffer: openBuffer({
    fragmentGapMs: policy.gaps.fragment_ms,
    messageGapMs: policy.gaps.message_ms,
    limitChars: bufferLimit(tier),
  }),
  control: readyControl,
  held: [],
  paused: null,
  router,
  graceMs: policy.pause_grace_ms,
  promptTokens: approximateTokens(prompt),
  chars: 0,
  ended: false,
});

export const feedCounts = (feed: Feed): FrameCounts => {
  const { lost, late, duplicates, refused } = feed.buffer;
  return { lost, late, duplicates, refused };
};

export const feedWindow = (feed: Feed, now: number): WindowLimits =>
  effectiveWindow(feed.router, feed.control, now, feed.graceMs);

/** The lane has ended by other means than its frames: what comes now is late. */
export const closeFeed = (feed: Feed): Feed =>
  feed.ended ? feed : { ...feed, held: [], ended: true, buffer: { ...feed.buffer, closed: true, waiting: [] } };

/** The next moment at which a gap is given up, or null. */
export const feedDue = (feed: Feed): number | null => (feed.ended ? null : nextExpiry(feed.buffer));

export const heldText = (held: readonly Delivery[]): string =>
  held.map((delivery) => (delivery.type === 'text' ? delivery.text : '')).join('');

/**
 * Whether data may still be pulled: a paused lane reads on only until its buffer is full, so that a FINAL or READY right
 * behind the pause is heard, and then really stops (spec 01 "a paused lane really stops pulling from its adapter").
 */
export const wantsData = (feed: Feed): boolean =>
  !feed.ended && (feed.paused === null || heldText(feed.held).length < feed.buffer.limitChars);

/** Usage as the adapter states it, as far as it can be counted; else an estimate from the characters; an unstated price is the free adapters' 0. */
export const usageOf = (feed: Feed, stated: Usage | null): Amount =>
  stated
    ? { tokens: stated.tokens, usdMicros: Math.min(micros(stated.usd ?? 0), Number.MAX_SAFE_INTEGER) }
    : { tokens: feed.promptTokens + Math.ceil(feed.chars / 4), usdMicros: 0 };

export const feedFrame = (feed: Feed, frame: Frame, now: number): Fed => {
  if (frame.type === 'control') {
    if (feed.ended) return { feed, reports: [], outcome: 'late' };
    return feedControl({ ...feed, control: changed(feed.control, frame, now) }, now);
  }
  const { buffer, deliveries, outcome, problem } = receive(feed.buffer, frame, now);
  const fed = deliver({ ...feed, buffer }, deliveries, now);
  return { ...fed, outcome, ...(problem === undefined ? {} : { problem }) };
};

/** Gives up the gaps whose time is over. */
export const feedTick = (feed: Feed, now: number): Fed => {
  const { buffer, deliveries } = expire(feed.buffer, now);
  return { ...deliver({ ...feed, buffer }, deliveries, now), outcome: 'accepted' };
};

const feedControl = (feed: Feed, now: number): Fed => {
  const window = toWire(feedWindow(feed, now));
  const { control } = feed;
  if (isPausing(control.status)) {
    // Paused already: nothing stops that had not stopped, but what the agent says of itself has changed.
    if (feed.paused !== null) {
      return {
        feed: { ...feed, paused: 'agent' },
        reports: [{ type: 'CONTROL', control, window }],
        outcome: 'accepted',
      };
    }
    const type = control.status === 'BUSY' ? 'BACKPRESSURE' : 'PAUSE';
    return { feed: { ...feed, paused: 'agent' }, reports: [{ type, control, window }], outcome: 'accepted' };
  }
  if (feed.paused !== 'agent') return { feed, reports: [{ type: 'CONTROL', control, window }], outcome: 'accepted' };
  return { ...resume(feed, now), outcome: 'accepted' };
};

const resume = (feed: Feed, now: number): { feed: Feed; reports: FeedReport[] } => {
  const { control, held } = feed;
  const open = { ...feed, paused: null, held: [] };
  const after = deliver(open, held, now);
  return {
    feed: after.feed,
    reports: [{ type: 'RESUME', control, window: toWire(feedWindow(feed, now)) }, ...after.reports],
  };
};

/** Turns deliveries into reports, or holds them while the lane is paused; an end flushes what was held. */
const deliver = (
  before: Feed,
  deliveries: readonly Delivery[],
  now: number,
): Pick<Fed, 'feed' | 'reports'> & { outcome: 'accepted' } => {
  const reports: FeedReport[] = [];
  let feed = before;
  for (const delivery of deliveries) {
    if (feed.ended) break;
    switch (delivery.type) {
      case 'text':
        if (feed.paused !== null) feed = { ...feed, held: [...feed.held, delivery] };
        else {
          feed = { ...feed, chars: feed.chars + delivery.text.length };
          reports.push({ type: 'PARTIAL', text: delivery.text, counts: feedCounts(feed) });
        }
        break;
      case 'lost':
        break;
      case 'final': {
        const text = heldText(feed.held);
        // A json of null is an answer like any other, an empty one: it too replaces what was streamed.
        const answer = delivery.json === undefined ? delivery.text : delivery.json;
        const isGiven = delivery.json !== undefined || delivery.text !== null;
        // A final with an answer replaces what was streamed, so the longer of the two is what was paid for.
        const said = answer === null ? 0 : answerText(answer).length;
        feed = { ...feed, held: [], chars: Math.max(feed.chars + text.length, said), ended: true };
        reports.push({
          type: 'FINAL',
          ...(text === '' ? {} : { text }),
          ...(isGiven ? { answer } : {}),
          usage: usageOf(feed, delivery.usage),
          counts: feedCounts(feed),
        });
        break;
      }
      case 'fail': {
        const { code, message, retryable } = delivery;
        feed = { ...feed, held: [], chars: feed.chars + heldText(feed.held).length, ended: true };
        const usage = usageOf(feed, null);
        reports.push({ type: 'FAIL', code, message, retryable, usage, counts: feedCounts(feed) });
        break;
      }
    }
  }
  if (feed.ended) return { feed, reports, outcome: 'accepted' };
  const control = feed.control;
  if (feed.paused === null && isFull(feed.buffer)) {
    feed = { ...feed, paused: 'buffer' };
    reports.push({ type: 'BACKPRESSURE', control, window: toWire(feedWindow(feed, now)) });
  } else if (feed.paused === 'buffer' && !isFull(feed.buffer)) {
    const resumed = resume(feed, now);
    return { feed: resumed.feed, reports: [...reports, ...resumed.reports], outcome: 'accepted' };
  }
  return { feed, reports, outcome: 'accepted' };
};
