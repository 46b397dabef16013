import { createParser } from 'eventsource-parser';
import { type Frame, frameSchema } from '../../src/contracts/frames.js';
import { ParleyError } from '../../src/domain/errors.js';

const longestEventLength = 1_048_576;

/** @throws ParleyError EPROTO naming every fault and the beginning of what was said. */
export const parseFrame = (said: unknown): Frame => {
  const parsed = frameSchema.safeParse(said);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'frame'}: ${message}`).join('; ');
  throw new ParleyError('EPROTO', `not a frame (${faults}): ${JSON.stringify(said)?.slice(0, 500)}`);
};

export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ParleyError('EPROTO', `not JSON (${(error as Error).message}): ${text.slice(0, 500)}`);
  }
};

/** Reads frames out of server-sent events, one frame as JSON in each event's data. Bytes may be split anywhere. */
export const createFrameReader = (onFrame: (frame: Frame) => void): { feed: (bytes: Uint8Array) => void } => {
  const decoder = new TextDecoder();
  let unfinished = 0;
  const parser = createParser({
    onEvent: ({ data }) => {
      unfinished = 0;
      onFrame(parseFrame(parseJson(data)));
    },
    onComment: () => {
      unfinished = 0;
    },
  });
  return {
    feed: (bytes) => {
      const text = decoder.decode(bytes, { stream: true });
      unfinished += text.length;
      parser.feed(text);
      if (unfinished > longestEventLength) {
        throw new ParleyError(
          'EPROTO',
          `an event is longer than ${longestEventLength} characters; split it into messages`,
        );
      }
    },
  };
};
