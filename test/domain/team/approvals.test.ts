import { type ApprovalRule, approvalRuleSchema, type TeamAgentBody } from '../../../src/contracts/team.js';
import { approvalOf } from '../../../src/domain/team/approvals.js';
import { explorerOf } from '../../../src/domain/team/explore.js';
import { matchesGlob } from '../../../src/domain/team/glob.js';
import { inheritedRights } from '../../../src/domain/team/inherited.js';
import { offeredTools, toolRefusal, type ToolRights } from '../../../src/domain/team/tool-use.js';
import { idle, TeamPlay } from '../../support/team-play.js';

describe('a glob', () => {
  test.each<[string, string, boolean]>([
    ['', '', true],
    ['', 'a', false],
    ['*', '', true],
    ['a', 'a', true],
    ['a', 'A', false],
    ['a*', 'abc', true],
    ['*c', 'abc', true],
    ['*b*', 'abc', true],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-b-b-d', false],
    ['mcp__*__read', 'mcp__files__read', true],
    ['*rm -rf*', 'cd / &&\nrm -rf .', true],
    ['[a].+(b|c)$', '[a].+(b|c)$', true],
    ['[a].+(b|c)$', 'aXb', false],
    ['**', 'x', true],
  ])('%j fits %j: %s', (pattern, text, fits) => expect(matchesGlob(pattern, text)).toBe(fits));

  test('of the worst kind is tried on the longest argument all the same', () => {
    expect(matchesGlob(`${'*a'.repeat(100)}b`, 'a'.repeat(200_000))).toBe(false);
  });
});

describe('what a person is asked about', () => {
  const push: ApprovalRule = { tool: 'run_command', when: { argument: 'command', matches: '*git push*' } };
  test.each<[string, ApprovalRule[], string, Record<string, unknown>, 'ask' | 'run']>([
    ['nothing without rules', [], 'run_command', {}, 'run'],
    ['what is always asked', [{ tool: 'run_command', when: 'always' }], 'run_command', {}, 'ask'],
    ['not another tool', [{ tool: 'run_command', when: 'always' }], 'read_file', {}, 'run'],
    ['not a tool that only begins so', [{ tool: 'run', when: 'always' }], 'run_command', {}, 'run'],
    ['a server by a star', [{ tool: 'mcp__github__*', when: 'always' }], 'mcp__github__merge', {}, 'ask'],
    [
      'by the first rule',
      [
        { tool: 'read_file', when: 'never' },
        { tool: '*', when: 'always' },
      ],
      'read_file',
      {},
      'run',
    ],
    [
      'by the first rule',
      [
        { tool: '*', when: 'always' },
        { tool: 'read_file', when: 'never' },
      ],
      'read_file',
      {},
      'ask',
    ],
    ['an argument', [push], 'run_command', { command: 'npm test && git push -f' }, 'ask'],
    ['not another argument', [push], 'run_command', { command: 'npm test' }, 'run'],
    ['not where it is missing', [push], 'run_command', { argv: ['git', 'push'] }, 'run'],
    [
      'past a rule whose argument is another',
      [push, { tool: 'run_command', when: 'always' }],
      'run_command',
      { command: 'ls' },
      'ask',
    ],
    [
      'a list as one line',
      [{ tool: 'run_command', when: { argument: 'argv', matches: 'git push*' } }],
      'run_command',
      { argv: ['git', 'push', 'origin'] },
      'ask',
    ],
    [
      'one of a list',
      [{ tool: 'delete', when: { argument: 'paths', matches: '/etc/*' } }],
      'delete',
      { paths: ['a', '/etc/passwd'] },
      'ask',
    ],
    [
      'an argument by its path',
      [{ tool: 'mail', when: { argument: 'to.0.address', matches: '*@example.com' } }],
      'mail',
      { to: [{ address: 'a@example.com' }] },
      'ask',
    ],
    [
      'one of several patterns',
      [{ tool: 'pay', when: { argument: 'currency', matches: ['EUR', 'USD'] } }],
      'pay',
      { currency: 'USD' },
      'ask',
    ],
    ['a number', [{ tool: 'pay', when: { argument: 'amount', matches: '1????*' } }], 'pay', { amount: 12_000 }, 'ask'],
    ['a flag', [{ tool: 'push', when: { argument: 'force', matches: 'true' } }], 'push', { force: true }, 'ask'],
    ['what is null', [{ tool: 'push', when: { argument: 'to', matches: 'null' } }], 'push', { to: null }, 'ask'],
    ['an object as JSON', [{ tool: 't', when: { argument: 'o', matches: '*"b":1*' } }], 't', { o: { b: 1 } }, 'ask'],
    ['nothing inherited', [{ tool: 't', when: { argument: 'constructor.name', matches: '*' } }], 't', {}, 'run'],
    ['nothing past the end of a list', [{ tool: 't', when: { argument: 'a.9', matches: '*' } }], 't', { a: [] }, 'run'],
    [
      'the end of a long argument',
      [{ tool: 'write_file', when: { argument: 'content', matches: '*secret' } }],
      'write_file',
      { content: `${' '.repeat(150_000)}secret` },
      'ask',
    ],
  ])('%s', (_, rules, tool, given, decision) => expect(approvalOf(rules, tool, given)).toBe(decision));

  test.each<[string, unknown]>([
    ['another word', { tool: 't', when: 'sometimes' }],
    ['no tool', { tool: ' ', when: 'always' }],
    ['no pattern', { tool: 't', when: { argument: 'a', matches: [] } }],
    ['more than is known', { tool: 't', when: 'always', then: 'refuse' }],
  ])('a rule with %s is refused', (_, rule) => expect(approvalRuleSchema.safeParse(rule).success).toBe(false));
});

describe('a tool that is not about agents', () => {
  const rights = (allowed: string[] | null, capabilities: ToolRights['capabilities'] = null) => ({
    allowed,
    capabilities,
  });
  test.each<[string, ToolRights, string | null]>([
    [
      'is not for who has no list',
      rights(null),
      'not_allowed: run_command was not carried out: this agent may not call it; it may call none',
    ],
    ['is for who has no list where a template allows it', rights(null, { allowed_tools: ['run_command'] }), null],
    ['is for who has it', rights(['run_command']), null],
    ['is for who has a pattern for it', rights(['run_*']), null],
    [
      'is not for who has others',
      rights(['read_file', 'list_files']),
      'not_allowed: run_command was not carried out: this agent may not call it; it may call read_file, list_files',
    ],
    ['is what a template allows', rights(['*'], { allowed_tools: ['run_command'] }), null],
    [
      'is not what a template leaves out',
      rights(['*'], { allowed_tools: ['read_file'] }),
      "not_allowed: run_command was not carried out: the agent's template does not allow it; it may call read_file",
    ],
    [
      'is nothing where a template allows none',
      rights(['*'], { allowed_tools: [] }),
      "not_allowed: run_command was not carried out: the agent's template does not allow it; it may call none",
    ],
    [
      'is not what a template forbids',
      rights(['*'], { forbidden_actions: ['run_command'] }),
      'forbidden: run_command was not carried out: the agent\'s template forbids "run_command"',
    ],
    [
      'is not what a template forbids by a pattern',
      rights(['*'], { allowed_tools: ['run_command'], forbidden_actions: ['run_*'] }),
      'forbidden: run_command was not carried out: the agent\'s template forbids "run_*"',
    ],
    [
      'is not forbidden by words about something else',
      rights(['*'], { forbidden_actions: ['running commands'] }),
      null,
    ],
  ])('%s', (_, given, refusal) => {
    const refused = toolRefusal('run_command', given);
    expect(refused && `${refused.code}: ${refused.message}`).toBe(refusal);
  });

  test('is offered to those alone that may call it', () => {
    const tools = ['read_file', 'run_command'].map((name) => ({ name, description: '', parameters: {} }));
    expect(offeredTools(tools, rights(['read_*'])).map(({ name }) => name)).toEqual(['read_file']);
  });
});

describe('an agent that another spawns', () => {
  test.each<[string, string[] | null, string[] | undefined, string[] | null]>([
    ['has the tools of that one', ['a'], undefined, ['a']],
    ['has no list where that one has none', null, undefined, null],
    ['has what it is given of them', ['a', 'b'], ['b'], ['b']],
    ['has none where it is given none', ['a'], [], []],
    ['has nothing that the other has not', ['a'], ['a', 'run_command'], ['a']],
    ['has of those about agents where that one has no list', null, ['delegate', 'run_command'], ['delegate']],
    ['has a part of a pattern', ['mcp__x__*'], ['mcp__x__y', 'mcp__x__z*', 'mcp__*'], ['mcp__x__y', 'mcp__x__z*']],
    ['has no more by a star where one character is meant', ['a?'], ['a?', 'ab', 'a*'], ['a?']],
  ])('%s', (_, tools, asked, has) => expect(inheritedRights({ tools }, asked).rights.tools).toEqual(has));

  test('is bound by the rules of that one', () => {
    const approvals: ApprovalRule[] = [{ tool: '*', when: 'always' }];
    const capabilities = { allowed_tools: ['a'], forbidden_actions: ['b'] };
    const { rights } = inheritedRights({ tools: ['a'], approvals, template: { capabilities, persona: {} } }, undefined);
    expect(rights).toEqual({ tools: ['a'], approvals, template: { capabilities } });
  });

  test('explores by the same rules, with tools of its own', () => {
    const body: Partial<TeamAgentBody> = {
      tools: ['delegate_explore_task'],
      approvals: [{ tool: 'read_file', when: { argument: 'path', matches: '*.key' } }],
      template: { capabilities: { allowed_tools: ['delegate_explore_task'], forbidden_actions: ['search_files'] } },
    };
    const { team } = new TeamPlay([idle('p', body)]);
    const explorer = explorerOf(team, team.agents[0]!, { task: 't', directory: null, maxRounds: 5 });
    expect(explorer).toMatchObject({ tools: ['list_files', 'read_file', 'search_files'], approvals: body.approvals });
    expect(explorer.template).toEqual({ capabilities: { forbidden_actions: ['search_files'] } });
  });
});
