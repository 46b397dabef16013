import type { Task } from '../../contracts/plan.js';
import type { BudgetLimits } from '../budget.js';
import { inSeconds, isTimeOver, leftOf, timeLeftOf, type WorkLimits } from '../work-account.js';
import type { StartedWork, StepWork } from './setup.js';
import type { RunState } from './state.js';

/** The id of the work that a try starts. Every try is a piece of work of its own, also after the run went back (`epoch`). */
export const attemptId = (firstId: string, attempt: number, epoch = 0): string =>
  `${firstId}${attempt === 1 ? '' : `.${attempt}`}${epoch === 0 ? '' : `.r${epoch}`}`;

/** The environment variable in which a command finds what was asked of it. */
const commentVariable = 'PARLEY_COMMENT';

const asked = (comments: readonly string[]): string => comments.map((comment) => `- ${comment}`).join('\n');

const withComments = (text: string, comments: readonly string[]): string =>
  comments.length === 0
    ? text
    : `${text}\n\nThis has been done before, and changes were asked for, the latest last:\n${asked(comments)}`;

/** What a limit and what is left of the run's allow together; null: no limit. */
const least = (own: number | null, left: number | null): number | null =>
  own === null ? left : left === null ? own : Math.min(own, left);

/** What the time of the run's budget being over is called. */
export const timeWords = ({ setup }: Pick<RunState, 'setup'>): string =>
  `the run's budget of ${inSeconds(setup.budget.maxMs ?? 0)} is used up`;

/** Why no further step may be begun, in words; null: one may. `now` is epoch milliseconds. */
export const budgetRefusal = (run: RunState, now: number): string | null => {
  const { maxTokens, maxUsdMicros } = run.setup.budget;
  const left = leftOf(run.ledger);
  if (maxTokens !== null && left.tokens === 0) return `the run's budget of ${maxTokens} tokens is used up`;
  if (maxUsdMicros !== null && left.usdMicros === 0)
    return `the run's budget of ${maxUsdMicros / 1e6} US dollars is used up`;
  if (isTimeOver(run.ledger, now)) return timeWords(run);
  return null;
};

/** Kinds of work that time is a limit of: they end themselves, and know when they wait for persons. */
const timedKinds: ReadonlySet<StepWork['kind']> = new Set(['debate', 'refinement', 'team', 'fan-out']);
export const hasOwnTime = ({ kind }: Pick<StepWork, 'kind'>): boolean => timedKinds.has(kind);

/** What is left of the run's budget as a try begins; null: no limit. */
interface Left extends BudgetLimits {
  maxMs: number | null;
}

const timedLimits = (limits: BudgetLimits, own: number | undefined, left: number | null): WorkLimits => {
  const maxMs = least(own ?? null, left);
  return maxMs === null ? limits : { ...limits, maxMs };
};

/** Of a team, whose limits people are asked to raise in whole seconds. */
const inWholeSeconds = (ms: number | null): number | null => (ms === null ? null : Math.ceil(ms / 1000) * 1000);

/** A command has at most `leftMs`. */
const withTimeout = (task: Task, leftMs: number): Task => ({
  ...task,
  limits: { ...task.limits, timeout_ms: Math.max(1, Math.min(task.limits.timeout_ms, leftMs)) },
});

const started = (
  work: StartedWork,
  identity: { id: string; webUiUrl: string },
  comments: readonly string[],
  left: Left,
  folder: string | null,
): StartedWork => {
  const { budget } = work.setup;
  const limits: BudgetLimits = {
    maxTokens: least(budget.maxTokens, left.maxTokens),
    maxUsdMicros: least(budget.maxUsdMicros, left.maxUsdMicros),
  };
  switch (work.kind) {
    case 'session': {
      const { setup } = work;
      return {
        ...work,
        setup: { ...setup, ...identity, budget: limits, prompt: withComments(setup.prompt, comments) },
      };
    }
    case 'debate': {
      const { setup } = work;
      // A debate of a run works where the run does.
      const workspace = folder === null ? setup.workspace : { ...setup.workspace, path: folder };
      const task = withComments(setup.task, comments);
      return {
        ...work,
        setup: {
          ...setup,
          ...identity,
          task,
          workspace,
          budget: timedLimits(limits, setup.budget.maxMs, left.maxMs),
        },
      };
    }
    case 'refinement': {
      const { setup } = work;
      const task = withComments(setup.task, comments);
      return {
        ...work,
        setup: { ...setup, ...identity, budget: timedLimits(limits, setup.budget.maxMs, left.maxMs), task },
      };
    }
    case 'team': {
      const { setup } = work;
      // Agents of a run work in its folder, all in the same.
      const workspace = folder === null ? setup.workspace : { path: folder, isReadOnly: false };
      const agents = setup.agents.map((plan) =>
        plan.prompt === null ? plan : { ...plan, prompt: withComments(plan.prompt, comments) },
      );
      return {
        ...work,
        setup: {
          ...setup,
          ...identity,
          budget: { ...setup.budget, ...timedLimits(limits, setup.budget.maxMs, inWholeSeconds(left.maxMs)) },
          agents,
          ...(workspace && { workspace }),
        },
      };
    }
    case 'fan-out': {
      const { setup } = work;
      const tasks = setup.tasks.map((task) => ({ ...task, prompt: withComments(task.prompt, comments) }));
      return {
        ...work,
        setup: { ...setup, ...identity, budget: timedLimits(limits, setup.budget.maxMs, left.maxMs), tasks },
      };
    }
  }
};

/**
 * What one try of a step does: its own definition, with the changes that were asked for, at most what is left of the run's
 * budget, in the folder of the run (spec 06 "request_changes redoes the step with the comment").
 */
export const stepWork = (run: RunState, position: number, attempt: number, epoch = 0): StepWork => {
  const step = run.setup.steps[position];
  if (!step) throw new RangeError(`run ${run.setup.id} has no step ${position}`);
  const { work } = step;
  const comments = run.steps[position]?.comments ?? [];
  if (work.kind === 'gate') return work;
  const begunAt = run.steps[position]?.attempts[attempt - 1]?.startedAt ?? run.startedAt;
  const maxMs = timeLeftOf(run.ledger, begunAt);
  if (work.kind === 'command') {
    const task = maxMs === null ? work.task : withTimeout(work.task, maxMs);
    if (comments.length === 0) return { ...work, task };
    const env = { ...task.env, [commentVariable]: asked(comments) };
    return { ...work, task: { ...task, env } };
  }
  const first = work.setup.id;
  const id = attemptId(first, attempt, epoch);
  // The link ends in the id, whose characters stand in a URL as they are.
  const webUiUrl = work.setup.webUiUrl.endsWith(first)
    ? `${work.setup.webUiUrl.slice(0, -first.length)}${id}`
    : work.setup.webUiUrl;
  const { tokens: maxTokens, usdMicros: maxUsdMicros } = leftOf(run.ledger);
  const left = { maxTokens, maxUsdMicros, maxMs };
  return started(work, { id, webUiUrl }, comments, left, run.workspace?.path ?? null);
};
