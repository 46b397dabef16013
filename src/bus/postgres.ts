import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { BusMessage, BusPort } from '../contracts/bus.js';
import type { PartialEvent } from '../contracts/events.js';
import { LocalBus } from './local.js';
import { decodeEnvelope, encodeEnvelope, type Envelope } from './postgres-messages.js';

export interface PostgresBusOptions {
  /** `postgres://user:password@host:port/database`; any database will do, nothing is stored. */
  url: string;
  /** Hears of lost connections and failed listeners; the bus goes on by itself. */
  onError?: (error: unknown, what: string) => void;
  /** Time for which text is gathered before it is sent. */
  batchMs?: number;
  /** How often an interest is renewed; it is remembered for three times as long. */
  renewMs?: number;
  /** First wait before connecting again; doubles up to 10 s. */
  reconnectMs?: number;
}

const channel = 'parley';
const longestWaitMs = 10_000;

type State =
  | { name: 'connecting' }
  | { name: 'connected'; client: pg.Client }
  | { name: 'waiting'; timer: NodeJS.Timeout }
  | { name: 'closed' };

/**
 * The bus between processes, by LISTEN and NOTIFY. Within the process it is the local bus; beyond it every message goes
 * once to all others, text only while one of them has asked for it (`sync`) in the last `3 * renewMs`.
 * What is sent while the connection is down is lost; once it is back, all listeners hear `touched` and `directed`, which
 * makes them ask the workflow, and the watched text is asked for again.
 */
export class PostgresBus implements BusPort {
  readonly #local: LocalBus;
  readonly #options: Required<PostgresBusOptions>;
  readonly #self = randomUUID();
  /** Topics this process watches: it has published `sync` for them and still listens. */
  readonly #watching = new Set<string>();
  /** Topics others watch, with the time until which that holds. */
  readonly #watchedUntil = new Map<string, number>();
  readonly #outbox: string[] = [];
  readonly #partials = new Map<string, { topic: string; partial: PartialEvent }>();
  readonly #renewal: NodeJS.Timeout;
  #batch: NodeJS.Timeout | null = null;
  #sending: Promise<void> | null = null;
  #state: State = { name: 'connecting' };
  #failures = 0;

  private constructor(options: PostgresBusOptions) {
    const { onError = (error: unknown, what: string) => console.error(what, error) } = options;
    this.#options = { batchMs: 40, renewMs: 10_000, reconnectMs: 250, ...options, onError };
    this.#local = new LocalBus({ onError: (error, topic) => onError(error, `a listener of ${topic} failed`) });
    this.#renewal = setInterval(() => this.#renew(), this.#options.renewMs).unref();
  }

  /** @throws when the first connection fails: a wrong address is a mistake to name, not to repeat for ever */
  static async connect(options: PostgresBusOptions): Promise<PostgresBus> {
    const bus = new PostgresBus(options);
    try {
      await bus.#connect();
    } catch (error) {
      await bus.close();
      throw error;
    }
    return bus;
  }

  publish(topic: string, message: BusMessage): void {
    this.#local.publish(topic, message);
    if (message.type === 'partial') {
      if (this.#isWatchedElsewhere(topic)) this.#gather(topic, message);
      return;
    }
    if (message.type === 'sync') this.#watching.add(topic);
    this.#flushPartials();
    this.#send({ from: this.#self, topic, message });
  }

  subscribe(topic: string, listener: (message: BusMessage) => void): () => void {
    const end = this.#local.subscribe(topic, listener);
    return () => {
      end();
      if (!this.#local.isWatched(topic)) this.#watching.delete(topic);
    };
  }

  isWatched(topic: string): boolean {
    return this.#watching.has(topic) || this.#isWatchedElsewhere(topic);
  }

  /** Sends what is gathered, then ends the connection. */
  async close(): Promise<void> {
    if (this.#state.name === 'closed') return;
    clearInterval(this.#renewal);
    this.#flushPartials();
    await this.#sending;
    const state = this.#state;
    this.#state = { name: 'closed' };
    if (state.name === 'waiting') clearTimeout(state.timer);
    if (state.name === 'connected') await state.client.end();
    await this.#local.close();
  }

  #isWatchedElsewhere(topic: string): boolean {
    return (this.#watchedUntil.get(topic) ?? 0) > Date.now();
  }

  /** Text that continues the gathered text of its lane joins it; other text sends the gathered first. */
  #gather(topic: string, { lane_id, attempt, offset, text }: PartialEvent): void {
    const partial = { lane_id, attempt, offset, text };
    const key = JSON.stringify([topic, partial.lane_id]);
    const gathered = this.#partials.get(key);
    if (
      gathered?.partial.attempt === partial.attempt &&
      gathered.partial.offset + gathered.partial.text.length === partial.offset
    ) {
      gathered.partial.text += partial.text;
    } else {
      if (gathered) this.#flushPartials();
      this.#partials.set(key, { topic, partial });
    }
    this.#batch ??= setTimeout(() => this.#flushPartials(), this.#options.batchMs);
  }

  #flushPartials(): void {
    if (this.#batch) clearTimeout(this.#batch);
    this.#batch = null;
    for (const { topic, partial } of this.#partials.values())
      this.#send({ from: this.#self, topic, message: { type: 'partial', ...partial } });
    this.#partials.clear();
  }

  #send(envelope: Envelope): void {
    if (this.#state.name !== 'connected') return;
    this.#outbox.push(...encodeEnvelope(envelope));
    this.#sending ??= this.#drain(this.#state.client);
  }

  async #drain(client: pg.Client): Promise<void> {
    try {
      while (this.#outbox.length > 0) {
        // One transaction for all: PostgreSQL keeps their order.
        await client.query(`SELECT pg_notify('${channel}', payload) FROM unnest($1::text[]) AS payload`, [
          this.#outbox.splice(0),
        ]);
      }
    } catch (error) {
      this.#lost(client, error);
    } finally {
      this.#sending = null;
    }
  }

  #renew(): void {
    const now = Date.now();
    for (const [topic, until] of this.#watchedUntil) if (until <= now) this.#watchedUntil.delete(topic);
    for (const topic of this.#watching) this.#send({ from: this.#self, topic, message: { type: 'watch' } });
  }

  #receive(payload: string): void {
    const envelope = decodeEnvelope(payload);
    if (envelope === null || envelope.from === this.#self) return;
    const { topic, message } = envelope;
    if (message.type === 'sync' || message.type === 'watch')
      this.#watchedUntil.set(topic, Date.now() + 3 * this.#options.renewMs);
    if (message.type !== 'watch') this.#local.publish(topic, message);
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({ connectionString: this.#options.url, application_name: 'parley', keepAlive: true });
    client.on('error', (error) => this.#lost(client, error));
    client.on('end', () => this.#lost(client, new Error('the connection ended')));
    client.on('notification', ({ payload }) => this.#receive(payload ?? ''));
    try {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
    } catch (error) {
      await client.end().catch(() => undefined); // it never stood
      throw error;
    }
    if (this.#state.name === 'closed') return await client.end();
    this.#state = { name: 'connected', client };
    this.#failures = 0;
  }

  #lost(client: pg.Client, error: unknown): void {
    if (this.#state.name !== 'connected' || this.#state.client !== client) return;
    this.#options.onError(error, 'the connection to PostgreSQL was lost; connecting again');
    this.#outbox.length = 0;
    client.end().catch(() => undefined); // it is lost already
    this.#reconnectLater();
  }

  #reconnectLater(): void {
    const waitMs = Math.min(this.#options.reconnectMs * 2 ** this.#failures++, longestWaitMs);
    const timer = setTimeout(() => {
      this.#state = { name: 'connecting' };
      this.#connect().then(
        () => this.#catchUp(),
        (error: unknown) => {
          if (this.#state.name === 'closed') return;
          this.#options.onError(error, 'PostgreSQL cannot be reached; trying again');
          this.#reconnectLater();
        },
      );
    }, waitMs);
    this.#state = { name: 'waiting', timer };
  }

  #catchUp(): void {
    for (const topic of this.#local.topics()) {
      this.#local.publish(topic, { type: 'touched' });
      this.#local.publish(topic, { type: 'directed' });
    }
    for (const topic of this.#watching) this.#send({ from: this.#self, topic, message: { type: 'sync' } });
  }
}
