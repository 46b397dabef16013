import { readTags } from '../../../../src/domain/team/actions/tags.js';
import { registry } from './registry.js';

const read = (text: string) => readTags(text, registry());
const after = '<send_message>still read</send_message>';
const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

describe('a malformed action tag', () => {
  test.each<[string, string, string, RegExp]>([
    [
      'is not closed',
      '<delegate>{"child":"w","content":"go"} ',
      'malformed',
      /^<delegate> in line 1 was not carried out: it has no <\/delegate> before <send_message> begins$/,
    ],
    ['is not closed within its opening tag', '<delegate child="w" ', 'malformed', /its opening tag has no ">"/],
    [
      'is closed by another',
      '<delegate>{"child":"w","content":"go"}</stop_sub_agent>',
      'malformed',
      /it is closed by <\/stop_sub_agent>, not by <\/delegate>/,
    ],
    [
      'holds another',
      '<delegate>a <stop_sub_agent>w</stop_sub_agent> b</delegate>',
      'malformed',
      /it holds <stop_sub_agent>; tags do not stand in one another/,
    ],
    ['holds itself', '<delegate>a <delegate>b</delegate> c</delegate>', 'malformed', /it holds <delegate>/],
    [
      'holds itself twice',
      '<delegate><delegate><delegate></delegate></delegate></delegate>',
      'malformed',
      /it holds <delegate>/,
    ],
    [
      'holds JSON that is cut off',
      '<delegate>{"child":"w","content":"go</delegate>',
      'malformed',
      /its JSON cannot be read/,
    ],
    [
      'holds JSON without its last brace',
      '<delegate>{"child":"w","content":"go"</delegate>',
      'malformed',
      /its JSON cannot be read/,
    ],
    ['holds half a name', '<delegate>{"child</delegate>', 'malformed', /its JSON cannot be read/],
    ['holds one brace', '<delegate>{</delegate>', 'malformed', /its JSON cannot be read/],
    [
      'holds a list',
      '<delegate>[{"child":"w","content":"go"}]</delegate>',
      'malformed',
      /it holds a list; write one tag with one object for each/,
    ],
    ['holds an empty list', '<stop_sub_agent>[]</stop_sub_agent>', 'malformed', /it holds a list/],
    [
      'has an attribute twice',
      '<delegate child="a" child="b" content="c"/>',
      'malformed',
      /its attribute child stands there twice/,
    ],
    [
      'has an attribute without a value',
      '<delegate child content="c"/>',
      'malformed',
      /its attribute child has no value; write child="..."/,
    ],
    ['has an attribute with nothing after "="', '<delegate child= />', 'malformed', /its attribute child has no value/],
    ['has a value without a name', '<delegate ="w" content="c"/>', 'malformed', /its opening tag has a stray "="/],
    ['has a stray quote', '<delegate "w"/>', 'malformed', /its opening tag has a stray "\\""/],
    [
      'says a thing twice',
      '<delegate child="a">{"child":"b","content":"c"}</delegate>',
      'malformed',
      /child stands in its opening tag and in its body; give it once/,
    ],
    [
      'has a text and an attribute of it',
      '<send_message content="a">b</send_message>',
      'malformed',
      /content stands in its opening tag and in its body/,
    ],
    [
      'has an attribute nobody knows',
      '<delegate kid="w" content="c"/>',
      'invalid_arguments',
      /^delegate was not carried out: .*kid/,
    ],
    [
      'has a member nobody knows',
      '<delegate>{"child":"w","content":"c","urgent":true}</delegate>',
      'invalid_arguments',
      /urgent/,
    ],
    ['names no child', '<delegate>{"content":"c"}</delegate>', 'invalid_arguments', /child is missing/],
    ['has nothing in it', '<delegate></delegate>', 'invalid_arguments', /child is missing.*content is missing/],
    ['is empty', '<delegate/>', 'invalid_arguments', /child is missing/],
    [
      'has null for a text',
      '<delegate>{"child":"w","content":null}</delegate>',
      'invalid_arguments',
      /content must be a text; got null/,
    ],
    [
      'has a number for a text',
      '<send_message>{"content":7}</send_message>',
      'invalid_arguments',
      /content must be a text; got 7/,
    ],
    [
      'has an object for a text',
      '<send_message>{"content":{"a":1}}</send_message>',
      'invalid_arguments',
      /content must be a text/,
    ],
    [
      'has a word for a boolean',
      '<delegate child="w" content="c" background="yes"/>',
      'invalid_arguments',
      /background must be true or false; got "yes"/,
    ],
    [
      'has a text for a boolean',
      '<delegate>{"child":"w","content":"c","background":"true"}</delegate>',
      'invalid_arguments',
      /background must be true or false; got "true"/,
    ],
    [
      'has a number for a boolean',
      '<spawn_sub_agent>{"id":"w","share_session":1}</spawn_sub_agent>',
      'invalid_arguments',
      /share_session must be true or false; got 1/,
    ],
    [
      'has a boolean for a number',
      '<spawn_sub_agent>{"id":"w","shared_cw_max_tokens":true}</spawn_sub_agent>',
      'invalid_arguments',
      /shared_cw_max_tokens must be a whole number.*got true/,
    ],
    [
      'has a limit of no tokens',
      '<spawn_sub_agent>{"id":"w","shared_context_window_max_tokens":0}</spawn_sub_agent>',
      'invalid_arguments',
      /shared_context_window_max_tokens must be at least 1; got 0/,
    ],
    [
      'has a limit of half a token',
      '<spawn_sub_agent id="w" shared_cw_max_tokens="0.5"/>',
      'invalid_arguments',
      /must be a whole number/,
    ],
    [
      'has two limits that differ',
      '<spawn_sub_agent>{"id":"w","shared_cw_max_tokens":1,"shared_context_window_max_tokens":2}</spawn_sub_agent>',
      'invalid_arguments',
      /must equal shared_context_window_max_tokens/,
    ],
    [
      'has a blank id',
      '<spawn_sub_agent>{"id":"  "}</spawn_sub_agent>',
      'invalid_arguments',
      /id must be 1 to 64 letters/,
    ],
    [
      'has a blank tool',
      '<spawn_sub_agent>{"id":"w","default_tools":["a"," "]}</spawn_sub_agent>',
      'invalid_arguments',
      /default_tools\[1\] must not be blank/,
    ],
    [
      'has a text for a list of tools',
      '<spawn_sub_agent>{"id":"w","default_tools":"a"}</spawn_sub_agent>',
      'invalid_arguments',
      /default_tools must be a list/,
    ],
    [
      'has a list for model overrides',
      '<spawn_sub_agent>{"id":"w","model_overrides":[]}</spawn_sub_agent>',
      'invalid_arguments',
      /model_overrides must be an object/,
    ],
    [
      'has a setting that no model has',
      '<spawn_sub_agent>{"id":"w","model_overrides":{"top_p":1}}</spawn_sub_agent>',
      'invalid_arguments',
      /model_overrides\.top_p cannot be overridden; there are temperature, max_tokens and model; got 1/,
    ],
    ['has no prompt, but text', '<stop_sub_agent> </stop_sub_agent>', 'invalid_arguments', /id is missing/],
    [
      'has a target and targets',
      '<send_message>{"content":"a","target":"b","targets":["c"]}</send_message>',
      'invalid_arguments',
      /targets contradicts target; give one of them/,
    ],
    ['has no targets in its list', '<send_message targets="" content="a"/>', 'invalid_arguments', /targets/],
    [
      'has a time limit before now',
      '<delegate child="w" content="c" timeout="-1"/>',
      'invalid_arguments',
      /timeout must be at least 0; got -1/,
    ],
    [
      'has a time limit in words',
      '<delegate child="w" content="c" timeout="soon"/>',
      'invalid_arguments',
      /timeout must be a number.*got "soon"/,
    ],
    [
      'explores for more rounds than there are',
      '<delegate_explore_task task="t" max_iterations="101"/>',
      'invalid_arguments',
      /max_iterations must be at most 100; got 101/,
    ],
    ['explores nothing', '<delegate_explore_task></delegate_explore_task>', 'invalid_arguments', /task is missing/],
    [
      'is nested too deep',
      `<send_message>{"content":"a","metadata":${deep(100)}}</send_message>`,
      'invalid_arguments',
      /nested more than 64 deep/,
    ],
    [
      'is nested far too deep',
      `<send_message>{"content":"a","metadata":${deep(50_000)}}</send_message>`,
      'invalid_arguments',
      /nested more than 64 deep/,
    ],
    ['is far too long', `<send_message>${'a'.repeat(300_000)}</send_message>`, 'invalid_arguments', /content must/],
    [
      'is one of a function',
      '<wait_for_agents>{"ids":["a"]}</wait_for_agents>',
      'unknown_tool',
      /is no action tag; call wait_for_agents as a function/,
    ],
    [
      'names a member of every object',
      '<send_message>{"content":"a","constructor":1}</send_message>',
      'invalid_arguments',
      /constructor/,
    ],
  ])('that %s is reported back, and what comes after it is read', (_, text, code, message) => {
    const { commands, faults } = read(`${text}${after}`);
    expect(faults).toEqual([
      { tool: expect.any(String) as string, code, message: expect.stringMatching(message) as string },
    ]);
    expect(commands).toEqual([{ tool: 'send_message', given: { content: 'still read' } }]);
  });

  test('that stands at the end of an answer that was cut off is reported', () => {
    expect(read('I do it.\n<delegate>{"child":"w","content":"go"}')).toMatchObject({
      commands: [],
      faults: [{ code: 'malformed', message: '<delegate> in line 2 was not carried out: it has no </delegate>' }],
    });
  });

  test.each([
    [
      'is the first half of one that begins again',
      '<delegate>{"child":"a", <delegate>{"child":"w","content":"go"}</delegate>',
      1,
    ],
    [
      'is not closed, with the same after it',
      '<delegate>{"child":"a","content":"b"}\n<delegate>{"child":"w","content":"go"}</delegate>',
      1,
    ],
  ])('that %s costs only itself', (_, text, faults) => {
    const reading = read(text);
    expect([reading.faults.length, reading.commands]).toEqual([
      faults,
      [expect.objectContaining({ tool: 'delegate', given: expect.objectContaining({ child: 'w' }) as object })],
    ]);
  });

  test('is told by the line that it stands in', () => {
    const { faults } = read('one\n<delegate child/>\nthree\n\n<stop_sub_agent id/>');
    expect(faults.map(({ message }) => /in line (\d)/.exec(message)?.[1])).toEqual(['2', '5']);
  });
});

describe('what an agent may not do', () => {
  const tag = '<spawn_sub_agent id="w"/>';
  test('is refused by a word for every tag, where sub-agents are switched off', () => {
    const { commands, faults } = readTags(tag + after, registry({ subagentsEnabled: false }));
    expect([commands, faults.map(({ code }) => code)]).toEqual([[], ['subagents_disabled', 'subagents_disabled']]);
  });

  test('is refused with what it may call', () => {
    const { commands, faults } = readTags(tag + after, registry({ allowed: ['send_message'] }));
    expect(commands).toHaveLength(1);
    expect(faults).toEqual([
      {
        tool: 'spawn_sub_agent',
        code: 'not_allowed',
        message: 'spawn_sub_agent was not carried out: this agent may not call it; it may call send_message',
      },
    ]);
  });
});
