import type { Effect } from '../effects/effect.js';
import type { Inner, Language } from '../shell/invocation.js';
import { homePath } from '../place.js';
import { isKnown, plain, type Text } from '../shell/text.js';
import { folded } from './fold.js';
import { textValue, unknownValue, type Value } from './value.js';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const deleting = words(
  'rmtree rmSync rmdirSync unlinkSync unlink rmdir remove removedirs removeSync rm rm_r rm_rf rm_f remove_tree remove_entry rimraf rimrafSync emptyDirSync emptyDir remove_dir',
);
const writing = words(
  'writeFileSync writeFile appendFileSync appendFile createWriteStream mkdirSync mkdir makedirs mkdir_p write_text write_bytes touch file_put_contents truncateSync truncate outputFile outputFileSync',
);
const moving = words(
  'copyFileSync copyFile copyfile copy copy2 copytree cp cpSync cp_r move mv rename renameSync replace symlink symlinkSync link linkSync copy_file',
);
const reading = words(
  'readFileSync readFile read_text read_bytes file_get_contents createReadStream readlines readtext slurp',
);
const permitting = words('chmod chmodSync chown chownSync lchown chmod_R chown_R fchmod');
const shells = words(
  'system popen popen2 popen3 popen4 getoutput getstatusoutput execSync shell_exec passthru proc_open create_subprocess_shell execaCommand capture2 capture3 pcntl_exec',
);
const starts = words(
  'spawn spawnSync execFile execFileSync execa execaSync execv execvp execve execvpe execl execlp execle spawnl spawnlp spawnv spawnvp posix_spawn create_subprocess_exec Popen check_call check_output',
);
const evaluating = words(
  'eval exec execfile Function compile runInNewContext runInThisContext loadstring load create_function instance_eval class_eval',
);
const sending = words('post put patch sendto sendmail upload upload_file upload_fileobj putObject storbinary');
const speaks = words(
  'print println log puts warn error info debug write printf sprintf format assert expect describe test it split replace match includes startsWith',
);
const url = /^(?:https?|ftp|wss?):\/\//i;

/** Collects what the calls of a program text do. */
export class Calls {
  readonly effects: Effect[] = [];
  readonly inner: Inner[] = [];
  private readonly assignedNames = new Set<string>();
  private readonly reads: Text[] = [];
  private connects: { host: Text; sends: boolean; texts: readonly Text[] }[] = [];
  private hasTerminal = false;

  constructor(
    private readonly language: Language,
    /** Reads program text of the same language inside this one. */
    private readonly nested: (source: Text) => void,
  ) {}

  isKnown(chain: readonly string[]): boolean {
    const name = chain.at(-1) ?? '';
    return (
      [deleting, writing, moving, shells, starts, permitting].some((names) => names.has(name)) ||
      name === 'exec' ||
      name === 'eval' ||
      name === 'glob'
    );
  }

  assigned(name: string, _value: Value): void {
    this.assignedNames.add(name);
  }

  shell(script: Text): void {
    if (script.isDecoded) this.effects.push({ does: 'evaluate', text: script });
    this.inner.push({ script, isGuess: true });
  }

  write(path: Text): void {
    this.effects.push({ does: 'write', path });
  }

  /** SQL goes to a database by some call; to print it does nothing. */
  private statements(name: string, args: readonly Value[]): void {
    if (speaks.has(name)) return;
    for (const { text } of args) if (looksLikeSql(text.text)) this.effects.push({ does: 'sql', text, inCode: true });
  }

  member(chain: readonly string[]): Value {
    const name = chain.at(-1);
    const parent = chain.at(-2);
    if (parent === 'env' || parent === 'environ' || parent === 'ENV' || parent === '_ENV' || parent === '$_ENV') {
      return name === 'HOME' ? { ...textValue(plain(homePath)), chain } : { ...unknownValue, chain };
    }
    if (name === '__dirname' || name === '__DIR__') return { ...textValue(plain('.')), chain };
    return { ...unknownValue, chain };
  }

  call(chain: readonly string[], args: readonly Value[], receiver: Value): Value {
    const name = chain.at(-1) ?? '';
    if (args.some((value) => isEnvironment(value.chain))) this.reads.push(plain('/proc/self/environ'));
    this.statements(name, args);
    this.files(name, chain, args, receiver);
    this.programs(name, chain, args);
    this.network(name, chain, args);
    return folded(name, chain, args, receiver, this.language) ?? unknownValue;
  }

  private files(name: string, chain: readonly string[], args: readonly Value[], receiver: Value): void {
    if (isNoFile(name, chain, receiver)) return;
    const [first, second] = args;
    // `Path('x').unlink()` and `unlink('x')`: the path is what the method belongs to, or the first argument.
    const own = isPathLike(receiver) ? receiver : first;
    const isDelete =
      deleting.has(name) || (name === 'delete' && /^(?:File|FileUtils|Dir|Files)$/.test(chain.at(-2) ?? ''));
    if (isDelete)
      for (const path of pathsOf(name === 'rm' || !own ? first : own, args))
        this.effects.push({ does: 'delete', path, whole: true });
    else if (writing.has(name) && own) this.write(own.text);
    else if (moving.has(name) && first && second) {
      this.write(second.text);
      if (/^(?:move|mv|rename|renameSync)$/.test(name)) this.write(first.text);
      else this.read(first.text);
    } else if (reading.has(name) && own) this.read(own.text);
    else if (permitting.has(name) && own)
      this.effects.push({
        does: 'permission',
        path: own.text,
        mode: (own === first ? second : first)?.text.text ?? '',
      });
    else if (
      /^(?:open|openSync|fopen|File|sysopen)$/.test(name) ||
      (/^(?:open|new|read|write)$/.test(name) && chain.at(-2) === 'File')
    )
      this.open(name, args, receiver);
  }

  private read(path: Text): void {
    this.reads.push(path);
    this.effects.push({ does: 'read', path });
  }

  private open(name: string, args: readonly Value[], receiver: Value): void {
    const [first, second, third] = args;
    if (!first) {
      if (isPathLike(receiver)) this.read(receiver.text);
      return;
    }
    if (this.language === 'perl' && second) {
      const mode = second.text.text;
      if (mode.startsWith('|') || mode.startsWith('-|') || mode.endsWith('|'))
        return this.shell(third?.text ?? { ...second.text, text: mode.replace(/[|]/g, ' ') });
      const path = third?.text ?? { ...second.text, text: mode.replace(/^[+<>\s]{1,4}/, '') };
      return /^\+?>/.test(mode) ? this.write(path) : this.read(path);
    }
    if (isPathLike(receiver) && /^[rwaxbt+]{1,3}$/.test(first.text.text))
      return /[wax+]/.test(first.text.text) ? this.write(receiver.text) : this.read(receiver.text);
    if (name === 'write' || /^[rbtU]{0,2}[wax+]/.test(second?.text.text ?? '')) this.write(first.text);
    else this.read(first.text);
  }

  private programs(name: string, chain: readonly string[], args: readonly Value[]): void {
    const [first, ...rest] = args;
    if (/^(?:dup2|spawn)$/.test(name) && /^(?:os|pty)$/.test(chain.at(-2) ?? '')) this.hasTerminal = true;
    if (!first) return;
    const isEvaluation = evaluating.has(name) && this.evaluates(name, chain);
    if (isEvaluation) {
      const { text } = name === 'Function' ? (args.at(-1) ?? first) : first;
      if (isKnown(text)) this.nested(text);
      if (!isKnown(text) || text.isDecoded) this.effects.push({ does: 'evaluate', text });
    } else if (
      shells.has(name) ||
      (this.language === 'lua' && name === 'execute') ||
      (name === 'exec' && chain.at(-2) !== 'pattern') ||
      name === '$'
    ) {
      this.started(first, rest, name !== 'exec' || this.language !== 'javascript');
    } else if (starts.has(name) || (this.language === 'python' && (name === 'run' || name === 'call')))
      this.started(first, rest, true);
  }

  /** Whether a name that many libraries use is here the language's own. */
  private evaluates(name: string, chain: readonly string[]): boolean {
    if (name === 'exec') return this.language === 'python';
    if (name === 'load') return this.language === 'lua';
    return name !== 'compile' || (this.language === 'python' && chain.length === 1);
  }

  private started(first: Value, rest: readonly Value[], isList: boolean): void {
    const items = first.items && first.text.text !== '' ? first.items : undefined;
    if (items) this.inner.push({ argv: items.map(({ text }) => text) });
    else if (isList && rest[0]?.items && !rest[0].items[0]?.chain)
      this.inner.push({ argv: [first.text, ...rest[0].items.map(({ text }) => text)] });
    else if (isList && rest.length > 0 && rest.every((value) => isKnown(value.text) && !value.items)) {
      const argv = [first, ...rest].map(({ text }) => text);
      // The execl family names the program twice.
      this.inner.push({ argv }, { argv: argv.slice(1) });
    } else this.shell(first.text);
  }

  private network(name: string, chain: readonly string[], args: readonly Value[]): void {
    const parts = args.flatMap((value) => [value, ...(value.items ?? [])]);
    const target =
      parts.find(({ text }) => url.test(text.text)) ??
      (/^(?:Socket|INET|TCPSocket)$/.test(chain.at(-2) ?? name)
        ? parts.find(({ text }) => hostAndPort.test(text.text))
        : undefined);
    const isSocket =
      /^(?:connect|create_connection|createConnection|HTTPConnection|HTTPSConnection|fsockopen|TCPSocket|INET|connect_ex|sendto)$/.test(
        name,
      ) ||
      (name === 'new' && /^(?:TCPSocket|INET|Socket)$/.test(chain.at(-2) ?? ''));
    const hasPort = parts.some(({ text }) => /^\d{1,5}$/.test(text.text));
    const host =
      target ??
      (isSocket && hasPort
        ? parts.find(({ text, items }) => !items && !/^\d{1,5}$/.test(text.text) && text.text !== '')
        : undefined);
    if (!host || name === 'write' || name === 'log' || name === 'print') return;
    const isSend =
      sending.has(name) ||
      parts.some(
        ({ text, chain: of }) => /^(?:POST|PUT|PATCH)$/i.test(text.text) || /^(?:body|data)$/.test(of?.at(-1) ?? ''),
      ) ||
      ['data', 'json', 'files', 'body'].some((key) => this.assignedNames.has(key));
    this.connects.push({
      host: host.text,
      sends: isSend || isSocket,
      texts: parts.filter((value) => value !== host).map(({ text }) => text),
    });
  }

  /** What was seen once the whole text is read: a connection sends what the text reads. */
  finish(): void {
    const startsShell =
      this.hasTerminal ||
      this.inner.some((each) =>
        /^\s{0,9}(?:\/\S{1,80}\/|)(?:ba|da|z|)sh(?:\s|$)/.test(
          'argv' in each ? (each.argv[0]?.text ?? '') : each.script.text,
        ),
      );
    for (const { host, sends, texts } of this.connects) {
      const how = startsShell ? 'shell' : sends ? 'send' : 'fetch';
      this.effects.push({ does: 'connect', host, how, sends: texts, sendsFiles: this.reads });
    }
    this.connects = [];
  }
}

const hostAndPort = /^[A-Za-z0-9.-]{1,253}:\d{1,5}$/;

const isEnvironment = (chain: readonly string[] | undefined): boolean => {
  const name = chain?.at(-1);
  return name === 'environ' || name === 'ENV' || (name === 'env' && chain?.at(-2) === 'process');
};

/** A receiver that holds a path, and is no module. */
const isPathLike = ({ text, chain }: Value): boolean =>
  isKnown(text) && text.text !== '' && !/\n/.test(text.text) && chain?.at(-1) === 'Path';

/** Names that texts and lists have too: `'a'.replace(…)`, `[].remove(…)`. */
const isNoFile = (name: string, chain: readonly string[], receiver: Value): boolean => {
  if (isPathLike(receiver)) return false;
  if (name === 'replace') return chain.at(-2) !== 'os';
  return (
    /^(?:remove|rename|copy|move|link|open)$/.test(name) &&
    (receiver.items !== undefined || receiver.text.text !== '') &&
    isKnown(receiver.text)
  );
};

const pathsOf = (first: Value | undefined, args: readonly Value[]): Text[] => {
  if (!first) return [];
  if (first.items) return first.items.map(({ text }) => text);
  return args.length > 1 && args.every(({ text, items }) => isKnown(text) && !items)
    ? args.map(({ text }) => text)
    : [first.text];
};

/** Beginnings of SQL statements, as far as one can tell them from plain words. */
const sqlStarts: readonly RegExp[] = [
  /^\s{0,200}select\s[\w*"`'.,()$\uFFFC\s]{1,400}\sfrom\s/i,
  /^\s{0,200}insert\s{1,20}(?:into|or\s\w{1,10}\sinto)\s/i,
  /^\s{0,200}update\s{1,20}\S{1,80}\s{1,20}set\s/i,
  /^\s{0,200}delete\s{1,20}from\s/i,
  /^\s{0,200}drop\s{1,20}(?:table|database|schema|user|role)\s/i,
  /^\s{0,200}truncate\s{1,20}table\s/i,
  /^\s{0,200}truncate\s{1,20}[\w".]{1,80}\s{0,9};?\s{0,9}$/i,
  /^\s{0,200}alter\s{1,20}table\s/i,
];
const looksLikeSql = (text: string): boolean => sqlStarts.some((start) => start.test(text));
