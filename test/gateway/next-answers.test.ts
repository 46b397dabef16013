import { createNextAnswers } from '../../temporal/next-answers.js';

/** Asks that are answered by hand, in the order in which they were asked. */
const byHand = () => {
  const open: { resolve(answer: number): void; reject(error: Error): void }[] = [];
  const ask = (): Promise<number> => new Promise((resolve, reject) => void open.push({ resolve, reject }));
  return { open, ask };
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('answers that many ask for', () => {
  test('are asked for once at a time, and never before who gets them came', async () => {
    const { open, ask } = byHand();
    const next = createNextAnswers<number>();
    const first = next('a', ask);
    const later = [next('a', ask), next('a', ask)];
    expect(open).toHaveLength(1);
    open[0]!.resolve(1);
    expect(await first).toBe(1);
    await turn();
    expect(open).toHaveLength(2);
    const last = next('a', ask);
    open[1]!.resolve(2);
    expect(await Promise.all(later)).toEqual([2, 2]);
    await turn();
    open[2]!.resolve(3);
    expect(await last).toBe(3);
  });

  test('fail for those who asked together, not for who comes after', async () => {
    const { open, ask } = byHand();
    const next = createNextAnswers<number>();
    const first = next('a', ask);
    const second = next('a', ask);
    open[0]!.reject(new Error('away'));
    await expect(first).rejects.toThrow('away');
    await turn();
    open[1]!.resolve(2);
    expect(await second).toBe(2);
    const third = next('a', ask);
    expect(open).toHaveLength(3);
    open[2]!.resolve(3);
    expect(await third).toBe(3);
  });

  test('of different keys do not wait for each other', async () => {
    const { open, ask } = byHand();
    const next = createNextAnswers<number>();
    const answers = [next('a', ask), next('b', ask)];
    expect(open).toHaveLength(2);
    open[1]!.resolve(2);
    expect(await answers[1]).toBe(2);
    open[0]!.resolve(1);
    expect(await answers[0]).toBe(1);
  });
});
