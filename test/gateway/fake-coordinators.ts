import type { CoordinatorAnswer } from '../../src/contracts/coordinator.js';
import type { CoordinatorStatus } from '../../src/contracts/coordinator-status.js';
import type { GivenFeedback } from '../../src/contracts/feedback.js';
import type { CoordinatorStart } from '../../src/domain/coordinator/state.js';
import type { FeedbackReceipt } from '../../src/domain/feedback-answer.js';
import type { CoordinatorsPort } from '../../src/gateway/work-port.js';
import { FakeWork } from './fake-work.js';

/** Coordinators that take whatever they are answered. */
export class FakeCoordinators extends FakeWork<CoordinatorStart, CoordinatorStatus> implements CoordinatorsPort {
  constructor() {
    super('coordinator');
  }

  async feedback(_: string, given: GivenFeedback): Promise<FeedbackReceipt> {
    return { request_id: given.request_id, response: given.response, outcome: 'answered', approvals: 1, needed: 1 };
  }

  async respond(): Promise<CoordinatorAnswer> {
    return { applied: [], warnings: [], errors: [], reprompt: null };
  }

  async report(): Promise<null> {
    return null;
  }
}
