import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Kind } from '../src/contracts/work.js';
import { cleanUpWorkflowType } from '../src/domain/clean-up.js';
import { isMembers, valueAt } from '../src/domain/export/changes.js';
import { exportOf } from '../src/domain/export/document.js';
import type { Replayable } from '../src/domain/export/report.js';
import { governorWorkflowType } from '../src/domain/governor/messages.js';
import { tenantBudgetWorkflowType } from '../src/domain/tenant-budget/messages.js';
import { webhookWorkflowType } from '../src/domain/webhook/setup.js';
import {
  agentWorkflowType,
  coordinatorWorkflowType,
  debateWorkflowType,
  fanOutWorkflowType,
  refinementWorkflowType,
  runWorkflowType,
  sessionWorkflowType,
  teamWorkflowType,
} from '../workflows/messages.js';
import { readableHistory } from './readable-history.js';

const kinds: Readonly<Record<string, Kind>> = {
  [sessionWorkflowType]: 'session',
  [debateWorkflowType]: 'debate',
  [refinementWorkflowType]: 'refinement',
  [fanOutWorkflowType]: 'fan-out',
  [runWorkflowType]: 'run',
  [coordinatorWorkflowType]: 'coordinator',
  [teamWorkflowType]: 'team',
};

/** Parley's own workflows that are no kind of work: turns of a team's agents, and upkeep. */
const others = new Set<string>([
  agentWorkflowType,
  cleanUpWorkflowType,
  governorWorkflowType,
  tenantBudgetWorkflowType,
  webhookWorkflowType,
]);

const started = '/events/0/workflowExecutionStartedEventAttributes';

/**
 * A history as Temporal's CLI and Web UI write it, as an export without checkpoints: its outcome alone can be compared.
 * @returns null where the text is none, or of a workflow that is not Parley's
 */
export const exportOfHistory = async (name: string, text: string): Promise<Replayable | null> => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null; // who asked says what is wrong with it
  }
  const type = valueAt(value, `${started}/workflowType/name`);
  if (!isMembers(value) || typeof type !== 'string') return null;
  const kind = kinds[type];
  if (kind === undefined && !others.has(type)) return null;
  const history = await readableHistory(historyFromJSON(value));
  const setup = valueAt(history, `${started}/input/payloads/0/$json/id`);
  const runId = valueAt(history, `${started}/originalExecutionRunId`);
  const last = history.events.at(-1)?.eventType.replace('EVENT_TYPE_WORKFLOW_EXECUTION_', '') ?? '';
  const isClosed = /^(COMPLETED|FAILED|CANCELED|TERMINATED|TIMED_OUT)$/.test(last);
  const document = exportOf({
    id: typeof setup === 'string' ? setup : name,
    kind: kind ?? 'run',
    exportedAt: new Date(0).toISOString(),
    closedAs: isClosed ? last.replace('CANCELED', 'CANCELLED') : null,
    runs: [{ temporal_run_id: typeof runId === 'string' && runId !== '' ? runId : name, history }],
    replayed: null,
  });
  return { ...document, kind: kind ?? type };
};
