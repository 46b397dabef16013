import type { Json } from '../../src/contracts/frames.js';
import { contextMessage } from '../support/agent-messages.js';
import type { AdapterInput } from './adapters/agents.js';
import { askingAgents, said, script } from './asked-model.js';

const { askAgent } = askingAgents();

describe('an agent that takes text alone', () => {
  const program = (source: string): AdapterInput => ({ kind: 'command', argv: [process.execPath, '-e', source] });

  test('is given its conversation and tools as one text', async () => {
    const messages = [
      contextMessage(1, { role: 'system', content: 'You read files.' }),
      contextMessage(2, { content: 'What is in a?' }),
    ];
    const tell = program('process.stdin.pipe(process.stdout)');
    const { reading } = said(await askAgent(tell, { messages, tools: ['read_file'], instructions: 'Be brief.' }));
    expect(reading.text).toMatch(/^# Instructions\n\nBe brief\.\n\nYou read files\.\n\n# Tools\n/);
    expect(reading.text).toContain('## read_file\nReads a file.\nArguments, as JSON Schema: {"type":"object"}\n');
    expect(reading.text).toMatch(/# Conversation\n\n## user\nWhat is in a\?$/);
    expect(reading.actions).toEqual([]);
  });

  test('is told its instructions in that text alone', async () => {
    const tell = program("process.stdin.resume(); console.log('aside: ' + process.env.PARLEY_INSTRUCTIONS + '.')");
    const { reading } = said(await askAgent(tell, { instructions: 'Be brief.' }));
    expect(reading.text).toBe('aside: .');
  });

  test('calls any of its tools by tags, which are shown to it again as its calls', async () => {
    const text = `Let me look.\n<read_file>{"path":"a"}</read_file>\n<get_agent_status/>\n<send_message>done</send_message>`;
    const tools = ['read_file', 'get_agent_status', 'send_message'];
    const { reading } = said(await askAgent(program(`console.log(${JSON.stringify(text)})`), { tools }));
    expect(reading).toEqual({
      text: 'Let me look.',
      made: [
        { callId: 'worker-1-1.1-1', name: 'read_file', arguments: { path: 'a' } },
        { callId: 'worker-1-1.1-2', name: 'get_agent_status', arguments: {} },
        { callId: 'worker-1-1.1-3', name: 'send_message', arguments: { content: 'done' } },
      ],
      actions: [
        { callId: 'worker-1-1.1-1', name: 'read_file', given: { path: 'a' } },
        {
          callId: 'worker-1-1.1-2',
          name: 'get_agent_status',
          command: { tool: 'get_agent_status', given: { include_result: false } },
        },
        {
          callId: 'worker-1-1.1-3',
          name: 'send_message',
          command: { tool: 'send_message', given: { content: 'done' } },
        },
      ],
      faults: [],
    });
  });

  // test/domain/team/actions/malformed.test.ts has the table of what is malformed: one reader reads both.
  test.each<[string, string, object]>([
    ['cut off', '<read_file>{"path":"a', { callId: null, fault: { tool: 'read_file', code: 'malformed' } }],
    [
      'of a tool that it may not call',
      '<list_files/>',
      { callId: 'worker-1-1.1-1', fault: { tool: 'list_files', code: 'not_allowed' } },
    ],
    [
      'of a tool about agents that it may not call',
      '<delegate child="a">b</delegate>',
      { callId: 'worker-1-1.1-1', fault: { tool: 'delegate', code: 'not_allowed' } },
    ],
  ])('is told of a tag that is %s', async (_, text, fault) => {
    const adapter = program(`console.log(${JSON.stringify(text)})`);
    const { reading } = said(await askAgent(adapter, { tools: ['read_file'] }));
    expect(reading.actions).toEqual([]);
    expect(reading.faults).toMatchObject([fault]);
  });

  test('shows a tag in code without calling it', async () => {
    const text = 'Write `<read_file>{"path":"a"}</read_file>`.';
    const { reading } = said(await askAgent(program(`console.log(${JSON.stringify(text)})`), { tools: ['read_file'] }));
    expect(reading).toEqual({ text, made: [], actions: [], faults: [] });
  });

  test('that simulates a model answers what it was asked last', async () => {
    const messages = [
      contextMessage(1, { role: 'system', content: 'You choose.' }),
      contextMessage(2, { content: 'Should it be red or blue?' }),
    ];
    const adapter: AdapterInput = { kind: 'simulated', accuracy: 1, first_token_ms: 0, tokens_per_second: 100_000 };
    const { reading } = said(await askAgent(adapter, { messages }));
    expect(['red', 'blue']).toContain(reading.text);
  });

  test('is not one that is fed from outside', async () => {
    expect(await askAgent({ kind: 'external' })).toMatchObject({
      type: 'failed',
      code: 'EPROTO',
      message: expect.stringContaining('is external') as string,
    });
  });
});

describe('an answer', () => {
  const schema = { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'] } as Record<
    string,
    Json
  >;
  const template = { state: { schema } };

  test.each<[string, Json, Json]>([
    ['text is told as text', 'blue', null],
    ['JSON is a value', { colour: 'blue' }, { colour: 'blue' }],
    ['text that is JSON stays text where no schema asks for JSON', '{"colour":"blue"}', null],
  ])('that is %s', async (_, final, answer) => {
    expect(said(await askAgent(script({ final }))).answer).toEqual(answer);
  });

  test.each<[string, Json]>([
    ['JSON', { colour: 'blue' }],
    ['text', '{"colour":"blue"}'],
    ['a fence', '```json\n{"colour":"blue"}\n```'],
  ])('in %s that fits the template is its value', async (_, final) => {
    const asked = said(await askAgent(script({ final }), { template }));
    expect(asked.answer).toEqual({ colour: 'blue' });
    expect(asked.reading.faults).toEqual([]);
  });

  test('that is a number is one where the template asks for one', async () => {
    const number = { state: { schema: { type: 'number' } as Record<string, Json> } };
    expect(said(await askAgent(script({ final: '42' }), { template: number })).answer).toBe(42);
  });

  test('that does not fit the template is told to the model', async () => {
    const { answer, reading } = said(await askAgent(script({ final: '{"colour":1}' }), { template }));
    expect(answer).toBeNull();
    expect(reading.text).toBe('{"colour":1}');
    expect(reading.faults).toEqual([
      {
        callId: null,
        fault: {
          tool: null,
          code: 'invalid_answer',
          message: expect.stringMatching(
            /does not fit state\.schema of your template: colour: .*\. Answer again/,
          ) as string,
        },
      },
    ]);
  });

  test('that calls tools need not fit the template yet', async () => {
    const final = { text: 'One moment.', tool_calls: [{ name: 'get_agent_status' }] };
    const { reading } = said(await askAgent(script({ final }), { template }));
    expect(reading.faults).toEqual([]);
  });
});
