import type { OpenExport } from '../contracts/export.js';
import type { Json } from '../contracts/frames.js';
import { isMembers, valueAt } from './export-changes.js';
import { packed, type PassedState, unpacked } from './export-checkpoints.js';
import { callKey, type Replayed } from './export-report.js';

/** The way that work went, apart from what it said on it. */
const wayOf = (states: readonly PassedState[], outcome: Json): string =>
  JSON.stringify([
    states.map(({ sequence_num, agent_id, phase, event_id, state }) => [
      sequence_num,
      agent_id,
      phase,
      event_id,
      valueAt(state, '/status/state'),
    ]),
    isMembers(outcome) ? [outcome['state'], outcome['lifecycle']] : null,
  ]);

/**
 * A document that says what its replay comes to, where that went the very same way: the same agents, phases, events and end.
 * @returns null where it went another way, so that what was recorded stays to be compared with
 */
export const retold = (document: OpenExport, { states, calls, outcome, refusal }: Replayed): OpenExport | null => {
  if (refusal !== null || document.checkpoints === null) return null;
  if (wayOf(unpacked(document.checkpoints), document.outcome) !== wayOf(states, outcome)) return null;
  const args = new Map(calls.map((call) => [callKey(call.temporalRunId, call.activityId), call.args]));
  const links = document.outcome?.['links'];
  return {
    ...document,
    checkpoints: packed(states),
    outcome: isMembers(outcome) ? { ...outcome, ...(links !== undefined && { links }) } : document.outcome,
    story: document.story.map((entry) => {
      if (entry.what !== 'asked') return entry;
      const run = document.runs.find(({ temporal_run_id: id }) => id === entry.temporal_run_id);
      const event = run?.history.events.find(({ eventId }) => eventId === String(entry.event_id));
      const key = callKey(entry.temporal_run_id, valueAt(event, '/activityTaskScheduledEventAttributes/activityId'));
      return { ...entry, values: args.get(key) ?? entry.values };
    }),
  };
};
