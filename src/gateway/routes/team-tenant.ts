import { knownId } from './work-routes.js';
import type { TeamsPort } from '../work-port.js';

const kept = 10_000;
const known = new WeakMap<TeamsPort, Map<string, string>>();

/**
 * Whose a team is. That never changes, so that its workflow is asked once: who spawns an agent waits for nothing else first.
 * @throws ParleyError not_found, unavailable
 */
export const teamTenant = async (id: string, teams: TeamsPort): Promise<string> => {
  const tenants = known.get(teams) ?? new Map<string, string>();
  known.set(teams, tenants);
  const before = tenants.get(id);
  if (before !== undefined) return before;
  const { tenant } = await teams.status(knownId('team', id));
  if (tenants.size >= kept) tenants.clear();
  tenants.set(id, tenant);
  return tenant;
};
