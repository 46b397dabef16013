import { AgentCard } from '@a2a-js/sdk';
import { isLegacyJsonRpcMethod } from '@a2a-js/sdk/compat/v0_3';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { JsonRpcTransportHandler, ServerCallContext, validateVersion } from '@a2a-js/sdk/server';
import type { ProblemError } from '../problem.js';
import { routes } from '../routes/index.js';
import type { SseMessage } from '../sse.js';
import { createTasks, type TasksOptions } from './tasks.js';

type Rpc = Record<string, unknown>;
type Stream = AsyncGenerator<object, void, undefined>;

const isStream = (answer: object): answer is Stream => Symbol.asyncIterator in answer;

/** The two versions of the protocol tell themselves apart by their methods: `message/send`, `SendMessage`. */
const isLegacy = (message: Rpc): boolean => isLegacyJsonRpcMethod(message['method']);

/** All that `ListTasks` takes may be left out, and with it its parameters. */
const withParams = (message: Rpc): Rpc =>
  message['method'] === 'ListTasks' && message['params'] === undefined ? { ...message, params: {} } : message;

type Given = Omit<TasksOptions, 'routes' | 'onProblem'>;

/**
 * One message of A2A over JSON-RPC, in the words of its version 1.0 or 0.3: an answer, or the messages of a stream.
 * @throws ProblemError where the problem is one of HTTP: who may, and whether anybody can
 */
export const answerA2a = async (
  message: Rpc,
  requestedVersion: string | undefined,
  given: Given,
): Promise<{ answer: object } | { messages: AsyncIterable<SseMessage> }> => {
  let problem: ProblemError | null = null;
  const tasks = createTasks({ ...given, routes, onProblem: (met) => (problem ??= met) });
  const Handler = isLegacy(message) ? LegacyJsonRpcTransportHandler : JsonRpcTransportHandler;
  const mapped = (error: unknown): object => ({
    jsonrpc: '2.0',
    id: message['id'] ?? null,
    error: isLegacy(message)
      ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error)
      : JsonRpcTransportHandler.mapToJSONRPCError(error),
  });
  const context = new ServerCallContext(requestedVersion === undefined ? {} : { requestedVersion });
  try {
    if (requestedVersion !== undefined) validateVersion(requestedVersion, given.card, 'JSONRPC');
  } catch (error) {
    return { answer: mapped(error) };
  }
  const answer: object = await new Handler(tasks).handle(withParams(message), context);
  if (problem !== null) throw problem;
  if (!isStream(answer)) return { answer };

  // Its first step tells whether there is a stream at all.
  const iterator = answer[Symbol.asyncIterator]();
  let first: IteratorResult<object, void>;
  try {
    first = await iterator.next();
  } catch (error) {
    if (problem !== null) throw problem;
    return { answer: mapped(error) };
  }
  async function* messages(): AsyncGenerator<SseMessage> {
    try {
      for (let step = first; step.done !== true; step = await iterator.next()) yield { data: step.value };
    } catch (error) {
      given.call.log.error({ err: error }, 'a task could not be followed to its end');
      yield { data: mapped(error) };
    } finally {
      await iterator.return();
    }
  }
  return { messages: messages() };
};

/** The card as version 1.0 has it, or, for who names no version or an older one, as 0.3 does. */
export const cardDocument = async (
  card: AgentCard,
  given: Omit<Given, 'card'>,
  requestedVersion: string | undefined,
): Promise<Rpc> => {
  if (requestedVersion !== undefined && !/^0\./.test(requestedVersion)) return AgentCard.toJSON(card) as Rpc;
  const tasks = createTasks({ ...given, card, routes, onProblem: () => undefined });
  const message = { jsonrpc: '2.0', id: 0, method: 'agent/getAuthenticatedExtendedCard' };
  const { result } = (await new LegacyJsonRpcTransportHandler(tasks).handle(message, new ServerCallContext())) as {
    result: Rpc;
  };
  return { ...result, supportedInterfaces: card.supportedInterfaces };
};
