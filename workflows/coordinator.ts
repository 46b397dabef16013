import {
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  log,
  patched,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { CoordinatorAnswer } from '../src/contracts/coordinator.js';
import type { CoordinatorStatus } from '../src/contracts/coordinator-status.js';
import type { Json } from '../src/contracts/frames.js';
import { coordinatorAsks } from '../src/domain/coordinator/asks.js';
import type { CoordinatorEffect, CoordinatorEvent } from '../src/domain/coordinator/effects.js';
import { carriedOn } from '../src/domain/coordinator/changes.js';
import { openQuestion, questionRefusal } from '../src/domain/coordinator/question.js';
import { replyEvent } from '../src/domain/coordinator/reply.js';
import { startOf } from '../src/domain/coordinator/run-start.js';
import { signalledEvent } from '../src/domain/coordinator/signalled.js';
import {
  type CoordinatorSetup,
  type CoordinatorStart,
  type CoordinatorState,
  openCoordinatorState,
} from '../src/domain/coordinator/state.js';
import { isOver, nextDue, responsesRefusal, stepCoordinator, takesResponses } from '../src/domain/coordinator/step.js';
import { coordinatorDetails, coordinatorStatus } from '../src/domain/coordinator/view.js';
import { describeWaiting } from '../src/domain/coordinator/waiting.js';
import { answerReceipt } from '../src/domain/feedback-answer.js';
import { refusalError } from '../src/domain/feedback.js';
import { openWork, type WorkState } from '../src/domain/work-state.js';
import { toFailure } from '../src/failure.js';
import { createCalls, type Fault } from './calls.js';
import { feedbackSignal, feedbackUpdate, responsesUpdate, wordSignal } from './messages.js';
import { coordinatedRuns } from './options.js';
import { refusal, rootMessage, WorkLoop, type WorkKind } from './work.js';

const coordinatorKind: WorkKind<CoordinatorState, CoordinatorEvent, CoordinatorEffect, CoordinatorStatus> = {
  name: 'coordinator',
  step: (before, event, now) => {
    const { coordinator: work, effects, events } = stepCoordinator(before, event, now);
    return { work, effects, events };
  },
  isOver,
  nextDue,
  status: coordinatorStatus,
  details: coordinatorDetails,
  waitingFor: (coordinator) => describeWaiting(coordinator)?.for ?? null,
  asks: { open: openQuestion, all: coordinatorAsks },
  turns: () => [],
  confidence: ({ runs }) => runs.filter(({ status }) => status === 'completed').length / Math.max(1, runs.length),
  tick: { type: 'TICK' },
  cancel: { type: 'CANCEL' },
};

/**
 * An answer that leaves its run asking the same makes no new report, and tells no webhook. What had one replays with it, so that
 * its events and reports keep their numbers.
 */
const reportsOfNews = 'reports-of-news';

type CoordinatorRun = WorkState<CoordinatorState, CoordinatorEvent, CoordinatorEffect>;
/** What is done to one run. */
type RunCall = Extract<CoordinatorEffect, { runId: string }>;

/**
 * Calls at once: each carries the setup of a run or an answer, up to 64 kB, and what one task of a workflow asks for has to
 * fit into one message to Temporal.
 */
const callsAtOnce = 32;

const withoutBodies = (start: CoordinatorStart): CoordinatorSetup => {
  const { id, tenant, labels, traceId, webUiUrl, runs, waitTimeoutMs } = start;
  return { id, tenant, labels, traceId, webUiUrl, runs, waitTimeoutMs };
};

/**
 * The eight steps of spec 06 over N runs. The runs say where they stand by signal; an answer goes to its run by an update with
 * an id of its own, so that a worker that dies in between applies it once. Runs know their coordinator, never each other.
 */
export async function coordinator(
  setup: CoordinatorStart,
  carried?: CoordinatorRun | null,
  request?: Json,
): Promise<CoordinatorStatus> {
  if (setup?.runs === undefined || setup.bodies === undefined)
    throw refusal('invalid_request', 'a coordinator takes a setup; start it with POST /v1/coordinators');
  const state: CoordinatorRun =
    carried ??
    openWork<CoordinatorState, CoordinatorEvent, CoordinatorEffect>(
      openCoordinatorState(withoutBodies(setup), workflowInfo().startTime.getTime()),
      { type: 'START' },
    );
  const loop = new WorkLoop(coordinatorKind, state, setup.webhooks);
  /** What became of each set of responses, by the number of its caller. */
  const answers = new Map<number, CoordinatorAnswer>();
  let callers = 0;

  setHandler(wordSignal, (runId, word) => loop.push({ type: 'RUN', runId, word }));
  setHandler(
    responsesUpdate,
    async (given) => {
      callers += 1;
      const caller = callers;
      loop.push({ type: 'RESPONSES', given, caller });
      await condition(() => answers.has(caller));
      const answer = answers.get(caller)!;
      answers.delete(caller);
      return answer;
    },
    {
      description: 'Answers for the runs, as text or as a list',
      // Refused before it is accepted, so that a refusal leaves no history.
      validator: (_given) => {
        if (!takesResponses(state.work)) throw refusal('wrong_state', responsesRefusal(state.work));
      },
    },
  );
  setHandler(
    feedbackUpdate,
    async (given) => {
      const event: CoordinatorEvent = { type: 'FEEDBACK', given };
      loop.push(event);
      await condition(() => !state.inbox.includes(event));
      // Of two answers in one task both are accepted; the one that came second is told who was first.
      const refused = questionRefusal(state.work, given, Date.now());
      if (refused) throw toFailure(refusalError(refused));
      return answerReceipt(state.work.questions, given);
    },
    {
      description: 'An answer to the question whether to wait on',
      validator: (given) => {
        const refused = questionRefusal(state.work, given, Date.now());
        if (refused) throw toFailure(refusalError(refused));
        if (loop.isOver) throw refusal('wrong_state', `coordinator ${setup.id} has ended: ${state.work.state}`);
      },
    },
  );
  setHandler(feedbackSignal, (sent) => loop.push(signalledEvent(sent, state.work)));

  const act = async (effect: RunCall): Promise<CoordinatorEvent> => {
    const { runId } = effect;
    const about = { runId, tenant: setup.tenant, coordinatorId: setup.id };
    if (effect.type === 'track') {
      const planned = setup.runs.find((run) => run.runId === runId);
      const start = planned && effect.origin === 'started' ? startOf(setup, planned) : null;
      const word = await (start
        ? coordinatedRuns.startRun.executeWithOptions({ summary: `start ${runId}` }, [{ ...about, start }])
        : coordinatedRuns.watchRun.executeWithOptions({ summary: `watch ${runId}` }, [about]));
      // A run that was started may have said more by itself before its start was confirmed.
      const known = state.work.runs.find((run) => run.runId === runId);
      return start && known?.isTracked ? { type: 'TICK' } : { type: 'RUN', runId, word };
    }
    const { given, count } = effect;
    const { request_id: requestId } = given;
    const reply = await coordinatedRuns.answerRun.executeWithOptions({ summary: `${given.response} for ${runId}` }, [
      // How often the run was answered through here names the answer, the same at every try and every replay.
      { ...about, given, updateId: `${setup.id}:${requestId}:${count}` },
    ]);
    const replied = replyEvent(runId, requestId, reply);
    const asksOn = replied.type === 'STILL_ASKS' || replied.type === 'COUNTED';
    return asksOn && !patched(reportsOfNews) ? { ...replied, isNews: true } : replied;
  };

  const calls = createCalls<RunCall, CoordinatorEvent>({ loop, act: (call) => inTurn(call), faultOf });
  const waiting: RunCall[] = [];
  let underWay = 0;
  const beginNext = (): void => {
    while (underWay < callsAtOnce && !loop.isOver) {
      const next = waiting.shift();
      if (!next) return;
      underWay += 1;
      calls.begin(next);
    }
  };
  /** The next one is under way before this one's end is an event, so that the work never looks idle in between. */
  const inTurn = async (call: RunCall): Promise<CoordinatorEvent> => {
    try {
      return await act(call);
    } finally {
      underWay -= 1;
      beginNext();
    }
  };

  let toCancel: string[] = [];
  const cancelRun = async (runId: string): Promise<void> => {
    try {
      await getExternalWorkflowHandle(runId).cancel();
    } catch (error) {
      // It has ended, or was never begun.
      log.info('a run was not cancelled', { runId, error: rootMessage(error) });
    }
  };

  return await loop.run({
    perform: (effect) => {
      if (effect.type === 'cancel_runs') toCancel = effect.runIds;
      else if (effect.type === 'answered') answers.set(effect.caller, effect.answer);
      else {
        waiting.push(effect);
        beginNext();
      }
    },
    wantsToContinue: () => workflowInfo().historyLength > (setup.continueAfterEvents ?? Infinity),
    continueAsNew: () => {
      const next = loop.carried(state);
      return continueAsNew<typeof coordinator>(setup, { ...next, work: carriedOn(next.work) }, request);
    },
    close: async () => {
      // A run that is just being started would be missed by its cancel.
      await condition(() => calls.isIdle);
      await Promise.all(toCancel.map(cancelRun));
    },
  });
}

const faultOf = (effect: RunCall, { message }: Fault): CoordinatorEvent => {
  const { runId } = effect;
  if (effect.type === 'track') return { type: 'UNREADABLE', runId, message };
  return { type: 'RESUME_FAILED', runId, requestId: effect.given.request_id, message };
};
