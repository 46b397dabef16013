import { byProgram } from '../by-program.js';
import { interpreterOf } from '../shell/interpreters.js';
import type { Invocation } from '../shell/invocation.js';
import { gitValues } from '../shell/git.js';
import { Options } from '../shell/options.js';
import { plain, slice, type Text } from '../shell/text.js';
import { findRoots } from '../shell/items.js';
import type { Effect } from './effect.js';

type Reading = (args: readonly Text[], invocation: Invocation) => Effect[];

const reads = (paths: readonly Text[]): Effect[] => paths.map((path) => ({ does: 'read', path }));
const writes = (paths: readonly Text[]): Effect[] => paths.map((path) => ({ does: 'write', path }));
const deletes = (paths: readonly Text[], whole = true): Effect[] =>
  paths.map((path) => ({ does: 'delete', path, whole }));
const here = plain('.');

/** Sources, then a target: the last word, or the value of -t. */
const transfer =
  (takesValue: string, onSources: (paths: readonly Text[]) => Effect[]): Reading =>
  (args) => {
    const options = new Options(args, takesValue);
    const into = options.value('t', 'target-directory');
    if (into) return [...onSources(options.operands), ...writes([into])];
    if (options.has('d', 'directory') && takesValue.includes('m')) return writes(options.operands);
    return [...onSources(options.operands.slice(0, -1)), ...writes(options.operands.slice(-1))];
  };

const each =
  (act: (paths: readonly Text[]) => Effect[], takesValue = '', skip = 0): Reading =>
  (args) =>
    act(new Options(args, takesValue).operands.slice(skip));

/** Files that an option names. */
const named =
  (takesValue: string, act: (paths: readonly Text[]) => Effect[], ...names: readonly string[]): Reading =>
  (args) =>
    act(new Options(args, takesValue).values(...names).filter(({ text }) => text !== '-'));

const both =
  (...readings: readonly Reading[]): Reading =>
  (args, invocation) =>
    readings.flatMap((reading) => reading(args, invocation));

const permission = (args: readonly Text[]): Effect[] => {
  // A mode such as -x looks like an option and is none.
  const words = args.filter(({ text }) => !/^-(?:[RvfcHLPh]{1,6}|-[a-z].*)$/.test(text));
  const [mode, ...paths] = words;
  return mode ? paths.map((path) => ({ does: 'permission', path, mode: mode.text })) : [];
};

const find: Reading = (args) => {
  const roots = findRoots(args);
  const names = args.map(({ text }) => text);
  const condition =
    /^-(?:i?name|i?path|i?regex|type|mtime|mmin|atime|amin|ctime|newer\w{0,2}|size|empty|user|perm|links|inum|samefile|maxdepth|mindepth)$/;
  // A type alone says nothing of which files: everything is of some type.
  const hasCondition = names.some(
    (name, index) =>
      condition.test(name) &&
      !(name === '-type' && names.length < 6) &&
      !(/^-i?name$/.test(name) && names[index + 1] === '*'),
  );
  const files = args.filter((_, index) => /^-(?:fprint0?|fprintf|fls)$/.test(names[index - 1] ?? ''));
  return [...(names.includes('-delete') ? deletes(roots, !hasCondition) : []), ...writes(files)];
};

const dd: Reading = (args) => {
  const of = (name: string): Text[] =>
    args.flatMap((word) => (word.text.startsWith(name) ? [slice(word, name.length)] : []));
  return [...reads(of('if=')), ...writes(of('of='))];
};

const tar: Reading = (args) => {
  const [first, ...rest] = args;
  // The old style has no dash before its letters.
  const words = first && /^[A-Za-z]{1,12}$/.test(first.text) ? [{ ...first, text: `-${first.text}` }, ...rest] : args;
  const options = new Options(words, 'f file C directory T files-from X exclude-from exclude');
  const archive = options.values('f', 'file').filter(({ text }) => text !== '-');
  const folder = options.values('C', 'directory');
  if (options.has('x', 'extract', 'get')) {
    const names = options.has('P', 'absolute-names') ? [plain('/')] : [];
    return [...reads(archive), ...writes(folder.length > 0 ? folder : [here]), ...writes(names)];
  }
  if (!options.has('c', 'create', 'r', 'append', 'u', 'update')) return reads(archive);
  return [...writes(archive), ...reads(options.operands.length > 0 ? options.operands : folder)];
};

const inPlace: Reading = (args) => {
  const options = new Options(args, 'e expression f file l line-length');
  const files = options.operands.slice(options.has('e', 'expression', 'f', 'file') ? 0 : 1);
  const isInPlace = options.has('i', 'in-place') || args.some(({ text }) => /^-[nErsz]{0,4}i/.test(text));
  return isInPlace ? writes(files) : reads(files);
};

const perlInPlace: Reading = (args) => {
  const options = new Options(args, 'e E I M');
  return args.some(({ text }) => /^-[a-df-z]{0,4}i/.test(text)) ? writes(options.operands) : [];
};

const git: Reading = (args) => {
  const options = new Options(args, gitValues, 'at operand');
  const [verb, ...rest] = options.operands;
  const folders = options.values('C', 'git-dir', 'work-tree');
  const own = new Options(
    rest,
    'b branch o origin depth reference template c config j jobs filter separate-git-dir output f file',
  );
  const changes =
    !/^(?:status|log|diff|show|rev-parse|ls-files|branch|blame|grep|describe|cat-file|shortlog|ls-tree|rev-list|help|version)$/.test(
      verb?.text ?? 'help',
    );
  const found = changes ? writes(folders) : reads(folders);
  if (verb?.text === 'clone') found.push(...writes(own.operands.slice(1)));
  if (verb?.text === 'worktree' && rest[0]?.text === 'add') found.push(...writes(own.operands.slice(1, 2)));
  if (verb?.text === 'init') found.push(...writes(own.operands));
  if (verb?.text === 'config') {
    if (own.has('global'))
      found.push(
        ...(own.operands.length > 1 || own.has('unset', 'unset-all', 'add', 'e', 'edit')
          ? writes([plain('~/.gitconfig')])
          : []),
      );
    if (own.has('system')) found.push(...(own.operands.length > 1 ? writes([plain('/etc/gitconfig')]) : []));
    found.push(...writes(own.values('f', 'file')));
  }
  if (verb?.text === 'archive' || verb?.text === 'format-patch') found.push(...writes(own.values('o', 'output')));
  if (verb?.text === 'bundle') found.push(...writes(own.operands.slice(1, 2)));
  return found;
};

const rsyncValues =
  'e rsh rsync-path f filter exclude include exclude-from include-from files-from T temp-dir partial-dir log-file out-format bwlimit port password-file chmod chown backup-dir compare-dest copy-dest link-dest max-size min-size';
const isRemotePath = ({ text }: Text): boolean => /^[^/]{1,255}:/.test(text) || text.startsWith('rsync://');
const rsync: Reading = (args) => {
  const options = new Options(args, rsyncValues);
  const [target] = options.operands.slice(-1);
  const local = target && !isRemotePath(target) ? [target] : [];
  const removing = options.has('delete', 'delete-before', 'delete-after', 'delete-excluded', 'del')
    ? deletes(local)
    : [];
  const sources = options.operands.slice(0, -1).filter((path) => !isRemotePath(path));
  return [
    ...reads(sources),
    ...(options.has('remove-source-files') ? deletes(sources, false) : []),
    ...writes(local),
    ...removing,
  ];
};

const scp: Reading = (args) => {
  const { operands } = new Options(args, 'c F i J l o P S X D');
  return [
    ...reads(operands.slice(0, -1).filter((path) => !isRemotePath(path))),
    ...writes(operands.slice(-1).filter((path) => !isRemotePath(path))),
  ];
};

const link: Reading = (args) => {
  const options = new Options(args, 't target-directory S suffix');
  const into = options.value('t', 'target-directory');
  return writes(into ? [into] : options.operands.length > 1 ? options.operands.slice(-1) : []);
};

/** The last name of a URL, under which a download without another name is kept. */
const nameOf = (url: Text): Text => {
  const path = url.text.split(/[?#]/, 1)[0] ?? '';
  return plain(path.slice(path.lastIndexOf('/') + 1) || 'index.html');
};
const kept =
  (takesValue: string, isKept: (options: Options) => boolean): Reading =>
  (args) => {
    const options = new Options(args, takesValue);
    return isKept(options) ? writes(options.operands.map(nameOf)) : [];
  };

const download: Reading = both(
  kept('o output H header d data X request u user A user-agent e referer F form T upload-file', (options) =>
    options.has('O', 'remote-name'),
  ),
  named(
    'o output H header d data X request u user A user-agent e referer F form T upload-file output-dir b cookie c cookie-jar K config',
    writes,
    'o',
    'output',
    'output-dir',
    'c',
    'cookie-jar',
  ),
);

const table: ReadonlyMap<string, Reading> = byProgram<Reading>([
  [
    'rm rmdir unlink srm trash trash-put rimraf del-cli shred wipe del erase',
    each(deletes, 'n iterations s size random-source interactive'),
  ],
  ['find', find],
  ['mv', transfer('t target-directory S suffix', writes)],
  ['cp', transfer('t target-directory S suffix', reads)],
  ['gcp', transfer('t target-directory S suffix', reads)],
  ['install', transfer('t target-directory m mode o owner g group S suffix', reads)],
  ['ln', link],
  ['link', link],
  ['tee', each(writes)],
  ['sponge', each(writes)],
  ['touch', each(writes, 'd date r reference t')],
  ['mkdir', each(writes, 'm mode')],
  ['mkfifo', each(writes, 'm mode')],
  ['mknod', each((paths) => writes(paths.slice(0, 1)), 'm mode')],
  ['truncate', each(writes, 's size r reference')],
  ['fallocate', each(writes, 'l length o offset')],
  ['chmod', permission],
  ['chown', permission],
  ['chgrp', permission],
  ['setfacl', each(writes, 'm modify x remove M')],
  ['chattr', permission],
  ['dd', dd],
  ['tar', tar],
  ['bsdtar', tar],
  ['unzip', both(named('d x P', writes, 'd'), each(reads, 'd x P'))],
  ['7z', (args) => args.flatMap((word) => (word.text.startsWith('-o') ? writes([slice(word, 2)]) : []))],
  ['cpio', named('D directory F file', writes, 'D', 'directory', 'F', 'file')],
  ['sed', inPlace],
  ['gsed', inPlace],
  ['perl', perlInPlace],
  ['patch', named('d directory i input o output p strip', writes, 'd', 'directory', 'o', 'output')],
  ['git', git],
  ['rsync', rsync],
  ['scp', scp],
  ['curl', download],
  [
    'wget',
    both(
      kept(
        'O output-document P o a header post-file post-data method body-file body-data user password e U t T',
        (options) => !options.has('O', 'output-document', 'spider'),
      ),
      named(
        'O output-document P directory-prefix o output-file a header post-file post-data method body-file body-data user password e execute U user-agent t tries T timeout',
        writes,
        'O',
        'output-document',
        'P',
        'directory-prefix',
        'o',
        'output-file',
        'a',
      ),
    ),
  ],
  ['aria2c', named('d dir o out', writes, 'd', 'dir', 'o', 'out')],
  [
    'sort',
    both(
      named('o output k key t field-separator T S', writes, 'o', 'output'),
      each(reads, 'o output k key t field-separator T S'),
    ),
  ],
  ['openssl', named('out in', writes, 'out')],
  ['ssh-keygen', named('f t b C N P m', writes, 'f')],
  ['gpg', named('o output r recipient u', writes, 'o', 'output')],
  ['split', each((paths) => writes(paths.slice(1)), 'b bytes l lines n number a suffix-length')],
  ['pip', named('t target prefix root r requirement', writes, 't', 'target', 'prefix', 'root')],
  ['pip3', named('t target prefix root r requirement', writes, 't', 'target', 'prefix', 'root')],
  ['make', named('C directory f file j jobs', writes, 'C', 'directory')],
  ['cat', each(reads)],
  ['head tail', each(reads, 'n lines c bytes')],
  ['grep', each(reads, 'e f A B C m include exclude', 1)],
  [
    'less more nl od xxd strings wc base64 md5sum sha256sum sha1sum cut paste tac rev uniq diff cmp jq yq bat hexdump gzip zip file source . openssl-in',
    each(reads, 'd f delimiter fields'),
  ],
]);

/** Files that the shell opens for the command, and whose names stand in its variables. */
const redirected = ({ redirections }: Invocation): Effect[] =>
  redirections.map(({ access, target }) => ({ does: access, path: target }));

/** What a known program does to the files that its arguments name. An interpreter's own file is read. */
export const fileEffects = (invocation: Invocation): Effect[] => {
  const { program, args } = invocation;
  const reading = table.get(program);
  const script =
    interpreterOf(program) && program !== 'perl'
      ? reads(new Options(args, 'c e m', 'at operand').operands.slice(0, 1))
      : [];
  return [...redirected(invocation), ...(reading?.(args, invocation) ?? script)];
};
