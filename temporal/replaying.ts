import { readFile } from 'node:fs/promises';
import { type DataConverter, defaultPayloadConverter, type Payload } from '@temporalio/common';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { type InjectedSinks, Worker } from '@temporalio/worker';
import type { Place } from '../src/domain/checkpoint.js';
import type { CheckpointState } from '../src/domain/checkpoint-view.js';
import { type Inspected, inspectedMemo } from '../workflows/messages.js';
import type { ParleySinks, WorkOutcome } from '../workflows/options.js';
import type { AskedCall, InspectionSinks } from '../workflows/told-calls.js';
import { builtBundle, withoutSourceMap } from './built-bundle.js';
import { createTurns } from './turns.js';

export type History = ReturnType<typeof historyFromJSON>;

/** One run's history, and what a replay of it is asked for. */
export interface ReplayOptions {
  history: History;
  workId: string;
  /** Whose state is wanted: one checkpoint's, by its number, or every one's; left out: none's. */
  inspected?: Inspected;
  onCheckpoint?: (state: CheckpointState) => void;
  /** Where the run stands, with new marks, after each step, where one checkpoint is wanted: the last is where its history ends. */
  onPlace?: (place: Place) => void;
  /** Hears of each activity that is asked for, where the state at every checkpoint is wanted. */
  onCall?: (call: AskedCall) => void;
  /** How the run ended; not called for one that has not, nor for one that was closed from outside. */
  onOutcome?: (outcome: WorkOutcome) => void;
}

export interface ReplayerOptions {
  /** The bundle of workflows that histories are replayed against; default: that of this build. */
  bundlePath?: string | undefined;
  /** How their payloads become values; left out: as Temporal does it. */
  dataConverter?: DataConverter;
  /** Milliseconds without a replay until the thread and its memory are given back. */
  idleMs?: number;
}

/** Runs workflows over their own histories: no activity, timer or message of them does anything. */
export interface Replayer {
  /**
   * One at a time, in the order they are asked for.
   * @throws DeterminismViolationError or ReplayError of the SDK where the history does not fit the bundle
   */
  replay(options: ReplayOptions): Promise<void>;
  /** Gives the thread back; a replay after it takes another. */
  close(): Promise<void>;
}

const silent = { fn: () => undefined, callDuringReplay: false };

/** The history as of a run that was started to be inspected: of what a workflow sees of itself, a replay can say only this. */
const markedFor = (inspected: Inspected, history: History): History => {
  const [started, ...later] = history.events ?? [];
  const attributes = started?.workflowExecutionStartedEventAttributes;
  if (!attributes) return history;
  const fields: Record<string, Payload> = {
    ...attributes.memo?.fields,
    [inspectedMemo]: defaultPayloadConverter.toPayload(inspected),
  };
  const marked = { ...started, workflowExecutionStartedEventAttributes: { ...attributes, memo: { fields } } };
  return { ...history, events: [marked, ...later] } as History;
};

/** A worker that replays what it is handed: most of what a replay costs is to make one. */
interface Line {
  replay(item: { workflowId: string; history: History }): Promise<void>;
  close(): Promise<void>;
}

const openLine = async (
  { bundlePath = builtBundle(), dataConverter }: ReplayerOptions,
  sinks: InjectedSinks<ParleySinks & InspectionSinks>,
): Promise<Line> => {
  // The SDK keeps the stack of every promise of a workflow, for a query that no replay is asked: half of its time. Without
  // stacks nobody reads the source map, which is half of what it takes to begin.
  const code = `Error.stackTraceLimit = 0;${withoutSourceMap(await readFile(bundlePath, 'utf8'))}`;
  let line!: ReadableStreamDefaultController<{ workflowId: string; history: History }>;
  const handed = new ReadableStream({
    start: (controller) => {
      line = controller;
    },
  });
  const results = Worker.runReplayHistories(
    { workflowBundle: { code }, sinks, ...(dataConverter && { dataConverter }) },
    handed,
  );
  return {
    replay: async (item) => {
      line.enqueue(item);
      const { done, value } = await results.next();
      if (done) throw new Error('the worker that replays has stopped');
      if (value.error) throw value.error;
    },
    close: async () => {
      await results.return?.();
    },
  };
};

export const createReplayer = (options: ReplayerOptions): Replayer => {
  const { idleMs = 30_000 } = options;
  const turns = createTurns(1);
  let current: ReplayOptions | null = null;
  let line: Line | null = null;
  let idle: NodeJS.Timeout | undefined;

  const heard = <Said>(listener: (asked: ReplayOptions) => ((said: Said) => void) | undefined) => ({
    fn: (_: unknown, said: Said) => {
      if (current) listener(current)?.(said);
    },
    callDuringReplay: true,
  });
  const sinks: InjectedSinks<ParleySinks & InspectionSinks> = {
    bus: { hint: silent, partial: silent },
    trace: {
      outcome: heard(({ onOutcome }) => onOutcome),
      checkpoint: heard(({ onCheckpoint }) => onCheckpoint),
      place: heard(({ onPlace }) => onPlace),
      delivery: silent,
      turn: silent,
      queue: silent,
    },
    inspection: { called: heard(({ onCall }) => onCall) },
  };

  const letGo = async (): Promise<void> => {
    const closing = line;
    line = null;
    await closing?.close();
  };

  const close = async (): Promise<void> => {
    clearTimeout(idle);
    await turns('replay', letGo);
  };

  const replay = async (asked: ReplayOptions): Promise<void> => {
    const { history, workId: workflowId, inspected } = asked;
    clearTimeout(idle);
    current = asked;
    try {
      line ??= await openLine(options, sinks);
      await line.replay({ workflowId, history: inspected === undefined ? history : markedFor(inspected, history) });
    } catch (error) {
      // What a history did to a worker must not meet the next one.
      await letGo();
      throw error;
    } finally {
      current = null;
      clearTimeout(idle);
      idle = setTimeout(() => void close(), idleMs).unref();
    }
  };

  return { replay: (asked) => turns('replay', () => replay(asked)), close };
};
