import type { Invocation } from '../shell/invocation.js';
import { Options } from '../shell/options.js';

/** A command by its words: every part that is given has to fit. */
export interface Words {
  /** Names apart by blanks. */
  readonly programs: string;
  /** Over the first operands joined by blanks, options and their values left out. */
  readonly phrase?: RegExp;
  /** Over each of the first operands by itself. */
  readonly word?: RegExp;
  /** Over each word as it stands, options too. */
  readonly option?: RegExp;
}

/** Options with a value that these programs take before or behind their verbs. */
const takesValue =
  'n namespace context kubeconfig region profile output o project zone format subscription resource-group g cluster as H host log-level chdir c t M R repo endpoint-url query filter';
const most = 12;

/** Patterns over the words of commands, by program. */
export class WordTable {
  private readonly byProgram = new Map<string, Words[]>();

  constructor(table: readonly Words[]) {
    for (const words of table) {
      for (const program of words.programs.split(' '))
        this.byProgram.set(program, [...(this.byProgram.get(program) ?? []), words]);
    }
  }

  fits({ program, args }: Invocation): boolean {
    const candidates = this.byProgram.get(program);
    if (!candidates) return false;
    const words = args.slice(0, 200).map(({ text }) => text.slice(0, 400));
    if (words.some((word) => /^--(?:help|version|dry-run|dry-run=client)$/.test(word))) return false;
    const operands = new Options(args.slice(0, 200), takesValue).operands
      .slice(0, most)
      .map(({ text }) => text.slice(0, 200));
    const phrase = operands.join(' ');
    return candidates.some(
      (each) =>
        (each.phrase === undefined || each.phrase.test(phrase)) &&
        (each.word === undefined || operands.some((operand) => each.word?.test(operand))) &&
        (each.option === undefined || words.some((word) => each.option?.test(word))),
    );
  }
}
