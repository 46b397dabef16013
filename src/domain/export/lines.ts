import type { OpenExport, StoryEntry } from '../../contracts/export.js';
import type { Difference } from './changes.js';
import type { CheckpointDifference } from './checkpoints.js';
import type { ReplayReport } from './report.js';

const shownFields = 10;
const shownCheckpoints = 1;
const width = 160;

const short = (value: unknown, most = width): string => {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
};

/** Where two texts part, so that a person need not look for it. */
const parting = (from: string, to: string): [string, string] => {
  let same = 0;
  while (same < from.length && from[same] === to[same]) same += 1;
  const start = Math.max(0, same - 40);
  const part = (text: string): string =>
    `${start > 0 ? '…' : ''}${text.slice(start, start + width)}${text.length > start + width ? '…' : ''}`;
  return [JSON.stringify(part(from)), JSON.stringify(part(to))];
};

const fieldLines = (fields: readonly Difference[]): string[] => [
  ...fields.slice(0, shownFields).flatMap(({ at, from, to }) => {
    const [recorded, replayed] =
      typeof from === 'string' && typeof to === 'string' ? parting(from, to) : [short(from), short(to)];
    return [`    ${at || '(all of it)'}`, `      recorded  ${recorded}`, `      replayed  ${replayed}`];
  }),
  ...(fields.length > shownFields ? [`    and ${fields.length - shownFields} more fields`] : []),
];

const count = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? '' : 's'}`;

const checkpointLines = (differences: readonly CheckpointDifference[]): string[] => {
  if (differences.length === 0) return [];
  return [
    ...differences.slice(0, shownCheckpoints).flatMap(({ sequence_num, agent_id, phase, event_id, passed, fields }) => {
      const name = `CP-${sequence_num} (${agent_id}, ${phase}, event ${event_id})`;
      if (passed === 'both') return [`  the first checkpoint that differs is ${name}:`, ...fieldLines(fields)];
      return [`  from here on the replay goes another way: ${name} was ${passed.replace(' only', '')} only`];
    }),
    ...(differences.length > shownCheckpoints
      ? [`  ${count(differences.length - shownCheckpoints, 'later checkpoint')} differ too; --json has all`]
      : []),
  ];
};

/** How a replay compares with what was recorded, as a person reads it. */
export const reportLines = (report: ReplayReport): string[] => {
  const { same, id, kind, events, replayed_checkpoints: passed, recorded_checkpoints: recorded, refusal } = report;
  const head = `${same ? 'same' : 'differs'}: ${kind} ${id}, ${count(events, 'event')}, ${count(passed, 'checkpoint')}`;
  return [
    recorded === null ? `${head} (none were recorded; the outcome alone was compared)` : head,
    ...report.calls
      .slice(0, 1)
      .flatMap(({ name, event_id, fields }) => [
        `  ${name} is asked otherwise at event ${event_id}:`,
        ...fieldLines(fields),
      ]),
    ...(report.calls.length > 1
      ? [`  ${count(report.calls.length - 1, 'later call')} differ too; --json has all`]
      : []),
    ...checkpointLines(report.checkpoints),
    ...(report.outcome.length > 0 ? ['  the outcome:', ...fieldLines(report.outcome)] : []),
    ...(refusal === null
      ? []
      : [
          `  the history does not fit at event ${refusal.event_id}, ${refusal.event}:`,
          `    ${refusal.reason}`,
          `    in run ${refusal.temporal_run_id}; what was recorded after it cannot be replayed`,
        ]),
  ];
};

const verbs: Record<StoryEntry['what'], string> = {
  asked: '→',
  answered: '←',
  failed: '✗',
  told: '»',
  started: '▶',
  ended: '■',
  continued: '↻',
};

const valueLines = (values: readonly unknown[]): string[] =>
  values.flatMap((value) =>
    (typeof value === 'string' ? value : JSON.stringify(value, null, 2)).split('\n').map((line) => `      ${line}`),
  );

/** What went in and came out, in order, as a person reads it. */
export const storyLines = ({ kind, id, lifecycle, story, outcome, request, setup }: OpenExport): string[] => [
  `${kind} ${id}, ${lifecycle}`,
  '',
  request === null ? 'What it was started with' : 'What was asked',
  ...valueLines([request ?? setup]),
  ...story.flatMap(({ what, part, name, summary, at, event_id, values, message }) => [
    '',
    `${verbs[what]} ${at.slice(11, 23)}  ${part}: ${name} ${what}${summary === null ? '' : ` (${summary})`}, event ${event_id}`,
    ...(message === null ? [] : [`      ${message}`]),
    ...valueLines(values),
  ]),
  ...(outcome === null ? [] : ['', 'Outcome', ...valueLines([outcome])]),
];
