import type { CoordinatorAnswer } from '../../contracts/coordinator.js';
import type { AggregatedRun, FeedbackHistory } from '../../contracts/coordinator-status.js';
import { type AnswerFault, type AskedWork, parseAnswerList, quoted } from '../feedback-list.js';
import { parseAnswers } from '../feedback-text.js';
import { iso } from '../instant.js';
import type { GivenResponses } from './effects.js';
import { withoutRepeats } from './repeats.js';
import { needsPerson } from './runs.js';
import type { CallKey, CoordinatorState, ParsedResponses, TrackedRun } from './state.js';

/** Whether the run still asks what the latest report shows: nobody answers what they have not seen (details 5.5). */
const isPresented = (run: TrackedRun, presented: ReadonlyMap<string, AggregatedRun>): boolean =>
  needsPerson(run) &&
  run.request !== null &&
  presented.get(run.runId)?.feedback_request?.request_id === run.request.request_id;

/** Who answered it, with what and when; none: nobody through here. */
const answeredWords = ({ resuming }: TrackedRun, last: FeedbackHistory | undefined): string => {
  if (resuming) {
    const { response, provided_by: who } = resuming.given;
    return `answered with ${quoted(response)} by ${who} at ${iso(resuming.givenAt)} and being resumed`;
  }
  return last ? `, answered with ${quoted(last.response)} by ${last.user} at ${last.at}` : '';
};

/** What becomes of a run that takes no answer, so that whoever comes second is told who was first. */
const statusWords = (run: TrackedRun, last: FeedbackHistory | undefined): string => {
  const answered = answeredWords(run, last);
  if (run.resuming) return answered;
  return needsPerson(run)
    ? `${run.status} with something new, which the next report will ask${answered}`
    : `${run.status}${answered}`;
};

const presentedRuns = ({ aggregation }: CoordinatorState): Map<string, AggregatedRun> =>
  new Map(aggregation?.runs.map((run) => [run.run_id, run]));

const asked = (coordinator: CoordinatorState): AskedWork[] => {
  const presented = presentedRuns(coordinator);
  const latest = new Map(coordinator.history.map((entry) => [entry.run_id, entry]));
  return coordinator.runs.map((run) => ({
    workId: run.workId,
    runId: run.runId,
    requests: run.request && isPresented(run, presented) ? [run.request] : null,
    status: statusWords(run, latest.get(run.runId)),
  }));
};

/** The runs of the latest report that still need an answer. */
export const stillAsked = (coordinator: CoordinatorState): AggregatedRun[] => {
  const presented = presentedRuns(coordinator);
  return coordinator.runs.flatMap((run) => (isPresented(run, presented) ? [presented.get(run.runId)!] : []));
};

/** Whether a wrong answer was for this run, as far as it says which. */
const isMeant = (run: TrackedRun, { workId, runId, meant }: AnswerFault): boolean => {
  if (meant) return meant.some((work) => work.workId === run.runId);
  return runId === undefined ? run.workId === workId : run.runId === runId;
};

/** What the responses say to the runs of the latest report; what becomes of them is told by the runs. */
export const parseResponses = (
  coordinator: CoordinatorState,
  given: GivenResponses,
  caller: number | null,
  key: CallKey | null,
): ParsedResponses => {
  const { responses, providedBy, authenticated, source } = given;
  const open = asked(coordinator);
  const said = typeof responses === 'string' ? parseAnswers(responses, open) : parseAnswerList(responses, open);
  const read = withoutRepeats(coordinator, given, said);
  const digests = new Map(coordinator.runs.map(({ runId, request }) => [runId, request?.digest ?? null]));
  const answer: CoordinatorAnswer = {
    applied: [],
    warnings: read.warnings,
    errors: read.errors.map(({ workId, message, valid }) => ({ work_id: workId, message, valid })),
    reprompt: null,
  };
  const answered = new Set(read.answers.map(({ runId }) => runId));
  return {
    answer,
    again: coordinator.runs
      .filter((run) => !answered.has(run.runId) && read.errors.some((fault) => isMeant(run, fault)))
      .map(({ runId }) => runId),
    caller,
    key,
    runs: read.answers.map(({ runId, requestId, response, comment }) => ({
      runId,
      given: {
        request_id: requestId,
        response,
        comment,
        // An approval is bound to what the report showed, also where the run has changed it in the meantime.
        digest: digests.get(runId) ?? null,
        provided_by: providedBy,
        authenticated,
        source,
      },
    })),
  };
};
