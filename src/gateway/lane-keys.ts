import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Bearer keys that let an outside adapter post the frames of one lane of one session, and nothing else. */
export interface LaneKeys {
  keyFor(id: string, lane: string): string;
  verify(id: string, lane: string, key: string): boolean;
}

/** Any gateway with the same secret accepts the key: nothing is stored. */
export const createLaneKeys = (secret: string | Buffer): LaneKeys => {
  // The ids cannot hold a newline, so no two pairs share a text.
  const digest = (id: string, lane: string): Buffer => createHmac('sha256', secret).update(`${id}\n${lane}`).digest();
  return {
    keyFor: (id, lane) => `lane_${digest(id, lane).toString('base64url')}`,
    verify: (id, lane, key) => {
      const wanted = Buffer.from(`lane_${digest(id, lane).toString('base64url')}`);
      const given = Buffer.from(key);
      return wanted.length === given.length && timingSafeEqual(wanted, given);
    },
  };
};

/**
 * The secret of the configuration, else the one kept in the data folder, made at first use and readable by its owner only.
 * Several gateways need PARLEY_LANE_SECRET, or a data folder in common.
 */
export const laneSecret = (configured: string | null, dataFolder: string): string => {
  if (configured !== null) return configured;
  const file = join(dataFolder, 'lane-secret');
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  try {
    // `wx`: of two gateways that start together one writes, and both read what it wrote.
    writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const secret = readFileSync(file, 'utf8').trim();
  if (secret.length < 16)
    throw new Error(`${file} must hold at least 16 characters; delete it to have a new one made.`);
  return secret;
};
