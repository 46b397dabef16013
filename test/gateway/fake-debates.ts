import type { DebateStatus } from '../../src/contracts/debate-status.js';
import type { GivenFeedback } from '../../src/contracts/feedback.js';
import type { DebateSetup } from '../../src/domain/debate/setup.js';
import type { FeedbackReceipt } from '../../src/domain/feedback-answer.js';
import type { DebatesPort } from '../../src/gateway/work-port.js';
import { FakeWork } from './fake-work.js';

/** Debates that approve whatever they are answered. */
export class FakeDebates extends FakeWork<DebateSetup, DebateStatus> implements DebatesPort {
  readonly answers: { id: string; given: GivenFeedback }[] = [];

  constructor() {
    super('debate');
  }

  async feedback(id: string, given: GivenFeedback): Promise<FeedbackReceipt> {
    this.answers.push({ id, given });
    return { request_id: given.request_id, response: given.response, outcome: 'approved', approvals: 1, needed: 1 };
  }
}
