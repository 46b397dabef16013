import type { TenantWait, TenantWaitEvent } from '../tenant-waits.js';
import { type AgentRecord, isOver, type TeamState } from './state.js';

/** The call of a turn waits for a person who answers for its tenant's budget. */
export type TurnWait = TenantWaitEvent & { agentId: string; run: number };

/** Names the call of a turn, of which there is one at a time. */
export const turnCall = (run: number): string => `turn ${run}`;
/** Names the question to a lite agent. */
export const liteCall = ({ patternId, liteId }: { patternId: string; liteId: string }): string =>
  `lite ${patternId} ${liteId}`;

/** The wait of an agent's call; null: it does not wait so. */
export const waitOf = (
  { tenantWaits }: TeamState,
  { state, turn }: Pick<AgentRecord, 'state' | 'turn'>,
): TenantWait | null =>
  (state === 'RUNNING' && turn && tenantWaits?.find(({ call }) => call === turnCall(turn.run))) || null;

const liteCalls = ({ patterns }: TeamState): string[] =>
  patterns.flatMap(({ patternId, items }) =>
    items.flatMap(({ lite }) =>
      lite.flatMap(({ liteId, answered }) => (answered ? [] : liteCall({ patternId, liteId }))),
    ),
  );

/** Whether a lite agent is at its answer. */
export const isLiteAtWork = (team: TeamState): boolean =>
  liteCalls(team).some((name) => !team.tenantWaits?.some(({ call }) => call === name));

/** All calls of the team that wait so now. */
export const openTenantWaits = (team: TeamState): TenantWait[] => {
  if (team.tenantWaits === undefined || isOver(team)) return [];
  const names = new Set([...team.agents.flatMap((agent) => waitOf(team, agent)?.call ?? []), ...liteCalls(team)]);
  return team.tenantWaits.filter(({ call }) => names.has(call));
};
