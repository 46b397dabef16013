import type { DebateStatus } from '../../contracts/debate-status.js';

/**
 * What the gate of a debate approves, from its status: the very subject that the digest of the open request is made of
 * (`requestApproval`). Whoever shows it compares the digests, so that a difference between the two is never shown as approved.
 */
export const gateContent = (status: DebateStatus): object | null => {
  const asked = status.feedback.findLast(({ state }) => state === 'open');
  if (!asked) return null;
  const tasks = asked.request.phase === 'repair' ? status.repairs.at(-1)?.tasks : status.plan.tasks;
  return {
    work_id: status.id,
    task: status.task,
    workspace: status.workspace.path,
    sandbox: status.sandbox,
    ...(status.healing?.check && { health_check: status.healing.check }),
    tasks: tasks ?? [],
    done: (status.report?.tasks ?? []).filter(({ outcome }) => outcome === 'succeeded').map(({ task_id: id }) => id),
  };
};
