import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Agents } from '../../../activities/adapters/index.js';
import type { AgentRequest } from '../../../activities/ports.js';
import type { Frame } from '../../../src/contracts/frames.js';
import { contextMessage as message } from '../../support/agent-messages.js';
import { type ModelServer, startModelServer } from '../../support/model-server.js';
import { type AdapterInput, agentsOf, answerOf, ask } from './agents.js';

let models: ModelServer;
let agents: Agents;
/** Bodies as they arrived at a server by hand, which answers with these events, or refuses. */
const arrived: Record<string, unknown>[] = [];
let events: string | null = null;
const byHand = createServer((request, response) => {
  void json(request).then((body) => {
    arrived.push(body as Record<string, unknown>);
    if (events === null)
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"no","type":"x"}}');
    else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events);
  });
});
let handmadeUrl: string;

beforeAll(async () => {
  models = await startModelServer();
  agents = agentsOf({ environment: { OPENAI_BASE_URL: models.baseUrl, ANTHROPIC_BASE_URL: models.mock.url } });
  byHand.listen(0, '127.0.0.1');
  await once(byHand, 'listening');
  handmadeUrl = `http://127.0.0.1:${(byHand.address() as AddressInfo).port}/v1`;
});
beforeEach(() => {
  models.reset();
  arrived.length = 0;
  events = null;
});
afterAll(async () => {
  await agents?.close();
  await models?.close();
  byHand.close();
  byHand.closeAllConnections();
});

const kinds = ['openai-compatible', 'openai', 'anthropic'] as const;
const adapterOf = (kind: (typeof kinds)[number]): AdapterInput =>
  ({ kind, model: kind === 'anthropic' ? 'claude-sonnet-4-5' : 'gpt-4o' }) as AdapterInput;

const readFile = {
  name: 'read_file',
  description: 'Reads a file.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};
const stop = { name: 'stop_sub_agent', description: 'Stops.', parameters: { type: 'object', properties: {} } };

const asked = (given: Partial<AgentRequest> = {}): Partial<AgentRequest> => ({
  messages: [message(1, { content: 'What is in a?' })],
  tools: [readFile, stop],
  prompt: 'never sent',
  ...given,
});
const callsOf = (frames: readonly Frame[]): unknown => (frames.at(-1) as { calls?: unknown } | undefined)?.calls;

describe.each(kinds)('a model of kind %s', (kind) => {
  test('calls two tools in one answer, beside its text', async () => {
    const usage =
      kind === 'anthropic' ? { input_tokens: 100, output_tokens: 20 } : { prompt_tokens: 100, completion_tokens: 20 };
    models.mock.onMessage(
      'What is in a?',
      {
        content: 'Let me look.',
        toolCalls: [
          { name: 'read_file', arguments: '{"path":"a"}', id: 'c1' },
          { name: 'stop_sub_agent', arguments: '{"id":"w"}', id: 'c2' },
        ],
        usage,
      },
      { chunkSize: 4 },
    );
    const { frames, usages } = await ask(agents, adapterOf(kind), asked());
    expect(answerOf(frames)).toBe('Let me look.');
    expect(callsOf(frames)).toEqual([
      { callId: 'c1', name: 'read_file', arguments: { path: 'a' } },
      { callId: 'c2', name: 'stop_sub_agent', arguments: { id: 'w' } },
    ]);
    expect(frames.at(-1)).toMatchObject({ usage: { tokens: 120 } });
    expect(usages.at(-1)).toMatchObject({ tokens: 120 });
  });

  // By hand, as a well-behaved server writes none of these for Anthropic.
  test.each<[string, string, unknown]>([
    ['cut off', '{"path":"a', '{"path":"a'],
    ['nearly JSON', "{'path': 'a',}", "{'path': 'a',}"],
    ['prose', 'the file a', 'the file a'],
    ['a list', '["a"]', ['a']],
    ['empty', '', {}],
  ])('hands on arguments that are %s as they are', async (_, given, handedOn) => {
    events = streamOf[kind](given);
    const other = agentsOf({ environment: { OPENAI_BASE_URL: handmadeUrl, ANTHROPIC_BASE_URL: handmadeUrl } });
    const { frames } = await ask(other, adapterOf(kind), asked());
    await other.close();
    expect(callsOf(frames)).toEqual([{ callId: 'c1', name: 'read_file', arguments: handedOn }]);
  });

  test('may call what it was not offered', async () => {
    models.mock.onMessage('What is in a?', { toolCalls: [{ name: 'fly', arguments: '{"to":"moon"}', id: 'c1' }] });
    const { frames } = await ask(agents, adapterOf(kind), asked());
    expect(callsOf(frames)).toEqual([{ callId: 'c1', name: 'fly', arguments: { to: 'moon' } }]);
  });

  test('that calls nothing has a final without calls', async () => {
    models.mock.onMessage('What is in a?', { content: 'Nothing.' });
    const { frames } = await ask(agents, adapterOf(kind), asked());
    expect(frames.at(-1)).not.toHaveProperty('calls');
    expect(answerOf(frames)).toBe('Nothing.');
  });

  test('is sent its conversation as the provider takes it, and its tools', async () => {
    const environment = { OPENAI_BASE_URL: handmadeUrl, ANTHROPIC_BASE_URL: handmadeUrl };
    const other = agentsOf({ environment });
    const messages = [
      message(1, { role: 'system', category: 'system', content: 'You read files.' }),
      message(2, { content: 'What is in a and b?' }),
      message(3, {
        role: 'assistant',
        category: 'tool',
        content: 'Let me look.',
        calls: ['x.1-1', 'x.1-2', 'x.1-tag-1'],
        made: [
          { callId: 'x.1-1', name: 'read_file', arguments: { path: 'a' } },
          { callId: 'x.1-2', name: 'read file!', arguments: '{"path":' },
        ],
      }),
      message(4, { role: 'tool', category: 'tool', content: 'apples', resultOf: 'x.1-1' }),
      message(5, { role: 'tool', category: 'tool', content: 'it cannot be read', resultOf: 'x.1-2' }),
      message(6, { role: 'tool', category: 'tool', content: 'stopped', resultOf: 'x.1-tag-1' }),
      message(7, { content: 'Go on.' }),
    ];
    await ask(other, adapterOf(kind), asked({ messages, instructions: 'Be brief.' }));
    await other.close();
    expect(sentIn[kind](arrived[0] ?? {})).toEqual({
      system: 'Be brief.\n\nYou read files.',
      said: [
        ['user', 'What is in a and b?'],
        ['assistant', 'Let me look.'],
        ['call', 'call_3_1', 'read_file', { path: 'a' }],
        ['call', 'call_3_2', 'read_file_', { malformed_arguments: '{"path":' }],
        ['result', 'call_3_1', 'apples'],
        ['result', 'call_3_2', 'it cannot be read'],
        ['user', 'Result of an action:\nstopped'],
        ['user', 'Go on.'],
      ],
      tools: [
        ['read_file', 'Reads a file.', readFile.parameters],
        ['stop_sub_agent', 'Stops.', stop.parameters],
      ],
    });
  });

  test('without tools is told of the calls of others in words', async () => {
    const other = agentsOf({ environment: { OPENAI_BASE_URL: handmadeUrl, ANTHROPIC_BASE_URL: handmadeUrl } });
    const made = [{ callId: 'x', name: 'read_file', arguments: { path: 'a' } }];
    const messages = [
      message(1, { content: 'What is in a?' }),
      message(2, { role: 'assistant', category: 'tool', content: 'Let me look.', calls: ['x'], made }),
      message(3, { role: 'tool', category: 'tool', content: 'apples', resultOf: 'x' }),
    ];
    await ask(other, adapterOf(kind), asked({ messages, tools: [], instructions: 'Be brief.' }));
    await other.close();
    expect(sentIn[kind](arrived[0] ?? {})).toEqual({
      system: 'Be brief.',
      said: [
        ['user', 'What is in a?'],
        ['assistant', 'Let me look.\n<read_file>{"path":"a"}</read_file>'],
        ['user', 'Result of read_file:\napples'],
      ],
      tools: [],
    });
  });

  test('without tools is offered none', async () => {
    models.mock.onMessage('What is in a?', { content: 'Nothing.' });
    await ask(agents, adapterOf(kind), asked({ tools: [] }));
    expect(models.bodies()[0]?.['tools']).toBeUndefined();
  });
});

/** What a request holds, whichever provider's words it is in. */
interface Sent {
  system: string;
  said: unknown[][];
  tools: unknown[][];
}

interface OpenAiMessage {
  role: string;
  content: string | null;
  tool_call_id?: string;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
}
interface AnthropicBlock {
  type: string;
  text?: string;
  id?: string;
  name?: string;
  input?: unknown;
  tool_use_id?: string;
  content?: unknown;
}

const fromOpenAi = (body: Record<string, unknown>): Sent => {
  const messages = body['messages'] as OpenAiMessage[];
  const tools = (body['tools'] ?? []) as { function: { name: string; description: string; parameters: unknown } }[];
  return {
    system: messages.flatMap(({ role, content }) => (role === 'system' ? [content] : [])).join('|'),
    said: messages.flatMap((one): unknown[][] => {
      if (one.role === 'system') return [];
      if (one.role === 'tool') return [['result', one.tool_call_id, one.content]];
      const calls = (one.tool_calls ?? []).map(({ id, function: { name, arguments: given } }) => {
        return ['call', id, name, JSON.parse(given) as unknown];
      });
      return [[one.role, one.content], ...calls];
    }),
    tools: tools.map(({ function: { name, description, parameters } }) => [name, description, parameters]),
  };
};

const fromAnthropic = (body: Record<string, unknown>): Sent => {
  const messages = body['messages'] as { role: string; content: AnthropicBlock[] }[];
  const tools = (body['tools'] ?? []) as { name: string; description: string; input_schema: unknown }[];
  return {
    system: (body['system'] as AnthropicBlock[]).map(({ text }) => text).join('|'),
    said: messages.flatMap(({ role, content }) =>
      content.map((block): unknown[] => {
        if (block.type === 'tool_use') return ['call', block.id, block.name, block.input];
        if (block.type === 'tool_result') return ['result', block.tool_use_id, block.content];
        return [role, block.text];
      }),
    ),
    tools: tools.map(({ name, description, input_schema }) => [name, description, input_schema]),
  };
};

const sentIn = { 'openai-compatible': fromOpenAi, openai: fromOpenAi, anthropic: fromAnthropic };

const event = (data: object & { type?: string }): string =>
  `${data.type === undefined ? '' : `event: ${data.type}\n`}data: ${JSON.stringify(data)}\n\n`;
const piecesOf = (text: string): string[] => text.match(/.{1,5}/gs) ?? [];

const openAiStream = (given: string): string => {
  const chunk = (delta: object, finish: string | null = null): string =>
    event({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta, finish_reason: finish }],
    } as object);
  const called = { index: 0, id: 'c1', type: 'function', function: { name: 'read_file', arguments: '' } };
  return [
    chunk({ role: 'assistant', content: null, tool_calls: [called] }),
    ...piecesOf(given).map((piece) => chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
    chunk({}, 'tool_calls'),
    'data: [DONE]\n\n',
  ].join('');
};

const anthropicStream = (given: string): string =>
  [
    {
      type: 'message_start',
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'c1', name: 'read_file', input: {} },
    },
    ...piecesOf(given).map((piece) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: piece },
    })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ]
    .map(event)
    .join('');

const streamOf = { 'openai-compatible': openAiStream, openai: openAiStream, anthropic: anthropicStream };
