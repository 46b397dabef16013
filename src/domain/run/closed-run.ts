import type { RunStatus } from '../../contracts/run-status.js';
import { closeFeedback } from '../feedback.js';

type Feedback = RunStatus['feedback'][number];

/** Nobody's answer is needed any more. */
const voided = (feedback: Feedback, now: number): Feedback => {
  if (feedback.state !== 'open') return feedback;
  return 'outcome' in feedback
    ? closeFeedback({ ...feedback, outcome: 'void' }, 'void', now)
    : closeFeedback(feedback, 'void', now);
};

/**
 * The status of a run whose workflow was closed from outside: what it was doing has ended, and it asks nobody anything.
 * @param how what Temporal calls it: TERMINATED, FAILED, TIMED_OUT
 * @param closedAt when that was, as a date; null: that is not known
 */
export const closedRun = (status: RunStatus, how: string, closedAt: string | null): RunStatus => {
  const hasFailed = how === 'FAILED' || how === 'TIMED_OUT';
  const { state, phase, step, feedback, phases } = status;
  return {
    ...status,
    lifecycle: hasFailed ? 'failed' : 'cancelled',
    state: hasFailed ? 'error' : 'cancelled',
    phase: null,
    step: null,
    phases: phases.map(({ name, steps }) => ({
      name,
      steps: steps.map((each) =>
        each.state === 'in_progress' || each.state === 'awaiting_feedback' ? { ...each, state: 'cancelled' } : each,
      ),
    })),
    feedback: feedback.map((each) => voided(each, Date.parse(closedAt ?? status.started_at))),
    next: [],
    waiting: null,
    error: status.error ?? {
      code: how === 'FAILED' ? 'EAGENTDOWN' : 'EPREEMPT',
      message: `The workflow was closed from outside (${how}) in state ${state}; see it in Temporal's Web UI.`,
      phase,
      step,
      retryable: false,
    },
    ended_at: closedAt,
  };
};
