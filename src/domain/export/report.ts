import type { OpenExport } from '../../contracts/export.js';
import type { Json } from '../../contracts/frames.js';
import { type Difference, isMembers, valueAt } from './changes.js';
import {
  type CheckpointDifference,
  checkpointDifferences,
  type Compared,
  contradictions,
  type PassedState,
  unpacked,
} from './checkpoints.js';

/** A document as a replay looks at it: Parley's own upkeep is no kind of work, and its histories replay as well. */
export type Replayable = Omit<OpenExport, 'kind'> & { kind: string };

/** Where a history does not fit the workflows any more. */
export interface Refusal {
  temporal_run_id: string;
  event_id: number;
  /** The event in words, such as "activity askRole scheduled". */
  event: string;
  reason: string;
}

/** A call whose arguments are not those that were recorded: another prompt, say. */
export interface CallDifference {
  event_id: number;
  temporal_run_id: string;
  name: string;
  fields: Difference[];
}

/** An activity as a replay asked for it. */
export interface ReplayedCall {
  temporalRunId: string;
  activityId: string;
  args: Json[];
}

/** What a replay says of a piece of work. */
export interface Replayed {
  states: PassedState[];
  calls: ReplayedCall[];
  /** null: it did not end by itself. */
  outcome: Json;
  refusal: Refusal | null;
}

/** How a replay compares with what was recorded. */
export interface ReplayReport {
  same: boolean;
  id: string;
  kind: string;
  events: number;
  /** null: none were recorded. */
  recorded_checkpoints: number | null;
  replayed_checkpoints: number;
  checkpoints: CheckpointDifference[];
  calls: CallDifference[];
  outcome: Difference[];
  refusal: Refusal | null;
}

export const callKey = (temporalRunId: string, activityId: unknown): string => `${temporalRunId} ${String(activityId)}`;

const callDifferences = (document: Replayable, calls: readonly ReplayedCall[]): CallDifference[] => {
  const replayed = new Map(calls.map((call) => [callKey(call.temporalRunId, call.activityId), call]));
  return document.story
    .filter(({ what }) => what === 'asked')
    .flatMap(({ temporal_run_id, event_id, name, values }): CallDifference[] => {
      const run = document.runs.find((candidate) => candidate.temporal_run_id === temporal_run_id);
      const event = run?.history.events.find(({ eventId }) => eventId === String(event_id));
      const activityId = valueAt(event, '/activityTaskScheduledEventAttributes/activityId');
      const call = replayed.get(callKey(temporal_run_id, activityId));
      const fields = call ? contradictions(values, call.args, 'all') : [];
      return fields.length === 0 ? [] : [{ event_id, temporal_run_id, name, fields }];
    });
};

/** A status without links, which are the gateway's to say. */
const unlinked = (outcome: Json): Json => {
  if (!isMembers(outcome)) return outcome;
  const { links: _, ...said } = outcome;
  return said;
};

/** Compares a replay with what a document recorded. */
export const replayReport = (document: Replayable, replayed: Replayed, compared: Compared): ReplayReport => {
  const { states, refusal } = replayed;
  const recorded = document.checkpoints && unpacked(document.checkpoints);
  const checkpoints = recorded ? checkpointDifferences(recorded, states, { compared, isWhole: refusal === null }) : [];
  const calls = callDifferences(document, replayed.calls);
  // The end of work that runs is not recorded yet, though its replay may come to it. What is no kind of work, such as a turn of
  // an agent, has no status that it could end with, and its replay tells none.
  const isTold = refusal === null && document.outcome !== null && 'lifecycle' in document.outcome;
  const outcome = isTold ? contradictions(unlinked(document.outcome), unlinked(replayed.outcome), compared) : [];
  return {
    same: refusal === null && checkpoints.length === 0 && calls.length === 0 && outcome.length === 0,
    id: document.id,
    kind: document.kind,
    events: document.runs.reduce((sum, { history }) => sum + history.events.length, 0),
    recorded_checkpoints: recorded?.length ?? null,
    replayed_checkpoints: states.length,
    checkpoints,
    calls,
    outcome,
    refusal,
  };
};

const eventTypes = /^EVENT_TYPE_/;

/** An event as a person names it: what kind, and of what. */
export const eventText = (event: unknown): string => {
  if (!isMembers(event)) return 'an event';
  const { eventType } = event;
  if (typeof eventType !== 'string') return 'an event';
  const type = eventType.replace(eventTypes, '').toLowerCase().replaceAll('_', ' ');
  const attributes = Object.entries(event).find(([name]) => name.endsWith('EventAttributes'))?.[1];
  const name =
    valueAt(attributes, '/activityType/name') ??
    valueAt(attributes, '/signalName') ??
    valueAt(attributes, '/acceptedRequest/input/name') ??
    valueAt(attributes, '/workflowType/name');
  return typeof name === 'string' ? `${type} (${name})` : type;
};
