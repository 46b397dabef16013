import type { Json } from '../../contracts/frames.js';
import type { RunStatus } from '../../contracts/run-status.js';
import { isEmptyAnswer } from '../text.js';

interface Shown {
  phase: string;
  name: string;
  kind: string;
  tries: number;
  output: Json;
}

/** What there is to look at: of the step itself, and at a gate step of the nearest one before it that has left something. */
export const shownOutput = (steps: readonly Pick<Shown, 'output'>[], position: number): Json =>
  steps.slice(0, position + 1).findLast(({ output }) => !isEmptyAnswer(output))?.output ?? null;

/** Exactly what is approved: this result of this step of this run, and what follows. */
export const gateSubject = (run: string, workId: string, steps: readonly Shown[], position: number): object => {
  const at = steps[position];
  return {
    run,
    work_id: workId,
    phase: at?.phase ?? null,
    step: at?.name ?? null,
    tries: steps.slice(0, position + 1).map(({ tries }) => tries),
    output: shownOutput(steps, position),
    next: steps.slice(position + 1).map(({ phase, name, kind }) => [phase, name, kind]),
  };
};

/** The same from the status: the digest of the open approval is over it (spec 08 "Approvals as evidence"). */
export const gateContent = ({ id, work_id: workId, phase, step, phases }: RunStatus): object | null => {
  const steps = phases.flatMap(({ name: of, steps: all }) =>
    all.map(({ name, kind, attempts, output }) => ({ phase: of, name, kind, tries: attempts.length, output })),
  );
  const position = steps.findIndex((each) => each.phase === phase && each.name === step);
  return position === -1 ? null : gateSubject(id, workId, steps, position);
};
