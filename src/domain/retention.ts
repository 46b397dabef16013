import type { CheckpointMark } from './checkpoint.js';

/** How long checkpoints are kept (details 4.5). */
export interface RetentionRules {
  /** 1 to 100: of one piece of work, the latest. */
  maxCheckpoints: number;
  /** Milliseconds that a checkpoint is hot. */
  hotMs: number;
  /** Milliseconds that it is archived after those. */
  archiveMs: number;
}

export interface KeptMark {
  mark: CheckpointMark;
  tier: 'hot' | 'archived';
}

export interface GoneMark {
  mark: CheckpointMark;
  why: 'too many' | 'too old';
}

const hour = 3_600_000;

/** Spec 07 "Retention". */
export const retentionPreset: RetentionRules = { maxCheckpoints: 100, hotMs: 24 * hour, archiveMs: 7 * 24 * hour };

/**
 * Which checkpoints of one piece of work are still kept at `now`, in epoch milliseconds; the oldest go first, the latest never
 * (details 4.5).
 * @param marks oldest first
 */
export const retained = (
  marks: readonly CheckpointMark[],
  now: number,
  { maxCheckpoints, hotMs, archiveMs }: RetentionRules,
): { kept: KeptMark[]; gone: GoneMark[] } => {
  const kept: KeptMark[] = [];
  const gone: GoneMark[] = [];
  marks.forEach((mark, index) => {
    const age = now - mark.at;
    const isLatest = index === marks.length - 1;
    if (index < marks.length - maxCheckpoints) gone.push({ mark, why: 'too many' });
    else if (age >= hotMs + archiveMs && !isLatest) gone.push({ mark, why: 'too old' });
    else kept.push({ mark, tier: age < hotMs ? 'hot' : 'archived' });
  });
  return { kept, gone };
};

/** Why a checkpoint is not there any more, in words. */
export const goneBecause = ({ why }: GoneMark, { maxCheckpoints, hotMs, archiveMs }: RetentionRules): string =>
  why === 'too many'
    ? `the latest ${maxCheckpoints} are kept (PARLEY_MAX_CHECKPOINTS)`
    : `checkpoints are kept for ${hotMs / hour} hours (PARLEY_CHECKPOINT_MAX_AGE_HOURS) and archived for ` +
      `${archiveMs / hour / 24} days after those (PARLEY_ARCHIVE_RETENTION_DAYS)`;
