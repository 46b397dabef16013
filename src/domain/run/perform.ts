import type { RunResult } from '../../contracts/run-status.js';
import { iso } from '../instant.js';
import { spend } from '../refinement/calls.js';
import { spentOf } from '../work-account.js';
import { type RunDraft, say, sayStep, setStep } from './draft.js';
import type { RunPending, StepFault } from './effects.js';
import { openGate, openResolution, passed, responseOf, usedRequest } from './gate.js';
import type { RunActionName, RunEventName } from './machine.js';
import {
  currentRecord,
  currentStep,
  openRequest,
  redonePosition,
  type RunState,
  stepName,
  type StepRecord,
} from './state.js';
import { budgetRefusal } from './step-work.js';

type Wanted = RunPending extends infer P ? (P extends RunPending ? Omit<P, 'id'> : never) : never;

const want = (draft: RunDraft, wanted: Wanted): void => {
  const { run, effects } = draft;
  run.effects += 1;
  const pending = { ...wanted, id: run.effects } as RunPending;
  run.pending = pending;
  effects.push(pending);
};

/** Does what a row of the table names; `on` is the event that the row takes. */
export const perform = (draft: RunDraft, action: RunActionName, on: RunEventName): void => {
  const { run, effects } = draft;
  switch (action) {
    case 'prepare_workspace':
      return prepare(draft);
    case 'begin_step':
      return begin(draft);
    case 'next_step':
      run.position += 1;
      return begin(draft);
    case 'redo_step':
      return redo(draft, on);
    case 'ask':
      return ask(draft);
    case 'ask_resolution':
      return request(draft, openResolution(run, draft.now));
    case 'stop':
      if (run.pending) effects.push({ type: 'stop', of: run.pending.id });
      return;
    case 'void_request':
      if (openRequest(run)) run.feedback = run.feedback.map((one) => passed(one, 'void', draft.now));
      return;
    case 'emit_final':
      return end(draft, on);
  }
};

const prepare = (draft: RunDraft): void => {
  const { setup, folderOf } = draft.run;
  want(draft, { type: 'prepare_workspace', workspace: setup.workspace, ...(folderOf && { origin: folderOf }) });
};

/**
 * The present step begins; one that only asks is at its gate, and one that the budget does not hold has failed.
 * @param asked the changes that people ask of this try, null where they said none; left out: those of the try before still hold
 */
const begin = (draft: RunDraft, asked?: string | null): void => {
  const { run, now } = draft;
  const { work } = currentStep(run);
  const { attempts, comments } = currentRecord(run);
  const { asksFirst } = run;
  run.error = null;
  if (asksFirst) {
    delete run.asksFirst;
    if (asksFirst.fault) return fail(draft, asksFirst.fault);
    draft.turn = 'GATE_REACHED';
    return;
  }
  if (work.kind === 'gate') {
    draft.turn = 'GATE_REACHED';
    return;
  }
  const refused = budgetRefusal(run, now);
  if (refused !== null) {
    const at = iso(now);
    say(draft, {
      event: 'budget',
      data: { at, action: 'refused', message: refused, spend: spend(spentOf(run.ledger)) },
    });
    return fail(draft, { code: 'EBUDGET', message: refused, retryable: false });
  }
  const attempt = attempts.length + 1;
  // A fork begins the step anew with what was asked of the one it was forked from.
  const before = attempts.at(-1);
  const still = before ? before.comment : (comments.at(-1) ?? null);
  const opened = {
    attempt,
    workId: null,
    outcome: null,
    error: null,
    comment: asked === undefined ? still : asked,
    usage: { tokens: 0, usdMicros: 0 },
    startedAt: now,
    endedAt: null,
  };
  setStep(draft, run.position, { state: 'in_progress', attempts: [...attempts, opened] });
  want(draft, { type: 'run_step', position: run.position, attempt });
  sayStep(draft);
};

/** The present step, or preparing the folder, has failed: the machine is told next. */
export const fail = (draft: RunDraft, fault: StepFault): void => {
  const { run, now } = draft;
  const { phase, name } = currentStep(run);
  const isStep = run.workspace !== null;
  run.error = { ...fault, phase: isStep ? phase : null, step: isStep ? name : null };
  if (isStep) {
    setStep(draft, run.position, { state: 'failed' });
    sayStep(draft, fault);
  }
  say(draft, { event: 'error', data: { ...run.error, at: iso(now) } });
  draft.turn = 'STEP_FAILED';
};

/** Retry does the present step again; a request for changes the one that it is about, and asks anew from there on. */
const redo = (draft: RunDraft, on: RunEventName): void => {
  const { run } = draft;
  if (run.workspace === null) {
    run.error = null;
    return prepare(draft);
  }
  const to = on === 'CHANGES_REQUESTED' ? (redonePosition(run) ?? run.position) : run.position;
  for (let at = to + 1; at <= run.position; at += 1) setStep(draft, at, { state: 'pending', output: null });
  run.position = to;
  if (on !== 'CHANGES_REQUESTED') return begin(draft);
  const latest = run.feedback.at(-1);
  const comment = latest ? (responseOf(latest)?.comment ?? null) : null;
  const comments = run.steps[to]?.comments ?? [];
  if (comment !== null) setStep(draft, to, { comments: [...comments, comment] });
  begin(draft, comment);
};

const ask = (draft: RunDraft): void => {
  const { run, now } = draft;
  const { gate } = currentStep(run);
  if (!gate) throw new TypeError(`step ${stepName(currentStep(run))} of run ${run.setup.id} has no gate`);
  setStep(draft, run.position, { state: 'awaiting_feedback' });
  sayStep(draft);
  request(draft, openGate(run, gate, now));
};

const request = (draft: RunDraft, opened: RunState['feedback'][number]): void => {
  const { run, now } = draft;
  run.feedback = [...run.feedback, opened];
  say(draft, { event: 'feedback_requested', data: { at: iso(now), request: opened.request } });
};

/**
 * The present step is decided on by a person, before the machine is told: it is done, left out, or ended.
 * @returns false where an approval does not serve for what is there now: it is void, and people are asked again (spec 08)
 */
export const settleStep = (draft: RunDraft, on: RunEventName): boolean => {
  const { run, now } = draft;
  const { work } = currentStep(run);
  const record = currentRecord(run);
  const latest = run.feedback.at(-1);
  const response = latest ? (responseOf(latest)?.response ?? null) : null;
  if (on === 'GRANTED') {
    const used = latest ? usedRequest(run, latest, now) : null;
    if (used) run.feedback = [...run.feedback.slice(0, -1), used.feedback];
    if (used && used.refused !== null) {
      say(draft, { event: 'log', data: { at: iso(now), message: used.refused } });
      ask(draft);
      return false;
    }
    setStep(draft, run.position, { state: 'completed', output: work.kind === 'gate' ? response : record.output });
    sayStep(draft);
  }
  if (on === 'SKIPPED') {
    run.error = null;
    setStep(draft, run.position, { state: 'skipped' });
    sayStep(draft);
  }
  return true;
};

const whyCancelled = (run: RunState, on: RunEventName): string => {
  const { feedback, error, position, setup } = run;
  const latest = feedback.at(-1);
  const at = stepName(currentStep({ setup, steps: run.steps, position }));
  if (on !== 'ABORTED' || !latest) return 'it was cancelled';
  if (latest.state === 'expired') return `nobody answered ${latest.request.request_id} in time at ${at}`;
  const answer = latest.answers.at(-1);
  const who = answer ? ` by ${answer.provided_by}` : '';
  const comment = answer?.comment ? `: ${answer.comment}` : '';
  const what = error ? `aborted${who} after ${error.code}: ${error.message}` : `rejected${who} at ${at}${comment}`;
  return `it was ${what}`;
};

const end = (draft: RunDraft, on: RunEventName): void => {
  const { run } = draft;
  const isCancelled = run.state === 'cancelled';
  const { state } = currentRecord(run);
  if (isCancelled && (state === 'in_progress' || state === 'awaiting_feedback')) {
    setStep(draft, run.position, { state: 'cancelled' });
    sayStep(draft);
  }
  run.result = resultOf(run, isCancelled ? whyCancelled(run, on) : null);
  say(draft, { event: 'final', data: run.result });
};

/** A gate's answer is not what the run has made. */
const hasOutput =
  ({ setup }: RunState) =>
  ({ output }: StepRecord, index: number): boolean =>
    output !== null && setup.steps[index]?.work.kind !== 'gate';

const resultOf = (run: RunState, cancelled: string | null): RunResult => {
  const count = (state: 'completed' | 'skipped'): number => run.steps.filter((step) => step.state === state).length;
  const skipped = count('skipped');
  const { length } = run.steps;
  const left = skipped === 0 ? '' : `, ${skipped} of them skipped`;
  const one = skipped === 0 ? 'its one step is done' : 'its one step was skipped';
  return {
    outcome: cancelled === null ? 'completed' : 'cancelled',
    reason: cancelled ?? (length === 1 ? one : `all ${length} steps are done${left}`),
    steps: { total: length, completed: count('completed'), skipped },
    output: run.steps.findLast(hasOutput(run))?.output ?? null,
    branch: run.workspace?.branch ?? null,
  };
};
