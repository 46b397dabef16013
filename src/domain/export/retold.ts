import type { OpenExport } from '../../contracts/export.js';
import { type Difference, isMembers, partsOf, valueAt } from './changes.js';
import { packed } from './checkpoints.js';
import { callKey, type Replayed, type ReplayReport } from './report.js';

/** Names of members that are counted or estimated from texts, and decide nothing by themselves. */
const counted = /(^|_)(tokens|usd|usd_micros|usdMicros|maxTokens|maxUsdMicros|size_bytes)$/i;
const digest = /^(sha256:)?[0-9a-f]{64}$/;

const isDigest = (value: unknown): boolean => typeof value === 'string' && digest.test(value);
const isComputed = ({ at, from, to }: Difference): boolean =>
  counted.test(partsOf(at).at(-1) ?? '') || (isDigest(from) && isDigest(to));

/**
 * A document that says what its replay comes to, where that differs in digests, sizes and estimates alone: these are computed
 * from texts, and a text that was taken out changes them.
 * @returns null where anything else differs, so that what was recorded stays to be compared with
 */
export const retold = (document: OpenExport, replayed: Replayed, report: ReplayReport): OpenExport | null => {
  const { states, calls, outcome } = replayed;
  const { checkpoints, refusal } = report;
  const fields = [...checkpoints, ...report.calls].flatMap((each) => each.fields);
  const isWhole = refusal === null && checkpoints.every(({ passed }) => passed === 'both');
  if (!isWhole || ![...fields, ...report.outcome].every(isComputed)) return null;
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
