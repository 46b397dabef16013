import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Message, SendMessageRequest } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import type { Dispatcher } from 'undici';
import type { A2aAdapter } from '../../src/contracts/adapter.js';
import type { Frame } from '../../src/contracts/frames.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { AgentFrame, AgentRequest } from '../ports.js';
import { connectA2a } from './a2a-client.js';
import type { TaskReading } from './a2a-reading.js';
import { describeError, type Environment, fetchOver, isTimeout } from './connections.js';
import { failFrame, type Call, frameStream } from './frame-stream.js';

/** Milliseconds between two looks at a task whose agent does not stream, or no longer does. */
const shortestPollMs = 250;
const longestPollMs = 5_000;
/** Milliseconds that an agent has to hear that its task is cancelled. */
const cancelTimeoutMs = 5_000;

const textPart = (value: string): Message['parts'][number] => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: 'text/plain',
});

const messageOf = ({
  workId,
  laneId,
  personaId,
  diversitySeed,
  instructions,
  prompt,
}: AgentRequest): SendMessageRequest => ({
  tenant: '',
  configuration: undefined,
  metadata: undefined,
  message: {
    messageId: randomUUID(),
    contextId: '',
    taskId: '',
    role: 1,
    parts: [...(instructions === null ? [] : [textPart(instructions)]), textPart(prompt)],
    metadata: { parley: { session_id: workId, lane_id: laneId, persona_id: personaId, diversity_seed: diversitySeed } },
    extensions: [],
    referenceTaskIds: [],
  },
});

const failOf = (error: unknown, refusal: ParleyError | null): Frame => {
  const known = error instanceof ParleyError ? error : refusal;
  if (known) return failFrame(known.code, known.message, known.retryable);
  if (isTimeout(error)) return failFrame('ETIMEOUT', `the agent did not go on: ${describeError(error)}`, true);
  // The SDK's errors of the protocol have a reason; anything else is a connection that broke.
  const isSaid = error instanceof Error && 'reason' in error;
  return failFrame(isSaid ? 'EPROTO' : 'EAGENTDOWN', `the agent's answer failed: ${describeError(error)}`, !isSaid);
};

/**
 * Asks an agent over A2A (spec 10 "a2a"), of version 1.0 or 0.3: its card says how. Its artifacts are the answer, told as they
 * grow; a task that waits for input or credentials fails with what was asked. A lane that ends before its task cancels it.
 * @throws ParleyError EAGENTDOWN or ETIMEOUT when no connection is to be had; everything later is a `fail` frame.
 */
export const openA2a = async (
  adapter: A2aAdapter,
  request: AgentRequest,
  call: Call,
  { dispatcher, environment }: { dispatcher: Dispatcher; environment: Environment },
): Promise<AsyncIterable<AgentFrame>> => {
  const { fetch, dispatched } = fetchOver(dispatcher);
  const refusal: { last: ParleyError | null } = { last: null };
  const withSignal: typeof fetch = (input, init) => fetch(input, { signal: call.signal, ...init });
  const connected = connectA2a(adapter.url, withSignal, environment, refusal).then(
    (client) => ({ client }),
    (error: unknown) => ({ error }),
  );
  const first = await Promise.race([dispatched, connected]);
  if (first !== 'dispatched' && 'error' in first && !call.signal.aborted) {
    if (first.error instanceof ParleyError) throw first.error;
    throw new ParleyError(
      isTimeout(first.error) ? 'ETIMEOUT' : 'EAGENTDOWN',
      `no connection to the agent at ${new URL(adapter.url).origin}: ${describeError(first.error)}`,
      { retryable: true },
    );
  }
  return frameStream(call, listen());

  async function* listen(): AsyncGenerator<AgentFrame, void, undefined> {
    const { createTaskReading } = await import('./a2a-reading.js');
    const reading = createTaskReading();
    let client: Client | null = null;
    try {
      const got = await connected;
      if ('error' in got) throw got.error;
      ({ client } = got);
      const { signal } = call;
      for await (const event of client.sendMessageStream(messageOf(request), { signal })) {
        yield* reading.hear(event);
        if (reading.isOver) return;
      }
      yield* polled(client, reading);
    } catch (error) {
      // A call that was ended tells nothing new by its error.
      if (!call.signal.aborted) yield failOf(error, refusal.last);
    } finally {
      if (client !== null && reading.isLeftOpen) cancelTask(client, reading.taskId ?? '');
      call.abort();
    }
  }

  /** For agents that do not stream, and streams that broke off: what becomes of the task is asked for. */
  async function* polled(client: Client, reading: TaskReading): AsyncGenerator<AgentFrame, void, undefined> {
    if (reading.taskId === null)
      throw new ParleyError('EPROTO', 'the agent answered with neither a message nor a task');
    for (let pauseMs = shortestPollMs; !reading.isOver; pauseMs = Math.min(longestPollMs, pauseMs * 2)) {
      await setTimeout(pauseMs, undefined, { signal: call.signal });
      yield* reading.look(await client.getTask({ tenant: '', id: reading.taskId }, { signal: call.signal }));
    }
  }

  /** Nobody waits for it: the agent may have ended meanwhile, or be away, and the lane has ended either way. */
  function cancelTask(client: Client, id: string): void {
    const signal = AbortSignal.timeout(cancelTimeoutMs);
    client.cancelTask({ tenant: '', id, metadata: undefined }, { signal }).catch(() => undefined);
  }
};
