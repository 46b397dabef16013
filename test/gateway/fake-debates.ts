import type { PartialEvent } from '../../src/contracts/events.js';
import type { DebateStatus } from '../../src/contracts/debate-status.js';
import type { GivenFeedback } from '../../src/contracts/feedback.js';
import type { DebateSetup } from '../../src/domain/debate/setup.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { FeedbackReceipt } from '../../src/domain/feedback-answer.js';
import type { DebatesPort } from '../../src/gateway/work-port.js';
import type { EventsAnswer } from '../../workflows/messages.js';

/** Debates that only take note of what they are asked; the real ones run in the system tests. */
export class FakeDebates implements DebatesPort {
  readonly kind = 'debate';
  readonly started: { setup: DebateSetup; bodyHash: string }[] = [];
  readonly answers: { id: string; given: GivenFeedback }[] = [];

  async start(setup: DebateSetup, bodyHash: string): Promise<'started'> {
    this.started.push({ setup, bodyHash });
    return 'started';
  }
  async feedback(id: string, given: GivenFeedback): Promise<FeedbackReceipt> {
    this.answers.push({ id, given });
    return { request_id: given.request_id, response: given.response, outcome: 'approved', approvals: 1, needed: 1 };
  }
  async awaitEnd(): Promise<DebateStatus | null> {
    return null;
  }
  async status(id: string): Promise<DebateStatus> {
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
    return new ParleyError('not_found', `There is no debate ${id}.`);
  }
}
