import { type ConversationStep, conversationOf } from '../../../src/domain/agent/conversation.js';
import { promptOf } from '../../../src/domain/agent/prompt.js';
import type { ContextMessage } from '../../../src/domain/team/context/message.js';
import { contextMessage as message } from '../../support/agent-messages.js';

const call = (messageId: number, ...ids: string[]): ContextMessage =>
  message(messageId, {
    role: 'assistant',
    category: 'tool',
    content: `calls ${ids.join(', ')}`,
    calls: ids,
    made: ids.map((callId) => ({ callId, name: 'look', arguments: { at: callId } })),
  });
const result = (messageId: number, of: string): ContextMessage =>
  message(messageId, { role: 'tool', category: 'tool', content: `saw ${of}`, resultOf: of });
const asks = message(1, { content: 'Why?' });
const answers = (messageId: number): ContextMessage => message(messageId, { role: 'assistant', content: 'So.' });

/** Short, to be read at a glance. */
const short = (step: ConversationStep): string =>
  step.role === 'results'
    ? `results: ${step.results.map(({ shownId, text }) => `${shownId} ${text}`).join(', ')}`
    : `${step.role}: ${step.text}${step.role === 'assistant' ? step.calls.map(({ shownId }) => ` ${shownId}`).join('') : ''}`;
const stepsOf = (...messages: ContextMessage[]): string[] => conversationOf(messages).steps.map(short);

describe('a conversation', () => {
  test('has each result right behind its call, in the order of the calls', () => {
    expect(stepsOf(asks, call(2, 'a', 'b'), result(3, 'b'), result(4, 'a'))).toEqual([
      'user: Why?',
      'assistant: calls a, b call_2_1 call_2_2',
      'results: call_2_1 saw a, call_2_2 saw b',
    ]);
  });

  test('keeps calls and results together where another agent of the session wrote between them', () => {
    const between = message(3, { content: 'Another question' });
    expect(stepsOf(asks, call(2, 'a'), between, call(4, 'b'), result(5, 'a'), result(6, 'b'))).toEqual([
      'user: Why?',
      'assistant: calls a call_2_1',
      'results: call_2_1 saw a',
      'user: Another question',
      'assistant: calls b call_4_1',
      'results: call_4_1 saw b',
    ]);
  });

  test('says of a call under way that it has no result yet', () => {
    expect(stepsOf(asks, call(2, 'a'), message(3, { content: 'And?' }))).toEqual([
      'user: Why?',
      'assistant: calls a call_2_1',
      'results: call_2_1 {"status":"error","code":"no_result","message":"there is no result of this call yet"}',
      'user: And?',
    ]);
  });

  test('tells results of action tags in words', () => {
    const tagged = message(2, { role: 'assistant', category: 'tool', content: 'On it.', calls: ['t'] });
    expect(stepsOf(asks, tagged, result(3, 't'))).toEqual([
      'user: Why?',
      'assistant: On it.',
      'user: Result of an action:\nsaw t',
    ]);
  });

  test.each<[string, ContextMessage[], string[]]>([
    [
      'an answer first, as what it answers was dropped',
      [answers(2), asks],
      ['user: What was said before is left out, as it has no room.', 'assistant: So.', 'user: Why?'],
    ],
    ['an answer last', [asks, answers(2)], ['user: Why?', 'assistant: So.', 'user: It is your turn.']],
    [
      'nothing but instructions',
      [message(1, { role: 'system', content: 'Be brief.' })],
      ['user: What was said before is left out, as it has no room.'],
    ],
    ['an empty question', [message(1, { content: '' })], ['user: (nothing)']],
    [
      'an empty answer',
      [asks, message(2, { role: 'assistant' }), message(3, { content: 'And?' })],
      ['user: Why?', 'user: And?'],
    ],
  ])('begins and ends with a person where there is %s', (_, messages, steps) => {
    expect(stepsOf(...messages)).toEqual(steps);
  });

  test('has instructions apart, in their order, wherever they stand', () => {
    const { system, steps } = conversationOf([
      message(1, { role: 'system', content: 'One.' }),
      asks,
      message(3, { role: 'system', content: ' ' }),
      message(4, { role: 'system', content: 'Two.' }),
    ]);
    expect(system).toEqual(['One.', 'Two.']);
    expect(steps).toHaveLength(1);
  });
});

describe('a conversation as one text', () => {
  test('is the question alone where there is nothing else', () => {
    expect(promptOf(conversationOf([asks]), null, [])).toBe('Why?');
  });

  test('has instructions, tools as action tags, and who said what', () => {
    const messages = [message(7, { role: 'system', content: 'Look well.' }), asks, call(2, 'a'), result(3, 'a')];
    const look = { name: 'look', description: 'Looks.', parameters: { type: 'object' } };
    expect(promptOf(conversationOf(messages), 'Be brief.', [look])).toBe(`# Instructions

Be brief.

Look well.

# Tools

Call a tool by an action tag: its name around one JSON object with the arguments, as in
<tool_name>{"argument": "value"}</tool_name>
Of several tags in one answer those about agents are carried out in their order, others side by side: what needs the result of another goes into your next answer. End your answer after them: the results come with what you are asked next. A tag within a code block is shown, not carried out. An answer without a tag is your last word on what you were asked.

## look
Looks.
Arguments, as JSON Schema: {"type":"object"}

# Conversation

## user
Why?

## you
calls a
<look>{"at":"a"}</look>

## result of look
saw a`);
  });

  test('shows arguments that could not be read as they were written', () => {
    const made = [{ callId: 'a', name: 'look', arguments: '{"at":' }];
    const messages = [asks, message(2, { role: 'assistant', calls: ['a'], made }), result(3, 'a')];
    expect(promptOf(conversationOf(messages), null, [])).toContain('## you\n<look>{"at":</look>\n');
  });
});
