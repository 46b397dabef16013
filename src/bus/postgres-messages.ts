import { Buffer } from 'node:buffer';
import type { BusMessage } from '../contracts/bus.js';
import { ParleyError } from '../domain/errors.js';

/** What travels through PostgreSQL; `watch` renews a `sync` without asking for the text again. */
export interface Envelope {
  /** The sending process: it has delivered its own messages already. */
  from: string;
  topic: string;
  message: BusMessage | { type: 'watch' };
}

/** PostgreSQL refuses a notification of 8,000 bytes or more. */
export const notificationLimitBytes = 7_500;

/**
 * The envelope as JSON texts that each fit a notification: a long partial becomes several, each at its own offset.
 * @throws ParleyError `invalid_request` when the ids alone do not fit
 */
export function encodeEnvelope(envelope: Envelope): string[] {
  const json = JSON.stringify(envelope);
  if (Buffer.byteLength(json) <= notificationLimitBytes) return [json];
  const { message } = envelope;
  if (message.type !== 'partial' || message.text.length < 2) {
    throw new ParleyError(
      'invalid_request',
      `A ${message.type} message for ${envelope.topic.slice(0, 80)} takes ${Buffer.byteLength(json)} bytes; at most ${notificationLimitBytes} fit a notification.`,
    );
  }
  const half = splitPoint(message.text);
  return [
    ...encodeEnvelope({ ...envelope, message: { ...message, text: message.text.slice(0, half) } }),
    ...encodeEnvelope({
      ...envelope,
      message: { ...message, offset: message.offset + half, text: message.text.slice(half) },
    }),
  ];
}

/** @returns null for what another program put on the channel */
export function decodeEnvelope(payload: string): Envelope | null {
  try {
    const value = JSON.parse(payload) as Partial<Envelope> | null;
    const complete =
      typeof value?.from === 'string' && typeof value.topic === 'string' && typeof value.message?.type === 'string';
    return complete ? (value as Envelope) : null;
  } catch {
    return null;
  }
}

/** The middle, moved so that it does not part the two halves of one character. */
function splitPoint(text: string): number {
  const half = Math.floor(text.length / 2);
  const previous = text.charCodeAt(half - 1);
  const insidePair = previous >= 0xd800 && previous <= 0xdbff && text.length > 2;
  return insidePair ? half + 1 : half;
}
