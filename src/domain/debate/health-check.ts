import type { HealthCheck, Task } from '../../contracts/plan.js';
import { presetLimits } from './plan.js';

/** What stands for the health check wherever tasks are named: no task of a plan can have this id. */
export const checkId = 'health check';

/** Milliseconds that healing has where a request does not say (details 2.5): its check, and each healing after it. */
export const presetHealing = { checkMs: 30_000, healingMs: 300_000 } as const;

/** Characters of a check as JSON: it is told to every role, and shown to whoever approves. */
export const maxCheckCharacters = 20_000;

/** The check as the command that the sandbox runs. */
export const checkTask = ({ timeout_ms, ...command }: HealthCheck): Task => ({
  task_id: checkId,
  ...command,
  expect: { exit_code: 0, files: [] },
  depends_on: [],
  limits: { ...presetLimits, timeout_ms },
});
