import { Context } from '@temporalio/activity';
import { statusQuery } from '../workflows/messages.js';

export const createEndedWorkActivities = () => ({
  /** The status of a piece of work, for whoever has started it: one that was cancelled hands none on. */
  statusOfWork: ({ workId }: { workId: string }): Promise<object> =>
    Context.current().client.workflow.getHandle(workId).query(statusQuery),
});
