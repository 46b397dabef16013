import type { Enforced } from '../../src/contracts/execution.js';
import type { TaskLimits } from '../../src/contracts/plan.js';
import type { Means } from './backend.js';
import { beginScript } from './scripts.js';

/** Who waits for the command inside the sandbox is counted too. */
const waiting = 1;

/**
 * Arguments of the shell around a command, up to the command; it limits what groups do not. Processor time is
 * counted in whole seconds; a second after the signal that tells (SIGXCPU) comes the one that kills. Data and not address
 * space: programs such as Node reserve far more addresses than they use.
 */
export const beginning = ({ groups, isRoot }: Means, limits: TaskLimits, environmentPath: string): string[] => [
  ...['-c', beginScript, 'sh'],
  limits.cpu_ms === undefined ? '' : `${Math.ceil(limits.cpu_ms / 1_000)}`,
  groups?.memory === true ? '' : `${limits.memory_mb * 1_024}`,
  groups?.processes === true || isRoot ? '' : `${limits.processes + waiting}`,
  environmentPath,
];

/** What holds for every backend of processes; root is free of the limit on its processes. */
export const enforcedLimits = ({
  groups,
  isRoot,
}: Means): Pick<Enforced, 'time' | 'cpu' | 'memory' | 'processes' | 'output'> => ({
  time: true,
  cpu: true,
  memory: groups?.memory === true ? 'cgroup' : 'address_space',
  processes: groups?.processes === true ? 'cgroup' : isRoot ? 'none' : 'user',
  output: true,
});
