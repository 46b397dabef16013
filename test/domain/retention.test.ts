import type { CheckpointMark } from '../../src/domain/checkpoint.js';
import { goneBecause, retained, retentionPreset } from '../../src/domain/retention.js';

const hour = 3_600_000;
const now = 1_000 * 24 * hour;
const mark = (number: number, hoursOld: number): CheckpointMark => ({
  number,
  id: `id-${number}`,
  at: now - hoursOld * hour,
  agentId: 'a',
  phase: 'STREAMING',
  error: null,
  eventId: 4,
  temporalRunId: 'run',
});
const tierOf = (hoursOld: number): string => {
  const { kept, gone } = retained([mark(0, hoursOld), mark(1, 0)], now, retentionPreset);
  return kept.find((each) => each.mark.number === 0)?.tier ?? `gone, ${gone[0]?.why}`;
};

describe('a checkpoint', () => {
  test.each([
    [0, 'hot'],
    [23.999, 'hot'],
    [24, 'archived'],
    [24 + 7 * 24 - 0.001, 'archived'],
    [24 + 7 * 24, 'gone, too old'],
    [10_000, 'gone, too old'],
  ])('that is %d hours old is %s', (hoursOld, tier) => {
    expect(tierOf(hoursOld)).toBe(tier);
  });

  test('that is the latest never goes, however old it is', () => {
    expect(retained([mark(7, 10_000)], now, retentionPreset)).toEqual({
      kept: [{ mark: mark(7, 10_000), tier: 'archived' }],
      gone: [],
    });
  });
});

describe('checkpoints of one piece of work', () => {
  const marks = [mark(3, 5), mark(4, 4), mark(5, 3), mark(6, 2)];
  test.each([
    [4, [3, 4, 5, 6]],
    [2, [5, 6]],
    [1, [6]],
  ])('are the latest %i, the oldest having gone first', (maxCheckpoints, numbers) => {
    const { kept, gone } = retained(marks, now, { ...retentionPreset, maxCheckpoints });
    expect(kept.map((each) => each.mark.number)).toEqual(numbers);
    expect(gone.map((each) => each.mark.number)).toEqual([3, 4, 5, 6].filter((number) => !numbers.includes(number)));
    expect(new Set(gone.map(({ why }) => why)).size).toBeLessThanOrEqual(1);
  });

  test('of which none was passed are none', () => {
    expect(retained([], now, retentionPreset)).toEqual({ kept: [], gone: [] });
  });

  test('that went say why, and which setting that follows', () => {
    expect(goneBecause({ mark: mark(0, 0), why: 'too many' }, retentionPreset)).toBe(
      'the latest 100 are kept (PARLEY_MAX_CHECKPOINTS)',
    );
    expect(goneBecause({ mark: mark(0, 0), why: 'too old' }, retentionPreset)).toBe(
      'checkpoints are kept for 24 hours (PARLEY_CHECKPOINT_MAX_AGE_HOURS) and archived for 7 days after those (PARLEY_ARCHIVE_RETENTION_DAYS)',
    );
  });
});
