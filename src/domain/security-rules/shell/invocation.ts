import type { Effect } from '../effects/effect.js';
import type { Place } from '../place.js';
import type { Text } from './text.js';

/** A file that a redirection opens. */
export interface Redirection {
  readonly access: 'read' | 'write';
  readonly target: Text;
}

export type Language = 'shell' | 'python' | 'javascript' | 'perl' | 'ruby' | 'php' | 'lua' | 'awk';

/** A program text that an invocation runs: given as an argument, on standard input, or in a file that the plan itself writes. */
export interface Code {
  readonly language: Language;
  readonly source: Text;
}

export type Machine = 'here' | 'container' | 'remote';

/** One program with the arguments it would be started with, after quotes, variables and substitutions. */
export interface Invocation {
  /** Name without folder, backslash or quotes; empty where only the running command decides it. */
  readonly program: string;
  readonly name: Text;
  readonly args: readonly Text[];
  readonly stdin: Text;
  readonly redirections: readonly Redirection[];
  /** Variables set for this command. */
  readonly environment: readonly { readonly name: string; readonly value: Text }[];
  readonly runs: readonly Code[];
  /** What the code in another language does, as far as it can be read. */
  readonly codeEffects: readonly Effect[];
  /** Where relative paths start; undefined when not known. */
  readonly cwd: Place | undefined;
  /** In a container or on another host the paths are not those of this machine. */
  readonly machine: Machine;
  /** The program that starts this one, such as xargs; undefined for a shell's own. */
  readonly by: Invocation | undefined;
}

/** Where a command reads and writes. */
export type Call = Pick<Invocation, 'stdin' | 'redirections' | 'environment'>;

/** What one invocation starts in turn. */
export type Inner = {
  readonly machine?: Machine;
  readonly cwd?: Text;
  readonly stdin?: Text;
  readonly environment?: Invocation['environment'];
} & (
  | { readonly argv: readonly Text[] }
  | {
      readonly script: Text;
      /** May be no shell's script at all. */ readonly isGuess?: boolean;
      readonly zero?: Text | undefined;
      readonly positional?: readonly Text[];
    }
);
