import type { ExportKind, ExportRun, OpenExport } from '../../contracts/export.js';
import type { Json } from '../../contracts/frames.js';
import type { Lifecycle } from '../../contracts/work.js';
import { isMembers } from './changes.js';
import { packed, type PassedState } from './checkpoints.js';
import { withoutSecrets } from './secrets.js';
import { toldOf } from './story.js';

export interface ExportParts {
  id: string;
  kind: ExportKind;
  exportedAt: string;
  /** How Temporal says that it was closed; null: it runs. */
  closedAs: string | null;
  /** Every run's readable history, from the first on. */
  runs: readonly ExportRun[];
  /** What a replay of them passes; null: they do not replay in this version, or nobody has tried. */
  replayed: { states: readonly PassedState[]; outcome: Json } | null;
}

const lifecycleOf = (closedAs: string | null, outcome: unknown, last: PassedState | undefined): Lifecycle => {
  if (isMembers(outcome) && 'lifecycle' in outcome) return outcome['lifecycle'] as Lifecycle;
  if (closedAs === null) {
    const status = isMembers(last?.state) ? last.state['status'] : null;
    return isMembers(status) && status['lifecycle'] === 'waiting' ? 'waiting' : 'running';
  }
  if (closedAs === 'COMPLETED') return 'completed';
  return closedAs === 'CANCELLED' || closedAs === 'TERMINATED' ? 'cancelled' : 'failed';
};

/** A piece of work as one document, without secrets. A cancelled run's history has no outcome: the replay's is taken. */
export const exportOf = ({ id, kind, exportedAt, closedAs, runs, replayed }: ExportParts): OpenExport => {
  const { runs: told, story, setup, request, outcome } = toldOf(runs);
  const ended = isMembers(replayed?.outcome) ? replayed.outcome : null;
  const recorded = outcome ?? (closedAs === 'CANCELLED' ? ended : null);
  return withoutSecrets({
    format: 'parley.export',
    version: 1,
    exported_at: exportedAt,
    id,
    kind,
    tenant: isMembers(setup) && typeof setup['tenant'] === 'string' ? setup['tenant'] : 'default',
    lifecycle: lifecycleOf(closedAs, recorded, replayed?.states.at(-1)),
    closed_as: closedAs,
    request,
    setup,
    outcome: recorded,
    story,
    checkpoints: replayed && packed(replayed.states),
    redactions: [],
    runs: told,
  });
};
