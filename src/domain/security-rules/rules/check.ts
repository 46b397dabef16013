import type { Effect } from '../effects/index.js';
import type { Rule } from '../rule.js';
import type { Invocation } from '../shell/invocation.js';
import type { Zone } from '../place.js';
import type { Text } from '../shell/text.js';

/** One place that an effect reaches. */
export interface Reached {
  /** Absolute and normal, for rules; undefined when not known. */
  readonly path: string | undefined;
  readonly zone: Zone;
}

/** What a rule sees of one invocation. */
export interface Subject {
  readonly invocation: Invocation;
  readonly effects: readonly Effect[];
  readonly workspace: string;
  /** Tables that the same task creates: dropping them takes nothing away. */
  readonly created: ReadonlySet<string>;
  /** Every place that a path of this invocation may be. */
  reach(path: Text): readonly Reached[];
}

/** A rule and how it looks: one sentence for each thing it finds. */
export interface Check extends Rule {
  judge(subject: Subject): readonly string[];
}

/** Effects of some kinds. */
export const effectsThat = <K extends Effect['does']>(
  { effects }: Subject,
  ...kinds: readonly K[]
): Extract<Effect, { does: K }>[] =>
  effects.filter((effect): effect is Extract<Effect, { does: K }> =>
    (kinds as readonly string[]).includes(effect.does),
  );

/** The words of a command, for a pattern over them. */
export const lineOf = ({ program, args }: Invocation): string =>
  [program, ...args.slice(0, 40).map(({ text }) => text.slice(0, 200))].join(' ');
