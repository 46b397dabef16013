import type { FanInScore } from '../../contracts/fan-out-status.js';
import { noAmount } from '../budget.js';
import { iso } from '../instant.js';
import { isTerminal, step } from '../machine.js';
import { barrierPasses, countsOf } from './barrier.js';
import { admitTasks, dispatch, tokensLeft } from './dispatch.js';
import { changeTask, type FanOutDraft, type FanOutStep, openDraft } from './draft.js';
import type { FanOutEvent, LeftFiles, WorkerOutcome } from './effects.js';
import { type FanOutActionName, type FanOutEventName, type FanOutFacts, fanOutMachine } from './machine.js';
import { reasons, resultOf } from './result.js';
import type { FanOutState, TaskRecord } from './state.js';
import { barrierStatus, describeWaiting, waitingFor } from './view.js';
import { endCall, pay } from '../work-account.js';

export type { FanOutStep } from './draft.js';

export const isOver = ({ state }: Pick<FanOutState, 'state'>): boolean => isTerminal(fanOutMachine, state);

/** The next moment at which time alone changes something: the barrier's timeout. */
export const nextDue = ({ state, deadlineAt }: FanOutState): number | null => (state === 'RUNNING' ? deadlineAt : null);

/** Takes one event and follows every transition it makes possible: pure (spec 03). `now` is epoch milliseconds. */
export const stepFanOut = (fanOut: FanOutState, event: FanOutEvent, now: number): FanOutStep => {
  const draft = openDraft(fanOut, now);
  take(draft, event);
  follow(draft);
  dispatch(draft);
  // Tasks that the budget refuses are settled at once, and may be the last.
  follow(draft);
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
      return;
    case 'PREPARED':
      if (fanOut.state === 'PREPARING') fanOut.prepared = true;
      else fanOut.dropped += 1;
      return;
    case 'COMBINED':
      fanOut.ledger = pay(fanOut.ledger, event.usage);
      if (fanOut.state === 'FANNING_IN') fanOut.combined = event.combined;
      else fanOut.dropped += 1;
      return;
    case 'SCORED':
      fanOut.ledger = pay(fanOut.ledger, event.usage);
      if (fanOut.state === 'SCORING') takeScore(draft, event.score);
      else fanOut.dropped += 1;
      return;
    case 'FAULT':
      return takeFault(draft, event);
  }
};

const stageState = { prepare: 'PREPARING', fan_in: 'FANNING_IN', score: 'SCORING' } as const;

const takeFault = (draft: FanOutDraft, { of, code, message }: Extract<FanOutEvent, { type: 'FAULT' }>): void => {
  const { fanOut } = draft;
  if (fanOut.state !== stageState[of]) {
    fanOut.dropped += 1;
    return;
  }
  if (of !== 'score') {
    fanOut.fault = { code, message };
    return;
  }
  // A critic that fails costs the result its score and nothing else: it is flagged, not dropped.
  const threshold = fanOut.setup.fanIn.quality?.threshold ?? 0;
  const failure = `${code}: ${message}`;
  takeScore(draft, { score: null, scores: null, threshold, below_threshold: true, feedback: '', failure });
};

const takeScore = (draft: FanOutDraft, score: FanInScore): void => {
  draft.fanOut.score = score;
  sayFanIn(draft, 'scored');
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
      fanOut.deadlineAt = now + setup.barrier.timeout_ms;
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
      if (!fanOut.combined) return;
      effects.push({ type: 'score', combined: fanOut.combined, maxTokens: tokensLeft(fanOut, '') });
      return;
    }
    case 'name_reasons':
      fanOut.error = { code: on === 'TIMEOUT' ? 'ETIMEOUT' : 'EAGENTDOWN', message: reasons(fanOut) };
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

/** Everything that has not ended is given up: it is missing from here on. */
const releaseBarrier = (draft: FanOutDraft, on: FanOutEventName): void => {
  const { fanOut, events, now } = draft;
  const by = on === 'TIMEOUT' ? 'timeout' : on === 'CANCEL' ? 'cancel' : 'settled';
  fanOut.released = { at: now, by };
  const { passes } = factsOf(fanOut);
  events.push({
    event: 'barrier',
    data: { ...barrierStatus(fanOut), at: iso(now), passed: passes && by !== 'cancel' },
  });
  const why =
    by === 'cancel'
      ? 'the fan-out was cancelled'
      : `it had not ended when the barrier was released, after ${fanOut.setup.barrier.timeout_ms} ms`;
  const code = by === 'cancel' ? 'EPREEMPT' : 'ETIMEOUT';
  fanOut.tasks.forEach(({ state, call }, index) => {
    if (state !== 'QUEUED' && state !== 'RUNNING') return;
    // What it holds is free for the fan-in; what it has used is told later.
    fanOut.ledger = endCall(fanOut.ledger, call, noAmount);
    changeTask(draft, index, { state: 'CANCELLED', endedAt: now, reason: { code, message: why }, call: null });
  });
};

const fanIn = (draft: FanOutDraft): void => {
  const { fanOut, effects } = draft;
  const { setup, completed } = fanOut;
  const takesPart = new Set(setup.agents.filter((agent) => agent.takesPart).map(({ agentId }) => agentId));
  const taking = completed.filter((index) => takesPart.has(setup.tasks[index]?.agentId ?? ''));
  sayFanIn(draft, 'started');
  if (taking.length > 0) {
    effects.push({ type: 'fan_in', completed: taking, maxTokens: tokensLeft(fanOut, '') });
    return;
  }
  const value = setup.fanIn.strategy === 'merge' ? {} : null;
  const notes = setup.tasks.length === 0 ? [] : ['no answer takes part in the fan-in'];
  fanOut.combined = { value, provenance: [], conflicts: [], agreement: null, notes, kept: null };
};

const sayFanIn = ({ fanOut, events, now }: FanOutDraft, stage: 'started' | 'combined' | 'scored'): void => {
  events.push({
    event: 'fan_in',
    data: {
      at: iso(now),
      stage,
      aggregation_strategy: fanOut.setup.fanIn.strategy,
      results: fanOut.completed.length,
      conflicts: fanOut.combined?.conflicts.length ?? 0,
      quality: fanOut.score,
    },
  });
};

const noteWaiting = ({ fanOut, events, now }: FanOutDraft): void => {
  const waiting = waitingFor(fanOut);
  if (waiting?.on === fanOut.waiting?.on) return;
  fanOut.waiting = waiting && { ...waiting, since: now };
  events.push({ event: 'waiting', data: describeWaiting(fanOut) });
};
