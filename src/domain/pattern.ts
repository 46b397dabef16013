import { RE2JS } from 're2js';
import { ParleyError } from './errors.js';

/** What a pattern may cost at one answer, in instructions of its program times characters: 100 answers stay below a second. */
const steps = 100_000;
/** Most instructions of a program; a counted repetition such as {0,99} is as many copies of what it repeats. */
const maxProgram = 200;
/** Most of an answer that a short pattern looks at; one with more than 10 instructions looks at less. */
export const maxPatternChars = 10_000;

/**
 * A regular expression of a stranger. RE2 takes time linear in the text, whatever the pattern: one that backtracks would
 * hold up the task of its workflow, and every worker that tries the task again, for good.
 */
export interface Pattern {
  /** The first group of the first match, or the whole match where the pattern has no group; undefined: no match. */
  find(text: string): string | undefined;
}

/** @throws ParleyError invalid_request, for what RE2 does not take (lookaround, backreferences) or what is too long. */
export const compilePattern = (source: string): Pattern => {
  const compiled = programOf(source);
  const size = compiled.programSize();
  if (size > maxProgram) {
    throw new ParleyError(
      'invalid_request',
      `must be simpler: it has ${size} instructions, of at most ${maxProgram}; a repetition {0,99} counts 99 times`,
    );
  }
  const characters = Math.min(maxPatternChars, Math.floor(steps / size));
  return {
    find: (text) => {
      const matcher = compiled.matcher(text.slice(0, characters));
      if (!matcher.find()) return undefined;
      return (matcher.groupCount() > 0 ? matcher.group(1) : null) ?? matcher.group() ?? undefined;
    },
  };
};

const programOf = (source: string): RE2JS => {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source));
  } catch (error) {
    const why = error instanceof Error ? error.message.replace('error parsing regexp: ', '') : String(error);
    throw new ParleyError(
      'invalid_request',
      `must be a regular expression without lookaround and backreferences (RE2); ${why}`,
    );
  }
};
