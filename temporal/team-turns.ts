import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { TeamTurnsPort } from '../activities/team-activities.js';
import { turnEpoch } from '../src/domain/team/turn-start.js';
import { agentWorkflowType } from '../workflows/messages.js';

/** Milliseconds for one question to Temporal. */
const deadlineMs = 10_000;

const isGone = (error: unknown): boolean => error instanceof WorkflowNotFoundError;

/** Turns of teams as their team reaches them from a worker, beside the signals between them. */
export const createTeamTurns = ({ client }: { client: Client }): TeamTurnsPort => {
  const within = <T>(ask: () => Promise<T>): Promise<T> => client.withDeadline(Date.now() + deadlineMs, ask);

  const isLost = async (workflowId: string): Promise<boolean> => {
    try {
      const { status } = await within(() => client.workflow.getHandle(workflowId).describe());
      return status.name !== 'RUNNING' && status.name !== 'PAUSED' && status.name !== 'CONTINUED_AS_NEW';
    } catch (error) {
      if (isGone(error)) return true;
      throw error;
    }
  };

  const end = async (workflowId: string): Promise<void> => {
    try {
      await within(() =>
        client.workflow.getHandle(workflowId).terminate('its team went back to a point before this turn'),
      );
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  };

  return {
    lost: async (workflowIds) => {
      const lost: string[] = [];
      for (const id of workflowIds) if (await isLost(id)) lost.push(id);
      return lost;
    },
    stop: async ({ teamId, epoch }) => {
      const prefix = `${teamId}.agent.`;
      const query = `WorkflowType = '${agentWorkflowType}' AND ExecutionStatus = 'Running' AND WorkflowId STARTS_WITH '${prefix}'`;
      for await (const { workflowId } of client.workflow.list({ query }))
        if (turnEpoch(workflowId) < epoch) await end(workflowId);
    },
  };
};
