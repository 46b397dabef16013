/**
 * Whether the whole of a text fits a pattern in which "*" stands for any characters and "?" for one; nothing else in it has a
 * meaning. Each star takes as little as it can, and only the last one is taken back: no pattern costs more than its length times
 * the text's, so that strangers' patterns may be tried in a workflow.
 */
export const matchesGlob = (pattern: string, text: string): boolean => {
  let at = 0;
  let read = 0;
  let star = -1;
  let taken = 0;
  while (read < text.length) {
    const wanted = pattern[at];
    if (wanted === '*') {
      star = at;
      taken = read;
      at += 1;
    } else if (wanted !== undefined && (wanted === '?' || wanted === text[read])) {
      at += 1;
      read += 1;
    } else if (star >= 0) {
      taken += 1;
      read = taken;
      at = star + 1;
    } else return false;
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
};
