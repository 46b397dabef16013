import type { Role } from '../../contracts/debate.js';
import type { Duel } from '../../contracts/debate-status.js';
import type { EloChange, RatingTable } from '../../contracts/memory.js';
import { eloFactor, firstElo } from '../elo.js';
import { above } from '../numbers.js';
import { roleOrder, roleWeights } from './roles.js';
import type { StatementRecord } from './state.js';

type Standing = RatingTable[string];

/** clamp(0.5 + successes / matches, 0.5, 1.5); 1 without a match (details 2.3). */
export const accuracyOf = ({ matches, successes }: Pick<Standing, 'matches' | 'successes'>): number =>
  matches <= 0 ? 1 : Math.min(1.5, Math.max(0.5, 0.5 + successes / matches));

/** Role weight x clamp(elo / 1200, 0.5, 1.5) x accuracy (spec 02 "Aggregation"); a persona nobody knows starts at 1200. */
export const weightOf = (role: Role, standing: Standing | undefined): number =>
  roleWeights[role] * eloFactor(standing?.elo ?? firstElo) * (standing ? accuracyOf(standing) : 1);

/** Critic beats solution above this confidence, strictly (details 2.3). */
const criticWins = 0.7;

/**
 * The duels of a debate, from its last pass (spec 02 "ELO duels"): the critic against the solution where both spoke, and a
 * veto in addition. A critic who is for the plan never wins.
 */
export const duelsOf = (
  statements: readonly StatementRecord[],
  personas: Readonly<Record<Role, string>>,
  isVetoed: boolean,
): Duel[] => {
  const side = (role: Role, elo: number): Duel['winner'] => ({ role, persona_id: personas[role], elo });
  const spoke = (role: Role): StatementRecord | undefined =>
    statements.find((statement) => statement.role === role && statement.stance !== 'abstain');
  const duels: Duel[] = [];
  const critic = spoke('critic');
  if (critic && spoke('solution')) {
    const beats = critic.stance === 'against' && above(critic.confidence, criticWins);
    duels.push(
      beats
        ? { kind: 'critic_solution', winner: side('critic', 10), loser: side('solution', -10) }
        : { kind: 'critic_solution', winner: side('solution', 5), loser: side('critic', -5) },
    );
  }
  if (isVetoed) duels.push({ kind: 'veto', winner: side('security', 25), loser: side('solution', -50) });
  return duels;
};

/** What the debate changes for each persona, the changes of its roles added up: one match each, whoever it was. */
export const eloChanges = (
  duels: readonly Duel[],
  statements: readonly StatementRecord[],
  personas: Readonly<Record<Role, string>>,
  ratings: RatingTable,
): EloChange[] => {
  const names = [...new Set(roleOrder.map((role) => personas[role]))];
  return names.map((name) => ({
    persona_id: name,
    before: ratings[name]?.elo ?? firstElo,
    delta: duels
      .flatMap(({ winner, loser }) => [winner, loser])
      .filter((side) => side.persona_id === name)
      .reduce((sum, side) => sum + side.elo, 0),
    argued: statements.some((statement) => statement.persona_id === name && statement.stance !== 'abstain'),
  }));
};
