import { byProgram } from '../by-program.js';
import { containerInner, containerNames, remoteCommand } from './containers.js';
import { gitInner } from './git.js';
import type { Inner, Invocation } from './invocation.js';
import { find, xargs } from './items.js';
import { leadingAssignments, Options } from './options.js';
import { concat, plain, slice, split, type Text } from './text.js';

type Unwrap = (args: readonly Text[], invocation: Invocation) => readonly Inner[];

const command = (argv: readonly Text[]): Inner[] => (argv.length > 0 ? [{ argv }] : []);
const script = (source: Text | undefined): Inner[] => (source ? [{ script: source }] : []);
const joined = (words: readonly Text[]): Inner[] =>
  words.length > 0
    ? [{ script: concat(words.flatMap((word, index) => (index > 0 ? [plain(' '), word] : [word]))) }]
    : [];

/** A single word is a shell's line, several are a program and its arguments. */
const line = (words: readonly Text[]): Inner[] =>
  words.length === 1 && /\s/.test(words[0]?.text ?? '') ? script(words[0]) : command(words);

/** The program behind options, variables and `skip` operands. */
const behind =
  (takesValue = '', skip = 0): ((args: readonly Text[]) => readonly Inner[]) =>
  (args) => {
    const { environment, rest } = leadingAssignments(new Options(args, takesValue, 'at operand').operands.slice(skip));
    return command(rest).map((inner) => ({ ...inner, environment }));
  };

/** A program started by a word of another, as in `poetry run`. */
const afterWord =
  (words: readonly string[], takesValue = ''): Unwrap =>
  (args) => {
    const { operands } = new Options(args, takesValue, 'at operand');
    return words.includes(operands[0]?.text ?? '') ? behind(takesValue)(operands.slice(1)) : [];
  };

const env: Unwrap = (args) => {
  const options = new Options(args, 'u unset C chdir S split-string', 'at operand');
  const operands = options.operands[0]?.text === '-' ? options.operands.slice(1) : options.operands;
  const { environment, rest } = leadingAssignments(operands);
  const line = options.value('S', 'split-string');
  const words = line ? [...split(line, ' \t\n').filter(({ text }) => text !== ''), ...rest] : rest;
  const inner = leadingAssignments(words);
  const cwd = options.value('C', 'chdir');
  return command(inner.rest).map((each) => ({
    ...each,
    environment: [...environment, ...inner.environment],
    ...(cwd ? { cwd } : {}),
  }));
};

const userSwitch: Unwrap = (args) => {
  const options = new Options(args, 'c command s shell g group G supp-group u user w');
  const given = options.value('c', 'command');
  return given ? script(given) : options.has('u', 'user') ? command(options.operands) : [];
};

const packageRunner: Unwrap = (args) => {
  const options = new Options(args, 'p package c call w workspace', 'at operand');
  const call = options.value('c', 'call');
  return call ? script(call) : line(options.operands);
};

const packageManager: Unwrap = (args, invocation) => {
  const [verb, ...rest] = new Options(args, 'C dir prefix w workspace filter F', 'at operand').operands;
  return /^(?:exec|dlx|x)$/.test(verb?.text ?? '') ? packageRunner(rest, invocation) : [];
};

const optionScripts =
  (takesValue: string, ...names: readonly string[]): Unwrap =>
  (args) =>
    new Options(args, takesValue).values(...names).flatMap(script);

/** What stands behind a mark inside of an argument. */
const marked =
  (pattern: RegExp): ((args: readonly Text[]) => readonly Inner[]) =>
  (args) =>
    args.flatMap((word) => {
      const match = pattern.exec(word.text);
      return match ? script(slice(word, match.index + match[0].length)) : [];
    });

const archive: Unwrap = (args) => {
  const options = new Options(
    args,
    'to-command checkpoint-action I use-compress-program rsh-command F info-script new-volume-script',
  );
  const actions = options
    .values('checkpoint-action')
    .flatMap((word) => (word.text.startsWith('exec=') ? script(slice(word, 5)) : []));
  return [
    ...actions,
    ...options.values('to-command', 'I', 'use-compress-program', 'rsh-command', 'F', 'info-script').flatMap(script),
  ];
};

const database: Unwrap = (args, invocation) => {
  const shell = /(?:\\!|(?:^|\n)\s{0,8}(?:\.shell|\.system|system)\s)/;
  return marked(shell)([...args, invocation.stdin]);
};

/** Recipes of a makefile: lines behind a tab, or behind a semicolon of a rule. */
const recipes = (makefile: Text): Inner[] =>
  split(makefile, '\n').flatMap((line) => {
    const at = line.text.startsWith('\t') ? 0 : /^[^\t:=]{1,200}:[^;=]{0,400};/.exec(line.text)?.[0].length;
    return at === undefined ? [] : script(slice(line, at));
  });

const make: Unwrap = (args, { stdin }) => [
  ...(new Options(args, 'f file').values('f', 'file').some(({ text }) => text === '-' || text === '/dev/stdin')
    ? recipes(stdin)
    : []),
  ...args.flatMap((word) => {
    const at = word.text.indexOf('$(shell ');
    return at === -1 ? [] : script(slice(word, at + 8, word.text.lastIndexOf(')')));
  }),
];

const screen: Unwrap = (args) => {
  const options = new Options(args, 'S s c n t F x y L f', 'at operand');
  const rest = /^(?:new|new-session|neww|new-window|split-window|respawn-pane|run|run-shell)$/.test(
    options.operands[0]?.text ?? '',
  )
    ? new Options(options.operands.slice(1), 'S s c n t F x y e', 'at operand').operands
    : options.operands;
  return line(rest);
};

const unwrapped: ReadonlyMap<string, Unwrap> = byProgram<Unwrap>([
  ['env', env],
  ['find', find],
  ['xargs', xargs],
  ['gxargs', xargs],
  [
    'parallel',
    (args, invocation) => [...xargs(args, invocation), ...joined(new Options(args, 'j jobs a', 'at operand').operands)],
  ],
  [
    'sudo',
    behind('u user g group h host p prompt C close-from D chdir R chroot r role t type T command-timeout U other-user'),
  ],
  ['doas', behind('u C')],
  ['pkexec', behind('user u')],
  ['su', userSwitch],
  ['runuser', userSwitch],
  ['timeout', behind('s signal k kill-after', 1)],
  ['gtimeout', behind('s signal k kill-after', 1)],
  ['nice', behind('n adjustment')],
  ['ionice', behind('c class n classdata p pid P u')],
  ['chrt', behind('T P D', 1)],
  ['taskset', behind('', 1)],
  ['time', behind('f format o output')],
  ['stdbuf', behind('i input o output e error')],
  ['strace', behind('e o p s u a b O S I E')],
  ['ltrace', behind('e o p s u a')],
  ['setpriv', behind('reuid regid groups securebits selinux-label pdeathsig inh-caps ambient-caps bounding-set')],
  ['chroot', behind('userspec groups', 1)],
  ['unshare', behind('S G R root w wd setuid setgid propagation map-user map-group')],
  ['nsenter', behind('t target S G r root w wd')],
  ['setarch', behind('', 1)],
  ['firejail', behind('')],
  [
    'systemd-run',
    behind('p property u unit slice E setenv uid gid working-directory description on-calendar on-active M machine'),
  ],
  ['xvfb-run', behind('n s e f w server-num server-args')],
  ['perf', afterWord(['stat', 'record', 'trace'], 'e o F r')],
  [
    'flock',
    (args) => {
      const options = new Options(args, 'w timeout E conflict-exit-code c command', 'at operand');
      const [, ...rest] = options.operands;
      return rest[0]?.text === '-c' ? script(rest[1]) : command(rest);
    },
  ],
  [
    'nohup setsid unbuffer catchsegv valgrind busybox toybox cross-env cross-env-shell dotenv fakeroot eatmydata dbus-run-session linux64 linux32 entr proxychains torsocks',
    behind('e f v'),
  ],
  ['poetry pipenv uv hatch rye pdm conda mamba', afterWord(['run'], 'n name p project directory')],
  ['bundle mise asdf rbenv pyenv mvn-exec direnv', afterWord(['exec'])],
  ['npx bunx pnpx', packageRunner],
  ['npm pnpm yarn bun', packageManager],
  ['watch', (args) => joined(new Options(args, 'n interval', 'at operand').operands)],
  [
    'hyperfine',
    (args) =>
      new Options(
        args,
        'w warmup r runs m min-runs M max-runs p prepare c cleanup S shell L P export-json export-markdown',
      ).operands.flatMap(script),
  ],
  ['concurrently', (args) => new Options(args, 'n names c prefix-colors').operands.flatMap(script)],
  ['nodemon', optionScripts('x exec w watch e ext', 'x', 'exec')],
  ['script', optionScripts('c command', 'c', 'command')],
  ['tmux', screen],
  ['screen', screen],
  ['at', (_args, { stdin }) => script(stdin)],
  ['batch', (_args, { stdin }) => script(stdin)],
  ['ssh', (args) => remoteCommand(args).inner],
  ['scp', optionScripts('o S i P F J c l', 'S')],
  ['rsync', optionScripts('e rsh rsync-path', 'e', 'rsh', 'rsync-path')],
  ['git', gitInner],
  ['tar', archive],
  ['bsdtar', archive],
  ['vim vi nvim view ex less gdb', marked(/^(?:\+|:|shell |silent )?:?(?:silent )?(?:!|shell )/)],
  ['ed', (_args, { stdin }) => marked(/(?:^|\n)!/)([stdin])],
  ['sed', marked(/^(?:\d+|\$)?e /)],
  ['gsed', marked(/^(?:\d+|\$)?e /)],
  ['make', make],
  ['gmake', make],
  ['psql mysql mariadb sqlite3 duckdb', database],
  [containerNames, (args, { program }) => containerInner(program, args)],
]);

/** Programs whose arguments are words for people, files and tests: a shell named among them is not started. */
const speaks = new Set([
  'echo',
  'printf',
  'grep',
  'egrep',
  'fgrep',
  'rg',
  'ag',
  'ack',
  'git',
  'gh',
  'logger',
  'which',
  'whereis',
  'man',
  'jest',
  'test',
  '[',
  'expr',
  'jq',
  'sed',
  'awk',
  'cat',
  'ls',
]);

/** A shell with a script somewhere behind a program that is not known. */
const hiddenShell = (args: readonly Text[]): Inner[] => {
  const at = args.findIndex(
    ({ text }, index) =>
      /(?:^|\/)(?:ba|da|z|k|a|fi)?sh$/.test(text) && /^-[a-z]{0,4}c$/.test(args[index + 1]?.text ?? ''),
  );
  return at === -1 ? [] : command(args.slice(at));
};

/** The programs and scripts that an invocation starts in turn, of those that are known to start others. */
export const startedBy = (invocation: Invocation): readonly Inner[] => {
  const { program, args } = invocation;
  if (/^ld(?:-linux|-musl)?[^/]{0,20}\.so/.test(program))
    return behind('library-path preload argv0 inhibit-rpath')(args);
  const unwrap = unwrapped.get(program);
  if (unwrap) return unwrap(args, invocation);
  return speaks.has(program) ? [] : hiddenShell(args);
};
