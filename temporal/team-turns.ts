import { setTimeout as delay } from 'node:timers/promises';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { TeamTurnsPort } from '../activities/team-activities.js';
import { turnEpoch, turnPrefix } from '../src/domain/team/turn-start.js';
import { agentWorkflowType } from '../workflows/messages.js';

/** Milliseconds for one question to Temporal. */
const deadlineMs = 10_000;
/** Milliseconds between looks whether turns have stopped. */
const lookMs = 100;
/** Milliseconds after which one that does not stop is ended, and after which one that is not there is not waited for. */
const stopMs = 10_000;
const absentMs = 1_000;

const isOpen = (status: string): boolean =>
  status === 'RUNNING' || status === 'PAUSED' || status === 'CONTINUED_AS_NEW';
const isGone = (error: unknown): boolean => error instanceof WorkflowNotFoundError;

/** Turns of teams as their team reaches them from a worker, beside the signals between them. */
export const createTeamTurns = ({ client }: { client: Client }): TeamTurnsPort => {
  const within = <T>(ask: () => Promise<T>): Promise<T> => client.withDeadline(Date.now() + deadlineMs, ask);

  const status = async (workflowId: string): Promise<'open' | 'closed' | 'absent'> => {
    try {
      const { status: now } = await within(() => client.workflow.getHandle(workflowId).describe());
      return isOpen(now.name) ? 'open' : 'closed';
    } catch (error) {
      if (isGone(error)) return 'absent';
      throw error;
    }
  };

  /** Asks it to stop, so that its calls of models and tools end; where it does not, it is ended. */
  const end = async (workflowId: string, how: 'cancel' | 'terminate'): Promise<void> => {
    const handle = client.workflow.getHandle(workflowId);
    try {
      if (how === 'cancel') await within(() => handle.cancel());
      else await within(() => handle.terminate('its team went back to a point before this turn'));
    } catch (error) {
      if (!isGone(error)) throw error;
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
      for (const id of workflowIds) if ((await status(id)) !== 'open') lost.push(id);
      return lost;
    },
    stop: async ({ teamId, epoch, previousRunId }) => {
      const isLeft = (id: string): boolean => turnEpoch(id) < epoch;
      const query = `WorkflowType = '${agentWorkflowType}' AND ExecutionStatus = 'Running' AND WorkflowId STARTS_WITH '${turnPrefix(teamId)}'`;
      const left = new Set<string>();
      for await (const { workflowId } of client.workflow.list({ query })) if (isLeft(workflowId)) left.add(workflowId);
      // The list follows what happens after a moment; a history is there at once.
      if (previousRunId !== null) for (const id of await askedFor(teamId, previousRunId)) if (isLeft(id)) left.add(id);
      const asked = new Set<string>();
      const began = Date.now();
      while (left.size > 0) {
        const passed = Date.now() - began;
        for (const id of left) {
          const now = await status(id);
          // One that was asked for just before its team was stopped may begin after all.
          if (now === 'closed' || (now === 'absent' && passed >= absentMs)) left.delete(id);
          else if (now === 'open' && passed >= stopMs) await end(id, 'terminate');
          else if (now === 'open' && !asked.has(id)) {
            asked.add(id);
            await end(id, 'cancel');
          }
        }
        if (left.size > 0) await delay(lookMs);
      }
    },
  };
};
