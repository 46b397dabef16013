import type { BusMessage, BusPort } from '../contracts/bus.js';

type Listener = (message: BusMessage) => void;

export interface LocalBusOptions {
  /** Hears of a listener that threw; the other listeners and the publisher go on. */
  onError?: (error: unknown, topic: string) => void;
}

/** The bus of one process: a message reaches every listener of its topic, in order, before `publish` returns. */
export class LocalBus implements BusPort {
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #onError: (error: unknown, topic: string) => void;

  constructor({
    onError = (error, topic) => console.error(`a listener of ${topic} failed`, error),
  }: LocalBusOptions = {}) {
    this.#onError = onError;
  }

  publish(topic: string, message: BusMessage): void {
    // A copy: a listener may end its own subscription, or begin one, while it is called.
    for (const listener of [...(this.#listeners.get(topic) ?? [])]) {
      try {
        listener(message);
      } catch (error) {
        this.#onError(error, topic);
      }
    }
  }

  subscribe(topic: string, listener: Listener): () => void {
    // A wrapper of its own, so that one function may subscribe twice and end either subscription.
    const own: Listener = (message) => listener(message);
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(own));
    return () => {
      listeners.delete(own);
      if (listeners.size === 0 && this.#listeners.get(topic) === listeners) this.#listeners.delete(topic);
    };
  }

  /** Within one process a partial costs a call: whoever listens counts. */
  isWatched(topic: string): boolean {
    return this.#listeners.has(topic);
  }

  /** Topics with a listener. */
  topics(): string[] {
    return [...this.#listeners.keys()];
  }

  async close(): Promise<void> {
    this.#listeners.clear();
  }
}
