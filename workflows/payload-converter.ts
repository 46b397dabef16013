import { defaultPayloadConverter, type Payload, type PayloadConverter } from '@temporalio/common';
import { toFailure } from '../src/failure.js';
import { maxPayloadBytes, oversized } from '../src/domain/payload-limit.js';

/** A value that is a payload already; see interceptors.ts. */
export class Ready {
  constructor(readonly payload: Payload) {}
}

/** What is being handed over right now: set and cleared around one synchronous call, so that runs never mix. */
let producer: string | null = null;

/** Runs `call` with a name for what it hands over, should that be too large. */
export const handingOver = <T>(what: string, call: () => T): T => {
  producer = what;
  try {
    return call();
  } finally {
    producer = null;
  }
};

/**
 * Temporal's own conversion with a limit. It is checked here, in the workflow, and not where the payload is sent: an error
 * there would fail the workflow task, which is tried again for ever. So it is only where an error has somebody to go to.
 * @throws ApplicationFailure invalid_request, naming the producer
 */
const toPayload = (value: unknown): Payload => {
  if (value instanceof Ready) return value.payload;
  const payload = defaultPayloadConverter.toPayload(value);
  const bytes = payload.data?.byteLength ?? 0;
  if (producer !== null && bytes > maxPayloadBytes) throw toFailure(oversized(producer, bytes, maxPayloadBytes));
  return payload;
};

/** The conversion of what workflows take and give; the bundle carries it. */
export const payloadConverter: PayloadConverter = {
  toPayload,
  fromPayload: (payload) => defaultPayloadConverter.fromPayload(payload),
};
