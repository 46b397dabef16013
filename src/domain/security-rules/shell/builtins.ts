import { byProgram } from '../by-program.js';
import { homePath, resolve } from '../place.js';
import type { Call } from './invocation.js';
import { Options } from './options.js';
import type { Reader } from './reader.js';
import type { Scope, Value } from './scope.js';
import { concat, emptyText, isKnown, plain, slice, split, unknown, type Text } from './text.js';

type Builtin = (args: readonly Text[], scope: Scope, reader: Reader, call: Call, words: readonly Text[]) => Text;

const afterOptions = (args: readonly Text[]): readonly Text[] => {
  const first = args.findIndex(({ text }) => !/^[-+]./.test(text) || text === '--');
  if (first === -1) return [];
  return args[first]?.text === '--' ? args.slice(first + 1) : args.slice(first);
};

const changeFolder: Builtin = (args, scope, { workspace }) => {
  const [target] = afterOptions(args);
  const before = scope.cwd;
  if (target === undefined && args.at(-1)?.text === '-') scope.cwd = scope.previousCwd;
  else if (!target) scope.cwd = { path: homePath, climbed: false };
  else if (target.text !== '') scope.cwd = resolve(target, scope.cwd, workspace);
  scope.previousCwd = before;
  return emptyText;
};

/** Every variable with its value, as `set` and `export -p` print them. */
const environment = (reader: Reader, scope: Scope, call: Call): Text =>
  unknown('output', [reader.record([plain('printenv')], scope, call)]);

/** `export`, `declare` and their like: words of the form name=value. */
const declare: Builtin = (args, scope, reader, call) => {
  if (args.length === 0 || (args.length === 1 && /^-p|^-x$/.test(args[0]?.text ?? '')))
    return environment(reader, scope, call);
  for (const word of args) {
    const match = /^([A-Za-z_][A-Za-z0-9_]*)(\+?)=/.exec(word.text);
    if (!match) continue;
    const value = slice(word, match[0].length);
    const before = match[2] ? (scope.lookup(match[1] as string)?.at(-1) ?? []) : [];
    scope.assign(match[1] as string, [concat([emptyText, ...before, value])]);
    reader.record([plain(':')], scope, { ...call, environment: [{ name: match[1] as string, value }] });
  }
  return emptyText;
};

const set: Builtin = (args, scope, reader, call) => {
  if (args.length === 0) return environment(reader, scope, call);
  const dashes = args.findIndex(({ text }) => text === '--');
  for (const { text } of dashes === -1 ? args : args.slice(0, dashes)) {
    if (/^-[a-z]{0,20}u/.test(text) || text === 'nounset') scope.endsOnUnset = true;
  }
  if (dashes !== -1) scope.positional = args.slice(dashes + 1);
  else if (args[0] && !/^[-+]/.test(args[0].text)) scope.positional = args;
  return emptyText;
};

/** Gives each name a piece of what comes in; the last name gets the rest. */
const read: Builtin = (args, scope, _reader, call) => {
  const options = new Options(args, 'a d i n N p t u');
  const names = [...options.values('a'), ...options.operands];
  const line = call.stdin.text === '' ? unknown('input') : call.stdin;
  const known = isKnown(line);
  const lines: Text[] = known
    ? split(line, '\n')
        .filter(({ text }) => text !== '')
        .slice(0, 16)
    : [line];
  const targets = names.length > 0 ? names : [plain('REPLY')];
  // Each line is one value that the name may have when a loop reads them one by one.
  for (const [index, { text }] of lines.entries()) {
    const pieces = known ? split({ ...line, text: lines[index]?.text ?? '' }, ' \t') : [];
    for (const [at, name] of targets.entries()) {
      const rest = pieces.slice(at).flatMap((piece, number) => (number > 0 ? [plain(' '), piece] : [piece]));
      const value: Value = [
        known ? (at === targets.length - 1 ? concat([emptyText, ...rest]) : (pieces[at] ?? emptyText)) : line,
      ];
      if (index === 0) scope.set(name.text, value);
      else {
        const outer = scope.isConditional;
        scope.isConditional = true;
        scope.assign(name.text, value);
        scope.isConditional = outer;
      }
    }
    if (text === '') break;
  }
  return emptyText;
};

/** Code in the shell's own process: recorded, so that rules see what it is made of, then read. */
const evaluate: Builtin = (args, scope, reader, call, words) => {
  reader.record(words, scope, call);
  return reader.script(
    concat([emptyText, ...args.flatMap((argument, index) => (index > 0 ? [plain(' '), argument] : [argument]))]),
    scope,
  );
};

const source: Builtin = (args, scope, reader, call, words) => {
  const invocation = reader.record(words, scope, call);
  const [file] = args;
  const code = invocation.runs[0]?.source;
  if (!file || !code) return emptyText;
  return isKnown(code) ? reader.script(code, scope) : emptyText;
};

const trap: Builtin = (args, scope, reader) => {
  const [action] = afterOptions(args);
  return action && action.text !== '' ? reader.script(action, scope.fork()) : emptyText;
};

const alias: Builtin = (args, scope) => {
  for (const word of args) {
    const at = word.text.indexOf('=');
    if (at > 0) scope.aliases.set(word.text.slice(0, at), slice(word, at + 1));
  }
  return emptyText;
};

const execute: Builtin = (args, scope, reader, call) => {
  let rest = args;
  while (/^-[acl]{1,3}$/.test(rest[0]?.text ?? '')) rest = rest.slice(rest[0]?.text.includes('a') ? 2 : 1);
  if (rest.length === 0) {
    if (call.redirections.length > 0) reader.record([plain(':')], scope, call);
    return emptyText;
  }
  return reader.start(rest, scope, call);
};

const command: Builtin = (args, scope, reader, call) => {
  if (args[0]?.text === '-v' || args[0]?.text === '-V') return args[1] ?? emptyText;
  const rest = args[0]?.text === '-p' ? args.slice(1) : args;
  const name = rest[0]?.text ?? '';
  const own = scope.fork();
  own.functions = new Map([...scope.functions].filter(([known]) => known !== name));
  return builtins.has(name) ? reader.execute(rest, scope, call) : reader.execute(rest, own, call);
};

const unset: Builtin = (args, scope) => {
  for (const { text } of args) scope.unset(text);
  return emptyText;
};

const shift: Builtin = (args, scope) => {
  scope.positional = scope.positional.slice(Number(args[0]?.text ?? 1) || 1);
  return emptyText;
};

const printfInto: Builtin = (args, scope, reader, call, words) => {
  if (args[0]?.text !== '-v' || !args[1]) return reader.start(words, scope, call);
  const name = words[0] as Text;
  scope.assign(args[1].text, [reader.start([name, ...args.slice(2)], scope, call)]);
  return emptyText;
};

const mapfile: Builtin = (args, scope, _reader, call) => {
  const name = afterOptions(args)[0]?.text ?? 'MAPFILE';
  scope.assign(name, isKnown(call.stdin) ? split(call.stdin, '\n').filter(({ text }) => text !== '') : [call.stdin]);
  return emptyText;
};

const nothing: Builtin = (_args, scope, reader, call) => {
  if (call.redirections.length > 0) reader.record([plain(':')], scope, call);
  return emptyText;
};

/** The shell's own commands that change what follows; the others are programs like any. */
export const builtins: ReadonlyMap<string, Builtin> = byProgram<Builtin>([
  ['cd pushd chdir', changeFolder],
  ['popd', (_args, scope, reader, call, words) => changeFolder([plain('-')], scope, reader, call, words)],
  ['export declare local readonly typeset', declare],
  [': true false let return break continue wait shopt umask hash type times', nothing],
  ['set', set],
  ['shift', shift],
  ['unset', unset],
  ['read', read],
  ['mapfile', mapfile],
  ['readarray', mapfile],
  ['eval', evaluate],
  ['source', source],
  ['.', source],
  ['trap', trap],
  ['alias', alias],
  ['exec', execute],
  ['command', command],
  ['builtin', command],
  ['printf', printfInto],
]);
