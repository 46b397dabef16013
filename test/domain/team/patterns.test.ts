import { liteAgentsOf } from '../../../src/domain/team/setup.js';
import { chooseByRole } from '../../../src/domain/team/roles.js';
import { idle, plan, TeamPlay } from '../../support/team-play.js';

const adapter = { kind: 'scripted' as const, script: [{ after_ms: 0, final: 'x' }] };
const crew = (...roles: string[]) => roles.map((role, index) => idle(`${role}${index + 1}`, { role }));
const lite = (...roles: string[]) => ({ liteAgents: liteAgentsOf(roles.map((role) => ({ role, adapter }))) });
const asked = (at: TeamPlay) => at.done('run_turn').map(({ agentId, content }) => [agentId, content]);

describe('agents of a role', () => {
  test('are chosen in turn, round and round, whoever goes or comes', () => {
    const at = new TeamPlay(crew('dev', 'ops', 'dev', 'dev'));
    const team = { ...at.team };
    const next = () => chooseByRole(team, 'dev')?.plan.agentId ?? null;
    expect([next(), next(), next(), next(), next()]).toEqual(['dev1', 'dev3', 'dev4', 'dev1', 'dev3']);
    team.agents = team.agents.filter(({ plan: { agentId } }) => agentId !== 'dev3');
    expect([next(), next()]).toEqual(['dev4', 'dev1']);
    team.agents = team.agents.filter(({ plan: { agentId } }) => agentId !== 'dev4');
    expect([next(), next()]).toEqual(['dev1', 'dev1']);
    expect(chooseByRole(team, 'nobody')).toBeNull();
  });

  test('without ids of their own are lite-<role>-<n>, counted by role', () => {
    const bodies = [
      { role: 'a', adapter },
      { role: 'b', adapter },
      { role: 'a', adapter },
      { role: 'a', adapter, agent_id: 'lite-a-3' },
      { role: 'a', adapter },
    ];
    expect(liteAgentsOf(bodies).map(({ liteId }) => liteId)).toEqual([
      'lite-a-1',
      'lite-b-1',
      'lite-a-2',
      'lite-a-3',
      'lite-a-4',
    ]);
  });
});

describe('round robin', () => {
  test('gives four prompts to two agents two each, and their answers in the order asked', () => {
    const at = new TeamPlay(crew('dev', 'dev')).pattern('rr', {
      kind: 'round_robin',
      role: 'dev',
      prompts: ['1', '2', '3', '4'],
    });
    at.ends('dev2', 'b').ends('dev2', 'd').ends('dev1', 'a').fails('dev1', 'broke');
    expect(asked(at)).toEqual([
      ['dev1', '1'],
      ['dev2', '2'],
      ['dev2', '4'],
      ['dev1', '3'],
    ]);
    expect(at.patterns.get('rr')).toMatchObject({
      status: 'completed',
      answer: ['a', 'b', null, 'd'],
      lineage: [{}, {}, { handled_by: 'dev1', error: { message: 'broke' } }, {}],
    });
    expect(at.team.patterns).toEqual([]);
  });

  test('over a role that nobody has is answered at once, by none', () => {
    const at = new TeamPlay(crew('dev')).pattern('rr', { kind: 'round_robin', role: 'ops', prompts: ['1'] });
    expect(at.patterns.get('rr')).toEqual({
      status: 'failed',
      answer: [null],
      lineage: [{ role: 'ops', handled_by: 'none', answer: null, error: null }],
    });
  });

  test('keeps on where an agent is at work, and counts what is cancelled as failed', () => {
    const at = new TeamPlay([plan('dev1', { role: 'dev' })]).pattern('rr', {
      kind: 'round_robin',
      role: 'dev',
      prompts: ['1', '2'],
    });
    at.ends('dev1', 'own').ends('dev1', 'first').to('CANCEL_AGENT', 'dev1');
    expect(at.patterns.get('rr')).toMatchObject({ status: 'completed', answer: ['first', null] });
  });
});

describe('a role chain', () => {
  const chain = (roles: string[], at: TeamPlay) => at.pattern('ch', { kind: 'role_chain', roles, content: 'the task' });

  test('gives each role the real answer of the one before, and tells who handled what', () => {
    const at = chain(['planner', 'dev', 'reviewer'], new TeamPlay(crew('planner', 'dev', 'reviewer')));
    at.ends('planner1', 'a plan').ends('dev2', { code: 1 }).ends('reviewer3', 'good');
    expect(asked(at)).toEqual([
      ['planner1', 'the task'],
      ['dev2', 'a plan'],
      ['reviewer3', '{"code":1}'],
    ]);
    expect(at.patterns.get('ch')).toEqual({
      status: 'completed',
      answer: 'good',
      lineage: [
        { role: 'planner', handled_by: 'planner1', answer: 'a plan', error: null },
        { role: 'dev', handled_by: 'dev2', answer: { code: 1 }, error: null },
        { role: 'reviewer', handled_by: 'reviewer3', answer: 'good', error: null },
      ],
    });
  });

  test('passes over a role that nobody has, and says none', () => {
    const at = chain(['nobody', 'dev', 'nobody'], new TeamPlay(crew('dev')));
    at.ends('dev1', 'did it');
    expect(asked(at)).toEqual([['dev1', 'the task']]);
    expect(at.patterns.get('ch')).toMatchObject({
      status: 'completed',
      answer: 'did it',
      lineage: [{ handled_by: 'none' }, { handled_by: 'dev1' }, { handled_by: 'none' }],
    });
  });

  test('of roles that nobody has at all has failed, and of none ends', () => {
    const at = chain(['x', 'y'], new TeamPlay(crew('dev')));
    expect(at.patterns.get('ch')).toMatchObject({ status: 'failed', answer: null });
  });

  test.each<[string, (at: TeamPlay) => unknown]>([
    ['fails', (at) => at.fails('dev1', 'broke')],
    ['is cancelled', (at) => at.to('CANCEL_AGENT', 'dev1')],
  ])('ends where a stage %s, and asks nobody after it', (_, ends) => {
    const at = chain(['dev', 'reviewer'], new TeamPlay(crew('dev', 'reviewer')));
    ends(at);
    expect([at.patterns.get('ch')?.status, at.patterns.get('ch')?.lineage.length, asked(at).length]).toEqual([
      'failed',
      1,
      1,
    ]);
  });

  test('may come by the same agent again', () => {
    const at = chain(['dev', 'dev'], new TeamPlay(crew('dev')));
    at.ends('dev1', 'draft').ends('dev1', 'better');
    expect(at.patterns.get('ch')).toMatchObject({ status: 'completed', answer: 'better' });
  });

  test('goes over lite agents where no agent has the role, all of them, without a slot', () => {
    const at = chain(
      ['helper', 'dev'],
      new TeamPlay(crew('dev'), { ...lite('helper', 'helper', 'dev'), maxConcurrent: 1 }),
    );
    const answers = (liteId: string, answer: string | null) =>
      at.take({ type: 'LITE_ANSWERED', patternId: 'ch', liteId, answer });
    expect(at.done('ask_lite').map(({ liteId }) => liteId)).toEqual(['lite-helper-1', 'lite-helper-2']);
    answers('lite-helper-2', 'two');
    expect(asked(at)).toEqual([]);
    answers('lite-helper-1', 'one');
    expect(asked(at)).toEqual([['dev1', 'one\ntwo']]);
    answers('lite-helper-1', 'again');
    expect(at.team.dropped).toBe(1);
    at.ends('dev1', 'end');
    expect(at.patterns.get('ch')?.lineage[0]?.handled_by).toBe('lite-helper-1, lite-helper-2');
  });
});

describe('send to a role', () => {
  const send = (at: TeamPlay) => at.pattern('s', { kind: 'send_to_role', role: 'helper', content: 'hi' });

  test('asks one agent of it where there is one, and no lite agent', () => {
    const at = send(new TeamPlay(crew('helper', 'helper'), lite('helper')));
    at.ends('helper1', 'yes');
    expect([at.patterns.get('s')?.answer, at.done('ask_lite')]).toEqual(['yes', []]);
  });

  test.each([
    ['some answer', ['a', null, 'c'], 'completed', 'a\nc'],
    ['some say nothing', ['a', ' \n', false], 'completed', 'a\nfalse'],
    ['none answers', [null, null, null], 'failed', null],
    ['none says anything', [null, '', ' '], 'failed', null],
  ])('joins what lite agents say by newline, where %s', (_, answers, status, answer) => {
    const at = send(new TeamPlay([], lite('helper', 'helper', 'helper')));
    answers.forEach((one, index) =>
      at.take({ type: 'LITE_ANSWERED', patternId: 's', liteId: `lite-helper-${index + 1}`, answer: one }),
    );
    expect(at.patterns.get('s')).toMatchObject({ status, answer });
  });
});

describe('a broadcast', () => {
  test('asks every agent of each role in order, and lite agents only of roles that nobody else has', () => {
    const at = new TeamPlay(crew('b', 'a', 'b'), lite('a', 'c')).pattern('bc', {
      kind: 'broadcast',
      roles: ['b', 'c', 'a'],
      content: 'hi',
    });
    expect([asked(at).map(([id]) => id), at.done('ask_lite').map(({ liteId }) => liteId)]).toEqual([
      ['b1', 'b3', 'a2'],
      ['lite-c-1'],
    ]);
    at.ends('b1', 1).ends('b3', 2).ends('a2', 3);
    expect(at.patterns.get('bc')).toBeUndefined();
    at.take({ type: 'LITE_ANSWERED', patternId: 'bc', liteId: 'lite-c-1', answer: 'c' });
    expect(at.patterns.get('bc')).toMatchObject({ status: 'completed', answer: [1, 2, 'c', 3] });
  });
});
