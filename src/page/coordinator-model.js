// What a person has seen of a coordinator so far, as plain data. All of it stands in its status; the events tell when to look, and
// its story.

export { createModel, lookEveryMs, modelAt, takeEvent, takePartial, takeStatus } from './status-model.js';

export const collection = 'coordinators';
/** Coordinators up to this size are looked at with every run that moves; of larger ones the status is long. */
const fewRuns = 50;
export const asksForStatus = ({ event }, { status }) =>
  event !== 'log' && (event !== 'run' || (status?.total_runs ?? 0) <= fewRuns);

/** How a person counts runs: [name, statuses, tone]. */
const groups = [
  ['completed', ['completed']],
  ['awaiting feedback', ['awaiting_feedback'], 'asking'],
  ['failed', ['error']],
  ['not resumed', ['resume_failed'], 'failed'],
  ['cancelled', ['cancelled']],
  ['unknown', ['unknown'], 'cancelled'],
  ['under way', ['pending', 'in_progress'], 'running'],
].map(([name, statuses, tone = name]) => ({ name, tone, statuses: new Set(statuses) }));

/** How many runs stand where, without those groups that have none; they add up to all runs. */
export const countsOf = ({ runs }) =>
  groups
    .map(({ name, tone, statuses }) => ({
      name,
      tone,
      count: runs.filter(({ status }) => statuses.has(status)).length,
    }))
    .filter(({ count }) => count > 0);

const asking = new Set(['awaiting_feedback', 'error']);

/**
 * The runs, each with what the latest report says of it as far as that still holds: {run, told, request}. `request` is what it
 * asks now, or null.
 */
export const rowsOf = ({ runs, aggregation, ended_at: endedAt }, group = '') => {
  const told = new Map(aggregation?.runs.map((each) => [each.run_id, each]));
  const statuses = groups.find(({ name }) => name === group)?.statuses;
  return runs
    .filter(({ status }) => !statuses || statuses.has(status))
    .map((run) => {
      const report = told.get(run.run_id) ?? null;
      const holds = report !== null && report.status === run.status;
      const asks = holds && endedAt === null && asking.has(run.status);
      return { run, told: holds ? report : null, request: asks ? (report.feedback_request ?? null) : null };
    });
};

/** Whether it takes answers for its runs: from the first report on. */
export const takesAnswers = ({ aggregation, ended_at: endedAt }) => aggregation !== null && endedAt === null;

const way = [
  { name: 'Track', states: ['S0', 'TRACKING'] },
  { name: 'Wait', states: ['WAITING', 'ASKING'] },
  { name: 'Present', states: ['AGGREGATING', 'PRESENTING'] },
  { name: 'Resume', states: ['PARSING', 'DISTRIBUTING', 'RESUMING'] },
  { name: 'Monitor', states: ['MONITORING'] },
  { name: 'Done', states: ['COMPLETE', 'ABORTED', 'CANCELLED'] },
];

/** Where it stands, as stepsOf has it for debates; each round goes through the later steps again. */
export const stepsOf = ({ state, reports, ended_at: endedAt }) => {
  const current = way.findIndex(({ states }) => states.includes(state));
  const isBroken = state === 'ABORTED' || state === 'CANCELLED';
  return way.map(({ name }, index) => {
    const isLast = index === way.length - 1;
    const isDone = endedAt === null ? index < current : !isBroken;
    const stand =
      endedAt === null && index === current ? 'now' : isDone ? 'done' : isBroken && isLast ? 'failed' : 'ahead';
    return {
      name: isLast && isBroken ? (state === 'ABORTED' ? 'Aborted' : 'Cancelled') : name,
      stand: isBroken && !isLast ? (index < 2 || reports.length > 0 ? 'done' : 'skipped') : stand,
      note: name === 'Present' && reports.length > 0 ? `round ${reports.length}` : '',
    };
  });
};

/** A work id as people write it: `#124`, and any other as it is. */
export const shownId = (id) => (/^\d+$/.test(id) ? `#${id}` : id);

/** What an answer may call a run: its work id, unless another run that asks has the same. */
export const nameIn = (rows, { run_id: runId, work_id: workId }) =>
  rows.some(({ run, request }) => request && run.work_id === workId && run.run_id !== runId) ? runId : workId;

const lineStart = (name) => `${shownId(name)}:`;
const isLineOf = (line, name) => line.trimStart().startsWith(lineStart(name));

/** What the text answers for a run, or null. */
export const answerIn = (text, name) => {
  const line = text.split('\n').findLast((each) => isLineOf(each, name));
  return line === undefined ? null : line.trimStart().slice(lineStart(name).length).trim();
};

/**
 * The text with this answer for a run, in the place of another one; the same once more takes it out. '' begins a line that somebody
 * writes on, unless there is one.
 */
export const withAnswer = (text, name, response) => {
  const given = answerIn(text, name);
  if (response === '' && given !== null) return text;
  const rest = text.split('\n').filter((line) => line.trim() !== '' && !isLineOf(line, name));
  const lines = response === given ? rest : [...rest, `${lineStart(name)} ${response}`];
  return lines.length === 0 ? '' : `${lines.join('\n')}${response === '' ? '' : '\n'}`;
};

/** The text with the same answer for many runs, each in the place of another one. */
export const withSameAnswer = (text, names, response) => {
  const given = names.filter((name) => answerIn(text, name) !== response);
  return given.reduce((before, name) => withAnswer(before, name, response), text);
};

/** Options that every one of these requests has, where there are several. */
export const sharedOptions = (rows) => {
  const requests = rows.flatMap(({ request }) => request ?? []);
  if (requests.length < 2) return [];
  const [first, ...others] = requests;
  return first.options.filter(({ value }) =>
    others.every(({ options }) => options.some((option) => option.value === value)),
  );
};

/** The lines of a text that were not understood: they stay, to be mended. */
export const wrongLines = (text, { errors }) => {
  const numbers = new Set(errors.map(({ message }) => Number(/^line (\d+)/.exec(message)?.[1])));
  return text
    .split('\n')
    .filter((line, index) => numbers.has(index + 1) && line.trim() !== '')
    .map((line) => `${line}\n`)
    .join('');
};
