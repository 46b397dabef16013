import {
  parse,
  type Command,
  type ParsedScript,
  type Redirection as RedirectionNode,
  type Statement,
  type SyntaxNode,
} from 'unbash';
import { Alternatives } from './alternatives.js';
import { assign, valueOf } from './assignments.js';
import { builtins } from './builtins.js';
import { Expander, type Substitutions } from './expand.js';
import type { Call, Inner, Invocation } from './invocation.js';
import { innerScope } from './inner-scope.js';
import { multiplies } from './multiplies.js';
import { isReadable } from './readable.js';
import { redirect } from './redirect.js';
import { run } from './run.js';
import { Scope } from './scope.js';
import { concat, emptyText, holeMark, plain, unknown, type Text } from './text.js';
import type { WrittenFiles } from './written-files.js';

const maxSteps = 4_000;
const maxDepth = 24;
export const plainCall: Call = { stdin: emptyText, redirections: [], environment: [] };

/** Something the reader itself noticed, by the id of its rule. */
export interface Note {
  readonly rule: 'opaque-command' | 'fork-bomb' | 'shell-injection';
  readonly why: string;
}

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
  private readonly alternatives = new Alternatives();
  private nextFile = 63;
  /** Names of the functions that are being followed. */
  private readonly active: string[] = [];

  constructor(
    readonly workspace: string,
    readonly files: WrittenFiles,
  ) {}

  giveUp(reason: string): void {
    if (!this.notes.some(({ why }) => why === reason)) this.notes.push({ rule: 'opaque-command', why: reason });
  }

  suspect(name: string): void {
    this.notes.push({
      rule: 'shell-injection',
      why: `$${name} stands without quotes, and its value comes from outside`,
    });
  }

  choose<T>(among: readonly T[]): T {
    return this.alternatives.choose(among);
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
      this.giveUp(`it comes to more than ${maxSteps} commands, loops unrolled`);
      return emptyText;
    }
    switch (node.type) {
      case 'Command':
        return concat([emptyText, ...this.alternatives.each(() => this.command(node, scope))]);
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
        // Twice: what the body sets, the next turn uses.
        return this.maybe(scope, () =>
          concat([1, 2].flatMap(() => [this.node(node.clause, scope), this.node(node.body, scope)])),
        );
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
    const values = this.alternatives
      .each(() =>
        node.wordlist ? node.wordlist.flatMap((word) => this.expander.fields(word, scope)) : scope.positional,
      )
      .flat();
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
    const { stdin, redirections, into } = redirect(redirects, scope, this.expander, (file) =>
      this.contents(file, scope),
    );
    const output = act({ stdin, redirections, environment: [] });
    if (!into) return output;
    this.files.write(into, output, scope.cwd);
    return emptyText;
  }

  /** A file's bytes, if the plan itself wrote them; otherwise the command that would print them. */
  contents(target: Text, scope: Scope): Text {
    return (
      this.files.read(target, scope.cwd) ??
      unknown('output', [this.invocation([plain('cat'), target], scope, plainCall)])
    );
  }

  private command(node: Command, scope: Scope): Text {
    const assignments = node.prefix
      .filter((part) => part.type === 'Assignment')
      .map((part) => ({ part, value: valueOf(part, scope, this.expander) }));
    const words = [node.name, ...node.args].flatMap((word) => {
      if (!word) return [];
      if (word.type === 'Word') return this.expander.fields(word, scope);
      return [concat([plain(`${word.name}=`), ...valueOf(word, scope, this.expander)])];
    });
    const environment = assignments.map(({ part, value }) => ({
      name: part.name,
      value: concat([emptyText, ...value]),
    }));
    return this.redirected(node.redirects, scope, (call) => {
      if (words.length === 0) {
        for (const { part, value } of assignments) assign(part, value, scope);
        this.record([plain(':')], scope, { ...call, environment });
        // `$(< file)` is what the file holds.
        return assignments.length === 0 && call.redirections.some(({ access }) => access === 'read')
          ? call.stdin
          : emptyText;
      }
      return this.execute(words, scope, { ...call, environment });
    });
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
    this.files.keep(invocation);
    const outputs = this.nested([], () => inner.map((each) => this.inner(each, invocation, scope, call)));
    return output ?? outputs.at(-1) ?? unknown('output', [invocation]);
  }

  private inner(inner: Inner, by: Invocation, scope: Scope, call: Call): Text {
    const own = innerScope(inner, by, scope, call, this.workspace);
    if ('script' in inner) return this.script(inner.script, own);
    return this.start(inner.argv, own, { ...plainCall, stdin: own.stdin, environment: inner.environment ?? [] });
  }
}
