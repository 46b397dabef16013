import type { Client } from '@temporalio/client';
import type { ExportKind, ExportReader, ExportRun, OpenExport } from '../src/contracts/export.js';
import type { Json } from '../src/contracts/frames.js';
import { ParleyError } from '../src/domain/errors.js';
import type { CheckpointState } from '../src/domain/checkpoint-view.js';
import { valueAt } from '../src/domain/export/changes.js';
import { type PassedState, passedState } from '../src/domain/export/checkpoints.js';
import { exportOf } from '../src/domain/export/document.js';
import { turnPrefix } from '../src/domain/team/turn-start.js';
import { agentWorkflowType } from '../workflows/messages.js';
import type { WorkOutcome } from '../workflows/options.js';
import { openTurns } from './open-turns.js';
import { readableHistory, replayableHistory } from './readable-history.js';
import type { Replayer } from './replaying.js';
import { searchAttributes } from './search-attributes.js';
import { notFound, translated } from './temporal-errors.js';
import { createTurns } from './turns.js';

export interface ExportsOptions {
  client: Client;
  /** Tells the checkpoints' states. */
  replayer: Replayer;
  /** Milliseconds for one run's history. */
  deadlineMs?: number;
}

/** Bytes of histories that one document may hold, as Temporal counts them: JSON takes several times that. */
const maxHistoryBytes = 50_000_000;
const mostTurns = 50;
const openStates = new Set<string>(['RUNNING', 'PAUSED', 'CONTINUED_AS_NEW']);

/** What a replay of all runs says, or null where one of them does not replay in this version. */
const replayedStates = async (
  id: string,
  runs: readonly ExportRun[],
  replayer: Replayer,
): Promise<{ states: PassedState[]; outcome: Json } | null> => {
  const states: PassedState[] = [];
  let outcome: Json = null;
  const onCheckpoint = (state: CheckpointState): void => void states.push(passedState(state));
  const onOutcome = (said: WorkOutcome): void => {
    outcome = JSON.parse(JSON.stringify(said)) as Json;
  };
  try {
    for (const { history: readable } of runs) {
      const history = replayableHistory(readable);
      await replayer.replay({ history, workId: id, inspected: 'all', onCheckpoint, onOutcome });
    }
  } catch (error) {
    if (error instanceof ParleyError || !(error instanceof Error)) throw error;
    // Work of an older version: its histories are worth exporting all the same.
    return null;
  }
  return { states, outcome };
};

/** Exports from Temporal's history alone: every run of the chain, with what a replay of it passes. */
export const createExports = ({ client, replayer, deadlineMs = 60_000 }: ExportsOptions): ExportReader => {
  // A document may take much memory: one at a time.
  const turns = createTurns(1);
  const within = async <T>(kind: ExportKind, id: string, ask: () => Promise<T>): Promise<T> => {
    try {
      return await client.withDeadline(Date.now() + deadlineMs, ask);
    } catch (error) {
      throw translated(error, kind, id);
    }
  };

  /** From the first run to the latest; runs that the namespace does not keep any more are left out. */
  const chainOf = async (kind: ExportKind, id: string): Promise<{ closedAs: string | null; runs: ExportRun[] }> => {
    const { payloadCodecs } = client.options.loadedDataConverter;
    const runs: ExportRun[] = [];
    let closedAs: string | null = null;
    let bytes = 0;
    let runId: string | undefined;
    do {
      const handle = client.workflow.getHandle(id, runId);
      let run: ExportRun;
      try {
        const about = await within(kind, id, () => handle.describe());
        const isOf =
          kind === 'agent'
            ? about.type === agentWorkflowType
            : about.typedSearchAttributes.get(searchAttributes.kind) === kind;
        if (!isOf) throw notFound(kind, id);
        bytes += about.historySize ?? 0;
        if (bytes > maxHistoryBytes)
          throw new ParleyError(
            'wrong_state',
            `The histories of ${kind} ${id} take more than ${maxHistoryBytes / 1_000_000} MB, too much for one document. Its checkpoints can be inspected one by one.`,
          );
        const temporalRunId = about.runId;
        const history = await within(kind, id, () => client.workflow.getHandle(id, temporalRunId).fetchHistory());
        run = { temporal_run_id: temporalRunId, history: await readableHistory(history, payloadCodecs) };
        if (runs.length === 0) closedAs = openStates.has(about.status.name) ? null : about.status.name;
      } catch (error) {
        if (runs.length > 0 && error instanceof ParleyError && error.code === 'not_found') break;
        throw error;
      }
      runs.unshift(run);
      const before = valueAt(run, '/history/events/0/workflowExecutionStartedEventAttributes/continuedExecutionRunId');
      runId = typeof before === 'string' && before !== '' ? before : undefined;
    } while (runId !== undefined);
    return { closedAs, runs };
  };

  const document = async (kind: ExportKind, id: string): Promise<OpenExport> => {
    const { closedAs, runs } = await chainOf(kind, id);
    const replayed = await replayedStates(id, runs, replayer);
    return exportOf({ id, kind, exportedAt: new Date().toISOString(), closedAs, runs, replayed });
  };

  return {
    export: (kind, id) => turns('export', () => document(kind, id)),
    turns: (teamId) => within('agent', turnPrefix(teamId), () => openTurns(client, teamId, mostTurns)),
    exportTurn: async (teamId, turnId) => {
      if (!turnId.startsWith(turnPrefix(teamId))) throw notFound('turn', turnId);
      return await turns('export', () => document('agent', turnId));
    },
  };
};
