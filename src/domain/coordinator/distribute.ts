import type { AppliedResponse } from '../../contracts/coordinator.js';
import type { DistributedFeedback } from '../../contracts/coordinator-events.js';
import type { FeedbackHistory } from '../../contracts/coordinator-status.js';
import type { FeedbackRequest, GivenFeedback } from '../../contracts/feedback.js';
import { iso } from '../instant.js';
import type { ResumedRun, TrackedRun } from './state.js';

const words: Readonly<Record<string, string>> = {
  approve: 'Approval granted',
  reject: 'Approval denied',
  request_changes: 'Changes requested',
  retry: 'To be done again',
  skip: 'To be left out',
  abort: 'To be ended',
};

/** What an answer means, in words: a denial is not told as a grant (details 5.2). */
export const messageOf = ({ type }: FeedbackRequest, response: string): string => {
  const said = response.length > 200 ? `${response.slice(0, 199)}…` : response;
  const preset = type === 'approval' || type === 'error_resolution' ? words[response] : undefined;
  return preset ?? (type === 'input' ? `Input given: ${said}` : `Answered with ${said}`);
};

/** What is told of an answer that its run has taken (details 5.4). */
export interface TakenAnswer {
  event: DistributedFeedback;
  entry: FeedbackHistory;
  applied: AppliedResponse;
}

/**
 * The run on its way on with an answer: it waits no more, and the answer belongs to this one request, so that the next round does
 * not send it again. A failed run has the request that was made for it. null: the run asks nothing.
 */
export const handOver = (run: TrackedRun, given: GivenFeedback, call: number, now: number): TrackedRun | null => {
  const { status, request, error, seq, handed } = run;
  if (!request) return null;
  const requestId = given.request_id;
  return {
    ...run,
    status: 'pending',
    request: null,
    error: null,
    reason: null,
    resuming: { requestId, status, request, error, seq, given, givenAt: now, call },
    handed: handed + 1,
  };
};

/** Event and history entry of an answer, in this order (details 5.4), once its run says that it counts: nothing is told before. */
export const takenAnswer = (
  { runId, workId }: TrackedRun,
  { request, error, given }: ResumedRun,
  coordinatorId: string,
  now: number,
): TakenAnswer => {
  const { request_id, response, comment, provided_by, source } = given;
  const at = iso(now);
  const about = { run_id: runId, work_id: workId };
  return {
    event: {
      at,
      source: 'parallel_coordination',
      ...about,
      phase: request.phase ?? error?.phase ?? null,
      step: request.step ?? error?.step ?? null,
      message: messageOf(request, response),
      metadata: { coordinator_id: coordinatorId, request_id, response, provided_by, source },
    },
    entry: { at, ...about, request_id, type: request.type, response, comment, user: provided_by, source },
    applied: { ...about, request_id, response, comment },
  };
};
