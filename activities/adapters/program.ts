import { isAbsolute, resolve } from 'node:path';
import { ParleyError } from '../../src/domain/errors.js';
import { firstProgram, placesOnPath } from '../program-path.js';
import type { Environment } from './connections.js';

/**
 * The file that a program's name stands for: a path as it is, seen from `cwd`; a bare name where PATH finds it.
 * @throws ParleyError EAGENTDOWN naming the program and where it was looked for.
 */
export const findProgram = async (name: string, cwd: string, path: string): Promise<string> => {
  const candidates = isAbsolute(name) || name.includes('/') ? [resolve(cwd, name)] : placesOnPath(name, path, cwd);
  const found = await firstProgram(candidates);
  if (found !== null) return found;
  throw new ParleyError(
    'EAGENTDOWN',
    `program ${JSON.stringify(name)} was not found (looked for ${candidates.join(', ') || 'it in an empty PATH'}); install it where the worker's PATH leads, or give its path`,
  );
};

/** Variables that make a trusted program load or run something else than itself. */
const subverting =
  /^(PATH|IFS|ENV|BASH_.*|SHELLOPTS|BASHOPTS|PS4|LD_.*|DYLD_.*|NODE_.*|PYTHON.*|PERL.*|RUBY.*|GEM_.*|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|GIT_.*|GCONV_PATH|EDITOR|PAGER)$/;

/** Whether an argv begins with one of the operator's lists; an empty list trusts nothing. */
export const isTrusted = (argv: readonly string[], trusted: readonly (readonly string[])[]): boolean =>
  trusted.some(
    (prefix) =>
      prefix.length > 0 && prefix.length <= argv.length && prefix.every((word, index) => argv[index] === word),
  );

export const howToTrust = (program: string): string =>
  `To run it outside of one, set PARLEY_TRUSTED_COMMANDS='${JSON.stringify([[program]])}' (a JSON list of argv beginnings) in the worker's environment.`;

/**
 * The operator trusted the words of an argv and no others: variables that would turn the program into another are refused.
 * @throws ParleyError ESEC naming them
 */
export const refuseSubverting = (env: Readonly<Record<string, string>>): void => {
  const refused = Object.keys(env).filter((name) => subverting.test(name));
  if (refused.length > 0) {
    throw new ParleyError(
      'ESEC',
      `env ${refused.join(', ')} could make a trusted program run another one; leave it out, or have the operator set it inside the program`,
    );
  }
};

/** The worker's secrets stay with the worker: a program sees where programs are, whose home it is, and who asks. */
export const cleanEnvironment = (
  environment: Environment,
  added: Readonly<Record<string, string>>,
): Record<string, string> => {
  const kept = ['PATH', 'HOME', 'LANG'].flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(kept), ...added };
};
