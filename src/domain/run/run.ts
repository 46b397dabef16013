import type { GivenFeedback } from '../../contracts/feedback.js';
import type { RunFeedback } from '../../contracts/run-status.js';
import { iso } from '../instant.js';
import { isTerminal, step } from '../machine.js';
import { openDraft, type RunDraft, type RunStep, say, sayStep, setAttempt, setStep } from './draft.js';
import type { RunEvent, StepOutcome } from './effects.js';
import { answerRun, passed, requestDue, responseOf, withUnasked } from './gate.js';
import { type RunEventName, type RunFacts, runMachine } from './machine.js';
import { fail, perform, settleStep } from './perform.js';
import { currentStep, openRequest, type RunState } from './state.js';
import { pay } from '../work-account.js';
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
  noteWaiting(draft);
  return { run: draft.run, effects: draft.effects, events: draft.events };
};

/** The next moment at which time alone changes something, or null: a run without an expiring request needs no timer. */
export const nextDue = (run: RunState): number | null => (isOver(run) ? null : requestDue(run));

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
      return endTry(draft, event.outcome);
  }
};

const endTry = (draft: RunDraft, ended: StepOutcome): void => {
  const { run, now } = draft;
  const { usage } = ended;
  run.ledger = pay(run.ledger, usage);
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
  const fault =
    ended.outcome === 'failed'
      ? ended.fault
      : { code: 'EPREEMPT', message: 'the work of the step was cancelled, not the run', retryable: true };
  setAttempt(draft, { outcome: 'failed', error: fault, usage, endedAt: now });
  fail(draft, fault);
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

const noteWaiting = (draft: RunDraft): void => {
  const { run, now } = draft;
  const on = waitingFor(run)?.on ?? null;
  if (on === (run.waiting?.on ?? null)) return;
  run.waiting = on === null ? null : { on, since: now };
  say(draft, { event: 'waiting', data: describeWaiting(run) });
};
