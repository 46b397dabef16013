import { setTimeout as delay } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import type { PartialEvent } from '../contracts/events.js';
import type { NumberedSessionEvent } from '../contracts/session-events.js';
import { ProblemError, UnreachableError } from './errors.js';

/** One thing heard on a stream of events. */
export type Heard<E = NumberedSessionEvent> =
  | { type: 'event'; event: E }
  /** New text only: what was heard before a reconnect is cut off. */
  | { type: 'partial'; partial: PartialEvent }
  /** The connection broke and is being taken up again. */
  | { type: 'dropped'; message: string };

export interface FollowOptions {
  /** Number of the last event already known; 0, the default: from the beginning. */
  lastEventId?: number;
  signal?: AbortSignal | undefined;
  /** How long a gateway that went away is waited for before giving up, in milliseconds; default 5 minutes. */
  patienceMs?: number;
}

type Connect = (lastEventId: number, signal: AbortSignal) => Promise<Response>;

const firstDelayMs = 250;
const longestDelayMs = 5_000;
/** Streams carry heartbeats; one silent for this long is dead although its socket does not know. */
export const silenceMs = 60_000;

interface Cursor {
  attempt: number;
  length: number;
  /** A hole was met once already: the text before it is not to be had. */
  holed: boolean;
}

/** Cuts what is known off a partial; null: all of it is known; 'hole': text before it is missing. */
const unheard = (cursors: Map<string, Cursor>, partial: PartialEvent): PartialEvent | 'hole' | null => {
  let cursor = cursors.get(partial.lane_id);
  if (cursor && partial.attempt < cursor.attempt) return null;
  // A restart is news even before the new attempt has said anything: what the last one said is void.
  const restarts = cursor !== undefined && partial.attempt > cursor.attempt;
  if (!cursor || restarts) {
    cursor = { attempt: partial.attempt, length: 0, holed: false };
    cursors.set(partial.lane_id, cursor);
  }
  if (partial.offset > cursor.length && !cursor.holed) {
    cursor.holed = true;
    return 'hole';
  }
  const known = Math.max(0, cursor.length - partial.offset);
  if (known >= partial.text.length && !restarts) return null;
  cursor.length = partial.offset + partial.text.length;
  return { ...partial, offset: partial.offset + known, text: partial.text.slice(known) };
};

/** The messages of one connection; `beat` is called for whatever comes, heartbeats too. */
export async function* messages(
  response: Response,
  beat: () => void,
): AsyncGenerator<{ name: string; id: number; data: string }, void, undefined> {
  if (!response.body) return;
  const ready: { name: string; id: number; data: string }[] = [];
  const parser = createParser({
    onEvent: ({ event, id, data }) => void ready.push({ name: event ?? 'message', id: Number(id ?? 0), data }),
  });
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    beat();
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* ready.splice(0);
  }
}

/** Whether waiting may help: the gateway is away, drains or is too busy. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ProblemError ? error.problem.status === 429 || error.problem.status >= 500 : true;

/** Follows a stream over any number of connections until `event: end`. @throws ProblemError, UnreachableError */
export async function* follow<E extends { id: number }>(
  connect: Connect,
  options: FollowOptions,
): AsyncGenerator<Heard<E>, void, undefined> {
  const { signal, patienceMs = 300_000 } = options;
  const cursors = new Map<string, Cursor>();
  let lastEventId = options.lastEventId ?? 0;
  let wasConnected = false;
  let retryMs = firstDelayMs;
  let isOut = false;
  let brokenSince: number | null = null;
  while (!signal?.aborted) {
    const connection = new AbortController();
    const leave = (): void => connection.abort();
    signal?.addEventListener('abort', leave, { once: true });
    const watch = setTimeout(leave, silenceMs);
    let reason = 'the connection was closed';
    try {
      const response = await connect(lastEventId, connection.signal);
      wasConnected = true;
      for await (const { name, id, data } of messages(response, () => watch.refresh())) {
        brokenSince = null;
        isOut = false;
        retryMs = firstDelayMs;
        if (name === 'end') return;
        if (name === 'partial') {
          const partial = unheard(cursors, JSON.parse(data) as PartialEvent);
          if (partial === 'hole') break;
          if (partial) yield { type: 'partial', partial };
        } else if (id > lastEventId) {
          lastEventId = id;
          yield { type: 'event', event: { id, event: name, data: JSON.parse(data) } as unknown as E };
        }
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!isPassing(error) || (!wasConnected && error instanceof UnreachableError)) throw error;
      brokenSince ??= Date.now();
      if (Date.now() - brokenSince > patienceMs) throw error;
      if (error instanceof ProblemError && error.retryAfterMs) retryMs = error.retryAfterMs;
      reason = error instanceof Error ? error.message : String(error);
    } finally {
      clearTimeout(watch);
      signal?.removeEventListener('abort', leave);
      connection.abort();
    }
    if (signal?.aborted) return;
    // Told once for each outage, however often it takes to get through.
    if (!isOut) yield { type: 'dropped', message: reason };
    isOut = true;
    await delay(retryMs, undefined, { signal }).catch(() => undefined);
    retryMs = Math.min(retryMs * 2, longestDelayMs);
  }
}
