import type { PartialEvent } from './events.js';

/**
 * What workers and gateways tell each other beside Temporal's history (design "Streams"). Nothing here is a fact: a lost
 * message costs a moment, never an answer. Topics are work ids.
 */
export type BusMessage =
  /** The work's durable events may have grown: ask the workflow. */
  | { type: 'touched' }
  /** The work's directives to its running lanes changed: ask the workflow. */
  | { type: 'directed' }
  /** Somebody began to watch and wants the text so far of every lane that streams. */
  | { type: 'sync' }
  | ({ type: 'partial' } & PartialEvent);

export interface BusPort {
  publish(topic: string, message: BusMessage): void;
  /** @returns a function that ends the subscription. */
  subscribe(topic: string, listener: (message: BusMessage) => void): () => void;
  /** Whether anybody may be watching: partials of unwatched work are not sent to another process. */
  isWatched(topic: string): boolean;
  close(): Promise<void>;
}
