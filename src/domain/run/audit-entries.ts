import type { AuditEntry } from '../../contracts/audit.js';
import { askedEntries, type EntryOf } from '../approval-entries.js';
import type { RunState } from './state.js';

/**
 * What the audit log gets of a run that has ended: who was asked, who approved what, and how it ended. Each entry is written
 * once by its key; after the n-th return to an earlier point they are others.
 */
export const auditEntries = ({ setup, feedback, result, steps }: RunState, epoch: number): AuditEntry[] => {
  const entry: EntryOf = (name, type, data) => ({
    key: `${setup.id} ${setup.traceId} ${epoch} ${name}`,
    work_id: setup.id,
    kind: 'run',
    tenant: setup.tenant,
    trace_id: setup.traceId,
    type,
    data,
  });
  return [
    ...askedEntries(feedback, entry),
    entry('ended', 'run.ended', {
      outcome: result?.outcome ?? null,
      steps: setup.steps.map(({ phase, name, work }, index) => ({
        phase,
        name,
        kind: work.kind,
        state: steps[index]?.state ?? null,
        tries: steps[index]?.attempts.length ?? 0,
      })),
    }),
  ];
};
