// A run in words: its steps, what it asks, its events.
import { describeCommon, firstLine, headline, sentence, words } from './model.js';

export const stepName = (phase, step) => `${phase} → ${step}`;

const plainWord = /^[\w@%+=:,./-]+$/;

const commandWords = ({ argv = [] }, most = 160) => {
  const said = argv.map((part) => (plainWord.test(part) ? part : JSON.stringify(part))).join(' ');
  return said.length > most ? `${said.slice(0, most)}…` : said;
};

/** What an approval lets begin, up to the next gate, and what comes after that; a command with its arguments. */
export const nextWords = ({ next, later }, most = 6) => {
  if (next.length === 0) return 'the run is complete';
  const names = next
    .slice(0, most)
    .map(({ phase, name, kind, does }) =>
      kind === 'command' ? `${stepName(phase, name)}: ${commandWords(does)}` : `${stepName(phase, name)} (${kind})`,
    );
  const left = next.length > most ? ` and ${next.length - most} more` : '';
  return `${names.join(', then ')}${left}${later.length > 0 ? `; ${later.length} more after that gate` : ''}`;
};

const sorted = (_, value) =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** An output as a prompt ends with it: of a command what it has written. */
const promptText = (output) => {
  if (typeof output === 'string') return output;
  if (typeof output?.exit_code === 'undefined') return JSON.stringify(output, sorted);
  return [output.stdout, output.stderr]
    .filter((text) => text.trim() !== '')
    .map((text) => text.trimEnd())
    .join('\n');
};

/**
 * The question of a prompt, and the output that it ends with: {question, output}. What is not exactly the output stays in the
 * question, and `output` is null.
 */
export const promptParts = (prompt, output = null) => {
  const end = `\n\n${promptText(output)}`;
  if (output === null) return { question: prompt, output };
  return prompt.endsWith(end) ? { question: prompt.slice(0, -end.length), output } : { question: prompt, output: null };
};

export const requestTitles = {
  approval: 'An approval is needed',
  error_resolution: 'What is to become of the failure?',
  choice: 'A choice is needed',
  input: 'An answer is needed',
};

/** Where it stands, in a few words. */
export const nowWords = ({ state, phase, step, workspace, error }) => {
  // Closed from outside it is nowhere any more, and its error says where it was.
  const place = phase === null ? error : { phase, step };
  const at = place?.phase ? stepName(place.phase, place.step) : '';
  switch (state) {
    case 'pending':
      return 'It begins';
    case 'in_progress':
      return workspace.path === null ? 'Its folder is being prepared' : `${at} is under way`;
    case 'awaiting_feedback':
      return `${at} waits for a person`;
    case 'error':
      return workspace.path === null ? 'It could not begin' : `${at} has failed`;
    default:
      return words(state);
  }
};

/** What a screen reader is told: steps, questions and the end. */
export const announcement = ({ status }) => {
  if (!status) return '';
  const { result, error, state, feedback } = status;
  if (result) return `${sentence(words(result.outcome))} ${sentence(result.reason)}`;
  if (error) return `${nowWords(status)}: ${headline(error.message)}`;
  const open = feedback.findLast((each) => each.state === 'open');
  return open && state === 'awaiting_feedback'
    ? `${nowWords(status)}: ${firstLine(open.request.prompt)}`
    : `${nowWords(status)}.`;
};

/** A durable event in words, for the timeline: [kind, sentence]. */
export const describeEvent = (told) => {
  const { event, data } = told;
  switch (event) {
    case 'state':
      // Many turns lead back to where it was: there, what has happened says more.
      return ['state', data.from === data.to ? words(data.on) : `${words(data.from)} → ${words(data.to)}`];
    case 'step': {
      const again = data.attempt > 1 ? `, try ${data.attempt}` : '';
      const why = data.error ? `: ${headline(data.error.message)}` : '';
      return ['step', `${stepName(data.phase, data.step)} ${words(data.state)}${again}${why}`];
    }
    case 'budget':
      return ['budget', data.message];
    case 'feedback_expired':
      return ['person', `nobody answered ${data.request_id} in time; it counts as ${words(data.counts_as)}`];
    case 'final':
      return ['final', `${data.outcome}: ${data.reason}`];
    default:
      return describeCommon(told);
  }
};
