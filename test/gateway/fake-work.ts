import type { PartialEvent } from '../../src/contracts/events.js';
import type { Kind } from '../../src/contracts/work.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { WorkPort, WorkSetup, WorkStatus } from '../../src/gateway/work-port.js';
import type { EventsAnswer } from '../../workflows/messages.js';

/** Work of one kind that only takes note of what it is asked; the real one runs in the system tests. */
export class FakeWork<Setup extends WorkSetup, Status extends WorkStatus> implements WorkPort<Setup, Status> {
  readonly started: Setup[] = [];

  constructor(readonly kind: Kind) {}

  async start(setup: Setup): Promise<'started'> {
    this.started.push(setup);
    return 'started';
  }
  async awaitEnd(): Promise<Status | null> {
    return null;
  }
  async status(id: string): Promise<Status> {
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
  async latestRun(id: string): Promise<string> {
    throw this.#unknown(id);
  }
  async texts(): Promise<PartialEvent[]> {
    return [];
  }
  endedLane(): null {
    return null;
  }
  #unknown(id: string): ParleyError {
    return new ParleyError('not_found', `There is no ${this.kind} ${id}.`);
  }
}
