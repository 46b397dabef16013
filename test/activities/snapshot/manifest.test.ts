import type { Stats } from 'node:fs';
import { isUnchanged, type Seen } from '../../../activities/snapshot/manifest.js';

const seen: Seen = { device: 1, inode: 2, size: 3, modifiedMs: 1_000, changedMs: 2_000, names: 1, atMs: 4_001 };
const stats = { dev: 1, ino: 2, size: 3, mtimeMs: 1_000, ctimeMs: 2_000 } as Stats;

describe('a file that was read', () => {
  test('is known again when it looks the same and had been left alone for 2 s then', () => {
    expect(isUnchanged(seen, stats)).toBe(true);
  });

  test.each<[string, Seen, Stats]>([
    ['it was read within the 2 s of a coarse clock', { ...seen, atMs: 4_000 }, stats],
    ['its clock is ahead', { ...seen, changedMs: 9_000 }, { ...stats, ctimeMs: 9_000 } as Stats],
    ['its length differs', seen, { ...stats, size: 4 } as Stats],
    ['another file has its place', seen, { ...stats, ino: 9 } as Stats],
    ['another disk has its place', seen, { ...stats, dev: 9 } as Stats],
    ['it was modified', seen, { ...stats, mtimeMs: 1_001 } as Stats],
    ['it was changed', seen, { ...stats, ctimeMs: 2_001 } as Stats],
  ])('is read again when %s', (_, then, now) => {
    expect(isUnchanged(then, now)).toBe(false);
  });
});
