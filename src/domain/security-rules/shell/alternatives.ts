/**
 * Chooses among the values that a variable may have. All variables of a command take their first value together, then their
 * second one, and so on: as many readings as the longest list, not one for each combination.
 */
export class Alternatives {
  private turn = 0;
  private turns = 1;

  choose<T>(among: readonly T[]): T {
    this.turns = Math.max(this.turns, among.length);
    return among[Math.min(this.turn, among.length - 1)] as T;
  }

  /** Calls until each value that was chosen from had its turn. */
  each<T>(act: () => T): T[] {
    const { turn, turns } = this;
    const results: T[] = [];
    this.turns = 1;
    for (this.turn = 0; this.turn < this.turns; this.turn += 1) results.push(act());
    this.turn = turn;
    this.turns = turns;
    return results;
  }
}
