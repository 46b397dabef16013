import type { SimulatedAdapter } from '../../src/contracts/adapter.js';
import { createRandom, pick, type Random } from './random.js';

const shorten = (text: string): string => (text.length <= 200 ? text : `${text.slice(0, 199)}…`);

const lastLine = (prompt: string): string =>
  prompt
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .at(-1) ?? '';

/** The choices a prompt offers: a list at least two long, "(a/b)", or "a, b or c?" in its last line; else none. */
export const optionsIn = (prompt: string): string[] => {
  const listed = [...prompt.matchAll(/^[ \t]*(?:[-*•]|\d{1,2}[.)]|[A-Za-z][.)])[ \t]+(\S.*)$/gm)].map(([, item]) =>
    (item ?? '').trim(),
  );
  if (listed.length >= 2) return listed;
  const question = lastLine(prompt);
  const slashed = /\(([^()/]{1,60}(?:\/[^()/]{1,60})+)\)/.exec(question)?.[1];
  if (slashed !== undefined) return slashed.split('/').map((option) => option.trim());
  const sentence = question
    .slice(0, 2000)
    .replace(/[?.!\s]+$/, '')
    .split(/[:;?.!]\s/)
    .at(-1);
  const [before, after] = (sentence ?? '').split(/,?\s+or\s+(?!.*\sor\s)/);
  if (before === undefined || after === undefined) return [];
  const [first, ...others] = before.split(/,\s*/);
  // "Should we paint it red, green": the first choice is the last word of its clause.
  const firstWord = first?.split(/\s+/).at(-1) ?? '';
  return [firstWord, ...others, after].map((option) => option.trim()).filter((option) => option !== '');
};

const asksYesOrNo = (prompt: string): boolean =>
  /^(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|may|must)\b.*\?$/i.test(
    lastLine(prompt).slice(-500),
  );

/** What counts as right for a prompt, and what else is said. Of the prompt alone, so that every lane agrees on it. */
const answersFor = (adapter: SimulatedAdapter, prompt: string): { right: string; wrong: readonly string[] } => {
  const options = optionsIn(prompt);
  const offered = options.length > 0 ? options : asksYesOrNo(prompt) ? ['Yes', 'No'] : [];
  const right =
    adapter.answer ??
    (offered.length > 0
      ? pick(createRandom('right', prompt), offered)
      : `In short, on "${shorten(lastLine(prompt))}": take the simplest way that can be undone, and measure.`);
  const others = offered.filter((option) => option !== right);
  const wrong =
    adapter.wrong_answers !== undefined && adapter.wrong_answers.length > 0
      ? adapter.wrong_answers
      : others.length > 0
        ? others
        : ['I do not know.', 'It cannot be done.', 'That depends on facts nobody has given.'];
  return { right, wrong };
};

/**
 * Draws an answer. Each lane is right with the model's accuracy; `correlation` is the share of draws for which lanes with
 * the same prompt use one common draw instead of their own, so that they are right or wrong together.
 */
export const drawAnswer = (adapter: SimulatedAdapter, prompt: string, accuracy: number, own: Random): string => {
  const { right, wrong } = answersFor(adapter, prompt);
  const draw = own() < adapter.correlation ? createRandom('shared', prompt) : own;
  return draw() < accuracy ? right : pick(draw, wrong);
};
