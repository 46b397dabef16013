import type { Json } from '../contracts/frames.js';
import type { AgreementPolicy, Reconciliation, Tier } from '../contracts/session.js';
import { choiceOf, sameChoice, type Choice } from './choice.js';
import { above, atLeast, equal } from './numbers.js';
import { answerText, isEmptyAnswer, jaccardOf, normalise, tokenSet } from './text.js';
import { tierRank } from './tier.js';

/** One lane's answer, its final or its text so far. `order` is the lane's place in the request. */
export interface Vote {
  laneId: string;
  order: number;
  weight: number;
  tier: Tier;
  answer: Json;
  final: boolean;
  /** When the lane finalised; null while it has not. */
  endedAt: number | null;
}

/** Lanes that agree, in the order of the votes. */
export interface Group {
  lanes: string[];
  weight: number;
  /** The lane whose answer stands for the group. */
  representative: string;
  /** The part of the weight that has finalised. */
  finalWeight: number;
}

export interface Agreement {
  /** Share of the leading group in the weight of all that answered, 0–1; 0 without answers. */
  value: number;
  /** The leading group first. */
  groups: Group[];
  total: number;
  leader: Group | null;
}

/**
 * Whether an answer counts at all: an empty one is none, and half-streamed text in which the choice has not come yet is no
 * vote against anybody. A final without a choice is: it agrees with nobody (spec 01 "Agreement and answers").
 */
export const isVote = (vote: Pick<Vote, 'answer' | 'final'>, policy: AgreementPolicy): boolean => {
  if (isEmptyAnswer(vote.answer)) return false;
  return vote.final || policy.method !== 'choice' || !policy.choice || choiceOf(vote.answer, policy.choice) !== null;
};

const weightOf = (votes: readonly Vote[]): number => votes.reduce((sum, vote) => sum + vote.weight, 0);
const endedAt = (vote: Vote): number => (vote.final && vote.endedAt !== null ? vote.endedAt : Number.MAX_SAFE_INTEGER);
const smallest = (values: number[]): number => Math.min(...values);

/** Ties of spec 01 between two lanes: higher tier, then earlier FINAL (none is latest), then lane order. */
export const byPreference = (a: Vote, b: Vote): number =>
  tierRank[a.tier] - tierRank[b.tier] || endedAt(a) - endedAt(b) || a.order - b.order;

/** The same ties between groups, each taken at its best, after weight. */
const byLead = (a: readonly Vote[], b: readonly Vote[]): number => {
  const weights = [weightOf(a), weightOf(b)] as const;
  if (!equal(...weights)) return weights[1] - weights[0];
  const best = (votes: readonly Vote[], what: (vote: Vote) => number): number => smallest(votes.map(what));
  return (
    best(a, (vote) => tierRank[vote.tier]) - best(b, (vote) => tierRank[vote.tier]) ||
    best(a, endedAt) - best(b, endedAt) ||
    best(a, (vote) => vote.order) - best(b, (vote) => vote.order)
  );
};

type Distance = (a: Vote, b: Vote) => number;

/** How many numbers two ascending lists share. */
const sharedBy = (a: Uint32Array, b: Uint32Array): number => {
  let shared = 0;
  for (let one = 0, other = 0; one < a.length && other < b.length; ) {
    const difference = a[one]! - b[other]!;
    if (difference === 0) shared += 1;
    if (difference <= 0) one += 1;
    if (difference >= 0) other += 1;
  }
  return shared;
};

/**
 * 1 - jaccard. Each text is taken apart once and its words become ascending numbers, so that a hundred long answers can be
 * compared pair by pair within a workflow task; equal texts are not compared.
 */
const textDistance = (votes: readonly Vote[]): Distance => {
  const texts = new Map(votes.map((vote) => [vote, normalise(answerText(vote.answer))]));
  const numbers = new Map<string, number>();
  const numberOf = (token: string): number => {
    const number = numbers.get(token) ?? numbers.size;
    numbers.set(token, number);
    return number;
  };
  const words = new Map(
    Array.from(new Set(texts.values()), (text) => [text, Uint32Array.from(tokenSet(text), numberOf).sort()]),
  );
  const known = new Map<Uint32Array, Map<Uint32Array, number>>();
  return (a, b) => {
    const [one, other] = [words.get(texts.get(a)!)!, words.get(texts.get(b)!)!];
    if (one === other) return 0;
    const row = known.get(one) ?? new Map<Uint32Array, number>();
    const distance = row.get(other) ?? 1 - jaccardOf(sharedBy(one, other), one.length, other.length);
    known.set(one, row.set(other, distance));
    return distance;
  };
};

const spread = (from: Vote, votes: readonly Vote[], distance: Distance): number =>
  votes.reduce((sum, vote) => sum + vote.weight * distance(from, vote), 0);

/** The weighted medoid, of the finals where there are any: the answer nearest to all others of its group. */
const medoid = (votes: readonly Vote[], distance: Distance): Vote => {
  const finals = votes.filter((vote) => vote.final);
  const candidates = (finals.length > 0 ? finals : votes).map((vote) => ({ vote, far: spread(vote, votes, distance) }));
  const least = smallest(candidates.map(({ far }) => far));
  const nearest = candidates.filter(({ far }) => equal(far, least)).map(({ vote }) => vote);
  return nearest.sort(byPreference)[0]!;
};

/**
 * Around every answer lies the ball of those within the threshold; the heaviest is a group (ties: the tighter one, then the
 * ties of spec 01 between the answers at the centres), the rest is looked at anew.
 */
const balls = (votes: readonly Vote[], threshold: number, distance: Distance): Vote[][] => {
  const groups: Vote[][] = [];
  let rest = [...votes];
  while (rest.length > 0) {
    const around = rest.map((centre) => {
      const members = rest.filter((vote) => atLeast(1 - distance(centre, vote), threshold));
      return { centre, members, weight: weightOf(members), far: spread(centre, members, distance) };
    });
    const heaviest = around.reduce((best, ball) => {
      if (!equal(ball.weight, best.weight)) return ball.weight > best.weight ? ball : best;
      if (!equal(ball.far, best.far)) return ball.far < best.far ? ball : best;
      return byPreference(ball.centre, best.centre) < 0 ? ball : best;
    });
    groups.push(heaviest.members);
    rest = rest.filter((vote) => !heaviest.members.includes(vote));
  }
  return groups;
};

/** Groups by a relation that is one of equality; `isSame` is asked of the first of each group. */
const gathered = (votes: readonly Vote[], isSame: (a: Vote, b: Vote) => boolean): Vote[][] => {
  const groups: Vote[][] = [];
  for (const vote of votes) {
    const group = groups.find(([first]) => first !== undefined && isSame(first, vote));
    if (group) group.push(vote);
    else groups.push([vote]);
  }
  return groups;
};

const byText = (votes: readonly Vote[]): Vote[][] => {
  const texts = new Map(votes.map((vote) => [vote, normalise(answerText(vote.answer))]));
  return gathered(votes, (a, b) => texts.get(a) === texts.get(b));
};

const byChoice = (votes: readonly Vote[], policy: AgreementPolicy): Vote[][] => {
  const choices = new Map<Vote, Choice | null>();
  for (const vote of votes) choices.set(vote, choiceOf(vote.answer, policy.choice ?? {}));
  return gathered(votes, (a, b) => {
    const [one, other] = [choices.get(a) ?? null, choices.get(b) ?? null];
    return one !== null && other !== null && sameChoice(one, other);
  });
};

/** As a scorer from outside has it; lanes it did not name stand with those that say the same, or alone. */
const byPartition = (votes: readonly Vote[], partition: readonly string[][]): Vote[][] => {
  const place = new Map<string, number>();
  partition.forEach((lanes, index) => {
    for (const lane of lanes) if (!place.has(lane)) place.set(lane, index);
  });
  const named = partition.map((_, index) => votes.filter((vote) => place.get(vote.laneId) === index));
  const groups = named.filter((group) => group.length > 0);
  for (const same of byText(votes)) {
    const unnamed = same.filter((vote) => !place.has(vote.laneId));
    const joined = groups.find((group) => group.some((vote) => same.includes(vote)));
    if (joined) joined.push(...unnamed);
    else if (unnamed.length > 0) groups.push(unnamed);
  }
  return groups;
};

/**
 * How far the answers agree (spec 01 "Agreement and answers"). `votes` are the lanes that have answered and are not failed,
 * rejected or cancelled; empty answers are none and fall out. `partition` is what a scorer from outside (a judge) found: it
 * replaces the method; without it, method `judge` goes by equal texts.
 * @throws ParleyError invalid_request, for a choice regex that is none.
 */
export const agreementOf = (
  votes: readonly Vote[],
  policy: AgreementPolicy,
  partition?: readonly string[][],
): Agreement => {
  const given = votes.filter((vote) => !isEmptyAnswer(vote.answer));
  const near = textDistance(given);
  const isScored = partition !== undefined || policy.method === 'judge';
  const distance: Distance = isScored || policy.method === 'similarity' ? near : () => 0;
  const parts = isScored
    ? byPartition(given, partition ?? [])
    : policy.method === 'similarity'
      ? balls(given, policy.similarity_threshold, near)
      : policy.method === 'choice'
        ? byChoice(given, policy)
        : byText(given);
  const inOrder = new Map(given.map((vote, index) => [vote, index]));
  const groups = parts.sort(byLead).map((part) => ({
    lanes: part.sort((a, b) => inOrder.get(a)! - inOrder.get(b)!).map((vote) => vote.laneId),
    weight: weightOf(part),
    representative: medoid(part, distance).laneId,
    finalWeight: weightOf(part.filter((vote) => vote.final)),
  }));
  const total = weightOf(given);
  const leader = groups[0] ?? null;
  return { value: leader && total > 0 ? leader.weight / total : 0, groups, total, leader };
};

/**
 * Whether no outcome of the lanes still running could change the answer (spec 01 "Decided"); asked while lanes run.
 *
 * L is the finalised weight of the leader's own text (exact and choice: of its key), E everything else that is final or
 * may still come. With L > E the answer stands. exact, choice: no other group can reach L. similarity: a ball without
 * that text weighs at most E, so the heaviest holds all of L; and as 1 - jaccard is a metric, for any other text X in it
 * the sum of distances is at least L·d(X), that of the leader's text at most E·d(X) more than the rest both share, so the
 * medoid is a text at distance 0 of the leader's. Lanes that fail only make E smaller. L / (L + E) is then the worst
 * agreement that can come; below the threshold the answer could still go to escalation or the arbiter.
 */
export const isDecided = (facts: {
  votes: readonly Vote[];
  /** Weight of all lanes that have not ended. */
  runningWeight: number;
  policy: AgreementPolicy;
  reconciliation: Reconciliation;
  threshold: number;
}): boolean => {
  const { policy, reconciliation, threshold } = facts;
  // A merge changes with every answer, and what a judge will say of the next one nobody can know.
  if (reconciliation === 'weighted_merge' || policy.method === 'judge') return false;
  const finals = facts.votes.filter((vote) => vote.final && !isEmptyAnswer(vote.answer));
  const { leader, total } = agreementOf(finals, policy);
  const representative = finals.find((vote) => vote.laneId === leader?.representative);
  if (!leader || !representative) return false;
  const text = normalise(answerText(representative.answer));
  const same = finals.filter((vote) => normalise(answerText(vote.answer)) === text);
  const firm = policy.method === 'similarity' ? weightOf(same) : leader.weight;
  const open = total - firm + facts.runningWeight;
  const holds = atLeast(firm / (firm + open), threshold);
  // The first to finalise stays the first, whoever leads.
  return reconciliation === 'first_win' ? holds : holds && above(firm, open);
};

/** Whether two answers say the same by the session's own method; a judge is not asked, its fallback decides. */
export const answersAgree = (a: Json, b: Json, policy: AgreementPolicy): boolean => {
  const votes = [a, b].map(
    (answer, order): Vote => ({
      laneId: String(order),
      order,
      weight: 1,
      tier: 'silver',
      answer,
      final: true,
      endedAt: 0,
    }),
  );
  return agreementOf(votes, policy).groups.length === 1;
};
