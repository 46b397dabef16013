/** The usual constant of reciprocal rank fusion: the first few ranks differ, the later ones hardly. */
const rankOffset = 60;
const maxWords = 64;

/** Words of a text as full-text search takes them, each once, at most 64; any of them may match. '' when there are none. */
export const wordsQuery = (text: string): string =>
  [...new Set(wordsOf(text))]
    .slice(0, maxWords)
    .map((word) => `"${word}"`)
    .join(' OR ');

/** Letters and digits only, so that no sign of a query language is left. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Lists of ids, each best first, as one: an id counts by its ranks, so that scores of different kinds never meet. */
export const fuse = <Id>(lists: readonly (readonly Id[])[]): Id[] => {
  const scores = new Map<Id, number>();
  for (const list of lists) {
    for (const [rank, id] of list.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (rankOffset + rank));
  }
  return [...scores].sort(([, a], [, b]) => b - a).map(([id]) => id);
};
