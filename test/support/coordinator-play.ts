import type { CoordinatorAnswer, CoordinatorResponse } from '../../src/contracts/coordinator.js';
import type { CoordinatorDurableEvent } from '../../src/contracts/coordinator-events.js';
import type { AggregatedRun, Aggregation } from '../../src/contracts/coordinator-status.js';
import type { FeedbackRequest, GivenFeedback } from '../../src/contracts/feedback.js';
import type { CoordinatorEffect, CoordinatorEvent, RunWord } from '../../src/domain/coordinator/effects.js';
import { withChange } from '../../src/domain/coordinator/changes.js';
import { promptOf } from '../../src/domain/coordinator/prompt.js';
import { planRuns } from '../../src/domain/coordinator/runs.js';
import {
  type CoordinatorSetup,
  type CoordinatorState,
  openCoordinatorState,
  type TrackedRun,
} from '../../src/domain/coordinator/state.js';
import { nextDue, stepCoordinator } from '../../src/domain/coordinator/step.js';
import { openFeedback, type OpenFeedback } from '../../src/domain/feedback.js';
import { start, WorkPlay } from './work-play.js';

type Said = Partial<RunWord> & { status: string };

let made = 0;

/** A request of a run; each has an id of its own. */
export const asks = (over: Partial<OpenFeedback> = {}): FeedbackRequest => {
  made += 1;
  const requestId = `fr-20261121-${made.toString(16).padStart(6, '0')}`;
  const open = { requestId, type: 'approval' as const, prompt: 'Go on?', phase: 'architect', step: 'review', ...over };
  return openFeedback(open, start).request;
};

export const awaiting = (over: Partial<OpenFeedback> = {}): Said => ({
  status: 'awaiting_feedback',
  request: asks(over),
});
export const failed = (message = 'it does not compile', retryable = true): Said => ({
  status: 'error',
  error: { phase: 'build', step: 'compile', message, retryable },
});
export const done: Said = { status: 'completed' };

/** A coordinator played by hand: every run says what the test makes it say. */
export class CoordinatorPlay extends WorkPlay<
  CoordinatorState,
  CoordinatorEvent,
  CoordinatorEffect,
  CoordinatorDurableEvent
> {
  private readonly seqs = new Map<string, number>();

  constructor(workIds: readonly string[], setup: Partial<CoordinatorSetup> = {}) {
    const id = setup.id ?? 'many';
    const runs = planRuns(id, { runs: [], work_ids: workIds, adopt: [] });
    const identity = { id, tenant: 'default', labels: {}, traceId: '0'.repeat(32), webUiUrl: 'http://ui' };
    super(openCoordinatorState({ ...identity, runs, waitTimeoutMs: null, ...setup }, start));
    this.take({ type: 'START' });
  }

  get coordinator(): CoordinatorState {
    return this.work;
  }
  protected step(event: CoordinatorEvent) {
    const { coordinator: work, effects, events } = stepCoordinator(this.work, event, this.now);
    return { work, effects, events };
  }
  protected due(): number | null {
    return nextDue(this.work);
  }

  run(workId: string): TrackedRun {
    const run = this.coordinator.runs.find((other) => other.workId === workId || other.runId === workId);
    if (!run) throw new Error(`no run ${workId}`);
    return run;
  }

  /** The run says where it stands. */
  says(workId: string, said: Said): this {
    const { runId, workId: id } = this.run(workId);
    const seq = said.seq ?? (this.seqs.get(runId) ?? 0) + 1;
    this.seqs.set(runId, Math.max(seq, this.seqs.get(runId) ?? 0));
    const blank = { branch: null, outcome: null, artifacts: null, request: null, error: null };
    return this.take({ type: 'RUN', runId, word: { ...blank, workId: id, ...said, seq } });
  }

  /** Every run says where it stands, by work id. */
  all(words: Record<string, Said>): this {
    for (const [workId, said] of Object.entries(words)) this.says(workId, said);
    return this;
  }

  respond(
    responses: string | CoordinatorResponse[],
    providedBy = 'anna',
    { asOf = null, key = null }: { asOf?: number | null; key?: string | null } = {},
  ): CoordinatorAnswer {
    const given = { responses, providedBy, authenticated: true, source: 'cli' as const, asOf, key };
    const { calls } = this.coordinator;
    this.take({ type: 'RESPONSES', given, caller: null });
    return this.coordinator.openCalls.find(({ number }) => number > calls)?.answer ?? this.answer;
  }

  /** Answers whose runs all take them at once. */
  answered(responses: string | CoordinatorResponse[], providedBy = 'anna'): CoordinatorAnswer {
    this.respond(responses, providedBy);
    return this.resumeAll().answer;
  }

  /** Every run that has an answer takes it. */
  resumeAll(): this {
    for (const { runId, resuming } of this.coordinator.runs) {
      if (resuming) this.take({ type: 'RESUMED', runId, requestId: resuming.requestId });
    }
    return this;
  }

  /** Answers the coordinator's own question. */
  decide(response: string, over: Partial<GivenFeedback> = {}): this {
    const request_id = this.coordinator.questions.at(-1)?.request.request_id ?? 'none';
    const who = { provided_by: 'anna', authenticated: true, source: 'http' as const };
    return this.take({
      type: 'FEEDBACK',
      given: { request_id, response, comment: null, digest: null, ...who, ...over },
    });
  }

  get answer(): CoordinatorAnswer {
    const { lastAnswer } = this.coordinator;
    if (!lastAnswer) throw new Error('nothing has been answered');
    return lastAnswer;
  }
  get report(): Aggregation {
    const { aggregation } = this.coordinator;
    if (!aggregation) throw new Error('there is no report yet');
    return aggregation;
  }
  /** Every report, whole, as its events tell them. */
  get reports(): Aggregation[] {
    let report: Aggregation | null = null;
    return this.told('aggregation').map((told) => {
      report = withChange(report, told);
      if (!report) throw new Error(`${told.report} tells the changes to ${told.since}, which is not the one before it`);
      return report;
    });
  }
  get prompt(): string {
    return promptOf(this.report);
  }
  reported(workId: string): AggregatedRun | undefined {
    return this.report.runs.find((run) => run.work_id === workId);
  }

  done<T extends CoordinatorEffect['type']>(type: T): Extract<CoordinatorEffect, { type: T }>[] {
    return this.effects.filter((effect): effect is Extract<CoordinatorEffect, { type: T }> => effect.type === type);
  }
}
