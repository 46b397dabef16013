import type { CallWait } from '../../src/contracts/call-wait.js';
import type { GivenFeedback } from '../../src/contracts/feedback.js';
import type { FeedbackReceipt } from '../../src/domain/feedback-answer.js';
import type { ContextInfo, TeamStatus } from '../../src/contracts/team-status.js';
import { type CallAnswer, done, type OutsideCall } from '../../src/domain/team/effects.js';
import type { TeamSetup } from '../../src/domain/team/setup.js';
import type { TeamsPort } from '../../src/gateway/work-port.js';
import { FakeWork } from './fake-work.js';

/** Teams in memory: each call is noted, and answered as the test says. */
export class FakeTeams extends FakeWork<TeamSetup, TeamStatus> implements TeamsPort {
  readonly calls: OutsideCall[] = [];
  answer: CallAnswer = done([]);

  constructor() {
    super('team');
  }

  async call(_id: string, call: OutsideCall): Promise<CallAnswer> {
    this.calls.push(call);
    return this.answer;
  }

  async feedback(_: string, given: GivenFeedback): Promise<FeedbackReceipt> {
    return { request_id: given.request_id, response: given.response, outcome: 'approved', approvals: 1, needed: 1 };
  }

  async callWaits(): Promise<ReadonlyMap<string, readonly CallWait[]>> {
    return new Map();
  }

  async context(): Promise<ContextInfo | null> {
    return null;
  }
}
