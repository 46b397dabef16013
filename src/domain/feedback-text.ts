import type { FeedbackRequest } from '../contracts/feedback.js';
import {
  type AnswerFault,
  type AnswerItem,
  type AskedWork,
  isAwaiting,
  namedOption,
  notOffered,
  optionsOf,
  quoted,
  type ReadAnswers,
  type Reply,
  settleAnswers,
  shownId,
  within,
} from './feedback-list.js';
import { sameWord } from './feedback.js';

const maxLines = 10_000;
/** Of lines that are no answers, so many are named one by one. */
const namedBadLines = 20;

const numbered = /^\s*#?(?:run\s*#?)?(\d+)\s*:(.*)$/i;
/** An id that is no number holds no blank and no colon; it counts where it is one that can be named. */
const named = /^\s*(?:run\s+)?([^\s:]{1,128})\s*:(.*)$/i;
const lineEnds = /\r\n|[\n\r\u2028\u2029]/;
/** What begins like another answer, in a comment. */
const another = /(?<![\w#])(#|run\s*#?)?(\d{1,128})\s*:/gi;

interface Line {
  /** What its beginning may name, the likeliest first: `runner-1`; of `#org/5` that and `org/5`. */
  ids: string[];
  isNumbered: boolean;
  rest: string;
}

/** A line with an id and a colon, or null. */
const lineOf = (line: string): Line | null => {
  const [, number, ofNumber] = numbered.exec(line) ?? [];
  const [, name, ofName] = named.exec(line) ?? [];
  const words = [number, name, name?.replace(/^#/, '')].filter((word) => word !== undefined && word !== '');
  const ids = [...new Set(words as string[])];
  return ids.length === 0 ? null : { ids, isNumbered: number !== undefined, rest: ofNumber ?? ofName ?? '' };
};

/** The names that each line of a text may begin with, the likeliest first: what has to be looked up before it is read. */
export const namedInText = (text: string): string[][] =>
  text.split(lineEnds).flatMap((line) => {
    const ids = lineOf(line)?.ids;
    return ids ? [ids] : [];
  });

/** Text that is said to one piece of work: an option and perhaps a comment, or the input that was asked for. */
interface Said {
  /** The first word, up to a comma, semicolon or full stop, and without punctuation at its end. */
  option: string;
  /** Up to the first blank, as it is written. */
  word: string;
  comment: string | null;
  text: string;
}

const say = (rest: string): Said => {
  const text = rest.trim();
  const word = text.slice(0, /\s/.exec(text)?.index ?? text.length);
  const end = word.search(/[,;.]/);
  const head = end === -1 ? word : word.slice(0, end);
  // No option is longer; and on a long run of punctuation the pattern would take quadratic time.
  const option = head.length > 128 ? head : head.replace(/[^\p{L}\p{N}_]+$/u, '');
  const comment = text
    .slice(option.length)
    .replace(/^[,;.:!?)]{0,8}\s*(?:[-–—]\s)?/, '')
    .trim();
  return { option, word, comment: comment === '' ? null : comment, text };
};

/** A blank where the option has a "_" is a likely slip: `request changes`. */
const hintOf = ({ word, comment }: Said, request: FeedbackRequest): string => {
  const next = comment === null ? '' : comment.slice(0, /[^\p{L}\p{N}]/u.exec(comment)?.index ?? 128);
  const joined = namedOption(optionsOf(request), `${word}_${next}`);
  return joined ? ` Did you mean ${joined.value}?` : '';
};

const replyTo =
  (id: string, said: Said) =>
  (request: FeedbackRequest): Reply => {
    const options = optionsOf(request);
    if (said.text === '') {
      const example = request.type === 'input' ? 'your text' : (options[0]?.value ?? 'your choice');
      return {
        fault: `the answer for ${shownId(id)} is missing; write it on the same line, such as ${quoted(`${shownId(id)}: ${example}`)}.`,
      };
    }
    if (request.type === 'input') return within(said.text, null);
    const whole = namedOption(options, said.word);
    const option = whole ?? namedOption(options, said.option);
    if (!option) return { fault: notOffered(said.word, request, id, hintOf(said, request)) };
    const word = whole ? said.word : said.option;
    return { ...within(option.value, said.comment), ...(!sameWord(word, option.value) && { word }) };
  };

/** A line for each of at most three that await an answer, as a person would write it (spec 06 "example answer"). */
export const answerExample = (open: readonly AskedWork[]): string => {
  const waiting = open.filter(isAwaiting).slice(0, 3);
  if (waiting.length === 0) return '#124: approve\n#125: retry';
  return waiting.map((work) => exampleLine(work)).join('\n');
};

/** How one of them is answered; `id` in place of its work id, where that does not name it alone. */
export const exampleLine = ({ workId, requests }: AskedWork, id = workId): string => {
  const request = requests?.[0];
  const response = !request || request.type === 'input' ? 'your text' : (optionsOf(request)[0]?.value ?? 'your choice');
  return `${shownId(id)}: ${response}`;
};

const badLines = (bad: readonly { line: number; text: string }[], example: string): AnswerFault[] => {
  const first = quoted(example.split('\n')[0] ?? example);
  const faults = bad.slice(0, namedBadLines).map(({ line, text }) => ({
    workId: null,
    message: `line ${line}: ${quoted(text.trim())} is no answer; write it as ${first}, with nothing before the id.`,
    valid: [],
  }));
  const more = bad.length - faults.length;
  return more > 0 ? [...faults, { workId: null, message: `${more} more lines are no answers.`, valid: [] }] : faults;
};

/** Where a comment holds what looks like an answer of its own, such as the rest of `#23: approve, #24: reject`. */
const swallowed = (where: string, id: string, { comment }: Said, ids: ReadonlySet<string>): string[] => {
  if (comment === null) return [];
  const isAnother = Array.from(comment.slice(0, 20_000).matchAll(another)).some(
    ([, prefix, number]) => prefix !== undefined || ids.has(number!),
  );
  return isAnother
    ? [`${where}: ${quoted(comment)} was taken as a comment on ${shownId(id)}; write each answer on a line of its own.`]
    : [];
};

/**
 * Answers as people write them, one a line (spec 06, details 5.3): `#124: approve`, `Run 124: approve, looks good`, `124: 1`
 * for the first option; what follows the option is a comment, and for an input the rest of the line is the response. Work whose
 * id is no number is named as it is. Linear in the text's length. `open` is whatever can be named, also what awaits nothing.
 */
export const parseAnswers = (text: string, open: readonly AskedWork[]): ReadAnswers => {
  const example = answerExample(open);
  const lines = text.split(lineEnds);
  if (lines.length > maxLines) {
    const message = `The text has ${lines.length} lines; at most ${maxLines} are read. Nothing was applied.`;
    return { answers: [], warnings: [], errors: [{ workId: null, message, valid: [] }] };
  }
  const ids = new Set(open.flatMap(({ workId, runId }) => (runId === undefined ? [workId] : [workId, runId])));
  const items: AnswerItem[] = [];
  const bad: { line: number; text: string }[] = [];
  const notes: string[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const found = lineOf(line);
    // A number stands for work also where there is none: it is told as such, and not as a bad line.
    const id = found?.ids.find((word) => ids.has(word)) ?? (found?.isNumbered ? found.ids[0] : undefined);
    if (!found || id === undefined) {
      bad.push({ line: index + 1, text: line });
      continue;
    }
    const said = say(found.rest);
    const where = `line ${index + 1}`;
    items.push({ where, id, requestId: null, reply: replyTo(id, said) });
    if (isSwallowing(id, open)) notes.push(...swallowed(where, id, said, ids));
  }
  const read = settleAnswers(items, open);
  const none: AnswerFault[] =
    items.length > 0
      ? []
      : [{ workId: null, message: `There is no answer in it. Write one a line, such as:\n${example}`, valid: [] }];
  return {
    answers: read.answers,
    warnings: [...read.warnings, ...notes],
    errors: [...none, ...badLines(bad, example), ...read.errors],
  };
};

/** Only what is asked for an option has a comment: an input is the whole line. */
const isSwallowing = (id: string, open: readonly AskedWork[]): boolean =>
  open.some(
    ({ workId, runId, requests }) =>
      (workId === id || runId === id) && requests?.some(({ type }) => type !== 'input') === true,
  );
