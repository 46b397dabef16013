import type { Function as ShellFunction } from 'unbash';
import { homePath, type Place } from '../place.js';
import type { Invocation, Machine } from './invocation.js';
import { emptyText, fromVariable, plain, unknown, type Hole, type Text } from './text.js';

/** Elements of a variable; a plain one has a single element. */
export type Value = readonly Text[];

const maxAlternatives = 16;
const numbers = new Set([
  '?',
  '$',
  '!',
  '#',
  'RANDOM',
  'SECONDS',
  'LINENO',
  'UID',
  'EUID',
  'PPID',
  'BASHPID',
  'COLUMNS',
]);
const wellKnown = new Map(
  Object.entries({
    HOME: homePath,
    PATH: '/usr/local/bin:/usr/bin:/bin',
    IFS: ' \t\n',
    TMPDIR: '/tmp',
    SHELL: '/bin/sh',
    USER: 'user',
    LOGNAME: 'user',
    HOSTNAME: 'host',
    '-': 'c',
  }),
);

/** What a shell knows at one point of its script. A subshell gets a copy. */
export class Scope {
  /** Every value that a variable may have here, the last one last. */
  private variables = new Map<string, readonly Value[]>();
  functions = new Map<string, ShellFunction>();
  aliases = new Map<string, Text>();
  positional: readonly Text[] = [];
  zero: Text = plain('sh');
  cwd: Place | undefined;
  previousCwd: Place | undefined;
  machine: Machine = 'here';
  by: Invocation | undefined;
  /** Inside a branch, a loop or a function: an assignment may or may not happen. */
  isConditional = false;
  /** `set -u`: an unset variable ends the script. */
  endsOnUnset = false;
  /** The script itself has parts that are not known: what they are made of. */
  sourceHole: Hole | undefined;
  /** The script may be no shell's at all: what cannot be read says nothing. */
  isGuess = false;
  /** What the script reads from when a command reads. */
  stdin: Text = emptyText;

  constructor(cwd: Place | undefined, environment: Readonly<Record<string, string>>) {
    this.cwd = cwd;
    for (const [name, value] of Object.entries(environment))
      this.variables.set(name, [[fromVariable(plain(value), name)]]);
  }

  fork(): Scope {
    const copy = new Scope(this.cwd, {});
    Object.assign(copy, this);
    copy.variables = new Map(this.variables);
    copy.functions = new Map(this.functions);
    copy.aliases = new Map(this.aliases);
    return copy;
  }

  assign(name: string, value: Value): void {
    const before = this.isConditional ? (this.variables.get(name) ?? []) : [];
    this.variables.set(name, [...before.slice(1 - maxAlternatives), value]);
  }

  /** A loop's own variable: it has this value, whatever it had before. */
  set(name: string, value: Value): void {
    this.variables.set(name, [value]);
  }

  unset(name: string): void {
    if (!this.isConditional) this.variables.delete(name);
  }

  /** Every value that `name` may have, at least one; undefined when nothing sets it. */
  lookup(name: string): readonly Value[] | undefined {
    const set = this.variables.get(name);
    if (set) return set;
    if (name === '@' || name === '*') return [this.positional];
    if (/^[0-9]+$/.test(name)) {
      const given = name === '0' ? this.zero : this.positional[Number(name) - 1];
      return given && [[given]];
    }
    if (numbers.has(name)) return [[unknown('number')]];
    if (name === 'PWD') return [[this.cwd?.path === undefined ? unknown('output') : plain(this.cwd.path)]];
    if (name === 'OLDPWD') return [[plain(this.previousCwd?.path ?? '')]];
    const value = wellKnown.get(name);
    return value === undefined ? undefined : [[plain(value)]];
  }
}
