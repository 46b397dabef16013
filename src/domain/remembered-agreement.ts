import type { AgreementPolicy } from '../contracts/session.js';
import { agreementOf, type Agreement, type Vote } from './agreement.js';

interface Known {
  votes: readonly Vote[];
  partition: readonly string[][] | undefined;
  agreement: Agreement;
}

/** A step asks of the counted votes, of those an early exit would leave, and of the frozen ones: no more are kept. */
const remembered = 3;
const known = new WeakMap<AgreementPolicy, Known[]>();

const isSameVote = (a: Vote, b: Vote | undefined): boolean =>
  b !== undefined &&
  a.laneId === b.laneId &&
  a.weight === b.weight &&
  a.final === b.final &&
  a.endedAt === b.endedAt &&
  a.order === b.order &&
  a.tier === b.tier &&
  a.answer === b.answer;

const isSame = (a: readonly Vote[], b: readonly Vote[]): boolean =>
  a.length === b.length && a.every((vote, index) => isSameVote(vote, b[index]));

/**
 * `agreementOf`, remembered: most steps of a session change no vote, and a hundred long answers take a quarter of a second
 * to compare. A pure function with a memory is still pure: what it answers hangs on nothing but what it is asked. Every
 * session has its own policy object, so sessions do not push each other out.
 */
export const agreementBy = (
  votes: readonly Vote[],
  policy: AgreementPolicy,
  partition?: readonly string[][],
): Agreement => {
  const entries = known.get(policy) ?? [];
  const found = entries.find((entry) => entry.partition === partition && isSame(entry.votes, votes));
  const entry = found ?? { votes, partition, agreement: agreementOf(votes, policy, partition) };
  known.set(policy, [entry, ...entries.filter((other) => other !== entry)].slice(0, remembered));
  return entry.agreement;
};
