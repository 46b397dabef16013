import type { RunStatus } from '../../contracts/run-status.js';
import { noAmount } from '../budget.js';
import { canonicalJson } from '../canonical-json.js';
import { ParleyError } from '../errors.js';
import { iso } from '../instant.js';
import type { RunEvent, StepFault } from './effects.js';
import type { RunSetup, RunWorkspace, StepSetup, StepWork } from './setup.js';
import { openRunState, type RunState, type StepRecord, stepName } from './state.js';

/** What the origin is by now, beyond the checkpoint: its folder is as its latest step has left it. */
export type ForkedRun = Pick<RunStatus, 'phases' | 'workspace'>;

/** Where a fork begins: `asks` about the step there first, or does it. */
interface Beginning {
  position: number;
  asks: { fault: StepFault | null } | null;
}

const isSame = (a: object | null, b: object | null): boolean => canonicalJson(a) === canonicalJson(b);

const doing = (work: StepWork): object => {
  if (work.kind === 'gate') return { kind: work.kind };
  if (work.kind === 'command') return { kind: work.kind, task: work.task, sandbox: work.sandbox };
  return { kind: work.kind, bodyHash: work.bodyHash };
};

const isSameStep = (a: StepSetup, b: StepSetup): boolean =>
  a.phase === b.phase && a.name === b.name && isSame(doing(a.work), doing(b.work));

/** A branch is where the run leaves its work, not what it works on. */
const isSamePlace = (a: RunWorkspace, b: RunWorkspace): boolean =>
  isSame({ ...a, branch: null }, { ...b, branch: null });

const inFolder = ({ kind }: StepWork): boolean => kind === 'command' || kind === 'debate';

/** The first step of the new definition that is not done already, in the same way. null: all are. */
const beginningOf = (work: RunState, setup: RunSetup): Beginning | null => {
  for (const [position, next] of setup.steps.entries()) {
    const before = work.setup.steps[position];
    const record = work.steps[position];
    if (!before || !record || record.state === 'pending' || !isSameStep(before, next)) return { position, asks: null };
    if (record.state === 'skipped') continue;
    const isSameGate = isSame(before.gate, next.gate);
    if (record.state === 'completed' && isSameGate) continue;
    const last = record.attempts.at(-1)?.outcome ?? null;
    if (next.work.kind !== 'gate' && last === 'completed') {
      if (next.gate === null) continue;
      return { position, asks: { fault: null } };
    }
    if (last !== 'failed' || position !== work.position || !work.error) return { position, asks: null };
    const { code, message, retryable } = work.error;
    return { position, asks: { fault: { code, message, retryable } } };
  }
  return null;
};

/** What it used was paid by the run that did it. */
const kept = (record: StepRecord, state: StepRecord['state']): StepRecord => ({
  ...record,
  state,
  attempts: record.attempts.map((attempt) => ({ ...attempt, usage: noAmount })),
});

/** Why the folder of the origin is not what it was at the checkpoint, or holds more than the fork is to begin with. */
const folderFault = (work: RunState, { phases, workspace }: ForkedRun, { position }: Beginning): string | null => {
  if (workspace.path === null) return 'its folder is not prepared yet; fork it once it is';
  const now = phases.flatMap(({ steps }) => steps);
  for (const [index, step] of work.setup.steps.entries()) {
    if (!inFolder(step.work)) continue;
    const tries = now[index]?.attempts ?? [];
    if (tries.some(({ ended_at: at }) => at === null))
      return `${stepName(step)} is at work in its folder; wait until it has ended, or cancel the run`;
    const then = (work.steps[index]?.attempts ?? []).map(({ attempt, endedAt }) => [
      attempt,
      endedAt === null ? null : iso(endedAt),
    ]);
    const isAsThen = canonicalJson(then) === canonicalJson(tries.map(({ attempt, ended_at: at }) => [attempt, at]));
    if (!isAsThen)
      return `${stepName(step)} has worked in its folder since then, and what that held before is kept nowhere`;
    const isAhead = index > position || (index === position && position < work.position);
    if (isAhead && tries.length > 0)
      return `its folder holds what ${stepName(step)} did, and the fork would begin before that step`;
  }
  return null;
};

/**
 * A run that begins from an earlier one (spec 07 "Fork"), with a setup of its own: steps that were done by then, and are
 * defined as before, are not done again. It begins with the first other one. Where that has been done as it is defined now and
 * people were to be asked about it, or has failed, people are asked by a new request before anything is done; else it is done.
 *
 * - A fork works in a folder of its own. It is a copy of the origin's where a step that is kept has worked there: then the origin's
 *   folder has to be what it was at the checkpoint. Else it is made anew.
 * - With another repository or folder to work on it begins from nothing.
 * - What steps used was paid by the old run: this one's own spend begins at 0.
 *
 * `latest` is the origin as it is now; `now` is epoch milliseconds.
 * @throws ParleyError wrong_state where nothing is left to do, or the folder is not what it was
 */
export const forkRun = (
  work: RunState,
  setup: RunSetup,
  latest: ForkedRun,
  now: number,
): { work: RunState; first: RunEvent; isCopied: boolean } => {
  const opened = openRunState(setup, now);
  const first: RunEvent = { type: 'START' };
  if (!isSamePlace(work.setup.workspace, setup.workspace)) return { work: opened, first, isCopied: false };
  const refused = (why: string): ParleyError =>
    new ParleyError('wrong_state', `run ${work.setup.id} cannot be forked so: ${why}.`);
  const begins = beginningOf(work, setup);
  if (begins === null)
    throw refused('all its steps are done there; change or add a step, or fork it from an earlier checkpoint');
  const { position, asks } = begins;

  const steps = opened.steps.map((fresh, index) => {
    const record = work.steps[index];
    const before = work.setup.steps[index];
    const next = setup.steps[index];
    if (!record || index > position) return fresh;
    if (index < position) return kept(record, record.state === 'skipped' ? 'skipped' : 'completed');
    if (asks) return kept(record, 'pending');
    // Changes that were asked for still hold where the step is the same.
    return before && next && isSameStep(before, next) ? { ...fresh, comments: record.comments } : fresh;
  });
  const isCopied = setup.steps.some(
    ({ work: does }, index) => inFolder(does) && (steps[index]?.attempts.length ?? 0) > 0,
  );
  const fault = isCopied ? folderFault(work, latest, begins) : null;
  if (fault !== null)
    throw refused(
      `${fault}. It can be forked from a checkpoint before its first command or debate, or from its latest`,
    );
  const { branch } = latest.workspace;
  const begun: RunState = {
    ...opened,
    position,
    steps,
    ...(asks && { asksFirst: asks }),
    ...(isCopied && { folderOf: { runId: work.setup.id, branch } }),
  };
  return { work: begun, first, isCopied };
};
