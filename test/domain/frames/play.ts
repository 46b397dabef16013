import type { FailFrame, FinalFrame, PartialFrame } from '../../../src/contracts/frames.js';
import { openBuffer, receive, type Delivery, type LaneBuffer, type Received } from '../../../src/domain/frames.js';

export type LaneFrame = PartialFrame | FinalFrame | FailFrame;

export const open = (): LaneBuffer => openBuffer({ fragmentGapMs: 500, messageGapMs: 5000, limitChars: 256 });
export const whole = (msgSeq: number, text: string): PartialFrame => fragment(msgSeq, 0, text, true);
export const fragment = (msgSeq: number, fragSeq: number, text: string, last = false): PartialFrame => ({
  type: 'partial',
  msg_seq: msgSeq,
  frag_seq: fragSeq,
  last,
  text,
});
export const final = (msgSeq: number, text?: string): FinalFrame => ({
  type: 'final',
  msg_seq: msgSeq,
  ...(text === undefined ? {} : { text }),
});
export const fail = (msgSeq?: number): FailFrame => ({
  type: 'fail',
  code: 'EAGENTDOWN',
  message: 'gone',
  retryable: false,
  ...(msgSeq === undefined ? {} : { msg_seq: msgSeq }),
});

/** Plays frames, each at its own time or all at 0, and keeps what was delivered. State goes through JSON each time. */
export const play = (frames: readonly (LaneFrame | [LaneFrame, number])[], from = open()) => {
  let buffer = from;
  const deliveries: Delivery[] = [];
  const outcomes: Received['outcome'][] = [];
  let problem: string | undefined;
  for (const entry of frames) {
    const [frame, now] = Array.isArray(entry) ? entry : ([entry, 0] as const);
    const before = JSON.stringify(buffer);
    const received = receive(buffer, frame, now);
    if (JSON.stringify(buffer) !== before) throw new Error('receive changed the state it was given');
    buffer = JSON.parse(JSON.stringify(received.buffer)) as LaneBuffer;
    deliveries.push(...received.deliveries);
    outcomes.push(received.outcome);
    problem = received.problem;
  }
  return { buffer, deliveries, outcomes, outcome: outcomes.at(-1), problem };
};
export const textOf = (deliveries: readonly Delivery[]): string =>
  deliveries.map((delivery) => (delivery.type === 'text' ? delivery.text : `<${delivery.type}>`)).join('');

export const permutations = <T>(items: readonly T[]): T[][] =>
  items.length <= 1
    ? [[...items]]
    : items.flatMap((item, index) =>
        permutations(items.filter((_, other) => other !== index)).map((rest) => [item, ...rest]),
      );
