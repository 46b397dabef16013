import { createHash } from 'node:crypto';
import {
  type AgentCard,
  type Message,
  type Part,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  TaskState,
} from '@a2a-js/sdk';
import {
  ContentTypeNotSupportedError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import type { ChatMessage } from '../../contracts/chat.js';
import { contextLabel } from '../../contracts/session.js';
import type { SessionDurableEvent } from '../../contracts/session-events.js';
import type { SessionStatus } from '../../contracts/session-status.js';
import type { Started } from '../../contracts/work.js';
import { answerOf, findRoute } from '../invoke.js';
import { textOf } from '../openai/completion.js';
import { readConversation } from '../openai/conversation.js';
import { presetName } from '../openai/panels.js';
import { refusedSession, sessionBodyOf } from '../openai/session-body.js';
import { ProblemError, toProblemError } from '../problem.js';
import type { AnyRoute, Call, Ports } from '../route.js';
import { a2aError } from './errors.js';
import { listTasks } from './list-tasks.js';
import {
  agentSays,
  answerArtifact,
  contextOf,
  hasEnded,
  historyLengthFault,
  messageLabel,
  statusOf,
  taskOf,
} from './task.js';

export interface TasksOptions {
  ports: Ports;
  call: Call;
  routes: readonly AnyRoute[];
  /** Of the request, by lower-case name. */
  headers: Readonly<Record<string, unknown>>;
  card: AgentCard;
  /** Hears of a problem that is one of HTTP. */
  onProblem: (problem: ProblemError) => void;
}

/** The longest that any session may take (its deadline, spec 10) and then some. */
const patienceMs = 87_000_000;
/** Earlier tasks that one message may build on. */
const mostReferences = 20;

const textOfPart = ({ content }: Part): string => {
  if (content?.$case === 'text') return content.value;
  if (content?.$case === 'data') return JSON.stringify(content.value);
  throw new ContentTypeNotSupportedError('Parts of text and data are read; files are not.');
};

const modelOf = ({ message, metadata }: SendMessageRequest): string => {
  const named: unknown = message?.metadata?.['model'] ?? metadata?.['model'] ?? presetName;
  if (typeof named === 'string') return named;
  throw new RequestMalformedError(
    'metadata.model must be the name of a panel; the extended card lists them as skills.',
  );
};

/** @throws RequestMalformedError where a task is not named */
const named = (id: string): string => {
  if (id !== '') return id;
  throw new RequestMalformedError('id must be that of a task; it is missing.');
};

const mostKeyChars = 255;

/** By what a message that is sent again counts once: short, and another for each message of each context. */
const keyOf = (contextId: string, messageId: string): string => {
  const plain = `a2a ${contextId} ${messageId}`;
  if (plain.length <= mostKeyChars && !/\s/.test(contextId + messageId)) return plain;
  return `a2a sha256 of ${createHash('sha256')
    .update(JSON.stringify([contextId, messageId]))
    .digest('hex')}`;
};

/** @throws RequestMalformedError */
const checkHistory = (historyLength: number | undefined): void => {
  const fault = historyLengthFault(historyLength);
  if (fault !== null) throw new RequestMalformedError(fault);
};

const noPush = (): Promise<never> =>
  Promise.reject(
    new PushNotificationNotSupportedError(
      'Follow the task by its stream, or start the session over HTTP with webhooks.',
    ),
  );

/**
 * Tasks of A2A over sessions, in the words of the SDK: a message starts a session of a panel, whose final is the task's artifact.
 * Nothing is kept here; a message that is sent again (by its messageId) is the same task.
 */
export const createTasks = ({ ports, call, routes, headers, card, onProblem }: TasksOptions): A2ARequestHandler => {
  const open = findRoute(routes, 'post', '/v1/sessions');
  const get = findRoute(routes, 'get', '/v1/sessions/{id}');
  const stop = findRoute(routes, 'post', '/v1/sessions/{id}/cancel');

  /** @throws A2AError */
  const refuse = (error: unknown): never => {
    if (!(error instanceof ProblemError) && error instanceof Error && 'reason' in error) throw error;
    const problem = toProblemError(error);
    const known = a2aError(problem);
    if (known === null) onProblem(problem);
    throw known ?? problem;
  };
  const as =
    <Given extends unknown[], Answer>(act: (...given: Given) => Promise<Answer>) =>
    (...given: Given): Promise<Answer> =>
      act(...given).catch(refuse);

  const sessionOf = async (id: string): Promise<SessionStatus> =>
    (await answerOf(get, { params: { id: named(id) } }, ports, call)).body as SessionStatus;

  /** What earlier tasks asked and answered. */
  const earlier = async ({ referenceTaskIds }: Message): Promise<ChatMessage[]> => {
    const sessions = await Promise.all(referenceTaskIds.slice(-mostReferences).map(sessionOf));
    return sessions.flatMap(({ prompt, result }): ChatMessage[] => [
      { role: 'user', content: [{ type: 'text', text: prompt }] },
      ...(result === null
        ? []
        : [{ role: 'assistant' as const, content: [{ type: 'text' as const, text: textOf(result.answer) }] }]),
    ]);
  };

  const start = async (asked: SendMessageRequest): Promise<SessionStatus> => {
    const { message, configuration, tenant } = asked;
    if (!message) throw new RequestMalformedError('message is missing.');
    if (configuration?.taskPushNotificationConfig) return await noPush();
    checkHistory(configuration?.historyLength);
    if (message.taskId !== '') {
      const { id, state } = await sessionOf(message.taskId);
      throw new UnsupportedOperationError(
        `Task ${id} (${state}) takes no further messages. Send one without taskId, with ${id} in referenceTaskIds to build on it.`,
      );
    }
    const text = message.parts.map(textOfPart).join('\n');
    if (text.trim() === '') throw new RequestMalformedError('message.parts must have a text that is not empty.');
    const said: ChatMessage = { role: 'user', content: [{ type: 'text', text }] };
    const conversation = readConversation([...(await earlier(message)), said]);
    const panel = await ports.panels.panel(modelOf(asked), conversation.question);
    const { messageId, contextId } = message;
    const labels = { ...(messageId && { [messageLabel]: messageId }), ...(contextId && { [contextLabel]: contextId }) };
    const body = sessionBodyOf({ metadata: labels, ...(tenant && { parley: { tenant } }) }, panel, conversation);
    const key = messageId ? { 'idempotency-key': keyOf(contextId, messageId) } : {};
    const started = await answerOf(open, { headers: { ...headers, ...key }, body }, ports, call).catch(
      (error: unknown) => {
        const faults = error instanceof ProblemError ? error.options.errors : undefined;
        throw faults ? refusedSession(faults) : error;
      },
    );
    return await sessionOf((started.body as Started).id);
  };

  const statusUpdate = (session: SessionStatus, status = statusOf(session)): StreamResponse => ({
    payload: {
      $case: 'statusUpdate',
      value: { taskId: session.id, contextId: contextOf(session), status, metadata: undefined },
    },
  });

  /** A provisional answer, or its withdrawal: what the agent says while it works. */
  const working = (
    session: SessionStatus,
    { which, text, ...how }: { which: string; text: string } & Record<string, unknown>,
  ): StreamResponse =>
    statusUpdate(session, {
      state: TaskState.TASK_STATE_WORKING,
      message: agentSays(session, which, text, how),
      timestamp: undefined,
    });

  const artifactUpdate = (session: SessionStatus, result: NonNullable<SessionStatus['result']>): StreamResponse => ({
    payload: {
      $case: 'artifactUpdate',
      value: {
        taskId: session.id,
        contextId: contextOf(session),
        artifact: answerArtifact(session.id, result),
        append: false,
        lastChunk: true,
        metadata: undefined,
      },
    },
  });

  async function* followed(session: SessionStatus, since: number): AsyncGenerator<StreamResponse, void, undefined> {
    yield { payload: { $case: 'task', value: taskOf(session) } };
    if (hasEnded(session)) return;
    let isAnswered = false;
    for await (const { event, id, data } of await ports.hub.watch(ports.sessions, session.id, since, call)) {
      if (event === 'end') {
        const ended = await sessionOf(session.id);
        if (!isAnswered && ended.result !== null) yield artifactUpdate(ended, ended.result);
        yield statusUpdate(ended);
      }
      const told = { event, data } as SessionDurableEvent;
      if (told.event === 'provisional') {
        const { answer, agreement, lanes, number } = told.data;
        yield working(session, { which: String(id), text: textOf(answer), event, number, agreement, lanes });
      }
      if (told.event === 'revision') {
        const { answer, agreement, because, replaces } = told.data;
        const text = answer === null ? '' : textOf(answer);
        yield working(session, { which: String(id), text, event, replaces, because, agreement });
      }
      if (told.event === 'final') {
        isAnswered = true;
        yield artifactUpdate(session, told.data);
      }
    }
  }

  /** The errors of a stream are those of its first step, or of any later one. */
  async function* stream(
    begin: () => Promise<{ session: SessionStatus; since: number }>,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const { session, since } = await begin().catch(refuse);
    yield* followed(session, since);
  }

  return {
    getAgentCard: async () => card,
    getAuthenticatedExtendedAgentCard: async () => card,
    sendMessage: as(async (asked): Promise<Task> => {
      const session = await start(asked);
      const { configuration } = asked;
      if (configuration?.returnImmediately === true || hasEnded(session))
        return taskOf(session, configuration?.historyLength);
      const until = AbortSignal.any([call.signal, call.draining]);
      const ended = await ports.sessions.awaitEnd(session.id, patienceMs, until);
      return taskOf(ended ?? (await sessionOf(session.id)), configuration?.historyLength);
    }),
    sendMessageStream: (asked) => stream(async () => ({ session: await start(asked), since: 0 })),
    getTask: as(async ({ id, historyLength }) => {
      checkHistory(historyLength);
      return taskOf(await sessionOf(id), historyLength);
    }),
    cancelTask: as(async ({ id }) =>
      taskOf((await answerOf(stop, { params: { id: named(id) } }, ports, call)).body as SessionStatus),
    ),
    resubscribe: ({ id }) =>
      stream(async () => {
        const session = await sessionOf(id);
        if (!hasEnded(session)) return { session, since: Number.MAX_SAFE_INTEGER };
        throw new UnsupportedOperationError(`Task ${id} has ended (${session.state}); tasks/get has its answer.`);
      }),
    listTasks: as((asked) => listTasks(asked, ports, call)),
    createTaskPushNotificationConfig: noPush,
    getTaskPushNotificationConfig: noPush,
    listTaskPushNotificationConfigs: noPush,
    deleteTaskPushNotificationConfig: noPush,
  };
};
