import { RE2JS } from 're2js';
import { ParleyError } from '../../../src/domain/errors.js';

export interface TextPattern {
  source: string;
  /** Where the first match in a line begins; -1: there is none. */
  find(line: string): number;
}

/** Most instructions of a program; a counted repetition such as {0,99} is as many copies of what it repeats. */
const maxProgram = 1_000;
/** What one line may cost, in instructions times characters: some tens of milliseconds, in which nobody else has a turn. */
const mostSteps = 5_000_000;

const isPlain = (source: string): boolean => !/[\\^$.|?*+()[\]{}]/.test(source);

/**
 * What is looked for in each line. Patterns come from models: RE2 takes time linear in the line, and in the size of the pattern. A large
 * one looks at a line's beginning alone.
 * @throws ParleyError invalid_request for what RE2 does not take
 */
export const textPattern = (
  source: string,
  { literal, ignoreCase }: { literal: boolean; ignoreCase: boolean },
): TextPattern => {
  if ((literal || isPlain(source)) && !ignoreCase) return { source, find: (line) => line.indexOf(source) };
  const simpler = (size: number): ParleyError => {
    const message = `must be simpler: it has ${size} instructions, of at most ${maxProgram}; a repetition {0,99} counts 99 times`;
    return new ParleyError('invalid_request', `${JSON.stringify(source)} ${message}`);
  };
  // To make a large program takes its time, too.
  const copies = literal ? 0 : copiesIn(source);
  if (copies > maxProgram) throw simpler(copies);
  const compiled = programOf(literal ? RE2JS.quote(source) : source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  const size = compiled.programSize();
  if (size > maxProgram && !literal) throw simpler(size);
  const characters = Math.floor(mostSteps / size);
  return {
    source,
    find: (line) => {
      const matcher = compiled.matcher(line.slice(0, characters));
      return matcher.find() ? matcher.start() : -1;
    },
  };
};

/** Of what is repeated by a count, at least. */
const copiesIn = (source: string): number =>
  [...source.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].reduce((sum, [, from, to]) => sum + Number(to || from), 0);

const programOf = (source: string, flags: number): RE2JS => {
  try {
    return RE2JS.compile(source, flags);
  } catch (error) {
    const why = error instanceof Error ? error.message.replace('error parsing regexp: ', '') : String(error);
    throw new ParleyError(
      'invalid_request',
      `${JSON.stringify(source)} is no regular expression without lookaround and backreferences (RE2): ${why}; to look for the text itself give literal: true`,
    );
  }
};
