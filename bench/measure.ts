export interface Sample {
  /** Wall time of each call, ms. */
  times: number[];
  /** Wall time of them all, ms. */
  total: number;
}

/** Runs `count` calls, at most `concurrency` at a time. */
export const measure = async (
  count: number,
  concurrency: number,
  call: (index: number) => Promise<unknown>,
): Promise<Sample> => {
  const times: number[] = [];
  let next = 0;
  const begin = performance.now();
  const runner = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      const start = performance.now();
      await call(index);
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, runner));
  return { times, total: performance.now() - begin };
};

export const percentile = (times: readonly number[], share: number): number => {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
};

export const table = (rows: Record<string, string | number>[]): string => {
  const columns = Object.keys(rows[0] ?? {});
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |`;
  return [
    line(columns),
    line(columns.map(() => '---')),
    ...rows.map((row) => line(columns.map((column) => String(row[column])))),
  ].join('\n');
};
export const round = (value: number, digits = 1): number => Number(value.toFixed(digits));
