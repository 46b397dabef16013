import { createParser } from 'eventsource-parser';
import type { NumberedEvent, PartialEvent } from '../../src/contracts/events.js';

/** What a client of GET /v1/sessions/{id}/events hears: numbered events, pieces of text, and the end. */
export type Heard =
  | NumberedEvent
  | { event: 'partial'; id: null; data: PartialEvent }
  | { event: 'end'; id: null; data: { state: string } };

/**
 * One connection to an event stream, from after number `since`. Leaving the loop drops the connection.
 * @throws Error when the answer is no event stream
 */
export async function* listen(url: string, since = 0): AsyncGenerator<Heard> {
  const response = await fetch(url, { headers: { 'Last-Event-ID': String(since) } });
  if (response.status !== 200 || response.body === null) {
    throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  }
  const heard: Heard[] = [];
  const parser = createParser({
    onEvent: ({ event, id, data }) =>
      heard.push({ event, id: id === undefined ? null : Number(id), data: JSON.parse(data) } as Heard),
  });
  const decoder = new TextDecoder();
  for await (const bytes of response.body as AsyncIterable<Uint8Array>) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    yield* heard.splice(0);
  }
}

/** Follows to the end of the stream, or until `enough` holds, which drops the connection as a failing network would. */
export const follow = async (
  url: string,
  since = 0,
  enough: (heard: readonly Heard[]) => boolean = () => false,
): Promise<Heard[]> => {
  const heard: Heard[] = [];
  for await (const one of listen(url, since)) {
    heard.push(one);
    if (enough(heard)) break;
  }
  return heard;
};

export const numbered = (heard: readonly Heard[]): NumberedEvent[] =>
  heard.filter((one): one is NumberedEvent => one.id !== null);
export const idsOf = (heard: readonly Heard[]): number[] => numbered(heard).map(({ id }) => id);
/** 1, 2, … `count`: what numbers without holes look like. */
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

type DataOf<Name extends Heard['event']> = Extract<Heard, { event: Name }>['data'];
/** The data of every event of one name, in order. */
export const dataOf = <Name extends Heard['event']>(heard: readonly Heard[], name: Name): DataOf<Name>[] =>
  heard.filter(({ event }) => event === name).map(({ data }) => data as DataOf<Name>);

/** The session's way through its machine, a row a text: `INIT FAN_OUT DISPATCHED`. */
export const sessionRows = (heard: readonly Heard[]): string[] =>
  dataOf(heard, 'state').map(({ from, on, to }) => `${from} ${on} ${to}`);
/** One lane's way through its machine. */
export const laneRows = (heard: readonly Heard[], laneId: string): string[] =>
  dataOf(heard, 'lane')
    .filter(({ lane_id: id }) => id === laneId)
    .map(({ from, on, to }) => `${from} ${on} ${to}`);
