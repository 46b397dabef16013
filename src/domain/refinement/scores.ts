import { above, atLeast } from '../numbers.js';
import type { RefinementFacts } from './machine.js';
import type { CritiqueRecord, RefinementState, VersionRecord } from './state.js';

export type ScoredVersion = VersionRecord & { critique: CritiqueRecord };

/** The versions that have a score, in order; the latest may be without one. */
export const scoredVersions = ({ versions }: Pick<RefinementState, 'versions'>): ScoredVersion[] =>
  versions.filter((version): version is ScoredVersion => version.critique !== null);

/** This score less that of the version before; null: there is none before. */
export const improvementOf = (refinement: RefinementState, score: number): number | null => {
  const previous = scoredVersions(refinement).at(-1);
  return previous ? score - previous.critique.score : null;
};

/** What would be given back now: the highest score, of equals the earlier, or the last; null: none has a score. */
export const chosenVersion = (refinement: RefinementState): ScoredVersion | null => {
  const scored = scoredVersions(refinement);
  if (!refinement.setup.output.output_best) return scored.at(-1) ?? null;
  return scored.reduce<ScoredVersion | null>(
    (best, version) => (best === null || above(version.critique.score, best.critique.score) ? version : best),
    null,
  );
};

/** What the guards look at, from the state alone. Boundaries are inclusive, with a tolerance of 1e-9 (spec 04). */
export const factsOf = (refinement: RefinementState): RefinementFacts => {
  const { iteration, setup } = refinement;
  const { quality_threshold: quality, improvement_threshold: least, max_iterations: most } = setup.loop;
  const latest = scoredVersions(refinement).at(-1)?.critique;
  const improvement = latest?.improvement ?? null;
  return {
    meetsThreshold: latest !== undefined && atLeast(latest.score, quality),
    isLast: iteration >= most,
    improves: improvement === null || atLeast(improvement, least),
    hasScore: latest !== undefined,
  };
};
