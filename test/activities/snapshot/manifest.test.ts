import type { Stats } from 'node:fs';
import { isUnchanged, type Seen } from '../../../activities/snapshot/manifest.js';

const seen: Seen = { device: 1, inode: 2, size: 3, modifiedMs: 1_000, changedMs: 2_000, names: 1, atMs: 4_001 };
const looks = (over: Partial<Stats> = {}): Stats =>
  Object.assign({ dev: 1, ino: 2, size: 3, mtimeMs: 1_000, ctimeMs: 2_000 }, over) as Stats;

describe('a file that was read', () => {
  test('is known again when it looks the same and had been left alone for 2 s then', () => {
    expect(isUnchanged(seen, looks())).toBe(true);
  });

  test.each<[string, Seen, Stats]>([
    ['it was read within the 2 s of a coarse clock', { ...seen, atMs: 4_000 }, looks()],
    ['its clock is ahead', { ...seen, changedMs: 9_000 }, looks({ ctimeMs: 9_000 })],
    ['its length differs', seen, looks({ size: 4 })],
    ['another file has its place', seen, looks({ ino: 9 })],
    ['another disk has its place', seen, looks({ dev: 9 })],
    ['it was modified', seen, looks({ mtimeMs: 1_001 })],
    ['it was changed', seen, looks({ ctimeMs: 2_001 })],
  ])('is read again when %s', (_, then, now) => {
    expect(isUnchanged(then, now)).toBe(false);
  });
});
