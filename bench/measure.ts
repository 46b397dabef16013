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

/** How many at once, and how many in all. */
export type Load = readonly [concurrency: number, count: number];

/**
 * Runs work beside its bare yardstick, in four turns each, so that a machine that slows down slows both.
 * @returns a row for each load
 */
export const besideBare = async (
  name: string,
  runWork: () => Promise<unknown>,
  runBare: () => Promise<unknown>,
  loads: readonly Load[],
): Promise<Record<string, string | number>[]> => {
  const rows: Record<string, string | number>[] = [];
  for (const [concurrency, count] of loads) {
    const bare: Sample = { times: [], total: 0 };
    const work: Sample = { times: [], total: 0 };
    for (let turn = 0; turn < 4; turn += 1) {
      for (const [sample, call] of [
        [bare, runBare],
        [work, runWork],
      ] as const) {
        const part = await measure(count / 4, concurrency, call);
        sample.times.push(...part.times);
        sample.total += part.total;
      }
    }
    rows.push({
      concurrency,
      [`${name} /s`]: round(count / (work.total / 1000)),
      [`${name} p50 ms`]: round(percentile(work.times, 0.5)),
      [`${name} p95 ms`]: round(percentile(work.times, 0.95)),
      'bare /s': round(count / (bare.total / 1000)),
      'bare p50 ms': round(percentile(bare.times, 0.5)),
      'bare p95 ms': round(percentile(bare.times, 0.95)),
      'ratio of times': round(work.total / bare.total, 2),
    });
  }
  return rows;
};
