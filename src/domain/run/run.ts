import type { GivenFeedback } from '../../contracts/feedback.js';
import type { RunFeedback } from '../../contracts/run-status.js';
import { iso } from '../instant.js';
import { spend } from '../refinement/calls.js';
import { isTimeOver, pay, spentOf, timeEndOf, withClock, withoutTime } from '../work-account.js';
import { isTerminal, step } from '../machine.js';
import { openDraft, type RunDraft, type RunStep, say, sayStep, setAttempt, setStep } from './draft.js';
import type { RunEvent, RunPending, StepFault, StepOutcome } from './effects.js';
import { answerRun, passed, requestDue, responseOf, withUnasked } from './gate.js';
import { type RunEventName, type RunFacts, runMachine } from './machine.js';
import { fail, perform, settleStep } from './perform.js';
import { currentRecord, currentStep, openRequest, type RunState, stepName } from './state.js';
import { hasOwnTime, timeWords } from './step-work.js';
import { describeWaiting, waitingFor } from './waiting.js';

export type { RunStep } from './draft.js';

export const isOver = ({ state }: Pick<RunState, 'state'>): boolean => isTerminal(runMachine, state);

/**
 * Takes one event and follows every transition it makes possible: pure, so that a replay, a test and a diagram see the same run
 * (spec 06). What answers nothing that is under way is counted and changes nothing. `now` is epoch milliseconds.
 * @throws InvalidTransitionError for a second START while it runs; nothing has changed then.
 */
export const stepRun = (before: RunState, event: RunEvent, now: number): RunStep => {
  const draft = openDraft(before, now);
  expire(draft);
  follow(draft);
  take(draft, event);
  follow(draft);
  endOverdue(draft);
  noteWaiting(draft);
  keepTime(draft);
  return { run: draft.run, effects: draft.effects, events: draft.events };
};

/**
 * The next moment at which time alone changes something, or null: a run without an expiring request, or a step that its time ends,
 * needs no timer.
 */
export const nextDue = (run: RunState): number | null => {
  if (isOver(run)) return null;
  return requestDue(run) ?? (timedStep(run) ? timeEndOf(run.ledger) : null);
};

const factsOf = (run: RunState): RunFacts => {
  const { gate, onError } = currentStep(run);
  return {
    cancelled: run.cancelled,
    hasGate: gate !== null,
    isLast: run.position === run.setup.steps.length - 1,
    // What fails before the first step is nobody's `on_error`.
    asksOnError: onError === 'ask' && run.workspace !== null,
  };
};

const follow = (draft: RunDraft): void => {
  for (let { turn } = draft; turn !== null && !isOver(draft.run); { turn } = draft) {
    draft.turn = null;
    transition(draft, turn);
  }
};

const take = (draft: RunDraft, event: RunEvent): void => {
  const { run } = draft;
  if (isOver(run)) {
    // Time passes for what has ended, too, and is no event of its own.
    if (event.type !== 'TICK') run.dropped += 1;
    return;
  }
  switch (event.type) {
    case 'TICK':
      return;
    case 'START':
      return transition(draft, 'START');
    case 'CANCEL':
      // A second one changes nothing: what is under way is being stopped.
      if (run.cancelled) run.dropped += 1;
      else {
        run.cancelled = true;
        transition(draft, 'CANCEL');
      }
      return;
    case 'FEEDBACK':
      return takeFeedback(draft, event.given);
    default:
      return hear(draft, event);
  }
};

/** What was under way has brought something; what answers nothing that is, is counted. */
const hear = (draft: RunDraft, event: Extract<RunEvent, { id: number }>): void => {
  const { run } = draft;
  const { pending } = run;
  const isStep = event.type === 'STEP' || event.type === 'BEGUN';
  if (pending === null || pending.id !== event.id || isStep !== (pending.type === 'run_step')) {
    run.dropped += 1;
    return;
  }
  if (event.type === 'BEGUN') {
    setAttempt(draft, { workId: event.workId });
    return sayStep(draft);
  }
  run.pending = null;
  switch (event.type) {
    case 'PREPARED':
      run.workspace = { path: event.path, branch: event.branch };
      draft.turn = 'PREPARED';
      return;
    case 'UNPREPARED':
      return fail(draft, event.fault);
    case 'STEP':
      return endTry(draft, event.outcome, event.waitedMs ?? 0);
  }
};

const endTry = (draft: RunDraft, ended: StepOutcome, waitedMs: number): void => {
  const { run, now } = draft;
  const { usage } = ended;
  run.ledger = withoutTime(pay(run.ledger, usage), waitedMs, now);
  if (ended.outcome === 'completed') {
    setAttempt(draft, { outcome: 'completed', usage, endedAt: now });
    setStep(draft, run.position, { state: 'completed', output: ended.output });
    sayStep(draft);
    draft.turn = 'STEP_SUCCEEDED';
    return;
  }
  if (ended.outcome === 'stopped' && run.cancelled) {
    setAttempt(draft, { outcome: 'cancelled', usage, endedAt: now });
    draft.turn = 'STEP_STOPPED';
    return;
  }
  const fault = faultOf(draft, ended);
  setAttempt(draft, { outcome: 'failed', error: fault, usage, endedAt: now });
  fail(draft, fault);
};

/** What fails once the time of the run is over is not done again. */
const faultOf = ({ run, now }: RunDraft, ended: Exclude<StepOutcome, { outcome: 'completed' }>): StepFault => {
  const isStopped = ended.outcome === 'stopped';
  if (!isTimeOver(run.ledger, now))
    return isStopped
      ? { code: 'EPREEMPT', message: 'the work of the step was cancelled, not the run', retryable: true }
      : ended.fault;
  const message = `${timeWords(run)}: ${isStopped ? 'the step was ended' : ended.fault.message}`;
  return { code: 'EBUDGET', message, retryable: false };
};

const takeFeedback = (draft: RunDraft, given: GivenFeedback): void => {
  const { run, now } = draft;
  const answered = answerRun(run, given, now);
  if (!answered) {
    run.dropped += 1;
    run.unasked = withUnasked(run, given, now);
    const message = `an answer of ${given.provided_by} was refused: the run has asked nobody anything`;
    return say(draft, { event: 'log', data: { at: iso(now), message } });
  }
  const { feedback, index, refused, repeated } = answered;
  run.feedback = run.feedback.map((one, at) => (at === index ? feedback : one));
  if (refused) {
    const message = `an answer of ${given.provided_by} was refused: ${refused.message}`;
    return say(draft, { event: 'log', data: { at: iso(now), message } });
  }
  const answer = feedback.answers.at(-1);
  if (repeated || !answer) return;
  const outcome = 'outcome' in feedback ? feedback.outcome : feedback.state;
  say(draft, { event: 'feedback_received', data: { at: iso(now), answer, outcome } });
  if (feedback.state !== 'open') decide(draft, feedback);
};

const byResponse: Readonly<Record<string, RunEventName>> = {
  approve: 'GRANTED',
  request_changes: 'CHANGES_REQUESTED',
  reject: 'ABORTED',
  retry: 'RETRIED',
  skip: 'SKIPPED',
  abort: 'ABORTED',
};

/** What an answer, or a timeout that counts as one, does (details 5.2); of a choice or an input it is the answer alone. */
const decide = (draft: RunDraft, feedback: RunFeedback): void => {
  const answer = responseOf(feedback);
  if (!answer) return;
  const { type } = feedback.request;
  const isOwn = type === 'choice' || type === 'input';
  const on = isOwn ? 'GRANTED' : (byResponse[answer.response.toLowerCase()] ?? 'ABORTED');
  if (settleStep(draft, on)) draft.turn = on;
};

/** Whatever comes: a request whose time is over is over first (spec 06 "on_timeout"). */
const expire = (draft: RunDraft): void => {
  const { run, now } = draft;
  const open = openRequest(run);
  if (!open || isOver(run)) return;
  const after = passed(open, 'tick', now);
  if (after === open) return;
  run.feedback = [...run.feedback.slice(0, -1), after];
  if (after.state !== 'expired') return;
  const counts = responseOf(after)?.response ?? '';
  const data = { at: iso(now), request_id: after.request.request_id, counts_as: counts };
  say(draft, { event: 'feedback_expired', data });
  decide(draft, after);
};

const transition = (draft: RunDraft, on: RunEventName): void => {
  const { run, now } = draft;
  const taken = step(runMachine, run.state, on, factsOf(run));
  const { phase, name } = currentStep(run);
  run.state = taken.to;
  const { from, to } = taken;
  const actions = [...taken.actions];
  say(draft, { event: 'state', data: { at: iso(now), machine: 'run', from, to, on, actions, phase, step: name } });
  if (isOver(run)) run.endedAt = now;
  for (const action of taken.actions) perform(draft, action, on);
};

/** The try under way that ends with the time of the run; null: there is none, or it has a time of its own, or is ended already. */
const timedStep = (run: RunState): Extract<RunPending, { type: 'run_step' }> | null => {
  const { pending, outOfTime, cancelled } = run;
  if (pending?.type !== 'run_step' || cancelled || outOfTime === pending.id) return null;
  return hasOwnTime(currentStep(run).work) ? null : pending;
};

/** The time of the run is over: what it has under way is ended, and is heard out (spec 08). */
const endOverdue = (draft: RunDraft): void => {
  const { run, now, effects } = draft;
  const pending = isOver(run) ? null : timedStep(run);
  if (!pending || !isTimeOver(run.ledger, now)) return;
  run.outOfTime = pending.id;
  const message = `${timeWords(run)}; ${stepName(currentStep(run))} is ended`;
  say(draft, { event: 'budget', data: { at: iso(now), action: 'ended', message, spend: spend(spentOf(run.ledger)) } });
  const workId = currentRecord(run).attempts.at(-1)?.workId ?? null;
  effects.push(workId === null ? { type: 'stop', of: pending.id } : { type: 'end_work', workId });
};

/** No time passes while people are asked (spec 08 "never counts against a time budget"). */
const keepTime = ({ run, now }: RunDraft): void => {
  if (run.setup.budget.maxMs === undefined) return;
  run.ledger = withClock(run.ledger, openRequest(run) !== null, now);
  run.steppedAt = now;
};

const noteWaiting = (draft: RunDraft): void => {
  const { run, now } = draft;
  const on = waitingFor(run)?.on ?? null;
  if (on === (run.waiting?.on ?? null)) return;
  run.waiting = on === null ? null : { on, since: now };
  say(draft, { event: 'waiting', data: describeWaiting(run) });
};
