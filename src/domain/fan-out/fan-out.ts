import { noAmount } from '../budget.js';
import { iso } from '../instant.js';
import { isTerminal, step } from '../machine.js';
import { barrierPasses, countsOf } from './barrier.js';
import { admitTasks, dispatch } from './dispatch.js';
import { changeTask, type FanOutDraft, type FanOutStep, openDraft } from './draft.js';
import type { FanOutEvent, LeftFiles, WorkerOutcome } from './effects.js';
import { offerFanIn, sayFanIn, takeScore, takeUnscored, takingPart } from './fan-in-calls.js';
import { type FanOutActionName, type FanOutEventName, type FanOutFacts, fanOutMachine, stageState } from './machine.js';
import { codeOfTimeout, releaseBarrier } from './release.js';
import { reasons, resultOf } from './result.js';
import type { Amount } from '../session/setup.js';
import { takeTenantWait } from '../tenant-waits.js';
import type { FanOutState, TaskRecord } from './state.js';
import { awaitedByAll, keepTime } from './tenant-waits.js';
import { describeWaiting, waitingFor } from './view.js';
import { endCall, isTimeOver, timeEndOf, timeRefusal } from '../work-account.js';

export type { FanOutStep } from './draft.js';

export const isOver = ({ state }: Pick<FanOutState, 'state'>): boolean => isTerminal(fanOutMachine, state);

/** The next moment at which time alone changes something: the barrier's timeout, or the end of the budget's time before it. */
export const nextDue = (fanOut: FanOutState): number | null => {
  const { state, deadlineAt, ledger } = fanOut;
  if (state === 'RUNNING') return awaitedByAll(fanOut).length > 0 ? null : deadlineAt;
  return state === 'PREPARING' ? timeEndOf(ledger) : null;
};

/** Takes one event and follows every transition it makes possible: pure (spec 03). `now` is epoch milliseconds. */
export const stepFanOut = (fanOut: FanOutState, event: FanOutEvent, now: number): FanOutStep => {
  const draft = openDraft(fanOut, now);
  take(draft, event);
  keepTime(draft);
  follow(draft);
  dispatch(draft);
  // Tasks that the budget refuses are settled at once, and may be the last.
  follow(draft);
  offerFanIn(draft);
  follow(draft);
  keepTime(draft);
  noteWaiting(draft);
  return { fanOut: draft.fanOut, effects: draft.effects, events: draft.events };
};

const follow = (draft: FanOutDraft): void => {
  for (let on = nextEvent(draft.fanOut); on !== null; on = nextEvent(draft.fanOut)) transition(draft, on);
};

const factsOf = ({ setup, tasks, combined }: FanOutState): FanOutFacts => ({
  passes: barrierPasses(countsOf(tasks), setup.barrier),
  isScored: setup.fanIn.quality !== null && combined !== null,
});

const nextEvent = (fanOut: FanOutState): FanOutEventName | null => {
  const { state, prepared, fault, tasks, deadlineAt, steppedAt, combined, score } = fanOut;
  switch (state) {
    case 'PREPARING':
      return fault ? 'FAULT' : prepared ? 'PREPARED' : null;
    case 'RUNNING':
      if (!tasks.some((task) => task.state === 'QUEUED' || task.state === 'RUNNING')) return 'SETTLED';
      if (awaitedByAll(fanOut).length > 0) return null;
      return deadlineAt !== null && steppedAt >= deadlineAt ? 'TIMEOUT' : null;
    case 'FANNING_IN':
      return fault ? 'FAULT' : combined ? 'COMBINED' : null;
    case 'SCORING':
      return score ? 'SCORED' : null;
    default:
      return null;
  }
};

const take = (draft: FanOutDraft, event: FanOutEvent): void => {
  const { fanOut } = draft;
  if (event.type === 'WORKER') return takeOutcome(draft, event);
  if (event.type === 'PERSON_AWAITED') return takeTenantWait(fanOut, event, draft.now);
  if (isOver(fanOut)) {
    if (event.type !== 'TICK') fanOut.dropped += 1;
    return;
  }
  switch (event.type) {
    case 'START':
      return transition(draft, 'START');
    case 'CANCEL':
      return transition(draft, 'CANCEL');
    case 'TICK':
      return endPreparing(draft);
    case 'PREPARED':
      if (fanOut.state === 'PREPARING') fanOut.prepared = true;
      else fanOut.dropped += 1;
      return endPreparing(draft);
    case 'COMBINED':
      endFanInCall(fanOut, event.usage);
      if (fanOut.state === 'FANNING_IN') fanOut.combined = event.combined;
      else fanOut.dropped += 1;
      return;
    case 'SCORED':
      endFanInCall(fanOut, event.usage);
      if (fanOut.state === 'SCORING') takeScore(draft, event.score);
      else fanOut.dropped += 1;
      return;
    case 'FAULT':
      return takeFault(draft, event);
  }
};

/** Where the budget's time is over before any task could begin, none does. */
const endPreparing = ({ fanOut, effects, now }: FanOutDraft): void => {
  const message = timeRefusal(fanOut.ledger, now);
  if (fanOut.state !== 'PREPARING' || message === null) return;
  fanOut.fault = { code: 'EBUDGET', message };
  if (!fanOut.prepared) effects.push({ type: 'stop' });
};

/** What an orchestrator or a critic has used, for whom a part of the budget may be held. */
const endFanInCall = (fanOut: FanOutState, used: Amount): void => {
  fanOut.ledger = endCall(fanOut.ledger, fanOut.fanInCall ?? null, used);
  delete fanOut.fanInCall;
};

const takeFault = (draft: FanOutDraft, { of, code, message }: Extract<FanOutEvent, { type: 'FAULT' }>): void => {
  const { fanOut } = draft;
  if (fanOut.state !== stageState[of]) {
    fanOut.dropped += 1;
    return;
  }
  endFanInCall(fanOut, noAmount);
  if (of !== 'score') {
    fanOut.fault = { code, message };
    return;
  }
  takeUnscored(draft, `${code}: ${message}`);
};

/** After the barrier an outcome is recorded, never merged (details 4.3). */
const takeOutcome = (
  draft: FanOutDraft,
  { index, outcome, usage, attempt, left }: Extract<FanOutEvent, { type: 'WORKER' }>,
): void => {
  const { fanOut, now } = draft;
  const { setup } = fanOut;
  const task = fanOut.tasks[index];
  // One that the barrier has given up is CANCELLED already, and hears of its end once.
  const isAwaited = task?.state === 'RUNNING';
  const isGivenUp = task?.state === 'CANCELLED' && task.startedAt !== null && !task.late;
  if (!task || (!isAwaited && !isGivenUp)) {
    fanOut.dropped += 1;
    return;
  }
  fanOut.ledger = endCall(fanOut.ledger, task.call, usage);
  const ended = { endedAt: now, attempt, call: null, ...filesOf(left) };
  sayRepeat(draft, setup.tasks[index]?.taskId ?? '', attempt);
  if (isAwaited && endedWithBudget(fanOut, outcome))
    return changeTask(draft, index, { attempt, call: null, ...filesOf(left) });
  if (isAwaited) {
    if (outcome.outcome === 'completed') fanOut.completed = [...fanOut.completed, index];
    changeTask(draft, index, { ...ended, ...recordOf(outcome, 'it was stopped') });
    return;
  }
  // Its own time was over with the barrier's: that is no result.
  const isNone = outcome.outcome === 'stopped' || (outcome.outcome === 'failed' && outcome.code === 'ETIMEOUT');
  if (isNone) changeTask(draft, index, ended);
  else changeTask(draft, index, { ...ended, ...recordOf(outcome, ''), late: true });
};

/** A worker whose time ended with the budget's is given up with all that have not ended, whichever clock was first. */
const endedWithBudget = ({ ledger, steppedAt }: FanOutState, outcome: WorkerOutcome): boolean =>
  outcome.outcome === 'failed' && outcome.code === 'ETIMEOUT' && isTimeOver(ledger, steppedAt);

const filesOf = (left: LeftFiles | undefined): Pick<TaskRecord, 'artifacts' | 'artifactsCut'> => ({
  ...(left && left.artifacts.length > 0 && { artifacts: left.artifacts }),
  ...(left && left.cut !== null && { artifactsCut: left.cut }),
});

/** Whoever pays for a call twice is told so. */
const sayRepeat = ({ events, now }: FanOutDraft, taskId: string, attempt: number): void => {
  if (attempt === 1) return;
  const message = `task ${taskId} was begun ${attempt} times, as a worker process died in it: this is attempt ${attempt}`;
  events.push({ event: 'log', data: { at: iso(now), message } });
};

const recordOf = (outcome: WorkerOutcome, stopped: string): Partial<TaskRecord> => {
  switch (outcome.outcome) {
    case 'completed':
      return { state: 'COMPLETED', output: outcome.output, kept: outcome.kept, reason: null };
    case 'failed': {
      const { code, message, retryable } = outcome;
      return { state: 'FAILED', reason: { code, message, ...(retryable !== undefined && { retryable }) } };
    }
    case 'stopped':
      return { state: 'CANCELLED', reason: { code: 'EPREEMPT', message: stopped } };
  }
};

const transition = (draft: FanOutDraft, on: FanOutEventName): void => {
  const { fanOut, now, events } = draft;
  const taken = step(fanOutMachine, fanOut.state, on, factsOf(fanOut));
  fanOut.state = taken.to;
  const { from, to, actions } = taken;
  events.push({
    event: 'state',
    data: { at: iso(now), machine: 'fan-out', from, to, on, actions: [...actions] },
  });
  if (isOver(fanOut)) fanOut.endedAt = now;
  for (const action of actions) perform(draft, action, on);
};

const perform = (draft: FanOutDraft, action: FanOutActionName, on: FanOutEventName): void => {
  const { fanOut, effects, events, now } = draft;
  const { setup } = fanOut;
  switch (action) {
    case 'admit':
      return admitTasks(draft);
    case 'prepare':
      // Nothing to prepare for nobody: an empty list completes at once.
      if (setup.tasks.length === 0) fanOut.prepared = true;
      else effects.push({ type: 'prepare' });
      return;
    case 'dispatch':
      fanOut.deadlineAt = Math.min(now + setup.barrier.timeout_ms, timeEndOf(fanOut.ledger) ?? Infinity);
      return dispatch(draft);
    case 'release_barrier':
      return releaseBarrier(draft, on);
    case 'stop':
      effects.push({ type: 'stop' });
      return;
    case 'fan_in':
      return fanIn(draft);
    case 'score': {
      sayFanIn(draft, 'combined');
      fanOut.asking = 'score';
      return offerFanIn(draft);
    }
    case 'name_reasons':
      fanOut.error = { code: on === 'TIMEOUT' ? codeOfTimeout(fanOut) : 'EAGENTDOWN', message: reasons(fanOut) };
      events.push({ event: 'error', data: { ...fanOut.error, at: iso(now) } });
      return;
    case 'name_fault':
      fanOut.error = fanOut.fault;
      if (fanOut.error) events.push({ event: 'error', data: { ...fanOut.error, at: iso(now) } });
      return;
    case 'emit_final': {
      if (!setup.fanIn.quality) sayFanIn(draft, 'combined');
      fanOut.result = resultOf(fanOut);
      if (fanOut.result) events.push({ event: 'final', data: fanOut.result });
      return;
    }
  }
};

const fanIn = (draft: FanOutDraft): void => {
  const { fanOut } = draft;
  const { setup } = fanOut;
  sayFanIn(draft, 'started');
  if (takingPart(fanOut).length > 0) {
    fanOut.asking = 'fan_in';
    return offerFanIn(draft);
  }
  const value = setup.fanIn.strategy === 'merge' ? {} : null;
  const notes = setup.tasks.length === 0 ? [] : ['no answer takes part in the fan-in'];
  fanOut.combined = { value, provenance: [], conflicts: [], agreement: null, notes, kept: null };
};

const noteWaiting = ({ fanOut, events, now }: FanOutDraft): void => {
  const waiting = waitingFor(fanOut);
  if (waiting?.on === fanOut.waiting?.on) return;
  fanOut.waiting = waiting && { ...waiting, since: now };
  events.push({ event: 'waiting', data: describeWaiting(fanOut) });
};
