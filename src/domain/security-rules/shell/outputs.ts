import { byProgram } from '../by-program.js';
import { normalize, resolve } from '../place.js';
import { fromBase64, fromEscapes, fromHex, translated } from './decode.js';
import type { Invocation } from './invocation.js';
import { Options } from './options.js';
import { concat, decodedText, emptyText, isKnown, mapText, plain, unknown, type Text } from './text.js';
import type { WrittenFiles } from './written-files.js';

type Output = (invocation: Invocation, files: WrittenFiles, workspace: string) => Text | undefined;

const words = (args: readonly Text[]): Text =>
  concat([emptyText, ...args.flatMap((argument, index) => (index > 0 ? [plain(' '), argument] : [argument]))]);

const echo: Output = ({ args }) => {
  let rest = args;
  let escapes = true; // dash follows escapes without -e; a letter too many is no harm
  while (/^-[neE]{1,3}$/.test(rest[0]?.text ?? '')) {
    if (rest[0]?.text.includes('E')) escapes = false;
    rest = rest.slice(1);
  }
  const line = concat([words(rest), plain('\n')]);
  return escapes ? mapText(line, fromEscapes) : line;
};

/** Formats with `%s`, `%b`, `%c`, `%d`, `%q` and no width; the format is used again while arguments are left. */
const printf: Output = ({ args }) => {
  const [format, ...rest] = args[0]?.text === '--' ? args.slice(1) : args;
  if (!format) return emptyText;
  if (!isKnown(format)) return undefined;
  const pieces = format.text.split(/(%%|%[sbdciqxXou])/);
  const places = pieces.filter((piece) => /^%[^%]$/.test(piece)).length;
  const out: Text[] = [emptyText];
  let used = 0;
  do {
    for (const piece of pieces) {
      if (piece === '%%') out.push(plain('%'));
      else if (!/^%[^%]$/.test(piece)) out.push(plain(fromEscapes(piece)));
      else {
        const value = rest[used++] ?? emptyText;
        out.push(piece === '%b' ? mapText(value, fromEscapes) : value);
      }
    }
  } while (places > 0 && used < rest.length);
  return concat(out);
};

const operandsOf = ({ args }: Invocation, takesValue = ''): readonly Text[] => new Options(args, takesValue).operands;

/** The input itself, or the files that the plan wrote. */
const through: Output = (invocation, files) => {
  const operands = operandsOf(invocation).filter(({ text }) => text !== '-');
  if (operands.length === 0) return invocation.stdin;
  const contents = operands.map((operand) => files.read(operand, invocation.cwd));
  return contents.every((content) => content !== undefined) ? concat([emptyText, ...contents]) : undefined;
};

const decoded =
  (decode: (text: string) => string | undefined, isDecoding: (options: Options) => boolean): Output =>
  (invocation, files, workspace) => {
    if (!isDecoding(new Options(invocation.args))) return undefined;
    const input = through(invocation, files, workspace);
    const text = input && isKnown(input) ? decode(input.text) : undefined;
    return text === undefined ? undefined : decodedText(text);
  };

const tr: Output = ({ args, stdin }) => {
  const options = new Options(args);
  const [from, to] = options.operands;
  if (!from || !isKnown(stdin) || !isKnown(from) || options.has('s', 'c', 'C')) return undefined;
  const result = translated(stdin.text, from.text, to?.text ?? '', options.has('d'));
  // Another case or fewer characters hide nothing.
  const isReadable = options.has('d') || /^(?:\[:(?:upper|lower):\]|A-Z|a-z|[^a-zA-Z]{1,20})$/.test(from.text);
  return isReadable ? { ...stdin, text: result } : decodedText(result);
};

const reversed: Output = ({ args, stdin }) =>
  args.length === 0 && isKnown(stdin)
    ? decodedText(
        stdin.text
          .split('\n')
          .map((line) => line.split('').reverse().join(''))
          .join('\n'),
      )
    : undefined;

const openssl: Output = (invocation, files, workspace) => {
  const names = invocation.args.map(({ text }) => text);
  if (
    !names.includes('-d') ||
    !names.some((name) => /^-?(?:base64|a)$/.test(name)) ||
    names.some((name) => /^-(?:aes|des|k|pass|in)/.test(name))
  )
    return undefined;
  return decoded(fromBase64, () => true)({ ...invocation, args: [] }, files, workspace);
};

const folder: Output = ({ args }) => {
  const operand = args.at(-1);
  if (!operand) return undefined;
  const at = operand.text.lastIndexOf('/');
  return at === -1 ? plain('.') : mapText(operand, (text) => text.slice(0, Math.max(at, 1)));
};

const absolute: Output = ({ args, cwd }, _files, workspace) => {
  const operand = new Options(args).operands[0];
  const path = operand && isKnown(operand) ? resolve(operand, cwd, workspace).path : undefined;
  return path === undefined ? operand : plain(path);
};

const git: Output = ({ args, cwd }, _files, workspace) => {
  const names = args.map(({ text }) => text).join(' ');
  if (names.startsWith('rev-parse --show-toplevel')) return plain(workspace);
  return names === 'rev-parse --git-dir' ? plain(`${cwd?.path ?? workspace}/.git`) : undefined;
};

const sequence: Output = () => unknown('number');

const outputs: ReadonlyMap<string, Output> = byProgram<Output>([
  ['echo', echo],
  ['printf', printf],
  ['cat', through],
  ['tee sponge pv buffer iconv dos2unix', (invocation) => invocation.stdin],
  ['base64 gbase64', decoded(fromBase64, (options) => options.has('d', 'D', 'decode'))],
  ['basenc', decoded(fromBase64, (options) => options.has('d', 'decode') && options.has('base64', 'base64url'))],
  ['xxd', decoded(fromHex, (options) => options.has('r'))],
  ['openssl', openssl],
  ['tr', tr],
  ['rev', reversed],
  ['which', ({ args }) => (args[0] ? concat([plain('/usr/bin/'), args[0]]) : undefined)],
  ['pwd', ({ cwd }) => (cwd?.path === undefined ? undefined : plain(cwd.path))],
  ['mktemp', () => plain('/tmp/tmp.X')],
  ['dirname', folder],
  [
    'basename',
    ({ args }) => args[0] && mapText(args[0], (text) => text.slice(text.replace(/\/$/, '').lastIndexOf('/') + 1)),
  ],
  ['realpath readlink greadlink', absolute],
  ['nproc seq date wc expr stat du tput', sequence],
  ['git', git],
  [
    'npm',
    ({ args, cwd }) =>
      /^(?:root|prefix|bin)$/.test(args[0]?.text ?? '') && args.length === 1 && cwd?.path
        ? plain(normalize(`${cwd.path}/node_modules`))
        : undefined,
  ],
]);

/** Longer than any script that is read: its output is not worth following. */
const maxLength = 200_000;
const isShort = ({ args, stdin }: Invocation): boolean =>
  args.reduce((length, { text }) => length + text.length, stdin.text.length) <= maxLength;

/** What a program prints, where that follows from its arguments and its input; otherwise a hole that names it. */
export const outputOf = (invocation: Invocation, files: WrittenFiles, workspace: string): Text =>
  (isShort(invocation) ? outputs.get(invocation.program)?.(invocation, files, workspace) : undefined) ??
  unknown('output', [invocation]);
