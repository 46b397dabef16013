import type { FanOutStatus } from '../src/contracts/fan-out-status.js';
import { closedFromOutside } from '../src/domain/closed-from-outside.js';
import type { FanOutSetup } from '../src/domain/fan-out/setup.js';
import type { FanOutsPort } from '../src/gateway/work-port.js';
import { fanOutWorkflowType } from '../workflows/messages.js';
import { createWorkClient, type WorkClientOptions, type WorkDefinition } from './work-client.js';

export const fanOutDefinition: WorkDefinition<FanOutSetup, FanOutStatus> = {
  kind: 'fan-out',
  workflowType: fanOutWorkflowType,
  initialState: 'IDLE',
  summaryOf: ({ tasks, strategy }) => `fan-out: ${tasks.length} tasks, ${strategy}`,
  closedFromOutside: closedFromOutside((fault) => fault),
  endedLane: ({ event, data }) =>
    event === 'task' && 'agent_id' in data && data.state !== 'RUNNING' ? data.task_id : null,
  texts: () => [],
};

export const createFanOutsClient = (options: WorkClientOptions): FanOutsPort =>
  createWorkClient(fanOutDefinition, options);
