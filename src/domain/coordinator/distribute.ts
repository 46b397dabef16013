import type { DistributedFeedback } from '../../contracts/coordinator-events.js';
import type { FeedbackHistory } from '../../contracts/coordinator-status.js';
import type { FeedbackRequest, GivenFeedback } from '../../contracts/feedback.js';
import { iso } from '../instant.js';
import type { TrackedRun } from './state.js';

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

/** One answer given to its run: what is told of it, and the run as it waits no more but to be resumed (details 5.4). */
export interface Distributed {
  event: DistributedFeedback;
  entry: FeedbackHistory;
  run: TrackedRun;
}

/**
 * Distributes one answer, in the order of details 5.4: event, history entry, the waiting state cleared, queued for resume. The
 * answer belongs to this one request, so that the next round does not send it again. A failed run has the request that was made
 * for it. null: the run asks nothing.
 */
export const distribute = (
  run: TrackedRun,
  given: GivenFeedback,
  coordinatorId: string,
  now: number,
): Distributed | null => {
  const { runId, workId, status, request, error, seq } = run;
  if (!request) return null;
  const { request_id: requestId, response, comment, provided_by: user, source } = given;
  const at = iso(now);
  return {
    event: {
      at,
      source: 'parallel_coordination',
      run_id: runId,
      work_id: workId,
      phase: request.phase ?? error?.phase ?? null,
      step: request.step ?? error?.step ?? null,
      message: messageOf(request, response),
      metadata: { coordinator_id: coordinatorId, request_id: requestId, response, provided_by: user, source },
    },
    entry: {
      at,
      run_id: runId,
      work_id: workId,
      request_id: requestId,
      type: request.type,
      response,
      comment,
      user,
      source,
    },
    run: {
      ...run,
      status: 'pending',
      request: null,
      error: null,
      reason: null,
      resuming: { requestId, status, request, error, seq },
    },
  };
};
