import { idle, plan, TeamPlay } from '../../support/team-play.js';

const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => `w${index + 1}`);
const crew = (count: number, maxConcurrent: number) =>
  new TeamPlay(
    ids(count).map((id) => plan(id)),
    { maxConcurrent },
  );

describe('stop', () => {
  const foreground = () => {
    const at = new TeamPlay([plan('p'), idle('c', { parent: 'p' })], { maxConcurrent: 1 });
    at.delegate('p', 'c', { background: false, waitId: 'd' });
    return at;
  };

  test('cancels work in the background, whatever it does', () => {
    const at = crew(3, 2);
    at.to('PAUSE_AGENT', 'w2');
    for (const id of ids(3))
      expect([at.to('STOP_AGENT', id), at.answer]).toEqual(['ok', expect.objectContaining({ stoppedBy: 'cancel' })]);
    expect(at.states).toBe('w1 CANCELLED, w2 CANCELLED, w3 CANCELLED');
  });

  test('pauses what an agent waits for, and says so the second time', () => {
    const at = foreground();
    expect([at.to('STOP_AGENT', 'c'), at.answer, at.state('c')]).toEqual([
      'ok',
      expect.objectContaining({ stoppedBy: 'pause' }),
      'PAUSED',
    ]);
    expect(at.to('STOP_AGENT', 'c')).toBe('agent "c" is PAUSED: it is stopped already; resume it, or cancel it');
    at.to('RESUME_AGENT', 'c');
    at.ends('c', 'went on');
    expect(at.waits.get('d')?.agents[0]).toMatchObject({ state: 'COMPLETED', result: 'went on' });
  });

  test.each(['STOP_AGENT', 'CANCEL_AGENT'] as const)(
    'or cancel (%s) of an agent by itself or by one below it is refused',
    (call) => {
      const at = foreground();
      const verb = call === 'STOP_AGENT' ? 'stop' : 'cancel';
      expect(at.to(call, 'p', 'p')).toBe(`agent "p" cannot ${verb} itself; it ends with its answer`);
      expect(at.to(call, 'p', 'c')).toBe(`agent "c" cannot ${verb} "p", which it was spawned under`);
    },
  );
});

describe('a team', () => {
  test('ends when all its agents have, and takes nothing more', () => {
    const at = new TeamPlay([plan('a'), plan('b'), idle('c')], { keepOpen: false });
    at.ends('a', 1).fails('b');
    expect([at.team.state, at.team.result?.completed, at.team.result?.failed, at.team.result?.cancelled]).toEqual([
      'COMPLETED',
      1,
      1,
      1,
    ]);
    expect(at.agent('c').error?.message).toBe('the team ended before anybody asked it');
    expect(at.spawn(plan('d'))).toBe('team team-1 is COMPLETED and takes no more calls; start another');
  });

  test('that none of its agents completed has failed, and says why', () => {
    const at = new TeamPlay([plan('a'), plan('b')], { keepOpen: false });
    at.fails('a', 'no key').to('CANCEL_AGENT', 'b');
    expect([at.team.state, at.team.error]).toEqual([
      'FAILED',
      { code: 'EAGENTDOWN', message: 'no agent completed. a: no key' },
    ]);
  });

  test('that is kept open ends when it is closed and what is under way has ended', () => {
    const at = crew(1, 1);
    at.ends('w1');
    expect([at.team.state, at.team.waiting?.on]).toEqual(['OPEN', 'open']);
    at.call({ type: 'ASK', agentId: 'w1', content: 'more' });
    at.take({ type: 'CLOSE' });
    expect([at.said, at.team.state]).toEqual(['ok', 'OPEN']);
    expect(at.spawn(plan('x'))).toBe(
      'team team-1 is closed: nothing is added, and nobody asked, from outside any more',
    );
    at.take({ type: 'CLOSE' });
    expect(at.said).toBe('team team-1 is OPEN: it is closed already');
    at.call({ type: 'SPAWN', agents: [plan('child', { parent: 'w1' })] }, 'w1');
    at.ends('w1').ends('child');
    expect(at.team.state).toBe('COMPLETED');
  });

  test('that is paused pauses who runs and begins nobody, until it is resumed', () => {
    const at = crew(3, 2);
    at.take({ type: 'PAUSE' }).to('CANCEL_AGENT', 'w1');
    expect(at.states).toBe('w1 CANCELLED, w2 PAUSED, w3 PENDING');
    expect(at.to('RESUME_AGENT', 'w2')).toBe('agent "w2" stays PAUSED while its whole team is; resume the team');
    at.take({ type: 'PAUSE' });
    expect(at.said).toBe('team team-1 is PAUSED: only an OPEN team can be paused');
    at.take({ type: 'RESUME' });
    expect(at.states).toBe('w1 CANCELLED, w2 RUNNING, w3 RUNNING');
  });

  test('that is cancelled stops all that run, and whoever comes later is told so', () => {
    const at = crew(3, 2);
    at.wait('all');
    at.take({ type: 'CANCEL' });
    expect([at.team.state, at.states, at.done('stop_turn').length]).toEqual([
      'CANCELLED',
      'w1 CANCELLED, w2 CANCELLED, w3 CANCELLED',
      2,
    ]);
    expect(at.waits.get('all')?.status).toBe('ok');
    at.take({ type: 'CANCEL' });
    expect(at.said).toBe('team team-1 is CANCELLED: there is nothing left to cancel');
  });

  test.each<[string, (at: TeamPlay) => unknown]>([
    ['CANCELLED', (at) => at.to('CANCEL_AGENT', 'w1')],
    ['COMPLETED', (at) => at.ends('w1')],
  ])('takes no call of an agent that is %s, so that nothing outlives it', (state, before) => {
    const at = crew(2, 2);
    before(at);
    expect(at.call({ type: 'SPAWN', agents: [plan('x')] }, 'w1')).toBe(
      `agent "w1" is ${state}: only an agent that is at work can call its team`,
    );
    expect(at.call({ type: 'SPAWN', agents: [plan('x')] }, 'nobody')).toMatch(/there is no agent "nobody"/);
    expect(at.team.agents).toHaveLength(2);
  });

  test('without sub-agents refuses every call of an agent, and changes nothing', () => {
    const at = new TeamPlay([plan('w')], { subagentsEnabled: false });
    const before = at.team.agents;
    expect(at.call({ type: 'SPAWN', agents: [plan('x')] }, 'w')).toBe(
      'team team-1 was started with subagents_enabled false: do the work yourself',
    );
    expect(at.wait('x', null, null, 'w')).toMatch(/subagents_enabled false/);
    expect(at.team.agents).toEqual(before);
    expect(at.spawn(plan('x'))).toBe('ok');
  });
});
