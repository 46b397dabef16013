import { isGrpcServiceError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { directivesQuery, reportSignal } from '../workflows/messages.js';
import { WorkGoneError, type GroupLink } from './group.js';

/** The gRPC status INVALID_ARGUMENT. */
const invalidArgument = 3;

/** A group's way to its workflow, by id alone, so that a run continued as new still hears it. */
export const createLink = (client: Client): GroupLink => ({
  report: async (workId, report) => {
    try {
      await client.workflow.getHandle(workId).signal(reportSignal, report);
    } catch (error) {
      throw gone(error);
    }
  },
  directives: async (workId) => {
    try {
      return await client.workflow.getHandle(workId).query(directivesQuery);
    } catch (error) {
      throw gone(error);
    }
  },
});

/** What Temporal refuses for what it is, it refuses again: another attempt would only ask every agent anew. */
const gone = (error: unknown): unknown => {
  if (error instanceof WorkflowNotFoundError) return new WorkGoneError('the workflow has closed', { cause: error });
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (!isGrpcServiceError(cause) || cause.code !== invalidArgument) continue;
    return ApplicationFailure.nonRetryable(
      `Temporal does not take the report: ${cause.details || cause.message}`,
      'EPROTO',
    );
  }
  return error;
};
