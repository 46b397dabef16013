import type { BudgetStatus, TeamStatus } from '../../contracts/team-status.js';
import { closedFromOutside } from '../closed-from-outside.js';

/** Nobody is at work any more: its time stands still. */
const standing = <T extends { budget?: BudgetStatus | undefined }>(owner: T): T => {
  const { budget } = owner;
  return budget?.time ? { ...owner, budget: { ...budget, time: { ...budget.time, ends_at: null } } } : owner;
};

const closed = closedFromOutside<TeamStatus>((fault) => fault);

/** The status of a team whose workflow was closed from outside, with the budgets of its agents. As with `closedFromOutside`. */
export const closedTeam = (status: TeamStatus, how: string, closedAt: string | null): TeamStatus => ({
  ...standing(closed(status, how, closedAt)),
  agents: status.agents.map(standing),
});
