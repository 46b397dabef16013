import type { Client } from '@temporalio/client';
import type { TeamTurn } from '../src/contracts/export.js';
import { turnPrefix } from '../src/domain/team/turn-start.js';
import { agentWorkflowType } from '../workflows/messages.js';
import { quoted } from './work-list.js';

/** The agent in the id of a turn's workflow. */
const agentOf = (teamId: string, workflowId: string): string =>
  workflowId.slice(turnPrefix(teamId).length).replace(/\.\d+(\.e\d+)?$/, '');

/** Turns of a team's agents that are under way, newest first, as Temporal's visibility store has them. @throws what Temporal throws */
export const openTurns = async (client: Client, teamId: string, most: number): Promise<TeamTurn[]> => {
  const query = `WorkflowType = '${agentWorkflowType}' AND ExecutionStatus = 'Running' AND WorkflowId STARTS_WITH ${quoted(turnPrefix(teamId))}`;
  const turns: TeamTurn[] = [];
  for await (const { workflowId: id, startTime } of client.workflow.list({ query, pageSize: most }))
    if (turns.push({ id, agent_id: agentOf(teamId, id), started_at: startTime.toISOString() }) === most) break;
  return turns;
};
