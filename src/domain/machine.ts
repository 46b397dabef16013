import { InvalidTransitionError } from './errors.js';

/** One row of a specification's table: `from -> to | event [guards] | actions`. */
export interface Row<S extends string, E extends string, F, A extends string> {
  from: S | readonly S[];
  on: E;
  /** Named so that diagrams and traces can show it; all must hold. */
  guard?: Guard<F> | readonly Guard<F>[];
  to: S;
  actions: readonly A[];
}

export interface Guard<F> {
  name: string;
  holds: (facts: F) => boolean;
}

export interface Machine<S extends string, E extends string, F, A extends string> {
  name: string;
  states: readonly S[];
  initial: S;
  terminal: readonly S[];
  events: readonly E[];
  rows: readonly Row<S, E, F, A>[];
}

export interface Step<S extends string, E extends string, A extends string> {
  from: S;
  on: E;
  to: S;
  actions: readonly A[];
}

const list = <T>(value: T | readonly T[] | undefined): readonly T[] =>
  value === undefined ? [] : Array.isArray(value) ? (value as readonly T[]) : [value as T];

export const rowsFrom = <S extends string, E extends string, F, A extends string>(
  machine: Machine<S, E, F, A>,
  state: S,
): readonly Row<S, E, F, A>[] => machine.rows.filter((row) => list(row.from).includes(state));

/** Event names that some row takes in `state`, guards aside, in the table's order. */
export const accepted = <S extends string, E extends string, F, A extends string>(
  machine: Machine<S, E, F, A>,
  state: S,
): readonly E[] => [...new Set(rowsFrom(machine, state).map((row) => row.on))];

/** The first row that takes `event` in `state` under `facts`, or null: nothing is decided by order elsewhere. */
export const match = <S extends string, E extends string, F, A extends string>(
  machine: Machine<S, E, F, A>,
  state: S,
  event: E,
  facts: F,
): Row<S, E, F, A> | null =>
  rowsFrom(machine, state).find((row) => row.on === event && list(row.guard).every((guard) => guard.holds(facts))) ??
  null;

/**
 * One step of a machine: pure, so the same table runs the product, draws its diagrams and lists every refused pair.
 * @throws InvalidTransitionError when no row takes the event; nothing has changed then.
 */
export const step = <S extends string, E extends string, F, A extends string>(
  machine: Machine<S, E, F, A>,
  state: S,
  event: E,
  facts: F,
): Step<S, E, A> => {
  const row = match(machine, state, event, facts);
  if (!row) throw new InvalidTransitionError(machine.name, state, event, accepted(machine, state));
  return { from: state, on: event, to: row.to, actions: row.actions };
};

export const isTerminal = <S extends string>(machine: { terminal: readonly S[] }, state: S): boolean =>
  machine.terminal.includes(state);

/** Guard names of a row, for diagrams. */
export const guardNames = <F>(row: { guard?: Guard<F> | readonly Guard<F>[] }): string[] =>
  list(row.guard).map((guard) => guard.name);
