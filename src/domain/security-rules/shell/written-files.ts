import { effectsOf } from '../effects/index.js';
import { resolve, type Place } from '../place.js';
import type { Invocation } from './invocation.js';
import { unknown, type Text } from './text.js';

/** More targets than this are no script on its way to be run. */
const maxTargets = 20;

/** What the commands of a plan write into files, so that a later command that runs one is read too. */
export class WrittenFiles {
  private readonly byPath = new Map<string, Text>();

  constructor(private readonly workspace: string) {}

  get size(): number {
    return this.byPath.size;
  }

  /** @returns undefined for a file that is just there, or whose place is not known */
  read(file: Text, cwd: Place | undefined): Text | undefined {
    return this.byPath.get(resolve(file, cwd, this.workspace).path ?? '');
  }

  write(file: Text, content: Text, cwd: Place | undefined): void {
    const { path } = resolve(file, cwd, this.workspace);
    if (path && !path.startsWith('/dev/')) this.byPath.set(path, content);
  }

  /** A path that the shell itself makes, such as that of a process substitution. */
  set(path: string, content: Text): void {
    this.byPath.set(path, content);
  }

  /** Remembers what a command puts into files: what it downloads, lets through or copies. */
  keep(invocation: Invocation): void {
    const { cwd, program, stdin } = invocation;
    const effects = effectsOf(invocation);
    const written = effects.flatMap((effect) => (effect.does === 'write' ? [effect.path] : []));
    if (written.length === 0 || written.length > maxTargets) return;
    if (effects.some(({ does }) => does === 'connect')) {
      for (const path of written) this.write(path, unknown('output', [invocation]), cwd);
    } else if (program === 'tee' || program === 'sponge') {
      for (const path of written) this.write(path, stdin, cwd);
    } else if (/^(?:cp|mv|install|ln|dd)$/.test(program)) {
      const source = effects.find(({ does }) => does === 'read' || does === 'write');
      const content = source && 'path' in source ? this.read(source.path, cwd) : undefined;
      const target = written.at(-1);
      if (content && target) this.write(target, content, cwd);
    }
  }
}
