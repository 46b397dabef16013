import type { ScriptEntry } from '../../src/contracts/adapter.js';
import type { Frame, PartialFrame } from '../../src/contracts/frames.js';
import { createRandom } from './random.js';

/** A run of equal entries; counted and never spelled out, since a script may repeat one 100,000 times. */
interface Repeated {
  entry: ScriptEntry;
  times: number;
}
export type ScriptCall = readonly Repeated[];

const endsCall = (entry: ScriptEntry): boolean =>
  entry.final !== undefined || entry.fail !== undefined || entry.dispatch_err !== undefined;

/**
 * The part of a script that one call plays (spec 10 "scripted"): up to and including the next final, fail or
 * dispatch_err; once the script is used up, its last call again. What follows the last of them is a call too, one that
 * never answers, unless it is control entries alone.
 */
export const callOfScript = (script: readonly ScriptEntry[], callsBefore: number): ScriptCall => {
  let open: Repeated[] = [];
  let played: ScriptCall = [];
  let calls = 0;
  for (const entry of script) {
    const times = entry.repeat ?? 1;
    if (!endsCall(entry)) {
      open.push({ entry, times });
      continue;
    }
    const first = [...open, { entry, times: 1 }];
    if (callsBefore === calls) return first;
    if (callsBefore < calls + times) return [{ entry, times: 1 }];
    played = times > 1 ? [{ entry, times: 1 }] : first;
    calls += times;
    open = [];
  }
  return calls === 0 || open.some(({ entry }) => entry.control === undefined) ? open : played;
};

export interface TimedEntry {
  entry: ScriptEntry;
  /** Position in the call, from 0. */
  index: number;
  /** Milliseconds after the call began. */
  atMs: number;
}

/** Each entry with its time. Started twice with the same seed it gives the same times, so two readers agree. */
export function* timelineOf(
  call: ScriptCall,
  noise: { jitterMs: number; seed: readonly (string | number)[] },
): Generator<TimedEntry, void, undefined> {
  const random = createRandom(...noise.seed);
  let [index, atMs] = [0, 0];
  for (const { entry, times } of call) {
    for (let time = 0; time < times; time += 1) {
      atMs += entry.after_ms + (noise.jitterMs > 0 ? Math.floor(random() * (noise.jitterMs + 1)) : 0);
      yield { entry, index, atMs };
      index += 1;
    }
  }
}

/**
 * Numbers what a script leaves unnumbered. A message goes on while its last fragment has not been said; what follows a
 * message numbered by hand goes on from the highest number so far, so that a script out of order still ends in order.
 */
export const createScriptNumbering = (): ((entry: ScriptEntry) => {
  msgSeq: number;
  fragSeq: number;
  last: boolean;
}) => {
  let highest = 0;
  const fragments = new Map<number, { seen: Set<number>; lastSeq: number | null }>();
  return (entry) => {
    const current = fragments.get(highest);
    const lastIsMissing = current !== undefined && current.lastSeq === null;
    const hasHole = current !== undefined && (current.lastSeq === null || current.seen.size <= current.lastSeq);
    const goesOn = entry.partial !== undefined && (entry.frag_seq === undefined ? lastIsMissing : hasHole);
    const msgSeq = entry.msg_seq ?? (goesOn ? highest : highest + 1);
    if (msgSeq > highest) {
      // Nothing unnumbered goes to it any more; a message with a hole stays, for fragments numbered by hand.
      if (!hasHole) fragments.delete(highest);
      highest = msgSeq;
    }
    const message = fragments.get(msgSeq) ?? { seen: new Set<number>(), lastSeq: null };
    const fragSeq = entry.frag_seq ?? (message.lastSeq === null ? message.seen.size : 0);
    const last = entry.last ?? true;
    message.seen.add(fragSeq);
    if (last) message.lastSeq = fragSeq;
    fragments.set(msgSeq, message);
    return { msgSeq, fragSeq, last };
  };
};

export const partialOf = (
  entry: ScriptEntry & { partial: string },
  place: { msgSeq: number; fragSeq: number; last: boolean },
): PartialFrame => ({
  type: 'partial',
  msg_seq: place.msgSeq,
  frag_seq: place.fragSeq,
  last: place.last,
  text: entry.partial,
  ...(entry.checksum === undefined ? {} : { checksum: entry.checksum }),
});

export const messageOfDispatchError = (said: NonNullable<ScriptEntry['dispatch_err']>): string =>
  typeof said === 'string'
    ? said
    : typeof said === 'object'
      ? said.message
      : 'the script refuses the call (dispatch_err)';

export const failOfScript = (said: NonNullable<ScriptEntry['fail']>, msgSeq: number | undefined): Frame => ({
  type: 'fail',
  ...said,
  ...(msgSeq === undefined ? {} : { msg_seq: msgSeq }),
});
