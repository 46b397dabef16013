import { setTimeout } from 'node:timers/promises';
import type { BusPort } from '../contracts/bus.js';
import { LaneTexts } from './lane-texts.js';

/** Milliseconds that workers have to say what they have; those of this process answer at once. */
const waitMs = 60;

/** The text so far of every lane of a piece of work that streams now, by lane: as far as workers tell it in time. */
export const liveTexts = async (bus: BusPort, id: string): Promise<Map<string, string>> => {
  const texts = new LaneTexts();
  const stop = bus.subscribe(id, (message) => {
    if (message.type !== 'partial') return;
    const { type: _, ...piece } = message;
    texts.merge(piece);
  });
  try {
    bus.publish(id, { type: 'sync' });
    await setTimeout(waitMs);
  } finally {
    stop();
  }
  return new Map(texts.after(new Map()).map(({ lane_id: lane, text }) => [lane, text]));
};
