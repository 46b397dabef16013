import type { CritiqueBody, RefinementVersion } from '../../contracts/refinement-status.js';
import { iso } from '../instant.js';
import { spend } from './calls.js';
import type { CritiqueRecord, VersionRecord } from './state.js';

/** From here on a scoring is flagged, in milliseconds (spec 04). */
export const slowScoringMs = 30_000;

export const critiqueOnWire = ({
  score,
  scores,
  feedback,
  issues,
  improvement,
  scoringMs,
  calls,
}: CritiqueRecord): CritiqueBody => ({
  score,
  scores,
  feedback,
  issues,
  improvement,
  scoring_ms: scoringMs,
  slow: scoringMs > slowScoringMs,
  calls,
});

export const versionOnWire = ({
  version,
  output,
  generatingMs,
  critique,
  usage,
  at,
}: VersionRecord): RefinementVersion => ({
  version,
  output,
  generating_ms: generatingMs,
  critique: critique && critiqueOnWire(critique),
  usage: spend(usage),
  at: iso(at),
});
