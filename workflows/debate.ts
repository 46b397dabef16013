import { condition, continueAsNew, log, patched, setHandler, workflowInfo } from '@temporalio/workflow';
import type { DebateStatus } from '../src/contracts/debate-status.js';
import type { Json } from '../src/contracts/frames.js';
import { debateTurns } from '../src/domain/debate/turns.js';
import { aborts, tasksRun } from '../src/domain/debate/execution.js';
import { isOver, nextDue, stepDebate } from '../src/domain/debate/debate.js';
import type { DebateEffect, DebateEvent } from '../src/domain/debate/effects.js';
import type { DebateSetup } from '../src/domain/debate/setup.js';
import { openDebateState, type DebateState } from '../src/domain/debate/state.js';
import { debateDetails, debateStatus } from '../src/domain/debate/view.js';
import { feedbackRefusal, openGate } from '../src/domain/debate/gate.js';
import { refusalError } from '../src/domain/feedback.js';
import { answerReceipt } from '../src/domain/feedback-answer.js';
import { debateAsks } from '../src/domain/inbox/asks-of.js';
import { needsHands } from '../src/domain/debate/rollback.js';
import { add, noAmount } from '../src/domain/budget.js';
import { toFailure } from '../src/failure.js';
import { callersTenant, type CallTime, comingAgain, createCalls, type Fault, withLessTime } from './calls.js';
import { feedbackSignal, feedbackUpdate } from './messages.js';
import { actionsOn, memoriesOn, roleCalls, tasksOn, verificationsOn } from './options.js';
import { openWorkAccount } from '../src/domain/work-account.js';
import { openWork, type WorkState } from '../src/domain/work-state.js';
import { signalled } from './signalled.js';
import { answersAtScale, refusal, rootMessage, WorkLoop, type WorkKind } from './work.js';

const debateKind: WorkKind<DebateState, DebateEvent, DebateEffect, DebateStatus> = {
  name: 'debate',
  step: (before, event, now) => {
    const taken = stepDebate(before, event, now);
    const {
      debate: work,
      effects,
      events,
    } = isUnrecorded(before, taken.debate) ? stepDebate({ ...before, abortsUnrecorded: true }, event, now) : taken;
    return { work, effects, events };
  },
  isOver,
  nextDue,
  status: debateStatus,
  details: debateDetails,
  waitingFor: ({ waiting }) => waiting?.for ?? null,
  asks: { open: openGate, all: debateAsks },
  isAwaiting: ({ state }) => state === 'AWAITING_APPROVAL',
  turns: debateTurns,
  confidence: ({ consensus }) => consensus,
  restored: (work, epoch) => ({ ...work, epoch }),
  tick: { type: 'TICK' },
  cancel: { type: 'CANCEL' },
};

/**
 * What was cancelled, or could not run, left no record of what people had approved and what had run. It leaves one now; histories
 * without it replay as they were.
 */
const recordedAborts = 'recorded-aborts';
const isUnrecorded = (before: DebateState, after: DebateState): boolean =>
  before.state !== 'AUDITING' && after.state === 'AUDITING' && aborts(after) && !patched(recordedAborts);

export interface DebateRun extends WorkState<DebateState, DebateEvent, DebateEffect> {
  /** Of the worker that has the workspace: its snapshot and the records of its tasks are there and nowhere else. */
  hostQueue: string | null;
}

/**
 * What was cancelled, and could not be taken back entirely, told people to compare the workspace with a snapshot that was
 * removed at that moment. It stays now; histories with the removal replay with it.
 */
const keptForHands = 'kept-for-hands';

type Performed = Extract<DebateEffect, { id: number }>;
/** How long a call may take beyond its own timeout until it is given up from here. */
const graceMs = 15_000;

/**
 * A task argued, decided and executed (spec 02). One thing is under way at a time; what it brings is an event with its id,
 * and a failure for good is an event too.
 */
export async function debate(setup: DebateSetup, carried?: DebateRun | null, request?: Json): Promise<DebateStatus> {
  if (setup?.roles === undefined || setup.workspace === undefined)
    throw refusal('invalid_request', 'a debate takes a setup; start it with POST /v1/debates');
  const state: DebateRun = carried ?? {
    ...openWork<DebateState, DebateEvent, DebateEffect>(openDebateState(setup, workflowInfo().startTime.getTime()), {
      type: 'START',
    }),
    hostQueue: null,
  };
  // One that began before it kept a ledger has spent what its roles used.
  state.work.ledger ??= openWorkAccount(
    setup.budget,
    state.work.startedAt,
    Object.values(state.work.usage).reduce(add),
  );
  const loop = new WorkLoop(debateKind, state, setup.webhooks);

  setHandler(
    feedbackUpdate,
    async (given) => {
      const event: DebateEvent = { type: 'FEEDBACK', given };
      loop.push(event);
      await condition(() => !state.inbox.includes(event));
      // Of two answers in one task both are accepted; the one that came second is told who was first.
      const refused = patched(answersAtScale) ? feedbackRefusal(state.work, given, Date.now()) : null;
      if (refused) throw toFailure(refusalError(refused));
      return answerReceipt(state.work.approvals, given);
    },
    {
      description: 'An answer to a request for feedback',
      // Refused before it is accepted, so that a refusal leaves no history.
      validator: (given) => {
        if (loop.isOver) throw refusal('wrong_state', `debate ${setup.id} has ended: ${state.work.state}`);
        const refused = feedbackRefusal(state.work, given, Date.now());
        if (refused) throw toFailure(refusalError(refused));
      },
    },
  );
  setHandler(feedbackSignal, (given) => {
    loop.push({ type: 'FEEDBACK', given: signalled(given) });
  });

  const perform = (effect: DebateEffect): void => {
    if (effect.type === 'request_approval') return; // it stands in the state; the search attribute says that a person is awaited
    if (effect.type === 'stop') calls.stop(({ id }) => id === effect.of);
    else calls.begin(effect);
  };

  const act = async (asked: Performed, before: CallTime): Promise<DebateEvent> => {
    const effect = withLessTime(asked, before);
    const { id } = effect;
    const workId = setup.id;
    const again = loop.epoch > 0 ? { epoch: loop.epoch } : {};
    switch (effect.type) {
      case 'verify_identity': {
        const { workspace, locks, sandbox, plan, check } = effect;
        const { hostQueue, ...verified } = await verificationsOn(
          setup.ofRun?.hostQueue ?? null,
        ).verifyIdentity.executeWithOptions({ summary: 'identity, workspace and sandbox' }, [
          { workspace, locks, sandbox, plan, ...(check && { check }), ...(setup.ofRun && { ofRun: setup.ofRun.id }) },
        ]);
        state.hostQueue = hostQueue;
        return { type: 'IDENTITY', id, ...verified };
      }
      case 'load_context': {
        const { tenant, task, personas, topK } = effect;
        const { ratings, similar, recent, error } = await memoriesOn(state.hostQueue).loadContext.executeWithOptions(
          { summary: `ratings and the ${topK} most similar traces` },
          [{ tenant, task, personas, topK }],
        );
        return { type: 'CONTEXT', id, context: { ratings, similar, recent }, error };
      }
      case 'ask': {
        const { role, purpose, attempt, pass } = effect;
        const repeated = attempt === 1 ? '' : ', asked again';
        const { outcome, usage } = await roleCalls(effect.timeoutMs + graceMs).askRole.executeWithOptions(
          {
            summary: purpose === 'statement' ? `${role}, pass ${pass}${repeated}` : `${role}: ${purpose}${repeated}`,
            ...within(effect.leftMs),
          },
          [
            {
              workId,
              traceId: setup.traceId,
              ...callersTenant(setup),
              role: `debate ${role}`,
              speaker: role,
              purpose,
              personaId: effect.personaId,
              adapter: effect.adapter,
              prompt: effect.prompt,
              instructions: effect.instructions,
              callsBefore: effect.callsBefore,
              maxTokens: effect.maxTokens,
              timeoutMs: effect.timeoutMs,
              workspace: state.work.workspace ?? setup.workspace.path,
              ...comingAgain(effect.leftMs !== undefined),
              ...(purpose === 'repair' && { tasksRun: tasksRun(state.work) }),
              ...(brings(effect) && setup.healing?.check && { check: setup.healing.check }),
              gaps: { fragment_ms: 500, message_ms: 5_000 },
              // Of each repair the text begins anew: a higher attempt makes what was said before void.
              lane:
                purpose === 'statement'
                  ? { lane_id: `${role}#${pass}`, attempt: attempt + 2 * loop.epoch }
                  : {
                      lane_id: `${role}#${purpose}`,
                      attempt: 2 * ((state.work.execution?.repairs.length ?? 0) + loop.epoch) + attempt,
                    },
            },
          ],
        );
        return { type: 'ANSWER', id, outcome, usage };
      }
      case 'take_snapshot': {
        const { workspace } = effect;
        const { snapshot, digest } = await actionsOn(state.hostQueue).takeSnapshot.executeWithOptions(
          { summary: 'snapshot of the workspace' },
          [{ workId, workspace }],
        );
        return { type: 'SNAPSHOT', id, snapshot, digest };
      }
      case 'run_task':
      case 'undo_task': {
        const { task, round, workspace, sandbox } = effect;
        const input = { workId, task, round, workspace, sandbox, snapshotKey: workId, ...again };
        const what = effect.type === 'run_task' ? task.argv : (task.undo?.argv ?? []);
        const summary = `${effect.type === 'run_task' ? 'task' : 'undo'} ${task.task_id}: ${what.join(' ')}`.slice(
          0,
          200,
        );
        const { runTask, undoTask } = tasksOn(state.hostQueue, task.limits.timeout_ms + graceMs);
        return effect.type === 'run_task'
          ? {
              type: 'TASK',
              id,
              report: await runTask.executeWithOptions({ summary, ...within(effect.leftMs) }, [input]),
            }
          : { type: 'UNDONE', id, undone: await undoTask.executeWithOptions({ summary }, [input]) };
      }
      case 'check_health': {
        const { task, round, workspace, sandbox } = effect;
        const { checkHealth } = tasksOn(state.hostQueue, task.limits.timeout_ms + graceMs);
        const input = { workId, task, round, workspace, sandbox, snapshotKey: workId, ...again };
        const { outcome, reason, command } = await checkHealth.executeWithOptions(
          { summary: `${task.task_id}: ${task.argv.join(' ')}`.slice(0, 200), ...within(effect.leftMs) },
          [input],
        );
        return { type: 'HEALTH', id, ended: { outcome, reason, command } };
      }
      case 'restore_snapshot': {
        const { workspace, snapshot } = effect;
        const restored = await actionsOn(state.hostQueue).restoreSnapshot.executeWithOptions(
          { summary: 'the workspace as it was' },
          [{ workId, workspace, snapshot }],
        );
        return { type: 'RESTORED', id, ...restored };
      }
      case 'store_trace':
        await memoriesOn(state.hostQueue).storeTrace.executeWithOptions({ summary: 'trace and ratings' }, [
          effect.trace,
        ]);
        return { type: 'STORED', id };
      case 'mirror_trace': {
        const { mongo, error } = await memoriesOn(state.hostQueue).mirrorTrace.executeWithOptions(
          { summary: 'the trace in the shared memory' },
          [effect.trace],
        );
        return { type: 'MIRRORED', id, mongo, error };
      }
      case 'audit': {
        const { seq, hash } = await actionsOn(state.hostQueue).appendAudit.executeWithOptions(
          {
            summary: effect.entries
              .map(({ type }) => type)
              .join(', ')
              .slice(0, 200),
          },
          [effect.entries],
        );
        return { type: 'AUDITED', id, seq, hash };
      }
    }
  };

  const calls = createCalls({
    ...{ loop, act, faultOf },
    awaits: ({ id }, tenant) => loop.push({ type: 'PERSON_AWAITED', call: String(id), tenant }),
  });

  return await loop.run({
    perform,
    continueAsNew: () => continueAsNew<typeof debate>(setup, loop.carried(state), request),
    close: async () => {
      // Where the workspace may still need hands, what is known of it stays.
      if (state.work.result?.outcome === 'rollback_incomplete' || state.work.execution === null) return;
      if (needsHands(state.work) && patched(keptForHands)) return;
      try {
        await actionsOn(state.hostQueue).forgetWorkspace(setup.id);
      } catch (error) {
        // It takes room and harms nobody; the work itself has ended as it should.
        log.warn('what was kept of the workspace could not be removed', { error: rootMessage(error) });
      }
    },
  });
}

/** Whether an answer may bring a plan, which is scanned. */
const brings = ({ purpose, role }: Extract<Performed, { type: 'ask' }>): boolean =>
  purpose === 'repair' || role === 'solution';

/** Nothing begins once the time of the budget is over, and what has begun outlasts it by no more than it takes to end. */
const within = (leftMs: number | undefined) =>
  leftMs === undefined ? {} : { scheduleToStartTimeout: leftMs, scheduleToCloseTimeout: leftMs + graceMs };

const faultOf = (effect: Performed, { code, message, isStopped }: Fault): DebateEvent => {
  const { id } = effect;
  if (isStopped) return { type: 'FAULT', id, code, message: 'it was stopped' };
  // An agent's failure is said by its role, not by the debate.
  if (effect.type === 'ask') {
    return { type: 'ANSWER', id, outcome: { outcome: 'failed', code, message }, usage: noAmount };
  }
  return { type: 'FAULT', id, code, message };
};
