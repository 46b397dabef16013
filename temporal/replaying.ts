import type { DataConverter } from '@temporalio/common';
import { type InjectedSinks, Worker } from '@temporalio/worker';
import type { Place } from '../src/domain/checkpoint.js';
import type { CheckpointState } from '../src/domain/checkpoint-view.js';
import { inspectionName } from '../workflows/messages.js';
import type { ParleySinks, WorkOutcome } from '../workflows/options.js';
import type { AskedCall, InspectionSinks } from '../workflows/told-calls.js';

export type History = Parameters<typeof Worker.runReplayHistory>[1];

/** One run's history, and what a replay of it is asked for. */
export interface ReplayOptions {
  history: History;
  workId: string;
  /** The bundle of workflows that it is replayed against. */
  bundlePath: string;
  /** How its payloads become values; left out: as Temporal does it. */
  dataConverter?: DataConverter;
  /** Whose state is wanted: one checkpoint's, by its number, or every one's; left out: none's. */
  inspected?: number | 'all';
  onCheckpoint?: (state: CheckpointState) => void;
  /** Where the run stands, with new marks, after each step, where one checkpoint is wanted: the last is where its history ends. */
  onPlace?: (place: Place) => void;
  /** Hears of each activity that is asked for, where the state at every checkpoint is wanted. */
  onCall?: (call: AskedCall) => void;
  /** How the run ended; not called for one that has not, nor for one that was closed from outside. */
  onOutcome?: (outcome: WorkOutcome) => void;
}

const silent = { fn: () => undefined, callDuringReplay: false };
const heard = <Said>(listener: (said: Said) => void = () => undefined) => ({
  fn: (_: unknown, said: Said) => listener(said),
  callDuringReplay: true,
});

/**
 * Runs a workflow over its own history: no activity, timer or message of it does anything. It takes a thread and memory of its
 * own, so callers replay one history at a time.
 * @throws DeterminismViolationError or ReplayError of the SDK where the history does not fit the bundle
 */
export const replayRun = async (options: ReplayOptions): Promise<void> => {
  const { history, workId, bundlePath, dataConverter, inspected, onCheckpoint, onPlace, onCall, onOutcome } = options;
  const sinks: InjectedSinks<ParleySinks & InspectionSinks> = {
    bus: { hint: silent, partial: silent },
    trace: { outcome: heard(onOutcome), checkpoint: heard(onCheckpoint), place: heard(onPlace) },
    inspection: { called: heard(onCall) },
  };
  const replay = {
    workflowBundle: { codePath: bundlePath },
    sinks,
    ...(dataConverter && { dataConverter }),
    ...(inspected !== undefined && { replayName: inspectionName(inspected) }),
  };
  await Worker.runReplayHistory(replay, history, workId);
};
