import { RE2JS } from 're2js';
import { ParleyError } from '../../../src/domain/errors.js';

export interface TextPattern {
  source: string;
  /** Where the first match in a line begins; -1: there is none. */
  find(line: string): number;
}

const isPlain = (source: string): boolean => !/[\\^$.|?*+()[\]{}]/.test(source);

/**
 * What is looked for in each line. Patterns come from models: RE2 takes time linear in the line.
 * @throws ParleyError invalid_request for what RE2 does not take
 */
export const textPattern = (
  source: string,
  { literal, ignoreCase }: { literal: boolean; ignoreCase: boolean },
): TextPattern => {
  if ((literal || isPlain(source)) && !ignoreCase) return { source, find: (line) => line.indexOf(source) };
  try {
    const compiled = RE2JS.compile(literal ? RE2JS.quote(source) : source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    return {
      source,
      find: (line) => {
        const matcher = compiled.matcher(line);
        return matcher.find() ? matcher.start() : -1;
      },
    };
  } catch (error) {
    const why = error instanceof Error ? error.message.replace('error parsing regexp: ', '') : String(error);
    throw new ParleyError(
      'invalid_request',
      `${JSON.stringify(source)} is no regular expression without lookaround and backreferences (RE2): ${why}; to look for the text itself give literal: true`,
    );
  }
};
