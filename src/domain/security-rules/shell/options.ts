import { slice, type Text } from './text.js';

/** A command line taken apart: options by name without dashes, and what is left. */
export class Options {
  private readonly found: { name: string; value: Text | undefined }[] = [];
  readonly operands: Text[] = [];

  /**
   * @param takesValue names of the options that take a value, apart by blanks: letters and long names
   * @param ends where options end: nowhere, or at the first operand, as for programs that start others
   */
  constructor(args: readonly Text[], takesValue = '', ends: 'nowhere' | 'at operand' = 'nowhere') {
    const names = new Set(takesValue.split(' '));
    for (let index = 0; index < args.length; index += 1) {
      const word = args[index] as Text;
      const { text } = word;
      if (text === '--') {
        this.operands.push(...args.slice(index + 1));
        return;
      }
      if (!text.startsWith('-') || text === '-') {
        if (ends === 'at operand') {
          this.operands.push(...args.slice(index));
          return;
        }
        this.operands.push(word);
        continue;
      }
      const name = /^--?([^=]+)/.exec(text)?.[1] ?? '';
      const isLong = text.startsWith('--') || (name.length > 1 && names.has(name));
      if (isLong ? this.long(word, name, names) : this.cluster(word, names)) {
        index += 1;
        const last = this.found.at(-1);
        if (last) last.value = args[index];
      }
    }
  }

  has(...names: readonly string[]): boolean {
    return this.found.some(({ name }) => names.includes(name));
  }
  values(...names: readonly string[]): Text[] {
    return this.found.flatMap(({ name, value }) => (value && names.includes(name) ? [value] : []));
  }
  value(...names: readonly string[]): Text | undefined {
    return this.values(...names).at(-1);
  }

  /** @returns whether the next word is this option's value */
  private long(word: Text, name: string, names: ReadonlySet<string>): boolean {
    const at = word.text.indexOf('=');
    this.found.push({ name, value: at === -1 ? undefined : slice(word, at + 1) });
    return at === -1 && names.has(name);
  }

  /** Letters behind one dash. @returns whether the next word is the last one's value */
  private cluster(word: Text, names: ReadonlySet<string>): boolean {
    const { text } = word;
    for (let at = 1; at < text.length; at += 1) {
      const name = text[at] as string;
      if (!names.has(name)) {
        this.found.push({ name, value: undefined });
        continue;
      }
      const isLast = at === text.length - 1;
      const from = text[at + 1] === '=' ? at + 2 : at + 1;
      this.found.push({ name, value: isLast ? undefined : slice(word, from) });
      return isLast;
    }
    return false;
  }
}

/** Words that set variables before a command, as for env and sudo. */
export const leadingAssignments = (
  words: readonly Text[],
): { environment: { name: string; value: Text }[]; rest: readonly Text[] } => {
  const environment: { name: string; value: Text }[] = [];
  let index = 0;
  for (; index < words.length; index += 1) {
    const word = words[index] as Text;
    const match = /^([A-Za-z_][A-Za-z0-9_]*)=/.exec(word.text);
    if (!match) break;
    environment.push({ name: match[1] as string, value: slice(word, match[0].length) });
  }
  return { environment, rest: words.slice(index) };
};
