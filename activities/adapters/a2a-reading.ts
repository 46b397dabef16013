import {
  type Artifact,
  type Message,
  type Part,
  Role,
  type StreamResponse,
  type Task,
  TaskState,
  type TaskStatus,
} from '@a2a-js/sdk';
import type { Json } from '../../src/contracts/frames.js';
import type { ErrorCode } from '../../src/domain/errors.js';
import type { AgentFrame } from '../ports.js';
import { createNumbering, failFrame } from './frame-stream.js';

const textOfPart = ({ content }: Part): string => {
  switch (content?.$case) {
    case 'text':
    case 'url':
      return content.value;
    case 'data':
      return JSON.stringify(content.value);
    default:
      return '';
  }
};

const textOf = (parts: readonly Part[]): string => parts.map(textOfPart).join('');

/** What an agent has done with, however it went. */
const ended = new Set([
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_REJECTED,
  TaskState.TASK_STATE_CANCELED,
]);

/** How a task ends otherwise than with an answer. */
const endings: Partial<Record<TaskState, { code: ErrorCode; what: string }>> = {
  [TaskState.TASK_STATE_FAILED]: { code: 'EAGENTDOWN', what: 'the agent failed' },
  [TaskState.TASK_STATE_REJECTED]: { code: 'EPROTO', what: 'the agent refused the task' },
  [TaskState.TASK_STATE_CANCELED]: { code: 'EAGENTDOWN', what: 'the agent cancelled the task' },
  // A lane has nobody to ask: whoever started the work sees what was missing, and can put it into the prompt.
  [TaskState.TASK_STATE_INPUT_REQUIRED]: { code: 'EPROTO', what: 'the agent asks for input, which a lane cannot give' },
  [TaskState.TASK_STATE_AUTH_REQUIRED]: {
    code: 'ESEC',
    what: 'the agent asks for credentials; PARLEY_AGENT_KEYS of the worker names those it has',
  },
};

/** What the events of an A2A agent mean as frames: artifacts are the answer, what it says while it works is not. */
export interface TaskReading {
  /** null: it has named none yet, or answers without a task. */
  readonly taskId: string | null;
  /** Whether the agent waits, or works, with nobody to listen: the task is to be cancelled. */
  readonly isLeftOpen: boolean;
  /** Whether the answer, or the failure, is among what was handed out. */
  readonly isOver: boolean;
  hear(event: StreamResponse): AgentFrame[];
  /** The whole task, as it was asked for. */
  look(task: Task): AgentFrame[];
}

export const createTaskReading = (): TaskReading => {
  const numbering = createNumbering();
  const artifacts = new Map<string, Part[]>();
  let taskId: string | null = null;
  let isOver = false;
  let isLeftOpen = false;

  const final = (answer: { text: string } | { json: Json }): AgentFrame[] => {
    isOver = true;
    isLeftOpen = false;
    return [{ type: 'final', msg_seq: numbering.next(), ...answer }];
  };
  const fail = (code: ErrorCode, message: string): AgentFrame[] => {
    isOver = true;
    return [failFrame(code, message, false)];
  };

  /** Text that comes is told as it comes; what replaces earlier text is told by the final alone. */
  const take = ({ artifactId, parts }: Artifact, append: boolean): AgentFrame[] => {
    const before = artifacts.get(artifactId);
    artifacts.set(artifactId, append && before ? [...before, ...parts] : parts);
    if (before && !append) return [];
    const text = textOf(parts.filter(({ content }) => content?.$case === 'text'));
    const gap = before === undefined && artifacts.size > 1 ? '\n\n' : '';
    return text === '' ? [] : [numbering.partial(gap + text)];
  };

  const answer = (said: Message | undefined): AgentFrame[] => {
    const given = [...artifacts.values()].filter((parts) => parts.length > 0);
    const parts = given.length > 0 ? given : said ? [said.parts] : [];
    const [only] = parts;
    if (parts.length === 1 && only?.length === 1 && only[0]?.content?.$case === 'data')
      return final({ json: only[0].content.value as Json });
    const text = parts.map(textOf).join('\n\n');
    return text === '' ? fail('EPROTO', 'the agent completed the task without an answer') : final({ text });
  };

  const settle = ({ state, message }: TaskStatus): AgentFrame[] => {
    isLeftOpen = !ended.has(state);
    if (state === TaskState.TASK_STATE_COMPLETED) return answer(message);
    const ending = endings[state];
    if (!ending) return [];
    const said = message ? textOf(message.parts) : '';
    return fail(ending.code, said === '' ? ending.what : `${ending.what}: ${said}`);
  };

  const look = (task: Task): AgentFrame[] => {
    taskId = task.id;
    const partials = task.artifacts.flatMap((artifact) => take(artifact, false));
    const lastSaid = task.history.findLast(({ role }) => role === Role.ROLE_AGENT);
    const status = task.status && { ...task.status, message: task.status.message ?? lastSaid };
    return [...partials, ...(status ? settle(status) : [])];
  };

  return {
    get taskId() {
      return taskId;
    },
    get isLeftOpen() {
      return taskId !== null && isLeftOpen;
    },
    get isOver() {
      return isOver;
    },
    look,
    hear: ({ payload }) => {
      switch (payload?.$case) {
        case 'message':
          return answer(payload.value);
        case 'task':
          return look(payload.value);
        case 'statusUpdate':
          taskId = payload.value.taskId;
          return payload.value.status ? settle(payload.value.status) : [];
        case 'artifactUpdate':
          taskId = payload.value.taskId;
          return payload.value.artifact ? take(payload.value.artifact, payload.value.append) : [];
        default:
          return [];
      }
    },
  };
};
