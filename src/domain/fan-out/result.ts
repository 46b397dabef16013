import type { FanOutResult } from '../../contracts/fan-out-status.js';
import type { FanOutState, TaskRecord } from './state.js';

/** Files that stand in the result itself; the tasks have them all. */
const mostArtifacts = 500;

/** What the fan-out answers with; null: nothing was combined. */
export const resultOf = ({ setup, tasks, completed, combined, score }: FanOutState): FanOutResult | null => {
  if (!combined) return null;
  const taken = new Set(completed);
  const named = (holds: (task: TaskRecord, index: number) => boolean): string[] =>
    setup.tasks.flatMap(({ taskId }, index) => {
      const task = tasks[index];
      return task && holds(task, index) ? [taskId] : [];
    });
  const isMissing = (task: TaskRecord, index: number): boolean =>
    !taken.has(index) && (task.late || task.state === 'CANCELLED');
  return {
    partial: taken.size < tasks.length,
    completed: named((_, index) => taken.has(index)),
    failed: named((task, index) => !taken.has(index) && !isMissing(task, index)),
    missing: named(isMissing),
    aggregation_strategy: setup.fanIn.strategy,
    artifacts: setup.tasks
      .flatMap(({ taskId, agentId }, index) =>
        taken.has(index)
          ? (tasks[index]?.artifacts ?? []).map((file) => ({ ...file, task_id: taskId, agent_id: agentId }))
          : [],
      )
      .slice(0, mostArtifacts),
    ...combined,
    quality: score,
  };
};

/** Reasons that stand in the error itself; the status has them all. */
const mostReasons = 50;

/** Why too few have completed, each with its reason. */
export const reasons = ({ setup, tasks, completed }: FanOutState): string => {
  const { partial_mode: partial, min_completion_ratio: ratio } = setup.barrier;
  const needed = partial ? `a share of at least ${ratio}` : 'all of them, as partial_mode is off';
  const without = setup.tasks.flatMap(({ taskId, agentId }, index) => {
    const reason = tasks[index]?.reason;
    return reason ? [`${taskId} (${agentId}) ${reason.code}: ${reason.message}`] : [];
  });
  const more = without.length > mostReasons ? `; and ${without.length - mostReasons} more, see tasks` : '';
  return `${completed.length} of ${tasks.length} tasks completed; needed is ${needed}. ${without.slice(0, mostReasons).join('; ')}${more}`;
};
