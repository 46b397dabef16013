import { atLeast, equal } from './numbers.js';

/**
 * Why a premium lane is wanted (details 1.3): agreement strictly below the threshold, or, only with `onDisagreement`, more
 * than one group of answers. Low confidence is named first when both hold; with no answer yet there is nothing to doubt.
 */
export const escalationReason = (facts: {
  /** 0–1. */
  agreement: number;
  groups: number;
  threshold: number;
  onDisagreement: boolean;
  answered: boolean;
}): 'low_confidence' | 'disagreement' | null => {
  if (!facts.answered) return null;
  if (!atLeast(facts.agreement, facts.threshold)) return 'low_confidence';
  return facts.onDisagreement && facts.groups > 1 ? 'disagreement' : null;
};

export interface Contender {
  /** Predicted, 0–1. */
  quality: number;
  /** Of one call, in any one unit. */
  cost: number;
}

const minimumGain = 0.02;
const maximumCostRatio = 1.5;

/**
 * Who takes the champion's place (details 1.4): at least 0.02 more quality at no more than 1.5 times the cost. The
 * cheapest wins, of equally cheap ones the larger gain, then the first in the list; null: the champion stays.
 */
export const chooseChallenger = <T extends Contender>(champion: Contender, challengers: readonly T[]): T | null => {
  const worthy = challengers.filter(
    ({ quality, cost }) =>
      atLeast(quality - champion.quality, minimumGain) && atLeast(champion.cost * maximumCostRatio, cost),
  );
  const better = (a: T, b: T): boolean => (equal(a.cost, b.cost) ? a.quality > b.quality : a.cost < b.cost);
  return worthy.reduce<T | null>((best, each) => (best === null || better(each, best) ? each : best), null);
};
