import type { Inner, Invocation } from './invocation.js';
import { Options } from './options.js';
import { concat, isKnown, origins, plain, slice, split, unknown, type Text } from './text.js';

type Unwrap = (args: readonly Text[], invocation: Pick<Invocation, 'stdin'>) => readonly Inner[];

const command = (argv: readonly Text[]): Inner[] => (argv.length > 0 ? [{ argv }] : []);

const replaceAll = (word: Text, mark: string, by: Text): Text => {
  const pieces: Text[] = [];
  let start = 0;
  for (let at = word.text.indexOf(mark); at !== -1; at = word.text.indexOf(mark, start)) {
    pieces.push(slice(word, start, at), by);
    start = at + mark.length;
  }
  return pieces.length === 0 ? word : concat([...pieces, slice(word, start)]);
};

/** Folders that the names on a stream lie in, as far as the command that prints them says. */
const listedIn = (stream: Text): readonly Text[] | undefined => {
  for (const { program, args } of origins(stream)) {
    if (program === 'find' || program === 'fd' || program === 'fdfind') return findRoots(args);
    if (program === 'ls') {
      const { operands } = new Options(args);
      return operands.length > 0 ? operands : [plain('.')];
    }
    if (program === 'git' || program === 'rg') return [plain('.')];
  }
  return undefined;
};

/** Folders that `find` looks through. */
export const findRoots = (args: readonly Text[]): readonly Text[] => {
  const first = args.findIndex(({ text }) => !/^-[HLPDO]/.test(text));
  const rest = first === -1 ? [] : args.slice(first);
  const end = rest.findIndex(({ text }) => /^[-!(]/.test(text));
  const roots = end === -1 ? rest : rest.slice(0, end);
  return roots.length > 0 ? roots : [plain('.')];
};

/** What `find` starts for each file that it finds. */
export const find: Unwrap = (args) => {
  const found = unknown('item', [], findRoots(args));
  const inner: Inner[] = [];
  for (let index = 0; index < args.length; index += 1) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(args[index]?.text ?? '')) continue;
    const length = args.slice(index + 1).findIndex(({ text }) => text === ';' || text === '+');
    const words = args.slice(index + 1, length === -1 ? undefined : index + 1 + length);
    inner.push(...command(words.map((word) => replaceAll(word, '{}', found))));
    index += words.length;
  }
  return inner;
};

const xargsValues = 'a arg-file d delimiter E I replace L max-lines n max-args P max-procs s max-chars';

/** What `xargs` starts with the items that come in. */
export const xargs: Unwrap = (args, { stdin }) => {
  const options = new Options(args, xargsValues, 'at operand');
  const words = options.operands.length > 0 ? options.operands : [plain('echo')];
  const items = isKnown(stdin)
    ? split(stdin, ' \t\n\0')
        .filter(({ text }) => text !== '')
        .slice(0, 64)
    : [unknown('item', origins(stdin), listedIn(stdin))];
  const mark = options.value('I', 'replace')?.text;
  if (mark === undefined) return command([...words, ...items]);
  return items.flatMap((item) => command(words.map((word) => replaceAll(word, mark, item))));
};
