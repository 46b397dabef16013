import { createHash } from 'node:crypto';
import { bounded, maxValueBytes } from '../../../activities/fan-out/bounded.js';
import type { Combined, Kept } from '../../../src/contracts/fan-out-status.js';

const combined = (over: Partial<Combined> = {}): Combined => ({
  value: {},
  provenance: [],
  conflicts: [],
  agreement: null,
  notes: ['told before'],
  kept: null,
  ...over,
});
/** What was put away, by its digest. */
const put = async (content: Uint8Array): Promise<Kept> => ({
  sha256: createHash('sha256').update(content).digest('hex'),
  size_bytes: content.byteLength,
});
const said = (bytes: number): string => 'x'.repeat(bytes - 2);

describe('a combined result', () => {
  test('stands as it is up to the limit', async () => {
    const small = combined({ value: said(maxValueBytes) });
    expect(await bounded(small, put)).toEqual(small);
  });

  test('is an artifact one byte beyond it, and its notes say so', async () => {
    const content = said(maxValueBytes + 1);
    const { value, kept, notes } = await bounded(combined({ value: content }), put);
    const { sha256 } = await put(Buffer.from(JSON.stringify(content)));
    expect([value, kept]).toEqual([
      null,
      { value: { sha256, size_bytes: maxValueBytes + 1 }, provenance: null, conflicts: null },
    ]);
    expect(notes).toEqual(['told before', `value has ${maxValueBytes + 1} bytes and is an artifact: sha256:${sha256}`]);
  });

  test('shows the first hundred entries of long lists', async () => {
    const provenance = Array.from({ length: 5_000 }, (_, index) => ({
      pointer: `/k${index}`,
      task_id: `t${index}`,
      agent_id: 'a',
    }));
    const short = await bounded(combined({ value: 1, provenance }), put);
    expect(short.provenance).toEqual(provenance.slice(0, 100));
    expect(short).toMatchObject({ value: 1, conflicts: [], kept: { value: null, conflicts: null } });
    expect(short.kept?.provenance?.size_bytes).toBe(Buffer.byteLength(JSON.stringify(provenance)));
  });
});
