import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { type AgentCard, type Part, Role, type StreamResponse, TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { createTaskReading } from '../../../activities/adapters/a2a-reading.js';
import { keyFor } from '../../../activities/adapters/a2a-client.js';
import type { Agents } from '../../../activities/adapters/index.js';
import { agentsOf, answerOf, ask, listening, requestOf } from './agents.js';

const text = (value: string): Part => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: '',
});
const data = (value: unknown): Part => ({
  content: { $case: 'data', value },
  metadata: undefined,
  filename: '',
  mediaType: '',
});

/** What one task of the test's agent does, in few words. */
class Doing {
  constructor(
    readonly context: RequestContext,
    private readonly bus: ExecutionEventBus,
  ) {
    bus.publish(
      AgentEvent.task({
        id: context.taskId,
        contextId: context.contextId,
        status: { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: undefined },
        artifacts: [],
        history: [context.userMessage],
        metadata: undefined,
      }),
    );
  }
  status(state: TaskState, said?: string): void {
    const { taskId, contextId } = this.context;
    const message = {
      messageId: 'm',
      taskId,
      contextId,
      role: Role.ROLE_AGENT,
      parts: [text(said ?? '')],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    };
    this.bus.publish(
      AgentEvent.statusUpdate({
        taskId,
        contextId,
        status: { state, message: said === undefined ? undefined : message, timestamp: undefined },
        metadata: undefined,
      }),
    );
  }
  artifact(artifactId: string, parts: Part[], append = false): void {
    const { taskId, contextId } = this.context;
    const artifact = { artifactId, name: '', description: '', parts, metadata: undefined, extensions: [] };
    this.bus.publish(
      AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk: false, metadata: undefined }),
    );
  }
}

type Play = (doing: Doing) => void | Promise<void>;

/** An agent as the official SDK serves one. */
const startAgent = async (
  play: () => Play,
  {
    streaming = true,
    versions = ['1.0', '0.3'],
    binding = 'JSONRPC',
    interfaceUrl = null as string | null,
    key = null as string | null,
  } = {},
) => {
  const cancelled: string[] = [];
  const authorized: (string | undefined)[] = [];
  let onCancel = (): void => {};
  const executor: AgentExecutor = {
    execute: async (context, bus) => {
      await play()(new Doing(context, bus));
      bus.finished();
    },
    cancelTask: async (taskId, bus) => {
      cancelled.push(taskId);
      const status = { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp: undefined };
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId: '', status, metadata: undefined }));
      bus.finished();
      onCancel();
    },
  };
  const app = express();
  const server: Server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const card: AgentCard = {
    name: 'painter',
    description: '',
    supportedInterfaces: versions.map((protocolVersion) => ({
      url: interfaceUrl ?? `${origin}/a2a`,
      protocolBinding: binding,
      tenant: '',
      protocolVersion,
    })),
    provider: undefined,
    version: '1',
    capabilities: { streaming, pushNotifications: false, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    signatures: [],
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
  const legacyCompat = { enabled: versions.includes('0.3') };
  app.use((request, response, next) => {
    authorized.push(request.headers.authorization);
    if (key === null || request.headers.authorization === `Bearer ${key}`) return next();
    response.status(401).end();
  });
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler, legacyCompat }));
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat };
  app.use('/a2a', binding === 'JSONRPC' ? jsonRpcHandler(options) : restHandler(options));
  return {
    origin,
    cancelled,
    authorized,
    isCancelled: new Promise<void>((resolve) => (onCancel = resolve)),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

let agents: Agents;
let agent: Awaited<ReturnType<typeof startAgent>>;
let play: Play;
const closers: (() => Promise<void>)[] = [];
const startOther: typeof startAgent = async (...given) => {
  const other = await startAgent(...given);
  closers.push(other.close);
  return other;
};

beforeAll(async () => {
  agents = agentsOf();
  agent = await startAgent(() => play);
});
afterAll(async () => {
  await agents.close();
  for (const close of [agent.close, ...closers]) await close();
});

const askAs = (doing: Play, url = agent.origin, given = {}) => {
  play = doing;
  return ask(agents, { kind: 'a2a', url }, given);
};
const partialsOf = (frames: readonly { type: string; text?: string | undefined }[]) =>
  frames.flatMap((frame) => (frame.type === 'partial' ? [frame.text] : []));

describe('an A2A agent as a lane', () => {
  test('is asked with instructions and prompt, and its artifact is the answer, told as it grows', async () => {
    let asked: unknown;
    const { frames } = await askAs(
      (doing) => {
        asked = doing.context.userMessage;
        doing.status(TaskState.TASK_STATE_WORKING, 'I am thinking.');
        doing.artifact('answer', [text('bl')]);
        doing.artifact('answer', [text('ue')], true);
        doing.status(TaskState.TASK_STATE_COMPLETED);
      },
      agent.origin,
      { instructions: 'Be brief.', diversitySeed: 4 },
    );
    expect(frames).toEqual([
      { type: 'partial', msg_seq: 1, frag_seq: 0, last: true, text: 'bl' },
      { type: 'partial', msg_seq: 2, frag_seq: 0, last: true, text: 'ue' },
      { type: 'final', msg_seq: 3, text: 'blue' },
    ]);
    expect(asked).toMatchObject({
      parts: [{ content: { value: 'Be brief.' } }, { content: { value: 'Which colour?' } }],
      metadata: { parley: { session_id: 'session-1', lane_id: 'a', diversity_seed: 4 } },
    });
  });

  test.each<[string, Parameters<typeof startAgent>[1]]>([
    ['of version 1.0 alone', { versions: ['1.0'] }],
    ['of version 0.3 alone', { versions: ['0.3'] }],
    ['that does not stream', { streaming: false }],
    ['over HTTP and JSON', { binding: 'HTTP+JSON', versions: ['1.0'] }],
  ])('%s is asked in its own way', async (_, more) => {
    const other = await startOther(() => play, more);
    const { frames } = await askAs((doing) => {
      doing.artifact('answer', [text('blue')]);
      doing.status(TaskState.TASK_STATE_COMPLETED);
    }, other.origin);
    expect(answerOf(frames)).toBe('blue');
  });

  test('may be named by the address of its card', async () => {
    const { frames } = await askAs((doing) => {
      doing.artifact('answer', [text('blue')]);
      doing.status(TaskState.TASK_STATE_COMPLETED);
    }, `${agent.origin}/.well-known/agent-card.json`);
    expect(answerOf(frames)).toBe('blue');
  });

  test('may answer in data, in its last word, or in several artifacts', async () => {
    const json = await askAs((doing) => {
      doing.artifact('answer', [data({ colour: 'blue' })]);
      doing.status(TaskState.TASK_STATE_COMPLETED);
    });
    expect(json.frames).toEqual([{ type: 'final', msg_seq: 1, json: { colour: 'blue' } }]);
    const said = await askAs((doing) => doing.status(TaskState.TASK_STATE_COMPLETED, 'blue'));
    expect(said.frames).toEqual([{ type: 'final', msg_seq: 1, text: 'blue' }]);
    const two = await askAs((doing) => {
      doing.artifact('one', [text('blue')]);
      doing.artifact('two', [text('and red')]);
      doing.status(TaskState.TASK_STATE_COMPLETED);
    });
    expect([partialsOf(two.frames).join(''), two.frames.at(-1)]).toEqual([
      'blue\n\nand red',
      { type: 'final', msg_seq: 3, text: 'blue\n\nand red' },
    ]);
  });

  test.each<[string, TaskState, string, RegExp]>([
    ['fails', TaskState.TASK_STATE_FAILED, 'EAGENTDOWN', /^the agent failed: out of paint$/],
    ['refuses', TaskState.TASK_STATE_REJECTED, 'EPROTO', /refused the task: out of paint/],
    ['asks for input', TaskState.TASK_STATE_INPUT_REQUIRED, 'EPROTO', /asks for input.*: out of paint/],
    ['asks for credentials', TaskState.TASK_STATE_AUTH_REQUIRED, 'ESEC', /PARLEY_AGENT_KEYS.*: out of paint/],
  ])('that %s ends the lane with what it said', async (_, state, code, told) => {
    const { frames } = await askAs((doing) => doing.status(state, 'out of paint'));
    expect(frames).toMatchObject([{ type: 'fail', code, retryable: false, message: expect.stringMatching(told) }]);
  });

  test('that completes without an answer has failed', async () => {
    const { frames } = await askAs((doing) => doing.status(TaskState.TASK_STATE_COMPLETED));
    expect(frames).toMatchObject([
      { type: 'fail', code: 'EPROTO', message: expect.stringContaining('without an answer') },
    ]);
  });

  test('is told to cancel its task when the lane ends before it', async () => {
    const other = await startOther(() => (doing) => {
      doing.artifact('answer', [text('bl')]);
      return other.isCancelled;
    });
    const { context, controller } = listening();
    const frames = await agents.open(requestOf({ kind: 'a2a', url: other.origin }), context);
    const iterator = frames[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toMatchObject({ type: 'partial', text: 'bl' });
    controller.abort();
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    await other.isCancelled;
    expect(other.cancelled).toHaveLength(1);
  });

  test('is given its key, by its origin, and nobody else is', async () => {
    const other = await startOther(() => play, { key: 'secret' });
    const keyed = agentsOf({ environment: { PARLEY_AGENT_KEYS: JSON.stringify({ [other.origin]: 'secret' }) } });
    closers.push(() => keyed.close());
    play = (doing) => doing.status(TaskState.TASK_STATE_COMPLETED, 'blue');
    expect(answerOf((await ask(keyed, { kind: 'a2a', url: other.origin })).frames)).toBe('blue');
    expect(new Set(other.authorized)).toEqual(new Set(['Bearer secret']));
    agent.authorized.length = 0;
    await ask(keyed, { kind: 'a2a', url: agent.origin });
    expect(new Set(agent.authorized)).toEqual(new Set([undefined]));
    const { frames } = await ask(agents, { kind: 'a2a', url: other.origin });
    expect(frames).toMatchObject([
      { type: 'fail', code: 'ESEC', retryable: false, message: expect.stringContaining('401') },
    ]);
  });

  test('whose card sends elsewhere is not followed there', async () => {
    const other = await startOther(() => play, { interfaceUrl: 'http://192.0.2.1/a2a' });
    const { frames } = await ask(agents, { kind: 'a2a', url: other.origin });
    expect(frames).toMatchObject([{ type: 'fail', code: 'ESEC', message: expect.stringContaining('192.0.2.1') }]);
  });

  test('that nobody is at cannot be dispatched', async () => {
    const opened = agents.open(requestOf({ kind: 'a2a', url: 'http://127.0.0.1:9' }), listening().context);
    await expect(opened).rejects.toMatchObject({ code: 'EAGENTDOWN', retryable: true });
  });

  test('that has no card is told by its status', async () => {
    const { frames } = await ask(agents, { kind: 'a2a', url: `${agent.origin}/elsewhere` });
    expect(frames).toMatchObject([{ type: 'fail', code: 'EPROTO', message: expect.stringContaining('404') }]);
  });
});

describe('the reading of a task', () => {
  const status = (state: TaskState): StreamResponse => ({
    payload: {
      $case: 'statusUpdate',
      value: {
        taskId: 't',
        contextId: '',
        status: { state, message: undefined, timestamp: undefined },
        metadata: undefined,
      },
    },
  });
  const artifact = (value: string, append: boolean): StreamResponse => ({
    payload: {
      $case: 'artifactUpdate',
      value: {
        taskId: 't',
        contextId: '',
        artifact: {
          artifactId: 'a',
          name: '',
          description: '',
          parts: [text(value)],
          metadata: undefined,
          extensions: [],
        },
        append,
        lastChunk: false,
        metadata: undefined,
      },
    },
  });

  test('takes an artifact that is written anew for what it is at the end', () => {
    const reading = createTaskReading();
    const frames = [artifact('re', false), artifact('blue', false), status(TaskState.TASK_STATE_COMPLETED)].flatMap(
      reading.hear,
    );
    expect([partialsOf(frames), frames.at(-1)]).toEqual([['re'], { type: 'final', msg_seq: 2, text: 'blue' }]);
  });

  test('knows what is left open', () => {
    const reading = createTaskReading();
    expect(reading.isLeftOpen).toBe(false);
    reading.hear(status(TaskState.TASK_STATE_WORKING));
    expect([reading.isLeftOpen, reading.isOver]).toEqual([true, false]);
    reading.hear(status(TaskState.TASK_STATE_INPUT_REQUIRED));
    expect([reading.isLeftOpen, reading.isOver]).toEqual([true, true]);
  });
});

describe('the keys of A2A agents', () => {
  test('are given by origin, whatever the path', () => {
    const environment = { PARLEY_AGENT_KEYS: '{"https://agents.example.com/a":"one"}' };
    expect(keyFor('https://agents.example.com', environment)).toBe('one');
    expect(keyFor('http://agents.example.com', environment)).toBeNull();
    expect(keyFor('https://agents.example.com', {})).toBeNull();
  });

  test.each(['nonsense', '{"x":"secret"}', '{"https://a":1}'])(
    'that cannot be read are refused without being told: %s',
    (given) => {
      expect(() => keyFor('https://a', { PARLEY_AGENT_KEYS: given })).toThrow(
        /^PARLEY_AGENT_KEYS must be JSON such as (?!.*secret)/,
      );
    },
  );
});
