import { availableParallelism, constants } from 'node:os';
import type { CommandReport, Enforced } from '../../src/contracts/execution.js';
import type { TaskLimits } from '../../src/contracts/plan.js';

/** Why the sandbox ended a command; `left`: nobody reads its output any more. */
export type EndedBy = 'time' | 'output' | 'abort' | 'left' | null;

/** What the first process of the sandbox left. */
export interface Ended {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  /** Whether the sandbox had killed it all by then: what is around a command may end otherwise for that. */
  isForced?: boolean;
}

/** What the control group counted; null: there was none of ours. */
export interface GroupEvents {
  outOfMemory: boolean;
  processesHeld: boolean;
}

const signalNames = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** As every shell says it: 128 + n stands for signal n. */
const signalOf = ({ exitCode, signal, isForced = false }: Ended): string | null =>
  signal ??
  (exitCode !== null && exitCode > 128 ? (signalNames.get(exitCode - 128) ?? null) : isForced ? 'SIGKILL' : null);

/** How a command ended, and which limit did it. What the sandbox did itself says more than what followed from it. */
export const outcomeOf = (
  end: Ended,
  endedBy: EndedBy,
  events: GroupEvents | null,
  { enforced, limits, durationMs }: { enforced: Enforced; limits: TaskLimits; durationMs: number },
): Pick<CommandReport, 'exit_code' | 'signal' | 'limit'> => {
  const signal = signalOf(end);
  const limit = ((): CommandReport['limit'] => {
    if (endedBy === 'time' || endedBy === 'output') return endedBy;
    if (endedBy !== null) return null;
    const killed = signal === 'SIGKILL';
    if (events?.outOfMemory === true && end.exitCode !== 0) return 'memory';
    if (signal === 'SIGXCPU') return 'cpu';
    // The kernel kills a command that goes on after SIGXCPU; nobody tells, but it has to have had the time for it.
    if (killed && limits.cpu_ms !== undefined && durationMs * availableParallelism() >= limits.cpu_ms) return 'cpu';
    // A container's engine keeps the group and the counts; nothing else there kills.
    if (killed && events === null && enforced.memory === 'cgroup') return 'memory';
    return events?.processesHeld === true ? 'processes' : null;
  })();
  const endedItself = endedBy === null && signal === null;
  return { exit_code: endedItself ? end.exitCode : null, signal, limit };
};
