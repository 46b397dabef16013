import { type Artifact, type Message, type Part, Role, type Task, TaskState, type TaskStatus } from '@a2a-js/sdk';
import type { Json } from '../../contracts/frames.js';
import { contextLabel } from '../../contracts/session.js';
import type { SessionResult, SessionStatus } from '../../contracts/session-status.js';
import type { Lifecycle } from '../../contracts/work.js';
import { failureOf, howOf } from '../openai/completion.js';

/** Label of a session that keeps what A2A calls the message by which it began. */
export const messageLabel = 'a2a_message';

export const contextOf = ({ id, labels }: Pick<SessionStatus, 'id' | 'labels'>): string => labels[contextLabel] ?? id;

const plain = { metadata: undefined, filename: '' };
const partOf = (said: Json): Part =>
  typeof said === 'string'
    ? { ...plain, content: { $case: 'text', value: said }, mediaType: 'text/plain' }
    : { ...plain, content: { $case: 'data', value: said }, mediaType: 'application/json' };

const message = (
  role: Role,
  said: Json,
  { messageId, taskId, contextId }: Pick<Message, 'messageId' | 'taskId' | 'contextId'>,
  metadata?: Record<string, unknown>,
): Message => ({
  messageId,
  taskId,
  contextId,
  role,
  parts: [partOf(said)],
  metadata,
  extensions: [],
  referenceTaskIds: [],
});

/** What the agent says of a task while it works, or why it failed. */
export const agentSays = (
  session: Pick<SessionStatus, 'id' | 'labels'>,
  which: string,
  said: Json,
  metadata?: Record<string, unknown>,
): Message =>
  message(
    Role.ROLE_AGENT,
    said,
    { messageId: `${session.id}.${which}`, taskId: session.id, contextId: contextOf(session) },
    metadata,
  );

export const stateOf = ({ lifecycle, state }: { lifecycle: Lifecycle; state: string }): TaskState => {
  if (lifecycle === 'completed') return TaskState.TASK_STATE_COMPLETED;
  if (lifecycle === 'failed') return TaskState.TASK_STATE_FAILED;
  if (lifecycle === 'cancelled') return TaskState.TASK_STATE_CANCELED;
  return state === 'INIT' || state === 'DISPATCHED' ? TaskState.TASK_STATE_SUBMITTED : TaskState.TASK_STATE_WORKING;
};

export const hasEnded = ({ lifecycle }: Pick<SessionStatus, 'lifecycle'>): boolean =>
  lifecycle === 'completed' || lifecycle === 'failed' || lifecycle === 'cancelled';

export const statusOf = (session: SessionStatus): TaskStatus => ({
  state: stateOf(session),
  message: session.lifecycle === 'failed' ? agentSays(session, 'error', failureOf(session).detail) : undefined,
  timestamp: session.ended_at ?? session.started_at,
});

/** The session's final, with how it came about. */
export const answerArtifact = (id: string, result: SessionResult): Artifact => ({
  artifactId: `${id}.answer`,
  name: 'answer',
  description: '',
  parts: [partOf(result.answer)],
  metadata: howOf(id, result),
  extensions: [],
});

/** What is wrong with how many messages of a task are asked for; null: nothing. */
export const historyLengthFault = (historyLength: number | undefined): string | null =>
  historyLength === undefined || (Number.isInteger(historyLength) && historyLength >= 0)
    ? null
    : 'historyLength must be a whole number, 0 or more.';

/** A session as a task: what was asked, and the answer once there is one. @param historyLength 0: without what was asked */
export const taskOf = (session: SessionStatus, historyLength?: number): Task => ({
  id: session.id,
  contextId: contextOf(session),
  status: statusOf(session),
  artifacts: session.result === null ? [] : [answerArtifact(session.id, session.result)],
  history:
    historyLength === 0
      ? []
      : [
          message(Role.ROLE_USER, session.prompt, {
            messageId: session.labels[messageLabel] ?? `${session.id}.prompt`,
            taskId: session.id,
            contextId: contextOf(session),
          }),
        ],
  metadata: undefined,
});
