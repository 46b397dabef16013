import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import type { CoordinatedRun, CoordinatedRunsPort } from '../activities/coordinator-activities.js';
import { type GivenFeedback, refusalCodes, type RefusedFeedback } from '../src/contracts/feedback.js';
import type { RunStatus } from '../src/contracts/run-status.js';
import type { RunWord } from '../src/domain/coordinator/effects.js';
import type { AnswerReply } from '../src/domain/coordinator/reply.js';
import { ParleyError } from '../src/domain/errors.js';
import { closedWords, sameWord } from '../src/domain/feedback.js';
import { openRunState } from '../src/domain/run/state.js';
import { runStatus } from '../src/domain/run/view.js';
import { wordOf } from '../src/domain/run/word.js';
import { fromFailure } from '../src/failure.js';
import { feedbackUpdate, runWorkflowType, statusQuery, watchUpdate, wordQuery } from '../workflows/messages.js';
import { askQuery } from './ask-query.js';
import { createRunsClient } from './runs-client.js';
import { searchAttributes } from './search-attributes.js';
import { notFound, translated } from './temporal-errors.js';

/** Milliseconds for one question to a run. */
const deadlineMs = 10_000;

const refusalCode = (error: ParleyError): RefusedFeedback['code'] | null =>
  refusalCodes.find((code) => code === error.options.details?.['reason']) ?? null;

/** How it was closed by somebody else than itself, or null. */
const closedFromOutside = ({ status: { name } }: WorkflowExecutionDescription): string | null =>
  name === 'TERMINATED' || name === 'TIMED_OUT' || name === 'FAILED' ? name : null;
const isOpen = ({ status: { name } }: WorkflowExecutionDescription): boolean => name === 'RUNNING' || name === 'PAUSED';

/** Runs as their coordinators reach them, from a worker: each is a workflow of its own, of whichever worker. */
export const createCoordinatedRuns = ({
  client,
  taskQueue,
}: {
  client: Client;
  taskQueue: string;
}): CoordinatedRunsPort => {
  // An eager start would wait for a worker's free place, and hundreds come at once.
  const runs = createRunsClient({ client, taskQueue, eagerStarts: false });
  const within = async <T>(id: string, ask: () => Promise<T>): Promise<T> => {
    try {
      return await client.withDeadline(Date.now() + deadlineMs, ask);
    } catch (error) {
      throw translated(error, 'run', id);
    }
  };

  /** @throws ParleyError not_found, also for what is no run, or a run of another tenant */
  const describe = async ({ runId, tenant }: CoordinatedRun): Promise<WorkflowExecutionDescription> => {
    const about = await within(runId, () => client.workflow.getHandle(runId).describe());
    const isIts = about.type === runWorkflowType && about.typedSearchAttributes.get(searchAttributes.tenant) === tenant;
    if (!isIts) throw notFound('run', runId);
    return about;
  };

  const query = {
    word: (runId: string): Promise<RunWord> =>
      within(runId, () => askQuery(client, deadlineMs, () => client.workflow.getHandle(runId).query(wordQuery))),
    status: (runId: string): Promise<RunStatus> =>
      within(runId, () =>
        askQuery(client, deadlineMs, () => client.workflow.getHandle(runId).query(statusQuery)),
      ) as Promise<RunStatus>,
  };

  const start: CoordinatedRunsPort['start'] = async (run) => {
    const { setup, request, hash } = run.start;
    const begun = await runs.start(setup, hash, { isRepeatable: true, request });
    // One that is there already has said its words to nobody, or to another coordinator.
    if (begun === 'replayed') return await watch(run);
    // The run itself says what follows; this is less than anything that it has said by now.
    return { ...wordOf(runStatus(openRunState(setup, Date.now()))), seq: 1 };
  };

  const watch: CoordinatedRunsPort['watch'] = async (run) => {
    const { runId, coordinatorId } = run;
    const about = await describe(run);
    const how = closedFromOutside(about);
    if (how !== null) {
      const message = `it was closed from outside (${how}); see it in Temporal's Web UI`;
      throw new ParleyError('wrong_state', message);
    }
    if (!isOpen(about)) return await query.word(runId);
    try {
      return await client.withDeadline(Date.now() + deadlineMs, () =>
        client.workflow.getHandle(runId).executeUpdate(watchUpdate, { args: [coordinatorId] }),
      );
    } catch (error) {
      // It has ended in between, and tells nobody any more.
      const carried = error instanceof WorkflowUpdateFailedError ? fromFailure(error) : null;
      const { code } = carried ?? (translated(error, 'run', runId) as { code?: unknown });
      if (code === 'wrong_state' || code === 'not_found') return await query.word(runId);
      throw translated(error, 'run', runId);
    }
  };

  /** What became of an answer to a run that has closed since: its reply may have been lost. */
  const afterTheEnd = async (run: CoordinatedRun, given: GivenFeedback): Promise<AnswerReply> => {
    const { runId } = run;
    const how = closedFromOutside(await describe(run));
    if (how !== null) return { type: 'failed', message: `it was closed from outside (${how})` };
    const { state, feedback } = await query.status(runId);
    const asked = feedback.find(({ request }) => request.request_id === given.request_id);
    const isIts = ({ provided_by: who, response }: GivenFeedback): boolean =>
      sameWord(who, given.provided_by) && sameWord(response, given.response);
    if (asked?.answers.some(isIts))
      return { type: 'receipt', receipt: { outcome: 'answered', approvals: asked.answers.length, needed: 1 } };
    const isClosed = asked !== undefined && asked.state !== 'open';
    const message = isClosed ? `${given.request_id} ${closedWords(asked)}` : `it has ended: ${state}`;
    return { type: 'ended', message };
  };

  const answer: CoordinatedRunsPort['answer'] = async (run) => {
    const { runId, given, updateId } = run;
    try {
      const receipt = await client.withDeadline(Date.now() + deadlineMs, () =>
        client.workflow.getHandle(runId).executeUpdate(feedbackUpdate, { updateId, args: [given] }),
      );
      return { type: 'receipt', receipt };
    } catch (error) {
      if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) throw translated(error, 'run', runId);
      const carried = error instanceof WorkflowUpdateFailedError ? fromFailure(error) : null;
      const code = carried && refusalCode(carried);
      if (carried && code) return { type: 'refused', code, message: carried.message };
      const said = carried ?? translated(error, 'run', runId);
      const isClosed = said instanceof ParleyError && (said.code === 'not_found' || said.code === 'wrong_state');
      // An update that was under way when the run closed fails without a reason.
      if (isClosed || error instanceof WorkflowUpdateFailedError) return await afterTheEnd(run, given);
      throw said;
    }
  };

  return { start, watch, answer };
};
