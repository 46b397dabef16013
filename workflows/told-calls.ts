import { proxySinks, type Sinks, workflowInfo, type WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { inspectedNow } from './messages.js';

/** What a workflow asks for, for who compares a replay with what was recorded: Temporal itself does not compare arguments. */
export interface InspectionSinks extends Sinks {
  inspection: {
    called(call: AskedCall): void;
  };
}

/** An activity as the workflow asked for it. */
export interface AskedCall {
  temporalRunId: string;
  /** As the history names it. */
  activityId: string;
  name: string;
  args: unknown[];
}

const { inspection } = proxySinks<InspectionSinks>();

/** Tells nobody where a workflow runs, or is replayed for anything else. */
export const interceptors: WorkflowInterceptorsFactory = () => ({
  outbound: [
    {
      scheduleActivity: (input, next) => {
        if (inspectedNow() === 'all') {
          const { seq, activityType: name, args, options } = input;
          const activityId = options.activityId ?? String(seq);
          inspection.called({ temporalRunId: workflowInfo().runId, activityId, name, args });
        }
        return next(input);
      },
    },
  ],
});
