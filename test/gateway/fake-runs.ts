import type { GivenFeedback } from '../../src/contracts/feedback.js';
import type { RunStatus } from '../../src/contracts/run-status.js';
import type { FeedbackReceipt } from '../../src/domain/feedback-answer.js';
import type { RunSetup } from '../../src/domain/run/setup.js';
import type { RunsPort } from '../../src/gateway/work-port.js';
import { FakeWork } from './fake-work.js';

/** Runs that take whatever they are answered. */
export class FakeRuns extends FakeWork<RunSetup, RunStatus> implements RunsPort {
  constructor() {
    super('run');
  }

  async feedback(_: string, given: GivenFeedback): Promise<FeedbackReceipt> {
    return { request_id: given.request_id, response: given.response, outcome: 'answered', approvals: 1, needed: 1 };
  }
}
