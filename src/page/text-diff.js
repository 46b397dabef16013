// What changed from one text to the next.

/** Pairs of words, or lines, that are compared at most: more would be felt. */
const mostPairs = 4_000_000;

const wordsOf = (text) => text.match(/\s*\S+|\s+$/g) ?? [];
const linesOf = (text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** Lengths of the longest common subsequences of what follows each pair of places. */
const commonLengths = (before, after) => {
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  for (let left = before.length - 1; left >= 0; left -= 1) {
    for (let right = after.length - 1; right >= 0; right -= 1) {
      lengths[left * width + right] =
        before[left] === after[right]
          ? lengths[(left + 1) * width + right + 1] + 1
          : Math.max(lengths[(left + 1) * width + right], lengths[left * width + right + 1]);
    }
  }
  return (left, right) => lengths[left * width + right];
};

const compared = (before, after) => {
  if (before.length * after.length > mostPairs) {
    return [...before.map((text) => ['removed', text]), ...after.map((text) => ['added', text])];
  }
  const common = commonLengths(before, after);
  const pieces = [];
  let [left, right] = [0, 0];
  while (left < before.length || right < after.length) {
    if (left < before.length && right < after.length && before[left] === after[right]) {
      pieces.push(['same', after[right]]);
      left += 1;
      right += 1;
    } else if (right === after.length || (left < before.length && common(left + 1, right) >= common(left, right + 1))) {
      pieces.push(['removed', before[left]]);
      left += 1;
    } else {
      pieces.push(['added', after[right]]);
      right += 1;
    }
  }
  return pieces;
};

/** Between two changes a lone blank would only tear them apart: what was removed and added stands together. */
const joined = (pieces) => {
  const whole = [];
  for (const [kind, text] of pieces) {
    const last = whole.at(-1);
    if (last?.kind === kind) last.text += text;
    else whole.push({ kind, text });
  }
  return whole;
};

/**
 * `after` beside `before` as pieces {kind: 'same' | 'added' | 'removed', text}, by words, or by lines where there are too many
 * words. Without the removed pieces it is `after`, without the added ones `before`.
 */
export const textDiff = (before, after) => {
  const split = wordsOf(before).length * wordsOf(after).length > mostPairs ? linesOf : wordsOf;
  const [old, young] = [split(before), split(after)];
  let start = 0;
  while (start < old.length && start < young.length && old[start] === young[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < young.length - start && old.at(-1 - end) === young.at(-1 - end)) end += 1;
  const same = (parts) => parts.map((text) => ['same', text]);
  return joined([
    ...same(young.slice(0, start)),
    ...compared(old.slice(start, old.length - end), young.slice(start, young.length - end)),
    ...same(young.slice(young.length - end)),
  ]);
};
