import type { Effect } from '../effects/effect.js';
import type { Inner, Language } from '../shell/invocation.js';
import type { Text } from '../shell/text.js';
import { Calls } from './calls.js';
import { CodeReader } from './reader.js';

/** Program text behind `eval` inside of program text, so many times over. */
const maxNesting = 6;
/** Longer text is data, not a program that a plan writes on a command line. */
const maxLength = 100_000;

/** What program text in a language other than the shell's does, as far as it stands in it; nothing is run. */
export const readCode = (
  source: Text,
  language: Language,
  nesting = 0,
): { effects: readonly Effect[]; inner: readonly Inner[] } => {
  const effects: Effect[] = [];
  const inner: Inner[] = [];
  const calls = new Calls(language, (text) => {
    if (nesting >= maxNesting) return;
    const found = readCode(text, language, nesting + 1);
    effects.push(...found.effects);
    inner.push(...found.inner);
  });
  new CodeReader(language, calls, source.holes).read(source.text.slice(0, maxLength));
  calls.finish();
  return { effects: [...effects, ...calls.effects], inner: [...inner, ...calls.inner] };
};
