import type { AgentCommand } from '../../../../src/contracts/agent-tools.js';
import { readTags } from '../../../../src/domain/team/actions/tags.js';
import { registry } from './registry.js';

const read = (text: string) => readTags(text, registry());
const send = (content: string, over = {}): AgentCommand => ({ tool: 'send_message', given: { content, ...over } });
const give = (content: string, over = {}) => ({
  tool: 'delegate',
  given: { child: 'w', content, background: false, wait: false, ...over },
});

describe('an action tag', () => {
  test.each<[string, string, unknown]>([
    ['with a JSON object', '<delegate>{"child":"w","content":"go"}</delegate>', give('go')],
    ['over several lines', '<delegate>\n{\n "child": "w",\n "content": "go"\n}\n</delegate>', give('go')],
    ['with a fence in it', '<delegate>\n```json\n{"child":"w","content":"go"}\n```\n</delegate>', give('go')],
    ['with single quotes', "<delegate>{'child':'w','content':'go'}</delegate>", give('go')],
    ['with a comma too many', '<delegate>{"child":"w","content":"go",}</delegate>', give('go')],
    ['with bare names', '<delegate>{child:"w",content:"go"}</delegate>', give('go')],
    ['with attributes', '<delegate child="w" content="go"/>', give('go')],
    ['with attributes in single quotes', "<delegate child='w' content='go' />", give('go')],
    ['with bare attributes', '<delegate child=w content=go/>', give('go')],
    [
      'with attributes and text',
      '<delegate child="w" background="true">go on\nthen</delegate>',
      give('go on\nthen', { background: true }),
    ],
    ['with attributes and JSON', '<delegate child="w">{"content":"go"}</delegate>', give('go')],
    [
      'with elements',
      '<delegate><child>w</child>\n<content>go &amp; come</content><timeout>1.5</timeout></delegate>',
      give('go & come', { timeout: 1.5 }),
    ],
    ['with a text that is empty', '<delegate child="w"></delegate>', give('')],
    [
      'with entities in an attribute',
      '<delegate child="w" content="a &lt;b&gt; &#65;&#x42; &quot;c&quot; &bogus;"/>',
      give('a <b> AB "c" &bogus;'),
    ],
    [
      'with entities for its quotes',
      '<delegate>{&quot;child&quot;:&quot;w&quot;,&quot;content&quot;:&quot;go&quot;}</delegate>',
      give('go'),
    ],
    ['with CDATA', '<delegate child="w"><![CDATA[a < b && c]]></delegate>', give('a < b && c')],
    [
      'with entities within JSON, as they are',
      '<delegate>{"child":"w","content":"&lt;p&gt;"}</delegate>',
      give('&lt;p&gt;'),
    ],
    [
      'with its own closing tag in a text',
      '<delegate>{"child":"w","content":"say </delegate> then"}</delegate>',
      give('say </delegate> then'),
    ],
    [
      'with another tag in a text',
      '<delegate>{"child":"w","content":"<send_message>x</send_message>"}</delegate>',
      give('<send_message>x</send_message>'),
    ],
    [
      'with braces and quotes in a text',
      '<delegate>{"child":"w","content":"} \\" { ` ```"}</delegate>',
      give('} " { ` ```'),
    ],
    ['in capitals', '<DELEGATE>{"child":"w","content":"go"}</Delegate>', give('go')],
    ['with hyphens', '<stop-sub-agent>{"id":"w"}</stop-sub-agent>', { tool: 'stop_sub_agent', given: { id: 'w' } }],
    ['without all its underscores', '<spawn_subagent id="w"/>', { tool: 'spawn_sub_agent', given: { id: 'w' } }],
    [
      'with blanks in its closing tag',
      '<resume_sub_agent>w</ resume_sub_agent >',
      { tool: 'resume_sub_agent', given: { id: 'w' } },
    ],
    ['with a line break in its opening tag', '<delegate\n  child="w"\n  content="go"\n/>', give('go')],
    ['of plain text', '<send_message>Done: all &lt;fine&gt;</send_message>', send('Done: all <fine>')],
    ['with a list as text', '<send_message targets="a, b" content="x"/>', send('x', { targets: ['a', 'b'] })],
    ['with a list as JSON', `<send_message targets='["a","b"]' content="x"/>`, send('x', { targets: ['a', 'b'] })],
    ['with an object as text', `<send_message metadata='{"k":1}' content="x"/>`, send('x', { metadata: { k: 1 } })],
    [
      'of a prompt',
      '<spawn_sub_agent id="w" share_session="TRUE">begin</spawn_sub_agent>',
      { tool: 'spawn_sub_agent', given: { id: 'w', share_session: true, initial_prompt: 'begin' } },
    ],
    [
      'of a task',
      '<delegate_explore_task>find it</delegate_explore_task>',
      { tool: 'delegate_explore_task', given: { task: 'find it', max_iterations: 100 } },
    ],
    ['beside other tags', '<think>hm</think><p><delegate child=w content=go /></p>', give('go')],
    ['after a fence that is never closed', '```js\nlet a;\n<delegate child="w" content="go"/>', give('go')],
    ['between two single backticks on two lines', 'a ` b\n<delegate child="w" content="go"/>\nc ` d', give('go')],
  ])('%s is carried out', (_, text, command) => {
    expect(read(text)).toMatchObject({ commands: [command], faults: [] });
  });

  test('stands with others in the order of the text, which is what is left', () => {
    const { commands, text } = read(
      'First <send_message>a</send_message>, then <delegate child="w" content="b"/> and\n\n<send_message>c</send_message>',
    );
    expect(commands.map(({ tool }) => tool)).toEqual(['send_message', 'delegate', 'send_message']);
    expect(text).toBe('First , then  and');
  });

  test.each([
    ['a fence', 'So:\n```xml\n<delegate child="w" content="go"/>\n```\nthat is all'],
    ['a fence of tildes', '~~~\n<delegate child="w" content="go"/>\n~~~'],
    ['a longer fence with a shorter one in it', '````\n```\n<delegate child="w" content="go"/>\n```\n````'],
    ['an indented fence', '   ```\n<delegate child="w" content="go"/>\n  ```'],
    ['backticks', 'use `<delegate child="w" content="go"/>` for it'],
    ['two backticks', 'use ``a ` <delegate child="w" content="go"/>`` for it'],
  ])('in %s is shown, not meant', (_, text) => {
    expect(read(text)).toEqual({ commands: [], faults: [], quoted: 1, text: text.trim() });
  });

  test.each([
    ['no tag at all', 'a < b > c <div> </p> <delegates> <delegate'],
    ['a closing tag alone', 'and so on </delegate> there'],
    ['nothing', ''],
  ])('is not read out of %s', (_, text) => {
    expect(read(text)).toMatchObject({ commands: [], faults: [], quoted: 0, text });
  });
});
