import type { Payload, PayloadCodec } from '@temporalio/common';
import {
  historyFromJSON,
  historyToJSON,
  type JSONPayload,
  JSONToPayload,
  payloadToJSON,
} from '@temporalio/common/lib/proto-utils.js';
import type { ExportRun } from '../src/contracts/export.js';
import type { Json } from '../src/contracts/frames.js';
import { isMembers } from '../src/domain/export/changes.js';
import type { History } from './replaying.js';

type Events = ExportRun['history'];

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
const plain = base64('json/plain');

const isPayload = (value: Record<string, Json>): boolean =>
  isMembers(value['metadata']) &&
  typeof value['metadata']['encoding'] === 'string' &&
  Object.keys(value).every((name) => name === 'metadata' || name === 'data');

/** Who was connected from where, and in which file of that machine a line stood: nothing that work decides by. */
const unsaid = new Set(['identity', 'stackTrace']);

const readable = (payload: JSONPayload): Json => {
  const { encoding, ...metadata } = payload.metadata ?? {};
  if (encoding !== plain || typeof payload.data !== 'string') return payload as Json;
  const $json = JSON.parse(Buffer.from(payload.data, 'base64').toString('utf8')) as Json;
  return Object.keys(metadata).length === 0 ? { $json } : { $json, metadata };
};

/** Every payload as the codecs of the client read it: a file that is replayed elsewhere has neither their keys nor their store. */
const decoded = async (payload: JSONPayload, codecs: readonly PayloadCodec[]): Promise<JSONPayload> => {
  if (codecs.length === 0) return payload;
  let payloads: Payload[] = [JSONToPayload(payload)];
  for (const codec of codecs.toReversed()) payloads = await codec.decode(payloads);
  return payloads[0] ? payloadToJSON(payloads[0]) : payload;
};

const told = async (value: Json, codecs: readonly PayloadCodec[]): Promise<Json> => {
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const item of value) items.push(await told(item, codecs));
    return items;
  }
  if (!isMembers(value)) return value;
  if (isPayload(value)) return readable(await decoded(value as JSONPayload, codecs));
  // A worker's own queue is named by where that worker ran.
  const isOwnQueue = value['kind'] === 'TASK_QUEUE_KIND_STICKY';
  const members: [string, Json][] = [];
  for (const [name, inner] of Object.entries(value)) {
    if (!unsaid.has(name) && !(isOwnQueue && name === 'name')) members.push([name, await told(inner, codecs)]);
  }
  return Object.fromEntries(members);
};

/** A history with its payloads as JSON, {"$json": value}, in place of base64, and without what names machines. */
export const readableHistory = async (history: History, codecs: readonly PayloadCodec[] = []): Promise<Events> =>
  (await told(JSON.parse(historyToJSON(history as Parameters<typeof historyToJSON>[0])) as Json, codecs)) as Events;

const written = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(written);
  if (!isMembers(value)) return value;
  if ('$json' in value) {
    const metadata = isMembers(value['metadata']) ? value['metadata'] : {};
    return { metadata: { ...metadata, encoding: plain }, data: base64(JSON.stringify(value['$json'])) };
  }
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, written(inner)]));
};

/** A history that replays, from its readable form. @throws what the SDK says of JSON that is no history */
export const replayableHistory = (events: Events): History => historyFromJSON(written(events as Json));
