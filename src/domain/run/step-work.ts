import type { AmountLeft, BudgetLimits } from '../budget.js';
import type { StartedWork, StepWork } from './setup.js';
import { leftOf } from '../work-account.js';
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

/** Why no further step may be begun, in words; null: one may. */
export const budgetRefusal = (run: RunState): string | null => {
  const { maxTokens, maxUsdMicros } = run.setup.budget;
  const left = leftOf(run.ledger);
  if (maxTokens !== null && left.tokens === 0) return `the run's budget of ${maxTokens} tokens is used up`;
  if (maxUsdMicros !== null && left.usdMicros === 0)
    return `the run's budget of ${maxUsdMicros / 1e6} US dollars is used up`;
  return null;
};

const started = (
  work: StartedWork,
  identity: { id: string; webUiUrl: string },
  comments: readonly string[],
  left: AmountLeft,
  folder: string | null,
): StartedWork => {
  const { budget } = work.setup;
  const limits: BudgetLimits = {
    maxTokens: least(budget.maxTokens, left.tokens),
    maxUsdMicros: least(budget.maxUsdMicros, left.usdMicros),
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
        setup: { ...setup, ...identity, task, workspace, budget: limits },
      };
    }
    case 'refinement': {
      const { setup } = work;
      return { ...work, setup: { ...setup, ...identity, budget: limits, task: withComments(setup.task, comments) } };
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
          budget: { ...setup.budget, ...limits },
          agents,
          ...(workspace && { workspace }),
        },
      };
    }
    case 'fan-out': {
      const { setup } = work;
      const tasks = setup.tasks.map((task) => ({ ...task, prompt: withComments(task.prompt, comments) }));
      return { ...work, setup: { ...setup, ...identity, budget: limits, tasks } };
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
  if (work.kind === 'command') {
    if (comments.length === 0) return work;
    const env = { ...work.task.env, [commentVariable]: asked(comments) };
    return { ...work, task: { ...work.task, env } };
  }
  const first = work.setup.id;
  const id = attemptId(first, attempt, epoch);
  // The link ends in the id, whose characters stand in a URL as they are.
  const webUiUrl = work.setup.webUiUrl.endsWith(first)
    ? `${work.setup.webUiUrl.slice(0, -first.length)}${id}`
    : work.setup.webUiUrl;
  return started(work, { id, webUiUrl }, comments, leftOf(run.ledger), run.workspace?.path ?? null);
};
