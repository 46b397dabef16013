import type { FailFrame, FinalFrame, FramesAnswer, Json, PartialFrame, Usage } from '../contracts/frames.js';
import type { Tier } from '../contracts/session.js';
import { sha256 } from './sha256.js';

/** An incomplete message that nothing more arrives for is given up after this long (details 1.5). */
export const idleMessageMs = 300_000;
/** More fragments than any message needs; without a bound, one frame could make the missing list endless. */
export const maxFragments = 10_000;
/** Most entries of one missing list; it is repeated until filled, so the rest follows. */
export const maxMissing = 1_000;
/** Ranges of lost numbers that are remembered behind the delivery point, to tell late from duplicate. */
const rememberedRanges = 256;

/** What a lane hears, in order. `lost` stands for `count` messages from number `msgSeq` on. */
export type Delivery =
  | { type: 'text'; text: string }
  | { type: 'lost'; msgSeq: number; count: number; what: 'message' | 'fragment' }
  | End;
/** `text` null and no `json`: the answer is the partials joined. */
type End =
  | { type: 'final'; text: string | null; json?: Json; usage: Usage | null }
  | { type: 'fail'; code: string; message: string; retryable: boolean };

interface Fragment {
  seq: number;
  text: string;
  at: number;
}

/** Fragments of one message, ascending. `lastSeq`: the number of its last one, once known. */
interface HeldText {
  kind: 'text';
  msgSeq: number;
  seenAt: number;
  lastAt: number;
  lastSeq: number | null;
  fragments: Fragment[];
}
interface HeldEnd {
  kind: 'end';
  msgSeq: number;
  seenAt: number;
  end: End;
}
type Held = HeldText | HeldEnd;

interface LostRange {
  from: number;
  to: number;
  seenAt: number;
  what: 'message' | 'fragment';
}

/** One lane's reassembly, plain JSON. Times are milliseconds of whoever drives it. */
export interface LaneBuffer {
  fragmentGapMs: number;
  messageGapMs: number;
  limitChars: number;
  /** The number that is delivered next; everything below is settled. */
  nextMsgSeq: number;
  /** What has come and cannot be delivered yet, ascending. */
  waiting: Held[];
  /** Numbers given up, ascending and disjoint: what still comes for them is late. */
  gone: LostRange[];
  acked: { msgSeq: number; fragSeq: number };
  /** After a delivered final or fail. */
  closed: boolean;
  /** Messages given up, whole: a message with one lost fragment counts once. */
  lost: number;
  /** Frames that came after their number was given up or after the end. */
  late: number;
  duplicates: number;
  /** Fragments whose checksum, size or number does not fit their message. */
  refused: number;
}

export interface Received {
  buffer: LaneBuffer;
  deliveries: Delivery[];
  outcome: 'accepted' | 'duplicate' | 'late' | 'refused';
  /** Why the frame was refused, in words that say what would fit. */
  problem?: string;
}

interface Delivered {
  buffer: LaneBuffer;
  deliveries: Delivery[];
}

const tierFactor: Readonly<Record<Tier, number>> = { gold: 0.5, silver: 1, bronze: 2 };

/** Characters a lane may hold undelivered: 256 by tier, less for those who want low latency (details 1.5). */
export const bufferLimit = (tier: Tier): number => Math.trunc(256 * tierFactor[tier]);

export const openBuffer = (options: {
  fragmentGapMs: number;
  messageGapMs: number;
  limitChars: number;
}): LaneBuffer => ({
  fragmentGapMs: options.fragmentGapMs,
  messageGapMs: options.messageGapMs,
  limitChars: options.limitChars,
  nextMsgSeq: 1,
  waiting: [],
  gone: [],
  acked: { msgSeq: 0, fragSeq: -1 },
  closed: false,
  lost: 0,
  late: 0,
  duplicates: 0,
  refused: 0,
});

/** How many fragments from 0 on are there without a hole. */
const contiguous = (held: HeldText): number => {
  // Ascending and distinct, so this tells without looking at each that there is no hole.
  if (held.fragments.at(-1)?.seq === held.fragments.length - 1) return held.fragments.length;
  const hole = held.fragments.findIndex((fragment, index) => fragment.seq !== index);
  return hole === -1 ? held.fragments.length : hole;
};
const isComplete = (held: Held): boolean =>
  held.kind === 'end' || (held.lastSeq !== null && held.fragments.length === held.lastSeq + 1);
const framesOf = (held: Held): number => (held.kind === 'end' ? 1 : held.fragments.length);
const charsOf = (fragments: readonly Fragment[]): number =>
  fragments.reduce((sum, fragment) => sum + fragment.text.length, 0);

/** When the last of the first `there` fragments came; of none, when the message was first heard of. */
const begunAt = (held: HeldText, there: number): number =>
  there === held.fragments.length
    ? held.lastAt
    : held.fragments.slice(0, there).reduce((latest, fragment) => Math.max(latest, fragment.at), held.seenAt);

/** Numbers that will be given up unless something fills them, each with the last millisecond at which that is in time. */
const deadlines = (buffer: LaneBuffer): { until: number; range: LostRange }[] => {
  const pending = buffer.gone.filter((range) => range.from >= buffer.nextMsgSeq);
  if (buffer.closed || buffer.waiting.length + pending.length === 0) return [];
  const items = [
    ...buffer.waiting.map((held) => ({ from: held.msgSeq, to: held.msgSeq, seenAt: held.seenAt, held })),
    ...pending.map((range) => ({ from: range.from, to: range.to, seenAt: range.seenAt, held: null })),
  ].sort((a, b) => a.from - b.from);
  const found: { until: number; range: LostRange }[] = [];
  // A gap was first seen when the first thing behind it came, whichever that is: walk from the end.
  let behindAt: number | null = null;
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = items[index]!;
    if (item.held?.kind === 'text' && !isComplete(item.held)) {
      const there = contiguous(item.held);
      const times = item.held.fragments.slice(there).map((fragment) => fragment.at);
      // A later message shows a gap too, but none in a message that had not begun: that one was still a message gap.
      if (behindAt !== null) times.push(Math.max(behindAt, begunAt(item.held, there)));
      const until: number =
        times.length > 0 ? Math.min(...times) + buffer.fragmentGapMs : item.held.lastAt + idleMessageMs;
      found.push({ until, range: { from: item.from, to: item.to, seenAt: item.seenAt, what: 'fragment' } });
    }
    behindAt = behindAt === null ? item.seenAt : Math.min(behindAt, item.seenAt);
    const from = index === 0 ? buffer.nextMsgSeq : items[index - 1]!.to + 1;
    if (from < item.from) {
      const range: LostRange = { from, to: item.from - 1, seenAt: behindAt, what: 'message' };
      found.push({ until: behindAt + buffer.messageGapMs, range });
    }
  }
  return found;
};

/** Delivers from the head for as long as nothing is missing there. */
const drain = (before: LaneBuffer): Delivered => {
  const deliveries: Delivery[] = [];
  let { nextMsgSeq, acked, closed, late } = before;
  let taken = 0;
  while (!closed) {
    const head = before.waiting[taken];
    const range = before.gone.find(({ from }) => from === nextMsgSeq);
    if (range) {
      deliveries.push({ type: 'lost', msgSeq: range.from, count: range.to - range.from + 1, what: range.what });
      // Never decreasing: fragments of a message that is now lost were acknowledged as received.
      if (range.to > acked.msgSeq) acked = { msgSeq: range.to, fragSeq: -1 };
      nextMsgSeq = range.to + 1;
    } else if (head?.msgSeq === nextMsgSeq && isComplete(head)) {
      if (head.kind === 'end') deliveries.push(head.end);
      else deliveries.push({ type: 'text', text: head.fragments.map((fragment) => fragment.text).join('') });
      closed = head.kind === 'end';
      acked = { msgSeq: head.msgSeq, fragSeq: framesOf(head) - 1 };
      nextMsgSeq += 1;
      taken += 1;
    } else {
      const received = head?.kind === 'text' && head.msgSeq === nextMsgSeq ? contiguous(head) : 0;
      if (received > 0) acked = { msgSeq: nextMsgSeq, fragSeq: received - 1 };
      break;
    }
  }
  let waiting = before.waiting.slice(taken);
  if (closed) {
    late += waiting.reduce((sum, held) => sum + framesOf(held), 0);
    waiting = [];
  }
  const settled = before.gone.filter((range) => range.from < nextMsgSeq);
  const gone = [...settled.slice(-rememberedRanges), ...before.gone.slice(settled.length)];
  return { buffer: { ...before, nextMsgSeq, waiting, gone, acked, closed, late }, deliveries };
};

/**
 * Gives up every gap whose timer has fired, strictly later than its timeout, and delivers what waited behind it, one gap
 * after another until contiguous (details 1.5). Does nothing before `nextExpiry`.
 */
export const expire = (buffer: LaneBuffer, now: number): Delivered => {
  const fired = deadlines(buffer).filter(({ until }) => now > until);
  if (fired.length === 0) return { buffer, deliveries: [] };
  const ranges = fired.map(({ range }) => range);
  const isGone = (msgSeq: number): boolean => ranges.some(({ from, to }) => from <= msgSeq && msgSeq <= to);
  return drain({
    ...buffer,
    waiting: buffer.waiting.filter((held) => !isGone(held.msgSeq)),
    gone: [...buffer.gone, ...ranges].sort((a, b) => a.from - b.from),
    lost: buffer.lost + ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0),
  });
};

/** The earliest millisecond at which `expire` would do something; null: nothing is missing. */
export const nextExpiry = (buffer: LaneBuffer): number | null => {
  const times = deadlines(buffer).map(({ until }) => until + 1);
  return times.length > 0 ? Math.min(...times) : null;
};

const fragmentProblem = (frame: PartialFrame, held: HeldText | undefined): string | null => {
  const { msg_seq: msgSeq, frag_seq: fragSeq, text } = frame;
  const name = `fragment ${fragSeq} of message ${msgSeq}`;
  if (fragSeq >= maxFragments) return `${name} is past the limit; a message has at most ${maxFragments} fragments`;
  if (frame.checksum !== undefined && frame.checksum.replace(/^sha256:/, '') !== sha256(text)) {
    return `${name} does not match its checksum; send the sha256 of exactly its text, in UTF-8`;
  }
  if (!held) return null;
  if (held.lastSeq !== null && fragSeq > held.lastSeq) {
    return `${name} is past the last one, ${held.lastSeq}; start message ${msgSeq + 1}`;
  }
  const highest = held.fragments.at(-1)?.seq ?? -1;
  if (frame.last && fragSeq < highest) return `${name} cannot be the last; fragment ${highest} is already there`;
  const whole = held.fragments.find((fragment) => fragment.seq !== held.lastSeq);
  const last = held.lastSeq === null ? undefined : held.fragments.at(-1);
  if (whole && !frame.last && text.length !== whole.text.length) {
    return `${name} has ${text.length} characters; all but the last must have ${whole.text.length}, as fragment ${whole.seq} has`;
  }
  if (whole && frame.last && text.length > whole.text.length) {
    return `${name} has ${text.length} characters; the last may have at most ${whole.text.length}, as fragment ${whole.seq} has`;
  }
  if (last && !frame.last && text.length < last.text.length) {
    return `${name} has ${text.length} characters; it must have at least the ${last.text.length} of the last one`;
  }
  return null;
};

const endOf = (frame: FinalFrame | FailFrame): End => {
  if (frame.type === 'fail') {
    return { type: 'fail', code: frame.code, message: frame.message, retryable: frame.retryable };
  }
  const json = frame.json === undefined ? {} : { json: frame.json };
  return { type: 'final', text: frame.text ?? null, ...json, usage: frame.usage ?? null };
};

/** `frame` in the place that its number gives it, or why it does not fit there. */
const place = (
  frame: PartialFrame | FinalFrame | FailFrame,
  msgSeq: number,
  held: Held | undefined,
  now: number,
): Held | string => {
  if (frame.type !== 'partial') {
    if (held) return `message ${msgSeq} already has fragments; a ${frame.type} needs a number of its own`;
    return { kind: 'end', msgSeq, seenAt: now, end: endOf(frame) };
  }
  if (held?.kind === 'end')
    return `message ${msgSeq} is already a ${held.end.type}; a partial needs a number of its own`;
  const problem = fragmentProblem(frame, held);
  if (problem !== null) return problem;
  const fragment: Fragment = { seq: frame.frag_seq, text: frame.text, at: now };
  const fragments = [...(held?.fragments ?? []), fragment].sort((a, b) => a.seq - b.seq);
  const lastSeq = frame.last ? frame.frag_seq : (held?.lastSeq ?? null);
  return { kind: 'text', msgSeq, seenAt: held?.seenAt ?? now, lastAt: now, lastSeq, fragments };
};

const isCopy = (frame: PartialFrame | FinalFrame | FailFrame, held: Held | undefined): boolean =>
  frame.type === 'partial'
    ? held?.kind === 'text' && held.fragments.some((fragment) => fragment.seq === frame.frag_seq)
    : held?.kind === 'end';

/**
 * Takes one frame (spec 01 "Frames"). Gaps whose time is over at `now` are given up first, whether or not a timer has
 * fired: a frame that comes strictly later than its gap's timeout is late, never inserted. The first copy of a fragment
 * wins; a copy of what was delivered is a duplicate, anything else for a settled number or after the end is late.
 */
export const receive = (before: LaneBuffer, frame: PartialFrame | FinalFrame | FailFrame, now: number): Received => {
  const { buffer, deliveries: expired } = expire(before, now);
  const dropped = (
    outcome: 'duplicate' | 'late' | 'refused',
    counter: 'duplicates' | 'late' | 'refused',
  ): Received => ({
    buffer: { ...buffer, [counter]: buffer[counter] + 1 },
    deliveries: expired,
    outcome,
  });
  const msgSeq = frame.msg_seq;
  if (msgSeq === undefined) {
    if (buffer.closed || frame.type === 'partial') return dropped('late', 'late');
    const waited = buffer.waiting.reduce((sum, held) => sum + framesOf(held), 0);
    const closed: LaneBuffer = { ...buffer, closed: true, waiting: [], late: buffer.late + waited };
    return { buffer: closed, deliveries: [...expired, endOf(frame)], outcome: 'accepted' };
  }
  if (buffer.gone.some(({ from, to }) => from <= msgSeq && msgSeq <= to)) return dropped('late', 'late');
  if (msgSeq < buffer.nextMsgSeq) return dropped('duplicate', 'duplicates');
  if (buffer.closed) return dropped('late', 'late');
  const held = buffer.waiting.find((each) => each.msgSeq === msgSeq);
  if (isCopy(frame, held)) return dropped('duplicate', 'duplicates');
  const placed = place(frame, msgSeq, held, now);
  if (typeof placed === 'string') return { ...dropped('refused', 'refused'), problem: placed };
  const waiting = [...buffer.waiting.filter((each) => each !== held), placed].sort((a, b) => a.msgSeq - b.msgSeq);
  const drained = drain({ ...buffer, waiting });
  return { buffer: drained.buffer, deliveries: [...expired, ...drained.deliveries], outcome: 'accepted' };
};

/** Characters received and not delivered. */
export const heldChars = (buffer: LaneBuffer): number =>
  buffer.waiting.reduce((sum, held) => sum + (held.kind === 'text' ? charsOf(held.fragments) : 0), 0);

/** Of those, the ones that stand behind a gap; a message that arrives in order only waits for its own rest. */
export const charsBehindGap = (buffer: LaneBuffer): number => {
  const head = buffer.waiting[0];
  const inOrder = head?.kind === 'text' && head.msgSeq === buffer.nextMsgSeq;
  return heldChars(buffer) - (inOrder ? charsOf(head.fragments.slice(0, contiguous(head))) : 0);
};

/**
 * Whether the lane must pause (details 1.5): strictly more than its limit stands behind a gap. What arrives in order never
 * fills a buffer, or a message longer than the limit could never be completed. There is room by `nextExpiry` at the latest.
 */
export const isFull = (buffer: LaneBuffer): boolean => charsBehindGap(buffer) > buffer.limitChars;

/** Whether taking `frame` would leave the buffer full and fuller than before; a frame that fills a gap never does. */
export const overflows = (buffer: LaneBuffer, frame: PartialFrame | FinalFrame | FailFrame, now: number): boolean => {
  const after = receive(buffer, frame, now).buffer;
  return isFull(after) && charsBehindGap(after) > charsBehindGap(buffer);
};

/** Highest message, and fragment of it, up to which nothing is awaited any more; never decreases. -1: no fragment of it. */
export const ack = (buffer: LaneBuffer): FramesAnswer['ack'] => ({
  msg_seq: buffer.acked.msgSeq,
  frag_seq: buffer.acked.fragSeq,
});

/** Fragments to send again: nothing before a message's last fragment is known, then all of its holes, until filled. */
export const missing = (buffer: LaneBuffer): FramesAnswer['missing'] => {
  const holes: FramesAnswer['missing'] = [];
  for (const held of buffer.waiting) {
    if (held.kind === 'end' || held.lastSeq === null) continue;
    const there = new Set(held.fragments.map((fragment) => fragment.seq));
    for (let seq = 0; seq < held.lastSeq; seq += 1) {
      if (holes.length === maxMissing) return holes;
      if (!there.has(seq)) holes.push({ msg_seq: held.msgSeq, frag_seq: seq });
    }
  }
  return holes;
};
