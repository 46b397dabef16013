import { agentToolSchemas } from '../../../../src/contracts/agent-tools.js';
import { agentToolDefinitions } from '../../../../src/agent-commands.js';
import { readTaggedAnswer } from '../../../../src/domain/agent/reading.js';
import { readCalls } from '../../../../src/domain/team/actions/calls.js';
import { readTags } from '../../../../src/domain/team/actions/tags.js';
import { agentTools, tagNames } from '../../../../src/domain/team/actions/tools.js';
import { registry } from './registry.js';

const call = (name: string, args: unknown, callId = 'c1') => ({ callId, name, arguments: args });
const read = (...calls: ReturnType<typeof call>[]) => readCalls(calls, registry(), ['read_file']);

describe('the tools for agents', () => {
  test('are ten, of which six are action tags', () => {
    expect(agentTools.map(({ name }) => name)).toEqual(Object.keys(agentToolSchemas));
    expect(tagNames).toEqual([
      'send_message',
      'spawn_sub_agent',
      'stop_sub_agent',
      'resume_sub_agent',
      'delegate',
      'delegate_explore_task',
    ]);
  });

  test('are offered with schemas that refuse what they do not know', () => {
    for (const { parameters } of agentToolDefinitions()) {
      expect(parameters).toMatchObject({ type: 'object', additionalProperties: false });
    }
    expect(agentToolDefinitions().find(({ name }) => name === 'delegate')?.parameters['required']).toEqual([
      'child',
      'content',
    ]);
  });

  test.each<[string, object]>([
    ['<wait_for_agents ids="a, b" timeout="2"/>', { ids: ['a', 'b'], timeout: 2 }],
    ['<wait_for_agents><ids>["a","b"]</ids></wait_for_agents>', { ids: ['a', 'b'] }],
    ['<get_agent_status id="a" include_result="true"/>', { id: 'a', include_result: true }],
    ['<get_context_info include_stats="true"/>', { include_stats: true }],
    [
      '<sync_context parent="a" child="b" categories="system,dialog" replace="true"/>',
      { parent: 'a', child: 'b', categories: ['system', 'dialog'], replace: true },
    ],
  ])('are all called by %s where an agent takes text alone', (text, given) => {
    const { actions, faults } = readTaggedAnswer(text, 'x', registry(), []);
    expect(faults).toEqual([]);
    expect(actions).toMatchObject([{ command: { given } }]);
  });

  test('come to the same command as call and as tag', () => {
    const args = { child: 'w', content: 'go', background: true, timeout: 2 };
    const [called] = read(call('delegate', args)).commands;
    const [tagged] = readTags(`<delegate>${JSON.stringify(args)}</delegate>`, registry()).commands;
    expect(called?.command).toEqual(tagged);
  });

  test.each(agentTools.map(({ name }) => name))('answer subagents_disabled where they are switched off: %s', (name) => {
    const { commands, faults } = readCalls([call(name, {})], registry({ subagentsEnabled: false }));
    expect([commands, faults.map(({ fault }) => fault.code)]).toEqual([[], ['subagents_disabled']]);
  });
});

describe('a function call', () => {
  test.each<[string, unknown]>([
    ['an object', { id: 'w' }],
    ['its JSON', '{"id":"w"}'],
    ['nearly its JSON', "{'id':'w',}"],
  ])('takes %s', (_, args) => {
    expect(read(call('stop_sub_agent', args))).toEqual({
      commands: [{ callId: 'c1', command: { tool: 'stop_sub_agent', given: { id: 'w' } } }],
      others: [],
      faults: [],
    });
  });

  test.each<[unknown]>([[''], [null], [undefined], ['{}'], [{}]])(
    'without arguments (%j) takes those that it presets',
    (args) => {
      expect(read(call('get_agent_status', args)).commands[0]?.command).toEqual({
        tool: 'get_agent_status',
        given: { include_result: false },
      });
    },
  );

  test.each<[string, unknown, string, RegExp]>([
    ['stop_sub_agent', '{"id":"w"', 'malformed', /its arguments must be one JSON object/],
    ['stop_sub_agent', '["w"]', 'malformed', /its arguments must be one JSON object/],
    ['stop_sub_agent', 'w', 'malformed', /its arguments must be one JSON object/],
    ['stop_sub_agent', 7, 'malformed', /its arguments must be one JSON object/],
    ['stop_sub_agent', { id: 'w', now: true }, 'invalid_arguments', /now/],
    [
      'get_agent_status',
      { include_result: 'no' },
      'invalid_arguments',
      /include_result must be true or false; got "no"/,
    ],
    ['wait_for_agents', { ids: 'a' }, 'invalid_arguments', /ids must be a list/],
    ['wait_for_agents', { timeout: '5' }, 'invalid_arguments', /timeout must be a number.*got "5"/],
    ['get_context_info', { id: '' }, 'invalid_arguments', /id must not be blank/],
    ['sync_context', { parent: 'a' }, 'invalid_arguments', /child is missing/],
    [
      'sync_context',
      { parent: 'a', child: 'b', categories: ['secret'] },
      'invalid_arguments',
      /categories\[0\] must be system, context, dialog or tool; got "secret"/,
    ],
    ['spawn', {}, 'unknown_tool', /there is no tool "spawn"; there are send_message, .*read_file/],
    ['Delegate', {}, 'unknown_tool', /there is no tool "Delegate"/],
  ])('%s %j is refused in words', (name, args, code, message) => {
    const { commands, faults } = read(call(name, args));
    expect(commands).toEqual([]);
    expect(faults).toEqual([
      { callId: 'c1', fault: { tool: name, code, message: expect.stringMatching(message) as string } },
    ]);
  });

  test('of another tool is passed on with its arguments', () => {
    expect(read(call('read_file', '{"path":"a"}')).others).toEqual([
      { callId: 'c1', name: 'read_file', given: { path: 'a' } },
    ]);
  });

  test('of another tool goes on where sub-agents are switched off, unless the agent may not call it', () => {
    const reading = (allowed: string[] | null) =>
      readCalls([call('read_file', {})], registry({ subagentsEnabled: false, allowed }), ['read_file']);
    expect([reading(null).others.length, reading(['list_files']).faults[0]?.fault.code]).toEqual([1, 'not_allowed']);
  });

  test('among a thousand is answered each by its id: a hundred are carried out', () => {
    const calls = Array.from({ length: 1_000 }, (_, index) => call('send_message', { content: 'x' }, `c${index}`));
    const { commands, faults } = read(...calls);
    expect([commands.length, faults.length, faults[0]]).toEqual([
      100,
      900,
      {
        callId: 'c100',
        fault: {
          tool: 'send_message',
          code: 'too_many',
          message: expect.stringContaining('at most 100 calls') as string,
        },
      },
    ]);
  });

  test('with an id that was there before is refused', () => {
    const { commands, faults } = read(call('send_message', { content: 'a' }), call('send_message', { content: 'b' }));
    expect([commands.length, faults.map(({ fault }) => fault.message)]).toEqual([
      1,
      ['send_message was not carried out: the call id "c1" stands there twice'],
    ]);
  });

  test('takes categories in any case', () => {
    expect(
      read(call('sync_context', { parent: 'a', child: 'b', categories: ['DIALOG'] })).commands[0]?.command.given,
    ).toMatchObject({
      categories: ['dialog'],
    });
  });
});
