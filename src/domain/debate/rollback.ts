import type { RollbackReport } from '../../contracts/execution.js';
import type { DebateState, DoneTask, Execution, Rollback } from './state.js';

/** What is to be taken back: the undo of each task that succeeded, the last one first; a task without one is skipped. */
export const openRollback = ({ done }: Execution): Rollback => ({
  left: done.filter(({ task }) => task.undo !== undefined).toReversed(),
  undone: [],
  restored: null,
});

export const nextUndo = ({ left }: Rollback): DoneTask | null => left[0] ?? null;

/** One undo has ended, well or not: the others are run all the same (details 2.5). */
export const withUndone = (rollback: Rollback, undone: RollbackReport['undone'][number]): Rollback => ({
  ...rollback,
  left: rollback.left.slice(1),
  undone: [...rollback.undone, undone],
});

/** Whether nothing is left to undo, and the workspace is restored or could not be. */
export const isRolledBack = ({ execution, rollback }: Pick<DebateState, 'execution' | 'rollback'>): boolean =>
  rollback !== null && rollback.left.length === 0 && (!execution?.snapshot || rollback.restored !== null);

const words = (argv: readonly string[]): string => JSON.stringify(argv);

/** What became of a rollback, and what a person has to do where something could not be taken back; null: there was none. */
export const rollbackReport = (
  debate: Pick<DebateState, 'execution' | 'rollback' | 'workspace'>,
): RollbackReport | null => {
  const { execution, rollback, workspace } = debate;
  const snapshot = execution?.snapshot ?? null;
  // Where no snapshot was taken nothing has run, and there is nothing to take back.
  if (!execution || !rollback || !snapshot) return null;
  const { undone, restored } = rollback;
  const after = restored && 'digest' in restored ? restored.digest : null;
  const isRestored = after === snapshot.digest;
  const error =
    restored === null
      ? null
      : 'error' in restored
        ? restored.error
        : isRestored
          ? null
          : `the workspace differs from its snapshot after it was restored: it has the digest ${restored.digest}`;
  const failed = undone.filter(({ outcome }) => outcome === 'failed');
  return {
    undone,
    restored: isRestored,
    restore_error: error,
    workspace_before: snapshot.digest,
    workspace_after: after,
    manual: [
      ...failed.map(({ task_id: id, reason }) => {
        const undo = execution.done.find(({ task }) => task.task_id === id)?.task.undo;
        const command = undo ? `; run ${words(undo.argv)} in "${undo.cwd}" by hand, or what it stands for` : '';
        return `task ${id} could not be undone (${reason ?? 'no reason is known'})${command}`;
      }),
      ...(error === null
        ? []
        : [
            `${workspace ?? 'the workspace'} is not as it was (${error}); compare it with snapshot ${snapshot.snapshot}`,
          ]),
      ...(restored && 'manual' in restored ? restored.manual : []),
    ],
  };
};

/** Whether something is left for a person to do. */
export const isIncomplete = ({ restored, manual }: RollbackReport): boolean => !restored || manual.length > 0;

/** Whether the workspace still needs hands, whatever the debate has come to: one that was cancelled may, too. */
export const needsHands = (debate: Pick<DebateState, 'execution' | 'rollback' | 'workspace'>): boolean => {
  const report = rollbackReport(debate);
  return report !== null && isIncomplete(report);
};
