import type { Json } from '../../contracts/frames.js';
import type { NextStep, RunStatus } from '../../contracts/run-status.js';
import { isEmptyAnswer } from '../text.js';

interface Shown {
  phase: string;
  name: string;
  kind: string;
  tries: number;
  output: Json;
}

/** A run as far as an approval of it is about that. */
interface Approved {
  id: string;
  workId: string;
  /** Where its steps work; null: it is not there yet. */
  folder: string | null;
  steps: readonly Shown[];
  position: number;
  /** What begins without anybody being asked again. */
  next: readonly NextStep[];
}

/**
 * What there is to look at: of the step itself, and at a gate step of the nearest one before it that has left something. What
 * was answered at another gate is nothing to look at.
 */
export const shownOutput = (steps: readonly Pick<Shown, 'kind' | 'output'>[], position: number): Json =>
  steps.slice(0, position + 1).findLast(({ kind, output }) => kind !== 'gate' && !isEmptyAnswer(output))?.output ??
  null;

/** Exactly what is approved: this result of this step of this run, and what is done next, as it is defined (spec 08). */
export const gateSubject = ({ id, workId, folder, steps, position, next }: Approved): object => {
  const at = steps[position];
  return {
    run: id,
    work_id: workId,
    workspace: folder,
    phase: at?.phase ?? null,
    step: at?.name ?? null,
    tries: steps.slice(0, position + 1).map(({ tries }) => tries),
    output: shownOutput(steps, position),
    next,
    later: steps.slice(position + 1 + next.length).map(({ phase, name, kind }) => [phase, name, kind]),
  };
};

/** The same from the status: the digest of the open approval is over it (spec 08 "Approvals as evidence"). */
export const gateContent = (status: RunStatus): object | null => {
  const { id, work_id: workId, workspace, phase, step, phases, next } = status;
  const steps = phases.flatMap(({ name: of, steps: all }) =>
    all.map(({ name, kind, attempts, output }) => ({ phase: of, name, kind, tries: attempts.length, output })),
  );
  const position = steps.findIndex((each) => each.phase === phase && each.name === step);
  return position === -1 ? null : gateSubject({ id, workId, folder: workspace.path, steps, position, next });
};
