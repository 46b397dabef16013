import type { Code, Language } from './invocation.js';
import { Options } from './options.js';
import type { Text } from './text.js';

interface Interpreter {
  readonly language: Language;
  readonly takesValue: string;
  /** Options whose value is program text; a shell's `-c` takes its script from the operands instead. */
  readonly inline: readonly string[];
}

const shell: Interpreter = { language: 'shell', takesValue: 'o O rcfile init-file', inline: [] };
const python: Interpreter = { language: 'python', takesValue: 'c m W X', inline: ['c'] };
const javascript: Interpreter = {
  language: 'javascript',
  takesValue: 'e eval p print pe r require import loader C conditions',
  inline: ['e', 'eval', 'p', 'print', 'pe'],
};

const interpreters: readonly (readonly [RegExp, Interpreter])[] = [
  [/^(?:r?ba|da|z|k|mk|a|fi|c|tc|r)?sh$/, shell],
  [/^(?:python|pypy)[0-9.]{0,6}$/, python],
  [/^(?:node|nodejs|bun|tsx|ts-node|deno|qjs)$/, javascript],
  [/^perl[0-9.]{0,8}$/, { language: 'perl', takesValue: 'e E I M', inline: ['e', 'E'] }],
  [/^(?:ruby|jruby)[0-9.]{0,6}$/, { language: 'ruby', takesValue: 'e I r', inline: ['e'] }],
  [/^php[0-9.]{0,6}$/, { language: 'php', takesValue: 'r B R E d f', inline: ['r', 'B', 'R', 'E'] }],
  [/^lua(?:jit)?[0-9.]{0,6}$/, { language: 'lua', takesValue: 'e l', inline: ['e'] }],
  [/^[gmn]?awk$/, { language: 'awk', takesValue: 'F v f e source', inline: ['e', 'source'] }],
];

export const interpreterOf = (program: string): Interpreter | undefined =>
  interpreters.find(([pattern]) => pattern.test(program))?.[1];

/** Language of a script by its first line; the shell's without one. */
export const shebangOf = (source: string): Language => {
  const line = /^#!\s{0,4}(\S{1,80})[^\S\n]{0,4}(\S{0,80})/.exec(source);
  const languages = [line?.[2], line?.[1]].map(
    (path) => interpreterOf(path?.slice(path.lastIndexOf('/') + 1) ?? '')?.language,
  );
  return languages.find((language) => language !== undefined) ?? 'shell';
};

/** Program texts that an interpreter gets, and its `$0` and `$1` …. */
export interface Given {
  readonly code: readonly Code[];
  readonly zero?: Text | undefined;
  readonly positional: readonly Text[];
}
const none: Given = { code: [], positional: [] };

/** A shell's `+x` turns an option off and names no file. */
const withoutPlus = (word: Text): Text => (/^\+[a-zA-Z]/.test(word.text) ? { ...word, text: '-x' } : word);

const shellCode = (args: readonly Text[], stdin: Text, contents: (path: Text) => Text | undefined): Given => {
  const options = new Options(args.map(withoutPlus), shell.takesValue, 'at operand');
  const [first, ...rest] = options.operands;
  const language = 'shell';
  const startup = options.values('rcfile', 'init-file').flatMap((file) => contents(file) ?? []);
  if (startup.length > 0) return { code: startup.map((source) => ({ language, source })), positional: [] };
  if (options.has('c'))
    return { code: first ? [{ language, source: first }] : [], zero: rest[0], positional: rest.slice(1) };
  if (!first || first.text === '-' || first.text === '/dev/stdin' || options.has('s')) {
    return {
      code: stdin.text === '' ? [] : [{ language, source: stdin }],
      positional: options.has('s') ? options.operands : rest,
    };
  }
  const source = contents(first);
  return { code: source ? [{ language, source }] : [], zero: first, positional: rest };
};

/**
 * Program text on a command line, on standard input, or in a file that the plan itself wrote.
 * @param contents what the plan wrote into a file; undefined for a file that is just there
 */
export const codeOf = (
  program: string,
  args: readonly Text[],
  stdin: Text,
  contents: (path: Text) => Text | undefined,
): Given => {
  const interpreter = interpreterOf(program);
  if (!interpreter) return none;
  const { language, takesValue, inline } = interpreter;
  if (language === 'shell') return shellCode(args, stdin, contents);
  const isDenoEval = program === 'deno' && args[0]?.text === 'eval';
  const options = new Options(isDenoEval ? args.slice(1) : args, takesValue, 'at operand');
  const [first, ...rest] = options.operands;
  const given = options.values(...inline);
  if (given.length > 0) return { code: given.map((source) => ({ language, source })), positional: options.operands };
  if (isDenoEval || (language === 'awk' && !options.has('f', 'file')))
    return { code: first ? [{ language, source: first }] : [], positional: rest };
  if (language === 'awk' || options.has('m')) return none;
  const source = !first || first.text === '-' || first.text === '/dev/stdin' ? stdin : contents(first);
  return { code: source && source.text !== '' ? [{ language, source }] : [], zero: first, positional: rest };
};
