import { randomUUID } from 'node:crypto';
import {
  type Client,
  isGrpcServiceError,
  type WithStartWorkflowOperation,
  type WorkflowExecutionDescription,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { UpdateDefinition, Workflow } from '@temporalio/common';

/** Told where an owner begins without what the one before it knew: what is lost, and what it begins with. */
export type OnBegunAnew = (about: Record<string, unknown>, message: string) => void;

/** The run that is over, as a log has it. */
export const endedRun = ({ workflowId, runId, startTime, closeTime, status }: WorkflowExecutionDescription) => ({
  workflow_id: workflowId,
  run_id: runId,
  ended_as: status.name.toLowerCase(),
  ran_from: startTime.toISOString(),
  ran_until: closeTime?.toISOString() ?? null,
});

/** The gRPC status NOT_FOUND. */
const notFound = 5;

/** Whether there is no such workflow, or it has ended. */
export const isGone = (error: unknown): boolean => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof WorkflowNotFoundError) return true;
    if (isGrpcServiceError(cause) && cause.code === notFound) return true;
  }
  return false;
};

export const isRunning = async (handle: WorkflowHandle): Promise<boolean> => {
  try {
    return (await handle.describe()).status.name === 'RUNNING';
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
};

/**
 * Says something to the workflow that owns what calls share, which is started where it is not there.
 * @param heard what it is told where it runs; `first` as its first word
 * @throws what Temporal throws: whether it has heard is not known then
 */
export const updateOrStart = async <Answer, Said>(
  client: Client,
  id: string,
  update: UpdateDefinition<Answer, [Said]>,
  { heard, first, start }: { heard: Said; first: Said; start: () => Promise<WithStartWorkflowOperation<Workflow>> },
): Promise<Answer> => {
  const args: [Said] = [heard];
  try {
    return await client.workflow.getHandle(id).executeUpdate(update, { args, updateId: randomUUID() });
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  return await client.workflow.executeUpdateWithStart(update, {
    args: [first],
    updateId: randomUUID(),
    startWorkflowOperation: await start(),
  });
};
