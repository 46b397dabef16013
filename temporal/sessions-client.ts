import { contextLabel } from '../src/contracts/session.js';
import type { SessionStatus } from '../src/contracts/session-status.js';
import { closedFromOutside } from '../src/domain/closed-from-outside.js';
import type { SessionSetup } from '../src/domain/session/setup.js';
import type { SessionsPort } from '../src/gateway/work-port.js';
import { framesUpdate, sessionWorkflowType } from '../workflows/messages.js';
import { contextName } from './context-name.js';
import { createWorkClient, firstWords, type WorkClientOptions, type WorkDefinition } from './work-client.js';

export const sessionDefinition: WorkDefinition<SessionSetup, SessionStatus> = {
  kind: 'session',
  workflowType: sessionWorkflowType,
  initialState: 'INIT',
  summaryOf: ({ prompt }) => `session: ${firstWords(prompt)}`,
  nameOf: ({ labels }) => {
    const context = labels[contextLabel];
    return context === undefined ? undefined : contextName(context);
  },
  closedFromOutside: closedFromOutside((fault, { lanes }) => ({
    ...fault,
    lanes: lanes.map(({ lane_id, state, reason }) => ({ lane_id, state, reason })),
  })),
  endedLane: (event) =>
    event.event === 'lane' && ['FINALIZED', 'FAILED', 'CANCELLED', 'REJECTED'].includes(event.data.to)
      ? event.data.lane_id
      : null,
  texts: ({ lanes }) =>
    lanes.flatMap((lane) =>
      lane.adapter === 'external' && typeof lane.answer === 'string' && lane.answer !== ''
        ? [{ lane_id: lane.lane_id, attempt: Math.max(1, lane.attempt), offset: 0, text: lane.answer }]
        : [],
    ),
};

export const createSessionsClient = (options: WorkClientOptions): SessionsPort => {
  const sessions = createWorkClient(sessionDefinition, options);
  return {
    ...sessions,
    frames: (id, lane, frames) =>
      sessions.update(id, 'take frames', (handle, updateId) =>
        handle.executeUpdate(framesUpdate, { args: [lane, frames], updateId }),
      ),
  };
};
