import { readCode } from '../code/index.js';
import { codeOf, shebangOf } from './interpreters.js';
import type { Call, Code, Inner, Invocation } from './invocation.js';
import { outputOf } from './outputs.js';
import type { Reader } from './reader.js';
import type { Scope } from './scope.js';
import { holeMark, isKnown, type Text } from './text.js';
import { startedBy } from './wrappers.js';

/** An invocation, what it starts in turn, and what it prints; undefined where the programs that it starts print it. */
export interface Run {
  readonly invocation: Invocation;
  readonly inner: readonly Inner[];
  readonly output: Text | undefined;
}

/** The name without its folder; empty where it is not known. */
const programOf = ({ text }: Text): string => (text.includes(holeMark) ? '' : text.slice(text.lastIndexOf('/') + 1));

/** What these variables hold, programs give to a shell. */
const commandVariables = new Set([
  'GIT_SSH_COMMAND',
  'GIT_EDITOR',
  'GIT_SEQUENCE_EDITOR',
  'GIT_PAGER',
  'GIT_EXTERNAL_DIFF',
  'GIT_ASKPASS',
  'EDITOR',
  'VISUAL',
  'PAGER',
  'MANPAGER',
  'BROWSER',
  'PROMPT_COMMAND',
  'LESSOPEN',
  'RSYNC_RSH',
]);
const fromVariables = ({ environment }: Call): Inner[] =>
  environment
    .filter(({ name, value }) => commandVariables.has(name) && /\s/.test(value.text))
    .map(({ value }) => ({ script: value }));

/** Programs that print something of their own, whatever they start. */
const printsItself =
  /^(?:find|git|tar|bsdtar|make|gmake|rsync|scp|vim|vi|nvim|view|ex|less|gdb|psql|mysql|mariadb|sqlite3|duckdb|sed|gsed|docker|podman|nerdctl|docker-compose|kubectl|oc|ssh|perl|ruby|php|lua|node|bun|deno|[gmn]?awk|(?:python|pypy)[0-9.]{0,6})$/;

/** Takes one command apart; nothing is run. */
export const run = (words: readonly Text[], scope: Scope, call: Call, reader: Reader): Run => {
  const [name, ...args] = words as [Text, ...Text[]];
  const program = programOf(name);
  const contents = (path: Text): Text | undefined =>
    path.text === '/dev/stdin' ? call.stdin : reader.files.read(path, scope.cwd);
  const given = codeOf(program, args, call.stdin, contents);
  const isSourced = program === 'source' || program === '.';
  const written = isSourced ? args[0] && contents(args[0]) : name.text.includes('/') ? contents(name) : undefined;
  const own: Code[] = program === 'eval' ? args.map((source) => ({ language: 'shell', source })) : [];
  const code = [
    ...given.code,
    ...own,
    ...(written ? [{ language: isSourced ? ('shell' as const) : shebangOf(written.text), source: written }] : []),
  ];
  const read = code
    .filter(({ language }) => language !== 'shell')
    .map(({ language, source }) => readCode(source, language));
  const invocation: Invocation = {
    program,
    name,
    args,
    stdin: call.stdin,
    redirections: call.redirections,
    environment: call.environment,
    runs: code,
    codeEffects: read.flatMap(({ effects }) => effects),
    cwd: scope.cwd,
    machine: scope.machine,
    by: scope.by,
  };
  // The shell reads what `eval` and `source` are given in its own process: the builtins do it.
  const scripts =
    program === 'eval' || isSourced
      ? []
      : code.filter(({ language, source }) => language === 'shell' && (isKnown(source) || source.text !== holeMark));
  const inner: Inner[] = [
    ...scripts.map(({ source }) => ({ script: source, zero: given.zero ?? name, positional: given.positional })),
    ...read.flatMap((each) => each.inner),
    ...fromVariables(call),
    ...startedBy(invocation),
  ];
  const output =
    inner.length > 0 && !printsItself.test(program) ? undefined : outputOf(invocation, reader.files, reader.workspace);
  return { invocation, inner, output };
};
