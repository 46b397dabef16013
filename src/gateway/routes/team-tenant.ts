import { knownId } from '../request-parts.js';
import type { TeamsPort } from '../work-port.js';

const kept = 10_000;

/** What of a team never changes, so that its workflow is asked once: who spawns an agent waits for nothing else first. */
export interface TeamTerms {
  tenant: string;
  /** That hosted agents are asked with near the end of its budget; null: none is. */
  cheaperModel: string | null;
}

const known = new WeakMap<TeamsPort, Map<string, TeamTerms>>();

/** @throws ParleyError not_found, unavailable */
export const teamTerms = async (id: string, teams: TeamsPort): Promise<TeamTerms> => {
  const terms = known.get(teams) ?? new Map<string, TeamTerms>();
  known.set(teams, terms);
  const before = terms.get(id);
  if (before !== undefined) return before;
  const { tenant, budget } = await teams.status(knownId('team', id));
  if (terms.size >= kept) terms.clear();
  const told = { tenant, cheaperModel: budget?.cheaper_model ?? null };
  terms.set(id, told);
  return told;
};

/** Whose a team is. @throws ParleyError not_found, unavailable */
export const teamTenant = async (id: string, teams: TeamsPort): Promise<string> => (await teamTerms(id, teams)).tenant;
