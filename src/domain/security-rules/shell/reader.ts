import {
  parse,
  type Assignment,
  type Command,
  type ParsedScript,
  type Redirection as RedirectionNode,
  type Statement,
  type SyntaxNode,
} from 'unbash';
import { effectsOf } from '../effects/index.js';
import { resolve } from '../place.js';
import { builtins } from './builtins.js';
import { Expander, type Substitutions } from './expand.js';
import type { Inner, Invocation, Redirection } from './invocation.js';
import { run } from './run.js';
import { Scope } from './scope.js';
import { concat, emptyText, holeMark, plain, unknown, type Text } from './text.js';

const maxSteps = 4_000;
const maxDepth = 24;
const maxScriptLength = 100_000;
/** Each unfinished here-document costs the parser one walk over the rest. */
const maxHereDocuments = 32;
/** Brackets and substitutions inside of each other; each level is one more walk over what is left. */
const maxNesting = 40;

/** How deep the brackets of a text go, quotes left out of account. */
const nestingOf = (text: string): number => {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 40 || code === 123) deepest = Math.max(deepest, (depth += 1));
    else if ((code === 41 || code === 125) && depth > 0) depth -= 1;
  }
  return deepest;
};

const isReadable = (text: string): boolean =>
  text.length <= maxScriptLength && text.split('<<').length - 1 <= maxHereDocuments && nestingOf(text) <= maxNesting;

/** Where a command reads and writes. */
export interface Call {
  readonly stdin: Text;
  readonly redirections: readonly Redirection[];
  readonly environment: Invocation['environment'];
}
export const plainCall: Call = { stdin: emptyText, redirections: [], environment: [] };

/** Something the reader itself noticed, by the id of its rule. */
export interface Note {
  readonly rule: 'opaque-command' | 'fork-bomb';
  readonly why: string;
}

type Files = Map<string, Text>;

/**
 * Follows command lines as a shell would and keeps every program that they would start. Each branch counts as taken and each
 * loop runs once for each value that is known. Nothing is run, and the work is bounded.
 */
export class Reader implements Substitutions {
  readonly invocations: Invocation[] = [];
  readonly notes: Note[] = [];
  private readonly expander = new Expander(this);
  private steps = 0;
  private depth = 0;
  private choice = 0;
  private choices = 1;
  private nextFile = 63;
  /** Names of the functions that are being followed. */
  private readonly active: string[] = [];

  constructor(
    readonly workspace: string,
    /** What the plan's own commands wrote, by absolute path. */
    readonly files: Files,
  ) {}

  giveUp(reason: string): void {
    if (!this.notes.some(({ why }) => why === reason)) this.notes.push({ rule: 'opaque-command', why: reason });
  }

  choose<T>(among: readonly T[]): T {
    this.choices = Math.max(this.choices, among.length);
    return among[Math.min(this.choice, among.length - 1)] as T;
  }

  /** Calls once for each value that a variable with several may have. */
  private eachChoice<T>(act: () => T): T[] {
    const [choice, choices] = [this.choice, this.choices];
    const results: T[] = [];
    this.choices = 1;
    for (this.choice = 0; this.choice < this.choices; this.choice += 1) results.push(act());
    [this.choice, this.choices] = [choice, choices];
    return results;
  }

  private nested<T>(otherwise: T, act: () => T): T {
    if (this.depth >= maxDepth) {
      this.giveUp(`commands are nested more than ${maxDepth} deep`);
      return otherwise;
    }
    this.depth += 1;
    const result = act();
    this.depth -= 1;
    return result;
  }

  output(script: ParsedScript, scope: Scope): Text {
    return this.nested(unknown('output'), () => this.list(script.commands, scope.fork()));
  }

  asFile(script: ParsedScript, scope: Scope): Text {
    const path = `/dev/fd/${this.nextFile++}`;
    this.files.set(path, this.output(script, scope));
    return plain(path);
  }

  /** Reads a script in this scope. @returns its standard output */
  script(source: Text, scope: Scope): Text {
    const { text } = source;
    if (!isReadable(text)) {
      this.giveUp(`a script of ${text.length} characters is too long, or too deep, to be read`);
      return unknown('output');
    }
    return this.nested(unknown('output'), () => {
      const parsed = parse(text);
      if (parsed.errors && !scope.isGuess && !text.includes(holeMark))
        this.giveUp(`a shell script cannot be read: ${parsed.errors[0]?.message ?? 'syntax error'}`);
      const outer = scope.sourceHole;
      if (source.holes.length > 0) {
        scope.sourceHole = {
          kind: 'output',
          unquoted: true,
          producers: source.holes.flatMap((hole) => hole.producers),
        };
      }
      const output = this.list(parsed.commands, scope);
      scope.sourceHole = outer;
      return output;
    });
  }

  private list(statements: readonly Statement[], scope: Scope): Text {
    return concat([emptyText, ...statements.map(({ command }) => this.node(command, scope))]);
  }

  /** What may or may not run. */
  private maybe(scope: Scope, act: () => Text): Text {
    const outer = scope.isConditional;
    scope.isConditional = true;
    const output = act();
    scope.isConditional = outer;
    return output;
  }

  private node(node: SyntaxNode | undefined, scope: Scope): Text {
    if (!node) return emptyText;
    this.steps += 1;
    if (this.steps > maxSteps) {
      this.giveUp(`more than ${maxSteps} commands, loops unrolled`);
      return emptyText;
    }
    switch (node.type) {
      case 'Command':
        return concat([emptyText, ...this.eachChoice(() => this.command(node, scope))]);
      case 'Statement':
        return this.node(node.command, scope);
      case 'CompoundList':
        return this.list(node.commands, scope);
      case 'Pipeline':
        return node.commands.reduce<Text>((stdin, command, index) => {
          const own = node.commands.length > 1 ? scope.fork() : scope;
          if (index > 0) own.stdin = stdin;
          return this.node(command, own);
        }, emptyText);
      case 'AndOr':
        return concat(
          node.commands.map((command, index) =>
            index === 0 ? this.node(command, scope) : this.maybe(scope, () => this.node(command, scope)),
          ),
        );
      case 'If':
        return concat([
          this.node(node.clause, scope),
          ...[node.then, ...node.elif.flatMap((branch) => [branch.clause, branch.then]), node.else].map((branch) =>
            this.maybe(scope, () => this.node(branch, scope)),
          ),
        ]);
      case 'For':
      case 'Select':
        return this.each(node, scope);
      case 'While':
        return this.maybe(scope, () => concat([this.node(node.clause, scope), this.node(node.body, scope)]));
      case 'ArithmeticFor':
        return this.maybe(scope, () => this.node(node.body, scope));
      case 'Case':
        this.expander.fields(node.word, scope);
        return concat([emptyText, ...node.items.map((item) => this.maybe(scope, () => this.node(item.body, scope)))]);
      case 'Subshell':
        return this.node(node.body, scope.fork());
      case 'BraceGroup':
        return this.node(node.body, scope);
      case 'Coproc':
        return this.node(node.body, scope.fork());
      case 'Function':
        scope.functions.set(node.name.value, node);
        if (multiplies(node.body, node.name.value, false))
          this.notes.push({ rule: 'fork-bomb', why: `the function ${node.name.value} starts itself again and again` });
        return emptyText;
      case 'Redirected':
        return this.redirected(node.redirects, scope, (call) => {
          const inner = scope.stdin;
          scope.stdin = call.stdin;
          if (call.redirections.length > 0) this.record([plain(':')], scope, call);
          const output = this.node(node.command, scope);
          scope.stdin = inner;
          return output;
        });
      case 'TestCommand':
      case 'ArithmeticCommand':
        this.expander.nested(node, scope);
        return emptyText;
      default:
        return emptyText;
    }
  }

  private each(node: Extract<SyntaxNode, { type: 'For' | 'Select' }>, scope: Scope): Text {
    const values = this.eachChoice(() =>
      node.wordlist ? node.wordlist.flatMap((word) => this.expander.fields(word, scope)) : scope.positional,
    ).flat();
    return this.maybe(scope, () =>
      concat([
        emptyText,
        ...values.map((value) => {
          scope.set(node.name.value, [value]);
          return this.node(node.body, scope);
        }),
      ]),
    );
  }

  private redirected(redirects: readonly RedirectionNode[], scope: Scope, act: (call: Call) => Text): Text {
    const redirections: Redirection[] = [];
    let { stdin } = scope;
    let into: Text | undefined;
    for (const node of redirects) {
      if (node.type === 'HereDoc')
        stdin = node.body.parts ? this.expander.body(node.body.parts, scope) : plain(node.body.text);
      else if (!node.target) continue;
      else if (node.type === 'HereString') stdin = concat([this.expander.single(node.target, scope), plain('\n')]);
      else {
        const target = this.expander.single(node.target, scope);
        if (/&$/.test(node.operator) && /^(?:\d+|-)$/.test(target.text)) continue;
        const access = node.operator.startsWith('<') && node.operator !== '<>' ? 'read' : 'write';
        redirections.push({ access, target });
        const descriptor = node.descriptor?.type === 'FileDescriptor' ? node.descriptor.value : undefined;
        if (access === 'read') stdin = this.contents(target, scope);
        else if (descriptor === undefined || descriptor === 1) into = target;
      }
    }
    const output = act({ stdin, redirections, environment: [] });
    if (!into) return output;
    this.write(into, output, scope);
    return emptyText;
  }

  private pathOf(target: Text, scope: Scope): string | undefined {
    return resolve(target, scope.cwd, this.workspace).path;
  }

  /** A file's bytes, if the plan itself wrote them; a file that is just there is read by nobody yet. */
  contents(target: Text, scope: Scope): Text {
    const written = this.files.get(this.pathOf(target, scope) ?? '');
    return written ?? unknown('output', [this.invocation([plain('cat'), target], scope, plainCall)]);
  }

  write(target: Text, output: Text, scope: Scope): void {
    const path = this.pathOf(target, scope);
    if (path && !path.startsWith('/dev/')) this.files.set(path, output);
  }

  private value(node: Assignment, scope: Scope): readonly Text[] {
    if (node.value.type === 'ArrayValue')
      return node.value.elements.flatMap((word) => this.expander.fields(word, scope));
    return [this.expander.single(node.value, scope)];
  }

  private command(node: Command, scope: Scope): Text {
    const assignments = node.prefix
      .filter((part) => part.type === 'Assignment')
      .map((part) => ({ part, value: this.value(part, scope) }));
    const words = [node.name, ...node.args].flatMap((word) => {
      if (!word) return [];
      if (word.type === 'Word') return this.expander.fields(word, scope);
      return [concat([plain(`${word.name}=`), ...this.value(word, scope)])];
    });
    const environment = assignments.map(({ part, value }) => ({
      name: part.name,
      value: concat([emptyText, ...value]),
    }));
    return this.redirected(node.redirects, scope, (call) => {
      if (words.length === 0) {
        for (const { part, value } of assignments) this.assign(part, value, scope);
        this.record([plain(':')], scope, { ...call, environment });
        // `$(< file)` is what the file holds.
        return assignments.length === 0 && call.redirections.some(({ access }) => access === 'read')
          ? call.stdin
          : emptyText;
      }
      return this.execute(words, scope, { ...call, environment });
    });
  }

  private assign(node: Assignment, value: readonly Text[], scope: Scope): void {
    if (!node.append) return scope.assign(node.name, value);
    const before = scope.lookup(node.name)?.at(-1) ?? [];
    scope.assign(
      node.name,
      node.value.type === 'ArrayValue' ? [...before, ...value] : [concat([emptyText, ...before, ...value])],
    );
  }

  /** Runs fields as a shell does: its functions, its aliases and its own commands first. */
  execute(words: readonly Text[], scope: Scope, call: Call): Text {
    const [name, ...args] = words;
    if (!name) return emptyText;
    const shellFunction = scope.functions.get(name.text);
    if (shellFunction) {
      // A function that calls itself does nothing new the third time.
      if (this.active.filter((each) => each === name.text).length > 1) return emptyText;
      return this.nested(emptyText, () => {
        const outer = scope.positional;
        scope.positional = args;
        this.active.push(name.text);
        const output = this.maybe(scope, () => this.node(shellFunction.body, scope));
        this.active.pop();
        scope.positional = outer;
        return output;
      });
    }
    const alias = scope.aliases.get(name.text);
    if (alias) return this.script(concat([alias, ...args.flatMap((argument) => [plain(' '), argument])]), scope.fork());
    const builtin = builtins.get(name.text);
    return builtin ? builtin(args, scope, this, call, words) : this.start(words, scope, call);
  }

  private invocation(words: readonly Text[], scope: Scope, call: Call): Invocation {
    return run(words, scope, call, this).invocation;
  }

  /** Keeps an invocation that starts nothing else. */
  record(words: readonly Text[], scope: Scope, call: Call): Invocation {
    const invocation = this.invocation(words, scope, call);
    this.invocations.push(invocation);
    return invocation;
  }

  /** Starts a program, and what it starts in turn. @returns its standard output */
  start(words: readonly Text[], scope: Scope, call: Call): Text {
    const { invocation, inner, output } = run(words, scope, call, this);
    this.invocations.push(invocation);
    this.keep(invocation, scope);
    const outputs = this.nested([], () => inner.map((each) => this.inner(each, invocation, scope, call)));
    return output ?? outputs.at(-1) ?? unknown('output', [invocation]);
  }

  /** Remembers what a command puts into files: what it downloads, copies or lets through. */
  private keep(invocation: Invocation, scope: Scope): void {
    const effects = effectsOf(invocation);
    const written = effects.flatMap((effect) => (effect.does === 'write' ? [effect.path] : []));
    if (written.length === 0 || written.length > 20) return;
    if (effects.some(({ does }) => does === 'connect')) {
      for (const path of written) this.write(path, unknown('output', [invocation]), scope);
    } else if (invocation.program === 'tee' || invocation.program === 'sponge') {
      for (const path of written) this.write(path, invocation.stdin, scope);
    } else if (/^(?:cp|mv|install|ln|dd)$/.test(invocation.program)) {
      const source = effects.find((effect) => effect.does === 'read' || effect.does === 'write');
      const content = source && 'path' in source ? this.files.get(this.pathOf(source.path, scope) ?? '') : undefined;
      if (content) for (const path of written.slice(-1)) this.write(path, content, scope);
    }
  }

  private inner(inner: Inner, by: Invocation, scope: Scope, call: Call): Text {
    const own = scope.fork();
    own.by = by;
    own.stdin = inner.stdin ?? call.stdin;
    own.machine = inner.machine ?? scope.machine;
    if (inner.cwd) own.cwd = resolve(inner.cwd, scope.cwd, this.workspace);
    for (const { name, value } of [...call.environment, ...(inner.environment ?? [])]) own.set(name, [value]);
    if ('argv' in inner)
      return this.start(inner.argv, own, { ...plainCall, stdin: own.stdin, environment: inner.environment ?? [] });
    own.functions = new Map();
    own.aliases = new Map();
    own.by = undefined;
    own.zero = inner.zero ?? plain('sh');
    own.positional = inner.positional ?? [];
    own.endsOnUnset = false;
    own.isGuess = inner.isGuess === true;
    return this.script(inner.script, own);
  }
}

/** Whether a function's body starts the function itself beside itself, in a pipe or in the background. */
const multiplies = (node: SyntaxNode, name: string, isBeside: boolean): boolean => {
  switch (node.type) {
    case 'Command':
      return isBeside && node.name?.value === name;
    case 'Pipeline':
      return node.commands.some((command) => multiplies(command, name, node.commands.length > 1 || isBeside));
    case 'Statement':
      return multiplies(node.command, name, isBeside || node.background === true);
    case 'AndOr':
    case 'CompoundList':
      return node.commands.some((command) => multiplies(command, name, isBeside));
    case 'BraceGroup':
    case 'Subshell':
    case 'For':
      return multiplies(node.body, name, isBeside);
    case 'While':
      return multiplies(node.body, name, isBeside);
    case 'Redirected':
      return multiplies(node.command, name, isBeside);
    default:
      return false;
  }
};
