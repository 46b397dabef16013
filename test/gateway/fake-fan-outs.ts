import type { PartialEvent } from '../../src/contracts/events.js';
import type { FanOutStatus } from '../../src/contracts/fan-out-status.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { FanOutSetup } from '../../src/domain/fan-out/setup.js';
import type { FanOutsPort } from '../../src/gateway/work-port.js';
import type { EventsAnswer } from '../../workflows/messages.js';

/** Fan-outs that only take note of what they are asked; the real ones run in the system tests. */
export class FakeFanOuts implements FanOutsPort {
  readonly kind = 'fan-out';
  readonly started: FanOutSetup[] = [];

  async start(setup: FanOutSetup): Promise<'started'> {
    this.started.push(setup);
    return 'started';
  }
  async awaitEnd(): Promise<FanOutStatus | null> {
    return null;
  }
  async status(id: string): Promise<FanOutStatus> {
    throw this.#unknown(id);
  }
  async cancel(id: string): Promise<void> {
    throw this.#unknown(id);
  }
  async events(id: string): Promise<EventsAnswer> {
    throw this.#unknown(id);
  }
  async closedAs(id: string): Promise<string | null> {
    throw this.#unknown(id);
  }
  async texts(): Promise<PartialEvent[]> {
    return [];
  }
  endedLane(): null {
    return null;
  }
  #unknown(id: string): ParleyError {
    return new ParleyError('not_found', `There is no fan-out ${id}.`);
  }
}
