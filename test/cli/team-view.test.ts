import { treeName, treeOf } from '../../src/cli/team-tree.js';
import { emptyTeam, hearTeam, teamFrame, type TeamView } from '../../src/cli/team-view.js';
import type { NumberedTeamEvent } from '../../src/contracts/team-events.js';
import type { AgentStateName } from '../../src/contracts/team-status.js';

const agent = (agentId: string, state: AgentStateName, parent: string | null = null, turn = 1): NumberedTeamEvent => ({
  id: 1,
  event: 'agent',
  data: { at: '2026-01-01T00:00:00.000Z', agent_id: agentId, role: 'agent', parent, state, turn, error: null },
});
const event = (view: TeamView, ...told: NumberedTeamEvent[]): void => {
  for (const each of told) hearTeam(view, { type: 'event', event: each });
};
const says = (view: TeamView, lane: string, text: string, attempt = 1): void =>
  hearTeam(view, { type: 'partial', partial: { lane_id: lane, attempt, offset: 0, text } });

describe('the tree of agents', () => {
  test.each([
    [
      'children below their parent',
      [
        ['a', null],
        ['b', null],
        ['c', 'a'],
        ['d', 'c'],
      ],
      ['a', '  c', '    d', 'b'],
    ],
    [
      'one whose parent is gone by itself',
      [
        ['a', 'gone'],
        ['b', 'a'],
      ],
      ['a', '  b'],
    ],
    ['nobody', [], []],
  ] as [string, [string, string | null][], string[]][])('has %s', (_, agents, names) => {
    expect(treeOf(agents.map(([agent_id, parent]) => ({ agent_id, parent }))).map(treeName)).toEqual(names);
  });

  test('takes a thousand agents, each the child of the one before', () => {
    const line = Array.from({ length: 1_000 }, (_, at) => ({
      agent_id: `a${at}`,
      parent: at === 0 ? null : `a${at - 1}`,
    }));
    expect(treeOf(line).at(-1)).toEqual({ agent: line.at(-1), depth: 999 });
  });
});

describe('the live picture of a team', () => {
  test('tells what each agent says apart, and begins anew with each call of its model', () => {
    const view = emptyTeam();
    event(view, agent('lead', 'RUNNING'), agent('reader', 'RUNNING', 'lead'));
    says(view, 'lead', 'old words', 1_001);
    says(view, 'reader', 'I read', 1);
    says(view, 'lead', 'new words', 2_001);
    says(view, 'lead', ' late', 1_001);
    expect(teamFrame(view, 60, 20)).toEqual([
      'OPEN  2 of 2 agents run',
      '▸ lead     RUNNING   new words',
      '▸   reader RUNNING   I read',
    ]);
  });

  test('forgets what was said once an agent is asked again, and an agent that is cleaned up', () => {
    const view = emptyTeam();
    event(view, agent('a', 'RUNNING'), agent('b', 'COMPLETED', 'a'));
    says(view, 'a', 'first');
    event(view, agent('a', 'RUNNING', null, 2), {
      id: 2,
      event: 'agent_removed',
      data: { at: '2026-01-01T00:00:00.000Z', agent_id: 'b' },
    });
    expect(teamFrame(view, 60, 20)).toEqual(['OPEN  1 of 1 agents run', '▸ a    RUNNING   ']);
  });

  test('of many agents shows those that have not ended, and how many more there are', () => {
    const view = emptyTeam();
    for (let at = 0; at < 50; at += 1) event(view, agent(`a${at}`, at === 40 ? 'RUNNING' : 'COMPLETED'));
    const lines = teamFrame(view, 60, 10);
    expect(lines).toHaveLength(8);
    expect(lines[1]).toMatch(/^▸ a40/);
    expect(lines.at(-1)).toBe('  … and 44 more agents');
  });
});
