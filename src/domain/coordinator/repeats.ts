import type { CoordinatorResponse } from '../../contracts/coordinator.js';
import { quoted, type ReadAnswer, type ReadAnswers, shownId } from '../feedback-list.js';
import { sameWord } from '../feedback.js';
import type { GivenResponses } from './effects.js';
import type { CoordinatorState } from './state.js';

const namesRequest = (responses: string | CoordinatorResponse[], requestId: string): boolean =>
  typeof responses !== 'string' && responses.some(({ request_id: id }) => id === requestId);

/** What this person answered to an earlier request of the same run, said again in the same words; null: it is new. */
const repeated = (
  { history }: Pick<CoordinatorState, 'history'>,
  { runId, workId, requestId, response, comment }: ReadAnswer,
  providedBy: string,
): string | null => {
  const last = history.findLast(({ run_id: id, user }) => id === runId && sameWord(user, providedBy));
  if (!last || last.request_id === requestId || !sameWord(last.response, response) || last.comment !== comment)
    return null;
  return `${shownId(workId)}: ${last.user} had answered ${quoted(last.response)} to ${last.request_id} at ${last.at}, and this counts as the same again. ${requestId} was asked since: look at it and answer it with its request_id, or with as_of, the number of the report that you read.`;
};

/**
 * Without the answers that mean another request than the open one: nobody answers what they have not seen (details 5.5). One that
 * names a request, or the report that was read, is held to that; one that names neither is no answer to what was asked after the
 * same person said the same.
 */
export const withoutRepeats = (
  coordinator: CoordinatorState,
  given: GivenResponses,
  read: ReadAnswers,
): ReadAnswers => {
  const { asOf, responses, providedBy } = given;
  const left: ReadAnswers = { answers: [], warnings: [...read.warnings], errors: [...read.errors] };
  for (const answer of read.answers) {
    const { runId, workId, requestId } = answer;
    const shownIn = coordinator.runs.find((run) => run.runId === runId)?.shownIn ?? 0;
    if (namesRequest(responses, requestId)) left.answers.push(answer);
    else if (asOf === null) {
      const warning = repeated(coordinator, answer, providedBy);
      if (warning === null) left.answers.push(answer);
      else left.warnings.push(warning);
    } else if (shownIn <= asOf) left.answers.push(answer);
    else {
      const message = `${shownId(workId)}: ${requestId} is asked since report ${shownIn}, and report ${asOf} was read; look at it and answer it with as_of=${coordinator.reports.length}.`;
      left.errors.push({ workId, runId, message, valid: [requestId] });
    }
  }
  return left;
};
