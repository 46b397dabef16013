import type { ControlFrame, Frame } from '../../src/contracts/frames.js';
import { createFrameReader } from './frame-reader.js';

/** How many frames are read ahead to find the READY of an agent that paused itself. */
const mostFramesAhead = 1000;

export type DataFrame = Exclude<Frame, ControlFrame>;

export interface BodyReader {
  /** The next data frame; null at the end of the body. @throws what broke the body, after the frames before it. */
  next: () => Promise<DataFrame | null>;
  close: () => Promise<void>;
}

/**
 * Reads a body only as far as somebody asks for. Control frames are said as they are read; when the agent itself pauses,
 * reading goes on within bounds, since a paused lane pulls nothing and would never meet the READY.
 */
export const createBodyReader = (response: Response, onControl: (frame: ControlFrame) => void): BodyReader => {
  const source = response.body?.getReader();
  const queue: DataFrame[] = [];
  let [ended, paused] = [false, false];
  let fault: unknown = null;
  let reading: Promise<void> | null = null;
  const reader = createFrameReader((frame) => {
    if (ended) return; // behind the end of the answer there is nothing to hear
    if (frame.type === 'control') {
      paused = frame.status === 'PAUSE' || frame.status === 'BUSY' || (paused && frame.status === 'DRAINING');
      onControl(frame);
      return;
    }
    queue.push(frame);
    ended = frame.type !== 'partial';
  });
  const readOnce = async (): Promise<void> => {
    try {
      const piece = (await source?.read()) as { value?: Uint8Array } | undefined;
      if (piece?.value === undefined) ended = true;
      else reader.feed(piece.value);
    } catch (error) {
      fault = error;
      ended = true;
    } finally {
      reading = null;
    }
  };
  const read = (): Promise<void> => (reading ??= readOnce());
  const readAhead = async (): Promise<void> => {
    while (paused && !ended && queue.length < mostFramesAhead) await read();
  };
  return {
    next: async (): Promise<DataFrame | null> => {
      while (queue.length === 0 && !ended) await read();
      const frame = queue.shift() ?? null;
      if (frame === null && fault !== null) throw fault;
      // Never rejects: a fault is kept for the next pull.
      if (frame !== null) void readAhead();
      return frame;
    },
    close: async (): Promise<void> => source?.cancel(),
  };
};
