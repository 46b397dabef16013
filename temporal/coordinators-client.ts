import type { Aggregation, CoordinatorStatus } from '../src/contracts/coordinator-status.js';
import type { NumberedEvent } from '../src/contracts/events.js';
import { closedFromOutside } from '../src/domain/closed-from-outside.js';
import { withChange } from '../src/domain/coordinator/changes.js';
import { promptOf } from '../src/domain/coordinator/prompt.js';
import type { CoordinatorStart } from '../src/domain/coordinator/state.js';
import { someOf } from '../src/domain/coordinator/question.js';
import type { CoordinatorsPort } from '../src/gateway/work-port.js';
import { coordinatorWorkflowType, responsesUpdate } from '../workflows/messages.js';
import { feedbackOf } from './feedback-update.js';
import { createWorkClient, firstWords, type WorkClientOptions, type WorkDefinition } from './work-client.js';

export const coordinatorDefinition: WorkDefinition<CoordinatorStart, CoordinatorStatus> = {
  kind: 'coordinator',
  workflowType: coordinatorWorkflowType,
  initialState: 'S0',
  summaryOf: ({ runs }) =>
    `coordinator: ${runs.length} ${runs.length === 1 ? 'run' : 'runs'}, ${firstWords(someOf(runs))}`,
  closedFromOutside: closedFromOutside((fault) => fault),
  endedLane: () => null,
  texts: () => [],
};

/** The report with this name, of the events of one run of the workflow: the first that they tell is whole. */
const reportIn = (events: readonly NumberedEvent[], name: string): Aggregation | null => {
  let report: Aggregation | null = null;
  for (const { event, data } of events) {
    if (event === 'aggregation') report = withChange(report, data);
    if (report?.report === name) return report;
  }
  return null;
};

export const createCoordinatorsClient = (options: WorkClientOptions): CoordinatorsPort => {
  const coordinators = createWorkClient(coordinatorDefinition, options);
  return {
    ...coordinators,
    feedback: feedbackOf(coordinators.update),
    respond: (id, given) =>
      coordinators.update(id, 'take answers', (handle, updateId) =>
        handle.executeUpdate(responsesUpdate, { args: [given], updateId }),
      ),
    report: async (id, number) => {
      const { reports, aggregation: latest } = await coordinators.status(id);
      const name = reports[number - 1]?.report;
      if (name === undefined) return null;
      if (latest?.report === name) return { ...latest, prompt: promptOf(latest) };
      // Each was told as an event, the earlier ones by the runs of the workflow that went before.
      let runId: string | undefined;
      do {
        const { events, previousRunId } = await coordinators.events(id, 0, runId);
        const found = reportIn(events, name);
        if (found) return { ...found, prompt: promptOf(found) };
        runId = previousRunId ?? undefined;
      } while (runId !== undefined);
      return null;
    },
  };
};
