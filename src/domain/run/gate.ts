import type { FeedbackOptionBody, GivenFeedback, RefusedFeedback } from '../../contracts/feedback.js';
import type { Json } from '../../contracts/frames.js';
import type { NextStep, RunFeedback } from '../../contracts/run-status.js';
import { nextApprovalDue, openApproval, stepApproval, useApproval } from '../approval.js';
import { closeFeedback, type FeedbackRefusal, nextFeedbackDue, openFeedback, stepFeedback } from '../feedback.js';
import { sha256 } from '../sha256.js';
import { answerText } from '../text.js';
import { gateSubject, shownOutput } from './gate-content.js';
import { gateTerms } from './gate-terms.js';
import { nextSteps, nextWords } from './next-steps.js';
import type { GateSetup } from './setup.js';
import { currentStep, openRequest, redonePosition, type RunState, stepName } from './state.js';

/** Version of the rules that a gate is asked by: an approval given under others is void (spec 08). */
export const policyVersion = 'run-1';

/** `fr-YYYYMMDD-xxxxxx` (spec 06), the same at every replay. */
const requestId = ({ setup, feedback }: RunState, now: number): string => {
  const day = new Date(now).toISOString().slice(0, 10).replaceAll('-', '');
  return `fr-${day}-${sha256(`${setup.id}\n${setup.traceId}\n${feedback.length}`).slice(0, 6)}`;
};

const shownChars = 20_000;

/** Of a command what it has written, else the answer itself. The whole of it stands beside the prompt. */
const textOf = (output: Json): string => {
  if (output === null) return '';
  if (typeof output !== 'object' || Array.isArray(output) || !('exit_code' in output)) return answerText(output);
  const { stdout, stderr } = output;
  return [stdout, stderr]
    .flatMap((text) => (typeof text === 'string' && text.trim() !== '' ? [text.trimEnd()] : []))
    .join('\n');
};

const shownSteps = ({ setup, steps }: RunState): Parameters<typeof gateSubject>[0]['steps'] =>
  setup.steps.map(({ phase, name, work }, index) => ({
    phase,
    name,
    kind: work.kind,
    tries: steps[index]?.attempts.length ?? 0,
    output: steps[index]?.output ?? null,
  }));

const promptOf = (run: RunState, { prompt }: GateSetup): string => {
  const text = textOf(shownOutput(shownSteps(run), run.position));
  if (text === '') return prompt;
  const cut = text.length > shownChars ? `${text.slice(0, shownChars)}… (the whole stands in the status)` : text;
  return `${prompt}\n\n${cut}`;
};

const subjectOf = (run: RunState): object => {
  const { setup, workspace, position } = run;
  return gateSubject({
    id: setup.id,
    workId: setup.workId,
    folder: workspace?.path ?? null,
    steps: shownSteps(run),
    position,
    next: nextSteps(setup, position),
  });
};

/** So many steps stand in the words of an option; all of them are in the content. */
const saidSteps = 5;

const goesOnWith = (next: readonly NextStep[]): string => {
  const said = next.slice(0, saidSteps).map(nextWords).join(', then ');
  return `goes on with ${said}${next.length > saidSteps ? ` and ${next.length - saidSteps} more` : ''}`;
};

/** What each answer to an approval does here, in words. */
const effectOf = (run: RunState, value: string): string => {
  const next = nextSteps(run.setup, run.position);
  const redone = redonePosition(run);
  const again = redone === null ? null : run.setup.steps[redone];
  switch (value.toLowerCase()) {
    case 'approve':
      return next.length === 0 ? 'completes the run' : goesOnWith(next);
    case 'request_changes':
      return again ? `does ${stepName(again)} again with the comment` : '';
    default:
      return 'cancels the run; what it has done stays';
  }
};

const approvalOptions = (run: RunState, { options }: GateSetup): FeedbackOptionBody[] => {
  const values = ['approve', ...(redonePosition(run) === null ? [] : ['request_changes']), 'reject'];
  return (options ?? values).map((option) => {
    const own = typeof option === 'string' ? { value: option } : option;
    return { ...own, effect: own.effect ?? effectOf(run, own.value) };
  });
};

/** Asks people what the gate of the present step asks, from `now` on. */
export const openGate = (run: RunState, gate: GateSetup, now: number): RunFeedback => {
  const { setup } = run;
  const { phase, name } = currentStep(run);
  const asked = { requestId: requestId(run, now), prompt: promptOf(run, gate), phase, step: name };
  if (gate.type !== 'approval') {
    const { type, options, timeoutMs, onTimeout } = gate;
    return openFeedback({ ...asked, type, ...(options && { options }), timeoutMs, onTimeout }, now);
  }
  return openApproval(
    {
      ...asked,
      ...gateTerms(gate, setup.startedBy, setup.requiresAuthentication),
      subject: subjectOf(run),
      policyVersion,
      options: approvalOptions(run, gate),
    },
    now,
  );
};

/**
 * Asks what is to become of a failure (spec 06 `error_resolution`): a step with `on_error: ask` may also be skipped, and what
 * cannot succeed by doing it again can only be aborted (details 5.2).
 */
export const openResolution = (run: RunState, now: number): RunFeedback => {
  const { error, workspace } = run;
  const step = currentStep(run);
  const isStep = workspace !== null;
  const what = isStep ? stepName(step) : 'preparing the folder of the run';
  const skip = { value: 'skip', label: 'Skip', effect: `leaves ${what} out and goes on` };
  const retry = { value: 'retry', label: 'Retry', effect: `${isStep ? 'does' : 'tries'} ${what} again` };
  const abort = { value: 'abort', label: 'Abort', effect: 'cancels the run; what it has done stays' };
  const options = !error?.retryable
    ? [abort]
    : isStep && step.onError === 'ask'
      ? [retry, skip, abort]
      : [retry, abort];
  const message = error ? `${error.code}: ${error.message}` : 'it failed';
  return openFeedback(
    {
      requestId: requestId(run, now),
      type: 'error_resolution',
      prompt: `${what} has failed. ${message}`.slice(0, shownChars),
      options,
      phase: isStep ? step.phase : null,
      step: isStep ? step.name : null,
    },
    now,
  );
};

const isApproval = (feedback: RunFeedback): feedback is Extract<RunFeedback, { outcome: string }> =>
  'outcome' in feedback;

/** What one request has become. */
export interface GateStep {
  feedback: RunFeedback;
  /** Which of the requests it is. */
  index: number;
  refused: FeedbackRefusal | null;
  repeated: boolean;
}

/** With what could be answered now, where the answer was meant for something else (spec 06). */
const withOpen = (run: RunState, refused: FeedbackRefusal | null, given: GivenFeedback): FeedbackRefusal | null => {
  const open = openRequest(run);
  if (refused === null || open === null || open.request.request_id === given.request_id) return refused;
  const { request_id: id, options, type } = open.request;
  const valid = type === 'input' ? 'a text' : options.map(({ value }) => value).join(', ');
  return { ...refused, message: `${refused.message} Open now is ${id}: ${valid}.` };
};

/** One answer to the request that it names, else to the latest, taken or refused; null: nobody has been asked anything. */
export const answerRun = (run: RunState, given: GivenFeedback, now: number): GateStep | null => {
  const { feedback: all } = run;
  const named = all.findIndex(({ request }) => request.request_id === given.request_id);
  const index = named === -1 ? all.length - 1 : named;
  const feedback = all[index];
  if (!feedback) return null;
  if (isApproval(feedback)) {
    const { approval, refused, repeated } = stepApproval(feedback, { type: 'answer', given }, now);
    return { feedback: approval, index, refused: withOpen(run, refused, given), repeated };
  }
  const { feedback: taken, refused, repeated } = stepFeedback(feedback, { type: 'answer', given }, now);
  return { feedback: taken, index, refused: withOpen(run, refused, given), repeated };
};

const unasked = ({ setup, state }: RunState): FeedbackRefusal => ({
  code: 'other_request',
  message: `run ${setup.id} has asked nobody anything; it is ${state}.`,
});

/** How many answers that nobody had asked for are kept. */
const keptUnasked = 20;

/** An answer that came before anybody had been asked anything, as it is kept for the status (spec 06). */
export const withUnasked = (run: RunState, given: GivenFeedback, now: number): RefusedFeedback[] =>
  [...(run.unasked ?? []), { ...given, ...unasked(run), refused_at: new Date(now).toISOString() }].slice(-keptUnasked);

/** Why an answer would change nothing, for the validator of an update; null: it counts, or has counted before. */
export const feedbackRefusal = (run: RunState, given: GivenFeedback, now: number): FeedbackRefusal | null => {
  const step = answerRun(run, given, now);
  return step ? step.refused : unasked(run);
};

/** What time has done to the open request, or that it is void because nobody needs the answer any more. */
export const passed = (feedback: RunFeedback, type: 'tick' | 'void', now: number): RunFeedback =>
  isApproval(feedback)
    ? stepApproval(feedback, { type }, now).approval
    : stepFeedback(feedback, { type }, now).feedback;

/** When the open request needs a tick, epoch milliseconds; null: never. */
export const requestDue = (run: RunState): number | null => {
  const open = openRequest(run);
  if (open === null) return null;
  return isApproval(open) ? nextApprovalDue(open) : nextFeedbackDue(open);
};

/** What the request was answered with: an option's own spelling, or a text; a timeout counts as what it says; null: open. */
export const responseOf = (feedback: RunFeedback): { response: string; comment: string | null } | null => {
  const { state, answers, request } = feedback;
  if (state === 'expired') return { response: request.on_timeout ?? 'reject', comment: null };
  const last = answers.at(-1);
  return state === 'answered' && last ? { response: last.response, comment: last.comment } : null;
};

/**
 * Uses an approval for exactly what it was given for, once (spec 08); anything else needs no use. Where it does not serve for what
 * is there now it is void, and `refused` says why.
 */
export const usedRequest = (
  run: RunState,
  feedback: RunFeedback,
  now: number,
): { feedback: RunFeedback; refused: string | null } => {
  if (!isApproval(feedback)) return { feedback, refused: null };
  const { approval, refused } = useApproval(feedback, { subject: subjectOf(run), policyVersion }, now);
  return refused === null
    ? { feedback: approval, refused }
    : { feedback: { ...closeFeedback(feedback, 'void', now), outcome: 'void' }, refused };
};
