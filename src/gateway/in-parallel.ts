/** The results of `work` for each item, in their order, with at most `atOnce` under way; the first that rejects is thrown. */
export const inParallel = async <T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> => {
  const results: R[] = [];
  const line = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of line) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
};
