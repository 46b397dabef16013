import type { RunStatus } from '../../contracts/run-status.js';
import { closedFromOutside, hasFailedOutside } from '../closed-from-outside.js';
import { closeFeedback } from '../feedback.js';

type Feedback = RunStatus['feedback'][number];

/** Nobody's answer is needed any more. */
const voided = (feedback: Feedback, now: number): Feedback => {
  if (feedback.state !== 'open') return feedback;
  return 'outcome' in feedback
    ? closeFeedback({ ...feedback, outcome: 'void' }, 'void', now)
    : closeFeedback(feedback, 'void', now);
};

const closed = closedFromOutside<RunStatus>((fault, { phase, step }) => ({ ...fault, phase, step, retryable: false }));

/**
 * The status of a run whose workflow was closed from outside: what it was doing has ended, and it asks nobody anything. As with
 * `closedFromOutside`.
 */
export const closedRun = (status: RunStatus, how: string, closedAt: string | null): RunStatus => ({
  ...closed(status, how, closedAt),
  state: hasFailedOutside(how) ? 'error' : 'cancelled',
  phase: null,
  step: null,
  phases: status.phases.map(({ name, steps }) => ({
    name,
    steps: steps.map((each) =>
      each.state === 'in_progress' || each.state === 'awaiting_feedback' ? { ...each, state: 'cancelled' } : each,
    ),
  })),
  feedback: status.feedback.map((each) => voided(each, Date.parse(closedAt ?? status.started_at))),
  next: [],
});
