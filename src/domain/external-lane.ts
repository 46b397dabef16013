import type { Frame, FramesAnswer } from '../contracts/frames.js';
import { ParleyError } from './errors.js';
import { feedDue, feedFrame, feedWindow, type Feed, type FeedReport } from './feed.js';
import { ack, missing, overflows } from './frames.js';
import { toWire } from './window.js';

/** How long a poster is asked to wait when only time can make room. */
const defaultRetryMs = 1_000;

/**
 * Whether a batch may be taken (spec 01 "frames pushed from outside get 429"): a full lane takes what fills its gap or
 * ends it, and nothing that would only lengthen the queue. A batch is taken whole or not at all, so nothing is half-done.
 * @throws ParleyError EWINDOW_AGENT with `retryAfterMs`
 */
export const checkRoom = (feed: Feed, frames: readonly Frame[], now: number): void => {
  const held = feed.held.reduce((sum, delivery) => sum + (delivery.type === 'text' ? delivery.text.length : 0), 0);
  const data = frames.filter((frame) => frame.type !== 'control');
  const ends = frames.some((frame) => frame.type === 'final' || frame.type === 'fail');
  const full = held >= feed.buffer.limitChars && feed.paused === 'agent' && data.length > 0 && !ends;
  const overflow = feed.paused === 'buffer' && data.some((frame) => overflows(feed.buffer, frame, now));
  if (!full && !overflow) return;
  const due = feedDue(feed);
  const retryAfterMs = due === null ? defaultRetryMs : Math.max(1, due - now);
  throw new ParleyError(
    'EWINDOW_AGENT',
    `the lane is paused and its buffer of ${feed.buffer.limitChars} characters is full; send the frames again later`,
    { retryable: true, retryAfterMs },
  );
};

export interface Posted {
  feed: Feed;
  reports: FeedReport[];
  answer: FramesAnswer;
}

/** Takes a batch in order and says what became of it (spec 10 "external"). */
export const postFrames = (before: Feed, frames: readonly Frame[], now: number): Posted => {
  const reports: FeedReport[] = [];
  const counted = { accepted: 0, duplicates: 0, late: 0, refused: 0 };
  let feed = before;
  for (const frame of frames) {
    const fed = feedFrame(feed, frame, now);
    feed = fed.feed;
    reports.push(...fed.reports);
    if (fed.outcome === 'accepted') counted.accepted += 1;
    else if (fed.outcome === 'duplicate') counted.duplicates += 1;
    else counted[fed.outcome] += 1;
  }
  const answer: FramesAnswer = {
    accepted: counted.accepted,
    duplicates: counted.duplicates,
    late: counted.late,
    refused: counted.refused,
    ack: ack(feed.buffer),
    missing: missing(feed.buffer),
    window: toWire(feedWindow(feed, now)),
    state: feed.ended ? 'ENDED' : feed.paused === null ? 'STREAMING' : 'PAUSED',
  };
  return { feed, reports, answer };
};

