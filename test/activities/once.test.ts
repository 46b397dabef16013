import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from '../../activities/once.js';

let root: string;
let calls: number;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'parley-once-'));
  calls = 0;
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const ask = (name = 't1', key = '0'): Promise<number> =>
  once(root, { workId: 'w', name, key }, () => Promise.resolve((calls += 1)));

describe('a call that is made once', () => {
  test('is answered by its record when it is asked for again', async () => {
    expect([await ask(), await ask(), calls]).toEqual([1, 1, 1]);
  });
  test.each([
    ['another name', 't2', '0'],
    ['another key', 't1', '1'],
  ])('is another one under %s', async (_, name, key) => {
    await ask();
    expect([await ask(name, key), await ask(name, key), calls]).toEqual([2, 2, 2]);
  });
  test('and fails is made again', async () => {
    const broken = () => once(root, { workId: 'w', name: 't1', key: '0' }, () => Promise.reject(new Error('no')));
    await expect(broken()).rejects.toThrow('no');
    expect(await ask()).toBe(1);
  });
});
