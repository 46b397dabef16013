import type { Role } from '../../contracts/debate.js';
import type { Vote } from '../../contracts/debate-status.js';
import type { RatingTable } from '../../contracts/memory.js';
import { atLeast } from '../numbers.js';
import { weightOf } from './ratings.js';
import { roleOrder } from './roles.js';
import type { DebateState, StatementRecord } from './state.js';

/**
 * What each role says of the plan as it stands: its statement of this pass. The analyst, who speaks in the first pass alone,
 * is taken at its word of then; nobody else is, as the plan was another one (details 2.3).
 */
export const currentStatements = ({ statements, pass }: Pick<DebateState, 'statements' | 'pass'>): StatementRecord[] =>
  roleOrder.flatMap((role) => {
    const latest = statements.findLast((statement) => statement.role === role);
    return latest && (latest.pass === pass || role === 'analyst') ? [latest] : [];
  });

export const statementOf = (debate: Pick<DebateState, 'statements' | 'pass'>, role: Role): StatementRecord | null =>
  currentStatements(debate).find((statement) => statement.role === role) ?? null;

/** One vote for each role that has spoken; an abstention has no weight. */
export const votesOf = (statements: readonly StatementRecord[], ratings: RatingTable): Vote[] =>
  statements.map(({ role, persona_id: personaId, pass, stance, confidence }) => ({
    role,
    persona_id: personaId,
    pass,
    stance,
    confidence: stance === 'abstain' ? 0 : confidence,
    weight: stance === 'abstain' ? 0 : weightOf(role, ratings[personaId]),
  }));

/** Sum of pro (confidence x weight) over sum of all, 0–1; 0 when nothing was said with any confidence (details 2.3). */
export const consensusOf = (votes: readonly Vote[]): number => {
  const sum = (of: readonly Vote[]): number => of.reduce((total, vote) => total + vote.confidence * vote.weight, 0);
  const all = sum(votes.filter((vote) => vote.stance !== 'abstain'));
  return all > 0 ? Math.min(1, sum(votes.filter((vote) => vote.stance === 'for')) / all) : 0;
};

/** Security against the plan with at least the confidence of a veto: whatever the others say, it is blocked (spec 02). */
export const isVeto = (security: Pick<StatementRecord, 'stance' | 'confidence'> | null, veto: number): boolean =>
  security !== null && security.stance === 'against' && atLeast(security.confidence, veto);
