/** What was used at a time, epoch milliseconds. */
export interface Use {
  at: number;
  amount: number;
}

/** In order of time. */
export type Uses = readonly Use[];

/** A window is counted in so many grains: what falls into one stands as one use, at the time of its last. */
const grains = 256;

const grainOf = (at: number, lengthMs: number): number => Math.floor(at / Math.max(1, Math.floor(lengthMs / grains)));

/**
 * Whether a use still counts. Two uses exactly a window apart count together, so that it does not matter which end of the
 * window the provider counts to it.
 */
const counts = (use: Use, now: number, lengthMs: number): boolean => use.at + lengthMs >= now;

/** What was used in the window that ends at `now`. */
export const usedIn = (uses: Uses, now: number, lengthMs: number): number =>
  uses.reduce((sum, use) => (counts(use, now, lengthMs) ? sum + use.amount : sum), 0);

/** With one more use, and without those that no longer count. Merging makes a use later, never earlier: it counts too long at worst. */
export const withUse = (uses: Uses, use: Use, now: number, lengthMs: number): Uses => {
  const grain = grainOf(use.at, lengthMs);
  const kept = uses.filter((each) => counts(each, now, lengthMs));
  const index = kept.findIndex((each) => grainOf(each.at, lengthMs) === grain);
  const same = kept[index];
  if (same) return kept.with(index, { at: Math.max(same.at, use.at), amount: same.amount + use.amount });
  const after = kept.findIndex((each) => each.at > use.at);
  return kept.toSpliced(after === -1 ? kept.length : after, 0, use);
};

/** Corrects what a use at `at` counted for; nothing, where it no longer counts. */
export const corrected = (uses: Uses, at: number, by: number, lengthMs: number): Uses => {
  const grain = grainOf(at, lengthMs);
  return uses.map((use) =>
    grainOf(use.at, lengthMs) === grain ? { at: use.at, amount: Math.max(0, use.amount + by) } : use,
  );
};

/** When `need` more fits `limit`, were nothing else used: `now`, or once enough uses are a window old; Infinity: never. */
export const fitsAt = (uses: Uses, need: number, limit: number, now: number, lengthMs: number): number => {
  let used = usedIn(uses, now, lengthMs);
  if (used + need <= limit) return now;
  for (const use of uses) {
    if (!counts(use, now, lengthMs)) continue;
    used -= use.amount;
    if (used + need <= limit) return use.at + lengthMs + 1;
  }
  return Infinity;
};
