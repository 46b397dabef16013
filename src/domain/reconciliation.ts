import type { Json } from '../contracts/frames.js';
import type { AgreementPolicy, Reconciliation } from '../contracts/session.js';
import { agreementOf, byPreference, type Vote } from './agreement.js';
import { ParleyError } from './errors.js';
import { byContribution, joinTexts, mergeJson } from './merge.js';
import { answerText, isEmptyAnswer } from './text.js';

export interface Weighed {
  lane_id: string;
  weight: number;
}

export interface Reconciled {
  answer: Json;
  /** Whose answer it is; null: merged from several. */
  representative: string | null;
  forLanes: Weighed[];
  against: Weighed[];
  /** Of `forLanes` and `against` together. */
  totalWeight: number;
  /** No lane had finalised, so texts so far had to do. */
  partial: boolean;
  /** What a merge adapter is given: the texts of a weighted merge, heaviest first; null where there is nothing to merge. */
  texts: { laneId: string; weight: number; text: string }[] | null;
}

const policies = ['first_win', 'consensus', 'weighted_merge'] as const satisfies readonly Reconciliation[];

const weigh = (vote: Vote): Weighed => ({ lane_id: vote.laneId, weight: vote.weight });
const endedAt = (vote: Vote): number => vote.endedAt ?? Number.MAX_SAFE_INTEGER;

/** The first to finalise, by time and not by place in the list; at the same millisecond the ties of spec 01. */
const firstOf = (votes: readonly Vote[]): Vote =>
  votes.toSorted((a, b) => endedAt(a) - endedAt(b) || byPreference(a, b))[0]!;

/**
 * Makes one answer of many (spec 01 "Reconciliation", details 1.4). Finals alone are used; partial answers only where no
 * lane has finalised. `partition` is what a scorer from outside found, as in `agreementOf`.
 * @throws ParleyError ECONSENSUS when nothing was answered; invalid_request for a policy that does not exist.
 */
export const reconcile = (
  policy: Reconciliation,
  votes: readonly Vote[],
  agreementPolicy: AgreementPolicy,
  partition?: readonly string[][],
): Reconciled => {
  // The name may come from outside the types: a carried state, a newer client.
  if (!policies.includes(policy)) {
    throw new ParleyError(
      'invalid_request',
      `reconciliation "${String(policy)}" does not exist; choose ${policies.join(', ')}`,
    );
  }
  const answered = votes.filter((vote) => !isEmptyAnswer(vote.answer));
  if (answered.length === 0) {
    throw new ParleyError(
      'ECONSENSUS',
      `nothing to reconcile by ${policy}: no lane has answered; it needs at least one`,
    );
  }
  const finals = answered.filter((vote) => vote.final);
  const partial = finals.length === 0;
  const used = partial ? answered : finals;
  const totalWeight = used.reduce((sum, vote) => sum + vote.weight, 0);
  if (policy === 'weighted_merge') {
    const contributors = used.toSorted(byContribution);
    const merged = mergeJson(used);
    const texts = contributors.map(({ laneId, weight, answer }) => ({ laneId, weight, text: answerText(answer) }));
    return {
      answer: merged === undefined ? joinTexts(used) : merged,
      representative: null,
      forLanes: contributors.map(weigh),
      against: [],
      totalWeight,
      partial,
      texts: merged === undefined ? texts : null,
    };
  }
  const { groups, leader } = agreementOf(used, agreementPolicy, partition);
  const laneId = policy === 'first_win' ? firstOf(used).laneId : leader!.representative;
  const behind = new Set(groups.find((group) => group.lanes.includes(laneId))?.lanes);
  return {
    answer: used.find((vote) => vote.laneId === laneId)!.answer,
    representative: laneId,
    forLanes: used.filter((vote) => behind.has(vote.laneId)).map(weigh),
    against: used.filter((vote) => !behind.has(vote.laneId)).map(weigh),
    totalWeight,
    partial,
    texts: null,
  };
};
