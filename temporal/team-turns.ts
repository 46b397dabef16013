import { setTimeout as delay } from 'node:timers/promises';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { TeamTurnsPort } from '../activities/team-activities.js';
import { turnEpoch, turnPrefix } from '../src/domain/team/turn-start.js';
import { agentWorkflowType } from '../workflows/messages.js';

/** Milliseconds for one question to Temporal. */
const deadlineMs = 10_000;
/** How often, and after how many milliseconds each, a turn is looked for that was asked for and is not there. */
const looks = 10;
const lookMs = 200;

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

  /** @returns whether there was one: of one that a team asked for just before it was stopped, there may be none yet */
  const end = async (workflowId: string): Promise<boolean> => {
    const handle = client.workflow.getHandle(workflowId);
    try {
      await within(() => handle.terminate('its team went back to a point before this turn'));
      return true;
    } catch (error) {
      if (!isGone(error)) throw error;
    }
    try {
      await within(() => handle.describe());
      return true;
    } catch (error) {
      if (isGone(error)) return false;
      throw error;
    }
  };

  /** Those that one run of a team has asked for. */
  const askedFor = async (teamId: string, runId: string): Promise<string[]> => {
    try {
      const { events } = await within(() => client.workflow.getHandle(teamId, runId).fetchHistory());
      return (events ?? []).flatMap((event) => {
        const { workflowType, workflowId } = event.startChildWorkflowExecutionInitiatedEventAttributes ?? {};
        return workflowType?.name === agentWorkflowType && workflowId ? [workflowId] : [];
      });
    } catch (error) {
      if (isGone(error)) return []; // what it began is in the list since long
      throw error;
    }
  };

  return {
    lost: async (workflowIds) => {
      const lost: string[] = [];
      for (const id of workflowIds) if (await isLost(id)) lost.push(id);
      return lost;
    },
    stop: async ({ teamId, epoch, previousRunId }) => {
      const isLeft = (id: string): boolean => turnEpoch(id) < epoch;
      const query = `WorkflowType = '${agentWorkflowType}' AND ExecutionStatus = 'Running' AND WorkflowId STARTS_WITH '${turnPrefix(teamId)}'`;
      for await (const { workflowId } of client.workflow.list({ query })) if (isLeft(workflowId)) await end(workflowId);
      // The list follows what happens after a moment; a history is there at once.
      let missing = previousRunId === null ? [] : (await askedFor(teamId, previousRunId)).filter(isLeft);
      for (let look = 0; missing.length > 0 && look < looks; look += 1) {
        if (look > 0) await delay(lookMs);
        const absent: string[] = [];
        for (const id of missing) if (!(await end(id))) absent.push(id);
        missing = absent;
      }
    },
  };
};
