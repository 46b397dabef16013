import { canonicalJson } from '../canonical-json.js';
import type { FanOutEvent } from './effects.js';
import type { FanOutSetup, WorkerTask } from './setup.js';
import { type FanOutState, openFanOutState, type TaskRecord } from './state.js';

/** What a task's answer depends on. Neither its priority nor where its answer goes in the fan-in is any of it. */
const asked = ({ agents, tenant }: FanOutSetup, { agentId, prompt, inputs, caller }: WorkerTask): string => {
  const agent = agents.find((each) => each.agentId === agentId);
  const adapter = (caller ?? agent?.caller)?.adapter ?? null;
  const { instructions = '', cognitiveMode = null, schema = null } = agent ?? {};
  return canonicalJson({ tenant, agentId, prompt, inputs, adapter, instructions, cognitiveMode, schema });
};

/** Places of the tasks that have completed, in the order in which they did; an answer that came after the barrier is one, too. */
const completedIn = ({ tasks, completed }: FanOutState): number[] => {
  const late = tasks
    .map((task, index) => ({ ...task, index }))
    .filter(({ state, index }) => state === 'COMPLETED' && !completed.includes(index))
    .sort((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0) || a.index - b.index);
  return [...completed, ...late.map(({ index }) => index)];
};

/**
 * A fan-out that begins from an earlier one (spec 08 "Fork with a question"), with a setup of its own. Tasks that had completed keep
 * their answers and files, in the order in which they completed, where the task's prompt and inputs, and its agent's adapter,
 * instructions and schema are the same: they are not run again. All others are queued anew, those that had failed or had
 * found no place among them. Barrier, fan-in and score are made anew by the fork's own rules.
 *
 * Kept answers stand in the state, large ones by their digest, so that nothing is read of the old fan-out. They were paid by it:
 * this one's own spend begins at 0. `now` (epoch milliseconds) is when it begins.
 */
export const forkFanOut = (
  work: FanOutState,
  setup: FanOutSetup,
  now: number,
): { work: FanOutState; first: FanOutEvent } => {
  const opened = openFanOutState(setup, now);
  const places = new Map(setup.tasks.map((task, index) => [task.taskId, { task, index }]));
  const tasks = [...opened.tasks];
  const completed: number[] = [];
  // A script plays on behind the answers that are kept of it.
  const calls = new Map<string, number>();
  for (const index of completedIn(work)) {
    const before = work.setup.tasks[index];
    const record = work.tasks[index];
    const place = before && places.get(before.taskId);
    if (!record || !place || asked(work.setup, before) !== asked(setup, place.task)) continue;
    const kept: TaskRecord = { ...record, late: false, call: null };
    tasks[place.index] = kept;
    completed.push(place.index);
    if (!place.task.caller) calls.set(before.agentId, (calls.get(before.agentId) ?? 0) + 1);
  }
  return { work: { ...opened, tasks, completed, calls: Object.fromEntries(calls) }, first: { type: 'START' } };
};
