import type { RunDurableEvent } from '../../contracts/run-events.js';
import { iso } from '../instant.js';
import type { RunEffect, StepFault } from './effects.js';
import type { RunEventName } from './machine.js';
import { type AttemptRecord, currentRecord, currentStep, type RunState, type StepRecord } from './state.js';

/** What one step of a run gives: the next state, what is to be done, and what happened. */
export interface RunStep {
  run: RunState;
  effects: RunEffect[];
  events: RunDurableEvent[];
}

/** A run in the middle of a step: its members are assigned, and what a member holds is never reached into. */
export interface RunDraft extends Readonly<RunStep> {
  /** Epoch milliseconds. */
  readonly now: number;
  /** What the machine is to be told next; null: nothing. */
  turn: RunEventName | null;
}

export const openDraft = (run: RunState, now: number): RunDraft => ({
  run: { ...run },
  now,
  effects: [],
  events: [],
  turn: null,
});

export const say = ({ events }: RunDraft, event: RunDurableEvent): void => {
  events.push(event);
};

/** Changes what is known of one step. */
export const setStep = ({ run }: RunDraft, position: number, change: Partial<StepRecord>): void => {
  run.steps = run.steps.map((record, index) => (index === position ? { ...record, ...change } : record));
};

/** Changes what is known of the try under way of the present step. */
export const setAttempt = (draft: RunDraft, change: Partial<AttemptRecord>): void => {
  const { attempts } = currentRecord(draft.run);
  const last = attempts.at(-1);
  if (last) setStep(draft, draft.run.position, { attempts: [...attempts.slice(0, -1), { ...last, ...change }] });
};

/** Says where the present step stands. */
export const sayStep = (draft: RunDraft, error: StepFault | null = null): void => {
  const { run, now } = draft;
  const { phase, name, work } = currentStep(run);
  const { state, attempts, output } = currentRecord(run);
  say(draft, {
    event: 'step',
    data: {
      at: iso(now),
      phase,
      step: name,
      kind: work.kind,
      state,
      attempt: attempts.length,
      work_id: attempts.at(-1)?.workId ?? null,
      output,
      error,
    },
  });
};
