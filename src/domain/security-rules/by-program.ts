/** A table over programs: names apart by blanks on the left, what holds for each of them on the right. */
export const byProgram = <T>(entries: readonly (readonly [string, T])[]): ReadonlyMap<string, T> =>
  new Map(entries.flatMap(([names, value]) => names.split(' ').map((name) => [name, value] as const)));
