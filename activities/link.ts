import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import { directivesQuery, reportSignal } from '../workflows/messages.js';
import { WorkGoneError, type GroupLink } from './group.js';

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

const gone = (error: unknown): unknown =>
  error instanceof WorkflowNotFoundError ? new WorkGoneError('the workflow has closed', { cause: error }) : error;
