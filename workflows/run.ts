import {
  CancellationScope,
  ChildWorkflowCancellationType,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  isCancellation,
  log,
  ParentClosePolicy,
  patched,
  setHandler,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import { ApplicationFailure, TypedSearchAttributes } from '@temporalio/common';
import type { Json } from '../src/contracts/frames.js';
import type { RunStatus } from '../src/contracts/run-status.js';
import type { TimeUsed } from '../src/contracts/work.js';
import { add, noAmount } from '../src/domain/budget.js';
import type { RunWord } from '../src/domain/coordinator/effects.js';
import { answerReceipt } from '../src/domain/feedback-answer.js';
import { refusalError } from '../src/domain/feedback.js';
import { runAsks } from '../src/domain/inbox/asks-of.js';
import { auditEntries } from '../src/domain/run/audit-entries.js';
import type { RunEffect, RunEvent, RunPending } from '../src/domain/run/effects.js';
import { feedbackRefusal } from '../src/domain/run/gate.js';
import { faultWith, outcomeOf, outcomeOfCommand, type StartedStatus } from '../src/domain/run/outcome.js';
import { isOver, nextDue, stepRun } from '../src/domain/run/run.js';
import type { RunSetup, StartedKind, StartedWork } from '../src/domain/run/setup.js';
import { openRequest, openRunState, type RunState, stepName } from '../src/domain/run/state.js';
import { stepWork } from '../src/domain/run/step-work.js';
import { runTurns } from '../src/domain/run/turns.js';
import { runDetails, runStatus } from '../src/domain/run/view.js';
import { waitingFor } from '../src/domain/run/waiting.js';
import { wordKey, wordOf } from '../src/domain/run/word.js';
import { taskTimeoutOf } from '../src/domain/task-timeout.js';
import { openWorkAccount } from '../src/domain/work-account.js';
import { openWork, type WorkState } from '../src/domain/work-state.js';
import { toFailure } from '../src/failure.js';
import { searchAttributes } from '../temporal/search-attributes.js';
import { createCalls, type Fault } from './calls.js';
import {
  debateWorkflowType,
  endSignal,
  fanOutWorkflowType,
  feedbackSignal,
  feedbackUpdate,
  refinementWorkflowType,
  sessionWorkflowType,
  teamWorkflowType,
  watchUpdate,
  wordQuery,
  wordSignal,
} from './messages.js';
import { actionsOn, endedWork, foldersOn, tasksOn } from './options.js';
import { signalled } from './signalled.js';
import { refusal, rootMessage, WorkLoop, type WorkKind } from './work.js';

const runKind: WorkKind<RunState, RunEvent, RunEffect, RunStatus> = {
  name: 'run',
  step: (before, event, now) => {
    const { run: work, effects, events } = stepRun(before, event, now);
    return { work, effects, events };
  },
  isOver,
  nextDue,
  status: runStatus,
  details: runDetails,
  waitingFor: (run) => waitingFor(run)?.for ?? null,
  asks: { open: openRequest, all: runAsks },
  turns: runTurns,
  confidence: ({ steps }) =>
    steps.filter(({ state }) => state === 'completed' || state === 'skipped').length / Math.max(1, steps.length),
  tick: { type: 'TICK' },
  cancel: { type: 'CANCEL' },
};

export interface RunRun extends WorkState<RunState, RunEvent, RunEffect> {
  /** Of the worker that has the folder of the run: its commands run there and nowhere else. */
  hostQueue: string | null;
  /** Where git keeps what it knows of the worktree, as it was when that was made; null: it is none. */
  gitFolder: string | null;
  /** What those who watch it were told last, as `wordKey` has it; left out: nothing yet. */
  said?: string;
}

/** A run writes what people approved into the audit log once it has ended; one that began before there was this does not. */
const auditedRuns = 'audited-runs';
/** A run hears what work of a step used and waited that was cancelled by itself; one that did not ask replays so. */
const hearsCancelled = 'hears-cancelled-steps';
/** How long a command may take beyond its own time until it is given up from here. */
const graceMs = 15_000;

const started: Readonly<Record<StartedKind, { type: string; initialState: string }>> = {
  session: { type: sessionWorkflowType, initialState: 'INIT' },
  debate: { type: debateWorkflowType, initialState: 'IDLE' },
  refinement: { type: refinementWorkflowType, initialState: 'S0' },
  'fan-out': { type: fanOutWorkflowType, initialState: 'IDLE' },
  team: { type: teamWorkflowType, initialState: 'OPEN' },
};

/**
 * Phases of steps, each a piece of work of its own or a command, with gates in between (spec 06). One step is under way at a
 * time; how it ends is an event with its id, a failure for good too. While people are asked it costs nothing but its timer.
 */
export async function run(setup: RunSetup, carried?: RunRun | null, request?: Json): Promise<RunStatus> {
  if (setup?.steps === undefined || setup.workspace === undefined)
    throw refusal('invalid_request', 'a run takes a setup; start it with POST /v1/runs');
  const state: RunRun = carried ?? openRun(setup);
  // One that began before it kept a ledger has spent what all its tries used.
  state.work.ledger ??= openWorkAccount(
    setup.budget,
    state.work.startedAt,
    state.work.steps.flatMap(({ attempts }) => attempts).reduce((sum, { usage }) => add(sum, usage), noAmount),
  );
  const loop = new WorkLoop(runKind, state, setup.webhooks);

  setHandler(
    feedbackUpdate,
    async (given) => {
      const event: RunEvent = { type: 'FEEDBACK', given };
      loop.push(event);
      await condition(() => !state.inbox.includes(event));
      // Of two answers in one task both are accepted; the one that came second is told who was first.
      const refused = feedbackRefusal(state.work, given, Date.now());
      if (refused) throw toFailure(refusalError(refused));
      return answerReceipt(state.work.feedback, given);
    },
    {
      description: 'An answer to a request for feedback',
      // Refused before it is accepted, so that a refusal leaves no history.
      validator: (given) => {
        const refused = feedbackRefusal(state.work, given, Date.now());
        if (refused) throw toFailure(refusalError(refused));
        if (loop.isOver) throw refusal('wrong_state', `run ${setup.id} has ended: ${state.work.state}`);
      },
    },
  );
  setHandler(feedbackSignal, (given) => {
    loop.push({ type: 'FEEDBACK', given: signalled(given) });
  });

  /** The number of a word is that of the last event that it tells of, so that it grows across restores too. */
  const word = (): RunWord => ({
    ...wordOf(runStatus(state.work)),
    seq: state.eventsBefore + state.events.length + 1,
  });
  let telling = 0;
  const tellOne = async (coordinatorId: string, said: RunWord): Promise<void> => {
    telling += 1;
    try {
      await getExternalWorkflowHandle(coordinatorId).signal(wordSignal, setup.id, said);
    } catch (error) {
      // It has ended, and needs to know nothing any more.
      log.info('a coordinator is not told any more', { coordinatorId, error: rootMessage(error) });
      state.watchers = (state.watchers ?? []).filter((other) => other !== coordinatorId);
    } finally {
      telling -= 1;
    }
  };
  /** Says where the run stands, to whoever watches it, where that is elsewhere than it last said. */
  const tell = (): void => {
    if ((state.watchers ?? []).length === 0) return;
    const said = word();
    const key = wordKey(said);
    if (key === state.said) return;
    state.said = key;
    for (const coordinatorId of state.watchers ?? []) void tellOne(coordinatorId, said);
  };
  setHandler(wordQuery, word, { description: 'Where it stands, as its coordinators are told' });
  setHandler(
    watchUpdate,
    (coordinatorId) => {
      const said = word();
      state.watchers = [...new Set([...(state.watchers ?? []), coordinatorId])];
      state.said = wordKey(said);
      return said;
    },
    {
      description: 'Tells a coordinator where the run stands, from now on',
      validator: (coordinatorId) => {
        const why = `run ${setup.id} has ended and tells ${coordinatorId} nothing: ${state.work.state}`;
        if (loop.isOver) throw refusal('wrong_state', why);
      },
    },
  );

  /** The same workflow as a start by itself would begin, under the run: a cancel reaches it, and it outlives no run. */
  const startWork = async (id: number, work: StartedWork): Promise<Ended> => {
    const { type, initialState } = started[work.kind];
    const { setup: own } = work;
    const child = await startChild(type, {
      workflowId: own.id,
      args: [own, null, work.request],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowTaskTimeout: taskTimeoutOf(work.kind),
      memo: { bodyHash: work.bodyHash, summary: work.summary },
      staticSummary: work.summary,
      typedSearchAttributes: new TypedSearchAttributes([
        { key: searchAttributes.kind, value: work.kind },
        { key: searchAttributes.state, value: initialState },
        { key: searchAttributes.tenant, value: own.tenant },
        { key: searchAttributes.traceId, value: own.traceId },
        { key: searchAttributes.awaiting, value: false },
      ]),
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    });
    loop.push({ type: 'BEGUN', id, workId: own.id });
    try {
      return endedOf((await child.result()) as StartedStatus);
    } catch (error) {
      const status = statusIn(error);
      if (status) return endedOf(status);
      if (isCancellation(error))
        return (await heardOut(own.id)) ?? { outcome: { outcome: 'stopped', usage: noAmount } };
      throw error;
    }
  };

  /** How work has ended that was cancelled by itself: its cancel carries neither what it used nor how long it waited. */
  const heardOut = async (workId: string): Promise<Ended | null> => {
    if (CancellationScope.current().consideredCancelled || !patched(hearsCancelled)) return null;
    try {
      const summary = 'what cancelled work used';
      return endedOf((await endedWork.statusOfWork.executeWithOptions({ summary }, [{ workId }])) as StartedStatus);
    } catch (error) {
      log.warn('what cancelled work of a step used is not known', { workId, error: rootMessage(error) });
      return null;
    }
  };

  const endWork = async (workId: string): Promise<void> => {
    try {
      await getExternalWorkflowHandle(workId).signal(endSignal);
    } catch (error) {
      log.info('work of a step had ended by itself', { workId, error: rootMessage(error) });
    }
  };

  const act = async (effect: RunPending): Promise<RunEvent> => {
    const { id } = effect;
    if (effect.type === 'prepare_workspace') {
      const { path, branch, gitFolder, hostQueue } = await foldersOn(
        state.hostQueue,
      ).prepareRunFolder.executeWithOptions({ summary: 'the folder of the run' }, [
        { runId: setup.id, workspace: effect.workspace, ...(effect.origin && { origin: effect.origin }) },
      ]);
      state.hostQueue = hostQueue;
      state.gitFolder = gitFolder;
      return { type: 'PREPARED', id, path, branch };
    }
    const { position, attempt } = effect;
    const work = stepWork(state.work, position, attempt, loop.epoch);
    const step = setup.steps[position];
    const { workspace } = state.work;
    if (work.kind === 'gate' || !step || !workspace) throw refusal('invalid_request', `step ${position} does nothing`);
    if (work.kind !== 'command') return { type: 'STEP', id, ...(await startWork(id, onHost(work))) };
    const { task, sandbox } = work;
    const report = await tasksOn(state.hostQueue, task.limits.timeout_ms + graceMs).runTask.executeWithOptions(
      { summary: `${stepName(step)}: ${task.argv.join(' ')}`.slice(0, 200) },
      [
        {
          workId: setup.id,
          task,
          // Each try is an execution of its own.
          round: attempt,
          workspace: workspace.path,
          sandbox,
          snapshotKey: setup.id,
          ...(loop.epoch > 0 && { epoch: loop.epoch }),
        },
      ],
    );
    return { type: 'STEP', id, outcome: outcomeOfCommand(report) };
  };

  /** A debate works where the folder of the run is. */
  const onHost = (work: StartedWork): StartedWork =>
    work.kind === 'debate' || work.kind === 'team' ? withHost(work, setup.id, state.hostQueue) : work;

  const calls = createCalls({ loop, act, faultOf });
  const perform = (effect: RunEffect): void => {
    if (effect.type === 'stop') calls.stop(({ id }) => id === effect.of);
    else if (effect.type === 'end_work') void endWork(effect.workId);
    else calls.begin(effect);
  };

  const closeFolder = async (): Promise<void> => {
    const { result } = state.work;
    const message = `${setup.workId}: ${result?.reason ?? state.work.state}`;
    try {
      await foldersOn(state.hostQueue).closeRunFolder.executeWithOptions({ summary: 'what is left, on its branch' }, [
        { runId: setup.id, workspace: setup.workspace, gitFolder: state.gitFolder, message },
      ]);
    } catch (error) {
      // The folder stays as it is, named in the status; the work itself has ended as it should.
      log.warn('the folder of the run could not be closed', { error: rootMessage(error) });
    }
  };

  const recordEvidence = async (): Promise<void> => {
    try {
      await actionsOn(state.hostQueue).appendAudit.executeWithOptions(
        { summary: 'who was asked, and who approved what' },
        [auditEntries(state.work, loop.epoch)],
      );
    } catch (error) {
      // All of it stands in the status too; the work itself has ended as it should.
      log.error('what people approved could not be recorded', { error: rootMessage(error) });
    }
  };

  return await loop.run({
    perform,
    endsClosed: true,
    // Its end is told once what it has left is in its place.
    taken: () => (loop.isOver ? undefined : tell()),
    isBusy: () => telling > 0,
    restored: () => {
      delete state.said;
    },
    // What the run left is committed on its branch, so that it is there again without its folder.
    putBack: async () => {
      if (state.work.workspace === null) return;
      try {
        const input = { runId: setup.id, workspace: setup.workspace };
        const { gitFolder } = await foldersOn(state.hostQueue).prepareRunFolder(input);
        state.gitFolder = gitFolder;
      } catch (error) {
        // The next step says so in its own words.
        log.warn('the folder of the run could not be put back', { error: rootMessage(error) });
      }
    },
    continueAsNew: () => continueAsNew<typeof run>(setup, loop.carried(state), request),
    close: async () => {
      state.work = { ...state.work, isClosing: true };
      if (state.work.workspace !== null) await closeFolder();
      if (patched(auditedRuns)) await recordEvidence();
      delete state.work.isClosing;
      tell();
      // A signal that is not confirmed when the run closes is never sent.
      if (telling > 0) await condition(() => telling === 0);
    },
  });
}

type Ended = Pick<Extract<RunEvent, { type: 'STEP' }>, 'outcome' | 'waitedMs'>;

const timeIn = (status: StartedStatus): TimeUsed | undefined => {
  if (status.kind === 'session') return undefined;
  return status.kind === 'team' ? status.budget?.time : status.time;
};

/** How the work of a step ended; where it has a time of its own, with how long it has waited for persons. */
const endedOf = (status: StartedStatus): Ended => {
  const outcome = outcomeOf(status);
  const time = timeIn(status);
  if (!time || status.ended_at === null) return { outcome };
  const wholeMs = Date.parse(status.ended_at) - Date.parse(status.started_at);
  return { outcome, waitedMs: Math.max(0, wholeMs - time.elapsed_ms) };
};

/** A coordinator that has started it knows how it begins. */
const openRun = (setup: RunSetup): RunRun => {
  const work = openRunState(setup, workflowInfo().startTime.getTime());
  const { coordinatorId } = setup;
  return {
    ...openWork<RunState, RunEvent, RunEffect>(work, { type: 'START' }),
    hostQueue: null,
    gitFolder: null,
    ...(coordinatorId !== undefined && { watchers: [coordinatorId], said: wordKey(wordOf(runStatus(work))) }),
  };
};

/** The status that work which failed or was cancelled has left, or null. */
const statusIn = (error: unknown): StartedStatus | null => {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (!(cause instanceof ApplicationFailure)) continue;
    const status = cause.details?.[0];
    if (typeof status === 'object' && status !== null && 'lifecycle' in status) return status as StartedStatus;
  }
  return null;
};

const faultOf = (effect: RunPending, { code, message, isStopped }: Fault): RunEvent => {
  const { id } = effect;
  const fault = faultWith(code, message);
  if (effect.type === 'prepare_workspace') return { type: 'UNPREPARED', id, fault };
  return {
    type: 'STEP',
    id,
    outcome: isStopped ? { outcome: 'stopped', usage: noAmount } : { outcome: 'failed', fault, usage: noAmount },
  };
};

/** Work that does things in the folder of the run does them on its machine. */
const withHost = (
  work: Extract<StartedWork, { kind: 'debate' | 'team' }>,
  id: string,
  hostQueue: string | null,
): StartedWork => {
  if (hostQueue === null) return work;
  const ofRun = { id, hostQueue };
  return work.kind === 'debate'
    ? { ...work, setup: { ...work.setup, ofRun } }
    : { ...work, setup: { ...work.setup, ofRun } };
};
