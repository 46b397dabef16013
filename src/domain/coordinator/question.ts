import type { Feedback, GivenFeedback } from '../../contracts/feedback.js';
import { type FeedbackRefusal, type FeedbackStep, openFeedback, stepFeedback } from '../feedback.js';
import { shownId } from '../feedback-list.js';
import { iso } from '../instant.js';
import type { CoordinatorDraft } from './draft.js';
import { isStopped, requestIdFor } from './runs.js';
import type { CoordinatorState } from './state.js';

export const isUnderWay = (coordinator: Pick<CoordinatorState, 'runs'>): CoordinatorState['runs'] =>
  coordinator.runs.filter((run) => !isStopped(run));

/** Work ids, as many as a person reads. */
export const someOf = (runs: readonly { workId: string }[]): string => {
  const ids = runs.slice(0, 8).map(({ workId }) => shownId(workId));
  return runs.length > ids.length ? `${ids.join(', ')} and ${runs.length - ids.length} more` : ids.join(', ');
};

/** The coordinator's own request after a timeout: whether to wait on, or to end (spec 06). It never expires. */
export const askToWait = (coordinator: CoordinatorState, now: number): Feedback => {
  const { setup, questions, runs } = coordinator;
  const late = isUnderWay(coordinator);
  return openFeedback(
    {
      requestId: requestIdFor(setup, `question ${questions.length}`, now),
      type: 'choice',
      prompt: `${late.length} of ${runs.length} runs have not come to a stop within ${setup.waitTimeoutMs} ms: ${someOf(late)}. Wait on?`,
      options: [
        { value: 'continue_waiting', label: 'Continue waiting', effect: 'waits as long again' },
        {
          value: 'abort',
          label: 'Abort',
          effect: 'ends the coordinator with what is done, and leaves the runs as they are',
        },
      ],
    },
    now,
  );
};

/** The question that people are asked at the moment, or null. */
export const openQuestion = ({ questions }: Pick<CoordinatorState, 'questions'>): Feedback | null => {
  const latest = questions.at(-1);
  return latest?.state === 'open' ? latest : null;
};

/** Nobody is asked any more whether to wait on. */
export const voidQuestion = ({ coordinator, now }: CoordinatorDraft): void => {
  if (!openQuestion(coordinator)) return;
  const closed = { state: 'void' as const, closed_at: iso(now) };
  coordinator.questions = coordinator.questions.map((question) =>
    question.state === 'open' ? { ...question, ...closed } : question,
  );
};

/** One answer to the question that it names, else to the latest, taken or refused; null: nothing has been asked. */
export const answerQuestion = (
  { questions }: Pick<CoordinatorState, 'questions'>,
  given: GivenFeedback,
  now: number,
): FeedbackStep | null => {
  const question = questions.find(({ request }) => request.request_id === given.request_id) ?? questions.at(-1);
  return question ? stepFeedback(question, { type: 'answer', given }, now) : null;
};

/** Why an answer would change nothing, for the validator of an update; null: it counts, or has counted before. */
export const questionRefusal = (
  coordinator: CoordinatorState,
  given: GivenFeedback,
  now: number,
): FeedbackRefusal | null => {
  const step = answerQuestion(coordinator, given, now);
  if (step) return step.refused;
  const message = `coordinator ${coordinator.setup.id} has asked nothing itself; answers for its runs are responses.`;
  return { code: 'other_request', message };
};
