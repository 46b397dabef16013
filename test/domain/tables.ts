import { InvalidTransitionError } from '../../src/domain/errors.js';
import { step, type Machine } from '../../src/domain/machine.js';

/** One row of a specification's table, with its guard as a condition on the facts. */
export type SpecRow<F> = [from: string, on: string, to: string, when?: (facts: F) => boolean];

/** Every truth assignment of `names`. */
export const assignments = <K extends string>(names: readonly K[]): Record<K, boolean>[] =>
  Array.from(
    { length: 2 ** names.length },
    (_, bits) =>
      Object.fromEntries(names.map((name, index) => [name, ((bits >> index) & 1) === 1])) as Record<K, boolean>,
  );

const statesOf = (from: string): string[] => from.split(' or ');

/**
 * What the specification says of one pair of state and event: where it leads under these facts, or the words of the refusal.
 * The first row that fits counts.
 */
export const expected = <F>(
  name: string,
  table: readonly SpecRow<F>[],
  state: string,
  on: string,
  facts: F,
): string => {
  const rows = table.filter(([from]) => statesOf(from).includes(state));
  const taken = rows.find(([, event, , when]) => event === on && (when?.(facts) ?? true));
  if (taken) return taken[2];
  const accepted = [...new Set(rows.map(([, event]) => event))];
  const accepts = accepted.length > 0 ? `it accepts ${accepted.join(', ')}.` : 'it accepts nothing more.';
  return `${name} in ${state} cannot take ${on}; ${accepts}`;
};

/** What the machine does of it, in the same words. */
export const taken = <S extends string, E extends string, F, A extends string>(
  machine: Machine<S, E, F, A>,
  state: S,
  on: E,
  facts: F,
): string => {
  try {
    return step(machine, state, on, facts).to;
  } catch (error) {
    if (!(error instanceof InvalidTransitionError)) throw error;
    return error.message;
  }
};
