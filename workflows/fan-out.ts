import { condition, continueAsNew, log, workflowInfo } from '@temporalio/workflow';
import type { Json } from '../src/contracts/frames.js';
import type { FanOutStatus } from '../src/contracts/fan-out-status.js';
import { fanOutTurns } from '../src/domain/fan-out/turns.js';
import { noAmount } from '../src/domain/budget.js';
import { agentOf, callerOf } from '../src/domain/fan-out/dispatch.js';
import { callName, type FanOutEffect, type FanOutEvent } from '../src/domain/fan-out/effects.js';
import type { Amount } from '../src/domain/session/setup.js';
import { isOver, nextDue, stepFanOut } from '../src/domain/fan-out/fan-out.js';
import { restorePointOf } from '../src/domain/fan-out/restore.js';
import type { FanOutSetup } from '../src/domain/fan-out/setup.js';
import { type FanOutState, openFanOutState } from '../src/domain/fan-out/state.js';
import { artifactsOf, fanOutDetails, fanOutStatus } from '../src/domain/fan-out/view.js';
import { type CallTime, comingAgain, createCalls, type Fault, withLessTime } from './calls.js';
import { fanInsOn, fanOutPreparations, workersOn } from './options.js';
import { openWorkAccount } from '../src/domain/work-account.js';
import { openWork, type WorkState } from '../src/domain/work-state.js';
import { refusal, rootMessage, WorkLoop, type WorkKind } from './work.js';

const fanOutKind: WorkKind<FanOutState, FanOutEvent, FanOutEffect, FanOutStatus> = {
  name: 'fan-out',
  step: (before, event, now) => {
    const { fanOut: work, effects, events } = stepFanOut(before, event, now);
    return { work, effects, events };
  },
  isOver,
  nextDue,
  status: fanOutStatus,
  details: fanOutDetails,
  waitingFor: ({ waiting }) => waiting?.for ?? null,
  turns: fanOutTurns,
  confidence: ({ completed, tasks }) => completed.length / Math.max(1, tasks.length),
  artifacts: artifactsOf,
  restorePoint: restorePointOf,
  isAwaiting: () => false,
  tick: { type: 'TICK' },
  cancel: { type: 'CANCEL' },
};

export interface FanOutRun extends WorkState<FanOutState, FanOutEvent, FanOutEffect> {
  /** Of the worker that has the namespaces. */
  hostQueue: string | null;
}

/** How long a call may take beyond its own time until it is given up from here. */
const graceMs = 15_000;
/** Bytes of answers that the state holds in all, and of one at most (16 kB); larger ones become artifacts. */
const inlineTotal = 262_144;
const inlineMost = 16_384;
/** Files of output/ that become artifacts: of all workers, as far as each may have one, and of one at most. */
const filesTotal = 2_000;
const filesMost = 100;

/** Isolated workers, a barrier, and a fan-in of what they answered (spec 03). */
export async function fanOut(setup: FanOutSetup, carried?: FanOutRun | null, request?: Json): Promise<FanOutStatus> {
  if (setup?.tasks === undefined || setup.fanIn === undefined)
    throw refusal('invalid_request', 'a fan-out takes a setup; start it with POST /v1/fan-outs');
  const state: FanOutRun = carried
    ? { ...carried, work: { ...carried.work, setup, held: false }, inbox: [...carried.inbox, { type: 'TICK' }] }
    : {
        ...openWork<FanOutState, FanOutEvent, FanOutEffect>(
          openFanOutState(setup, workflowInfo().startTime.getTime()),
          {
            type: 'START',
          },
        ),
        hostQueue: null,
      };
  // One that began before it kept a ledger has a sum in its place.
  state.work.ledger ??= openWorkAccount(setup.budget, state.work.startedAt, (state.work as { spent?: Amount }).spent);
  const loop = new WorkLoop(fanOutKind, state, setup.webhooks);
  const inlineBytes = Math.min(inlineMost, Math.floor(inlineTotal / Math.max(1, setup.tasks.length)));
  const maxFiles = Math.min(filesMost, Math.max(1, Math.floor(filesTotal / Math.max(1, setup.tasks.length))));
  const isTimed = setup.budget.maxMs !== undefined;
  const about = { id: setup.id, tenant: setup.tenant, traceId: setup.traceId, fanIn: setup.fanIn };

  const runWorker = async (effect: Extract<FanOutEffect, { type: 'run_worker' }>): Promise<FanOutEvent> => {
    const { index } = effect;
    const task = setup.tasks[index];
    const agent = task && agentOf(state.work, task);
    const caller = task && callerOf(state.work, task);
    if (!task || !caller) throw refusal('invalid_request', `task ${index} has nobody to do it`);
    const done = await workersOn(state.hostQueue, effect.timeoutMs + graceMs).runWorker.executeWithOptions(
      { summary: `${task.taskId}: ${task.agentId}` },
      [
        {
          workId: setup.id,
          tenant: setup.tenant,
          traceId: setup.traceId,
          agentId: task.agentId,
          taskId: task.taskId,
          adapter: caller.adapter,
          prompt: task.prompt,
          instructions: agent?.instructions ?? '',
          cognitiveMode: agent?.cognitiveMode ?? null,
          schema: agent?.schema ?? null,
          inputs: task.inputs,
          callsBefore: effect.callsBefore,
          maxTokens: effect.maxTokens,
          timeoutMs: effect.timeoutMs,
          ...comingAgain(isTimed),
          inlineBytes,
          maxFiles,
          ...(loop.epoch > 0 && { epoch: loop.epoch }),
        },
      ],
    );
    return { type: 'WORKER', index, ...done };
  };

  const act = async (asked: Exclude<FanOutEffect, { type: 'stop' }>, before: CallTime): Promise<FanOutEvent> => {
    const effect = withLessTime(asked, before);
    switch (effect.type) {
      case 'prepare': {
        const input = { functionName: setup.fanIn.functionName };
        state.hostQueue = (await fanOutPreparations.prepareFanOut(input)).hostQueue;
        return { type: 'PREPARED' };
      }
      case 'run_worker':
        return await runWorker(effect);
      case 'fan_in': {
        const answers = effect.completed.flatMap((order) => {
          const task = setup.tasks[order];
          const done = state.work.tasks[order];
          if (!task || !done) return [];
          const { taskId, agentId } = task;
          const outputKey = agentOf(state.work, task)?.outputKey ?? null;
          return [{ taskId, agentId, order, outputKey, output: done.output, kept: done.kept }];
        });
        const combined = await fanInsOn(state.hostQueue).fanIn.executeWithOptions(
          { summary: `${setup.fanIn.strategy} of ${answers.length} answers` },
          [
            {
              ...{ setup: about, epoch: loop.epoch, answers },
              ...limitsOf(effect),
              ...refusalOf(effect),
              ...comingAgain(isTimed),
            },
          ],
        );
        return { type: 'COMBINED', ...combined };
      }
      case 'score': {
        const scored = await fanInsOn(state.hostQueue).scoreFanIn.executeWithOptions(
          { summary: 'the critic of the result' },
          [
            {
              setup: about,
              epoch: loop.epoch,
              value: effect.combined.value,
              kept: effect.combined.kept?.value ?? null,
              ...limitsOf(effect),
              ...comingAgain(isTimed),
              ...(effect.left && { left: effect.left }),
            },
          ],
        );
        return { type: 'SCORED', ...scored };
      }
    }
  };

  const calls = createCalls({
    ...{ loop, act, faultOf },
    awaits: (effect, tenant) => loop.push({ type: 'PERSON_AWAITED', call: callName(effect), tenant }),
  });
  const perform = (effect: FanOutEffect): void => {
    if (effect.type === 'stop') calls.stop(() => true);
    else calls.begin(effect);
  };

  return await loop.run({
    perform,
    before: () => {
      // A run continues as new only while nothing is under way: what runs is let end, and nothing is started meanwhile.
      if (workflowInfo().continueAsNewSuggested && !state.work.held) state.work = { ...state.work, held: true };
    },
    continueAsNew: () => {
      const { work, ...rest } = loop.carried(state);
      // The setup goes along as the first argument already; once is enough.
      const { setup: _, ...slim } = work;
      return continueAsNew<typeof fanOut>(setup, { ...rest, work: slim as FanOutState }, request);
    },
    putBack: async () => {
      const artifacts = artifactsOf(state.work).map(({ path, hash }) => ({ path, hash }));
      if (artifacts.length === 0 || state.hostQueue === null) return;
      const input = { workId: setup.id, tenant: setup.tenant, artifacts };
      try {
        await fanInsOn(state.hostQueue).putBackArtifacts.executeWithOptions({ summary: 'the files of then' }, [input]);
      } catch (error) {
        // What was answered stands in the state; who reads the folder is told.
        log.warn('files could not be put back', { error: rootMessage(error) });
      }
    },
    close: async () => {
      await condition(() => calls.isIdle);
    },
  });
}

type FanInEffect = Extract<FanOutEffect, { type: 'fan_in' | 'score' }>;
const limitsOf = ({ maxTokens, timeoutMs }: FanInEffect) => ({
  maxTokens,
  ...(timeoutMs !== undefined && { timeoutMs }),
});
const refusalOf = ({ refused }: Extract<FanOutEffect, { type: 'fan_in' }>) =>
  refused === undefined ? {} : { refused };

const faultOf = (effect: Exclude<FanOutEffect, { type: 'stop' }>, { code, message, isStopped }: Fault): FanOutEvent => {
  if (effect.type !== 'run_worker') return { type: 'FAULT', of: effect.type, code, message };
  const outcome = isStopped ? { outcome: 'stopped' as const } : { outcome: 'failed' as const, code, message };
  return { type: 'WORKER', index: effect.index, outcome, usage: noAmount, attempt: 1 };
};
