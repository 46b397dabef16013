import type { PartialEvent } from '../../src/contracts/events.js';
import type { RefinementStatus } from '../../src/contracts/refinement-status.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { RefinementSetup } from '../../src/domain/refinement/setup.js';
import type { RefinementsPort } from '../../src/gateway/work-port.js';
import type { EventsAnswer } from '../../workflows/messages.js';

/** Refinements that only take note of what they are asked; the real ones run in the system tests. */
export class FakeRefinements implements RefinementsPort {
  readonly kind = 'refinement';
  readonly started: RefinementSetup[] = [];

  async start(setup: RefinementSetup): Promise<'started'> {
    this.started.push(setup);
    return 'started';
  }
  async awaitEnd(): Promise<RefinementStatus | null> {
    return null;
  }
  async status(id: string): Promise<RefinementStatus> {
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
    return new ParleyError('not_found', `There is no refinement ${id}.`);
  }
}
