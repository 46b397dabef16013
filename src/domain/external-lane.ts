import type { Frame, FramesAnswer } from '../contracts/frames.js';
import { ParleyError } from './errors.js';
import { feedCounts, feedDue, feedFrame, feedWindow, heldText, usageOf, type Feed, type FeedReport } from './feed.js';
import { ack, charsBehindGap, heldChars, isFull, missing } from './frames.js';
import { toWire } from './window.js';

/** How long a poster is asked to wait when only time can make room. */
const defaultRetryMs = 1_000;

/** Characters that have come and were not handed on: held by a pause, or waiting in the buffer. */
const undelivered = (feed: Feed): number => heldText(feed.held).length + heldChars(feed.buffer);

/** Whether something stands behind a number that is missing. */
const hasGap = ({ buffer }: Feed): boolean =>
  charsBehindGap(buffer) > 0 || buffer.waiting.some((held) => held.msgSeq > buffer.nextMsgSeq);

const fillsGap = (before: Feed, after: Feed): boolean =>
  hasGap(before) &&
  (after.buffer.nextMsgSeq > before.buffer.nextMsgSeq || charsBehindGap(after.buffer) < charsBehindGap(before.buffer));

/**
 * Whether a batch may be taken (spec 01 "frames pushed from outside get 429"): a full lane takes what fills its gap or
 * ends it, and nothing that would only lengthen the queue. It is tried as a whole, so that a batch that fills the gap and
 * goes on from there has the room that it makes; it is taken whole or not at all, so nothing is half-done.
 * @throws ParleyError EWINDOW_AGENT with `retryAfterMs`
 */
export const checkRoom = (feed: Feed, frames: readonly Frame[], now: number): void => {
  const isBlocked = isFull(feed.buffer);
  const isHolding = feed.paused === 'agent' && heldText(feed.held).length >= feed.buffer.limitChars;
  if (feed.ended || !(isBlocked || isHolding)) return;
  const { feed: after } = postFrames(feed, frames, now);
  if (after.ended || fillsGap(feed, after)) return;
  const isLonger = undelivered(after) > undelivered(feed);
  if (!isLonger || (!isHolding && !isFull(after.buffer))) return;
  const due = feedDue(feed);
  const retryAfterMs = due === null ? defaultRetryMs : Math.max(1, due - now);
  throw new ParleyError(
    'EWINDOW_AGENT',
    `the lane is paused and its buffer of ${feed.buffer.limitChars} characters is full; send the frames again later`,
    { retryable: true, retryAfterMs },
  );
};

/** The end of a lane whose text has outgrown the tokens that are `left` of the budget (spec 00 "during streaming"), or null. */
export const outOfBudget = (feed: Feed, left: { tokens: number | null }): FeedReport | null => {
  const usage = usageOf(feed, null);
  if (feed.ended || left.tokens === null || usage.tokens <= left.tokens) return null;
  const message = `the budget ran out while the lane was streaming: ${usage.tokens} tokens used, ${left.tokens} were left`;
  return { type: 'FAIL', code: 'EBUDGET', message, usage, counts: feedCounts(feed) };
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
