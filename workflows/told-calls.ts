import { proxySinks, type Sinks, workflowInfo, type WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { isInspectedWhole } from './messages.js';

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

/** None where a workflow runs, or is replayed for anything else. */
export const interceptors: WorkflowInterceptorsFactory = () => {
  const { taskQueue, runId: temporalRunId } = workflowInfo();
  if (!isInspectedWhole(taskQueue)) return {};
  return {
    outbound: [
      {
        scheduleActivity: (input, next) => {
          const { seq, activityType: name, args, options } = input;
          inspection.called({ temporalRunId, activityId: options.activityId ?? String(seq), name, args });
          return next(input);
        },
      },
    ],
  };
};
