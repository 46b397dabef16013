/** Whole numbers as ranges, ascending and apart: [[1, 57], [59, 80]] is all from 1 to 80 but 58. */
export type NumberRanges = readonly (readonly [first: number, last: number])[];

export const includesNumber = (ranges: NumberRanges, number: number): boolean =>
  ranges.some(([first, last]) => first <= number && number <= last);

/** Closes the lowest gaps until no more than `most` ranges are left: what stood in a gap counts as included from then on. */
const withoutGaps = (ranges: NumberRanges, most: number): NumberRanges => {
  const surplus = ranges.length - most;
  const [lowest] = ranges;
  const joined = ranges[surplus];
  return surplus <= 0 || !lowest || !joined ? ranges : [[lowest[0], joined[1]], ...ranges.slice(surplus + 1)];
};

/** With `number`, in no more than `most` ranges (1 and more). */
export const withNumber = (ranges: NumberRanges, number: number, most: number): NumberRanges => {
  if (includesNumber(ranges, number)) return ranges;
  const touching = ranges.filter(([first, last]) => first - 1 <= number && number <= last + 1);
  const first = Math.min(number, ...touching.map((range) => range[0]));
  const last = Math.max(number, ...touching.map((range) => range[1]));
  const before = ranges.filter((range) => range[1] < first);
  const after = ranges.filter((range) => range[0] > last);
  return withoutGaps([...before, [first, last], ...after], most);
};
