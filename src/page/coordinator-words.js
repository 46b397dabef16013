// A coordinator in words: its runs, its events.
import { countsOf, shownId } from './coordinator-model.js';
import { describeCommon, headline, words } from './model.js';
import { counted } from './units.js';

/** "5 runs: #122, #123 and 3 more". */
export const titleOf = ({ runs, total_runs: total }, most = 6) => {
  const ids = runs.slice(0, most).map(({ work_id: id }) => shownId(id));
  const rest = total - ids.length;
  return `${counted(total, 'run')}: ${ids.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
};

/** "2 completed + 1 failed", which adds up to all runs. */
export const sumWords = (counts) => counts.map(({ name, count }) => `${count} ${name}`).join(' + ');

/** The counts of a report, without those that are none. */
export const summaryWords = ({ total_runs: total, ...counts }) =>
  `${counted(total, 'run')}: ${Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${words(name)}`)
    .join(', ')}`;

const now = {
  S0: 'It begins',
  TRACKING: 'Its runs are being found',
  WAITING: 'It waits until all runs are at a stop',
  ASKING: 'It asks whether to wait on',
  AGGREGATING: 'A report is being made',
  PRESENTING: 'It waits for answers',
  PARSING: 'Answers are being read',
  DISTRIBUTING: 'Answers are being given to the runs',
  RESUMING: 'Answered runs are being resumed',
  MONITORING: 'Answered runs go on',
  COMPLETE: 'All runs have ended',
  ABORTED: 'It was ended; its runs are as they were',
  CANCELLED: 'Cancelled',
};

export const nowWords = ({ state }) => now[state];

/** What a screen reader is told: steps and counts. */
export const announcement = ({ status }) => (status ? `${nowWords(status)}: ${sumWords(countsOf(status))}.` : '');

/** What became of a set of answers, in a line. */
export const answerWords = ({ applied, warnings, errors }) =>
  [
    applied.length > 0 && `${applied.length} applied`,
    errors.length > 0 && `${errors.length} refused`,
    warnings.length > 0 && counted(warnings.length, 'warning'),
  ]
    .filter(Boolean)
    .join(', ') || 'nothing was answered';

/** A durable event in words, for the timeline: [kind, sentence]. */
export const describeEvent = (told) => {
  const { event, data } = told;
  switch (event) {
    case 'state':
      return ['state', data.from === data.to ? words(data.on) : `${words(data.from)} → ${words(data.to)}`];
    case 'run':
      return [
        'run',
        `${shownId(data.work_id)} ${words(data.status)}${data.reason ? `: ${headline(data.reason)}` : ''}`,
      ];
    case 'aggregation':
      return ['report', `${data.report}, ${summaryWords(data.summary)}`];
    case 'responses':
      return ['answers', answerWords(data)];
    case 'feedback_received': {
      if (!data.metadata) return describeCommon(told);
      const { response, provided_by: person } = data.metadata;
      return ['person', `${person}: ${headline(response.replaceAll('_', ' '))} for ${shownId(data.work_id)}`];
    }
    case 'final':
      return ['final', `${data.outcome} after ${counted(data.rounds, 'report')}`];
    default:
      return describeCommon(told);
  }
};
