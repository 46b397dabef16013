import { teamStats } from '../../../src/domain/team/stats.js';
import { idle, plan, TeamPlay } from '../../support/team-play.js';

const crew = (ids: string[], maxConcurrent = 9) =>
  new TeamPlay(
    ids.map((id) => plan(id)),
    { maxConcurrent },
  );
const told = (at: TeamPlay, waitId: string) => {
  const answer = at.waits.get(waitId);
  return answer && [answer.status, ...answer.agents.map(({ agent_id: id, state, result }) => [id, state, result])];
};

describe('a wait', () => {
  test('is answered when all that it names have ended, with a failed one as its error', () => {
    const at = crew(['a', 'b', 'c']);
    at.wait('one', ['a', 'b']);
    at.ends('a', 1);
    expect(told(at, 'one')).toBeUndefined();
    at.after(250).fails('b', 'no disk');
    expect(at.waits.get('one')).toMatchObject({
      status: 'ok',
      elapsed_ms: 250,
      agents: [
        { agent_id: 'a', state: 'COMPLETED', result: 1, error: null },
        { agent_id: 'b', state: 'FAILED', result: null, error: { message: 'no disk' } },
      ],
    });
  });

  test.each<[string, string[] | null, unknown[]]>([
    ['names nobody it knows', ['x', 'y'], ['ok']],
    ['names one that has ended and one that it does not know', ['x', 'done'], ['ok', ['done', 'COMPLETED', 'done']]],
    ['names one that was asked for nothing', ['idle'], ['ok', ['idle', 'PENDING', null]]],
    ['names nobody at all', [], ['ok']],
  ])('that %s is answered at once', (_, ids, answer) => {
    const at = new TeamPlay([plan('done'), idle('idle'), plan('live')]);
    at.ends('done');
    expect([at.wait('w', ids), told(at, 'w')]).toEqual(['ok', answer]);
  });

  test('for all waits for those that there are now, and for nobody who comes later', () => {
    const at = crew(['a']);
    at.wait('all');
    at.spawn(plan('later'));
    at.ends('a');
    expect(told(at, 'all')).toEqual(['ok', ['a', 'COMPLETED', 'done']]);
  });

  test('whose time is up says so, and stops nobody', () => {
    const at = crew(['a', 'b'], 1);
    at.wait('w', null, 1_000);
    at.after(999);
    expect(told(at, 'w')).toBeUndefined();
    at.untilDue();
    expect(told(at, 'w')).toEqual(['timeout', ['a', 'RUNNING', null], ['b', 'PENDING', null]]);
    expect([at.states, at.done('stop_turn')]).toEqual(['a RUNNING, b PENDING', []]);
    at.ends('a').ends('b');
    expect(at.done('answer_wait')).toHaveLength(1);
  });

  test('of no time at all looks once', () => {
    const at = crew(['a']);
    at.wait('w', ['a'], 0);
    expect(told(at, 'w')).toEqual(['timeout', ['a', 'RUNNING', null]]);
  });

  test('goes on over a pause until the agent ends', () => {
    const at = crew(['a']);
    at.wait('w');
    at.to('PAUSE_AGENT', 'a');
    at.ends('a', 'held');
    expect(told(at, 'w')).toBeUndefined();
    at.to('RESUME_AGENT', 'a');
    expect(told(at, 'w')).toEqual(['ok', ['a', 'COMPLETED', 'held']]);
  });

  test('waits for what an agent was asked besides, too', () => {
    const at = crew(['a']);
    at.call({ type: 'ASK', agentId: 'a', content: 'more' });
    at.wait('w');
    at.ends('a', 1);
    expect(told(at, 'w')).toBeUndefined();
    at.ends('a', 2);
    expect(told(at, 'w')).toEqual(['ok', ['a', 'COMPLETED', 2]]);
  });

  test('that is asked for twice is one', () => {
    const at = crew(['a']);
    at.wait('w');
    at.wait('w');
    at.ends('a');
    expect(at.done('answer_wait')).toHaveLength(1);
  });
});

describe('an agent that waits', () => {
  test('lends its slot, so that a child in line can begin, and goes on once it has one again', () => {
    const at = new TeamPlay([plan('p'), plan('c', { parent: 'p' }), plan('other')], { maxConcurrent: 1 });
    at.wait('w', ['c'], null, 'p');
    expect(at.states).toBe('p RUNNING, c RUNNING, other PENDING');
    expect(teamStats(at.team)).toMatchObject({ concurrent: 1, free_slots: 0 });
    at.ends('c', 7);
    expect([told(at, 'w'), at.states]).toEqual([
      ['ok', ['c', 'COMPLETED', 7]],
      'p RUNNING, c COMPLETED, other PENDING',
    ]);
  });

  test('hears of the end only when somebody else gives a slot back', () => {
    const at = new TeamPlay([plan('p'), plan('c', { parent: 'p' }), plan('other')], { maxConcurrent: 2 });
    at.wait('w', ['c'], null, 'p');
    expect(at.states).toBe('p RUNNING, c RUNNING, other RUNNING');
    at.spawn(plan('next'));
    at.ends('c');
    expect([told(at, 'w')?.[0], at.state('next')]).toEqual(['ok', 'PENDING']);
    at.wait('w2', ['other'], 5, 'p');
    expect(at.state('next')).toBe('RUNNING');
    at.untilDue();
    expect(told(at, 'w2')).toBeUndefined();
    at.ends('next');
    expect(told(at, 'w2')?.[0]).toBe('timeout');
  });

  test('for nobody in particular waits for all but itself and those that wait for it', () => {
    const at = new TeamPlay([plan('p'), plan('a', { parent: 'p' }), plan('b', { parent: 'p' })]);
    at.wait('p', ['a'], null, 'p');
    at.wait('a', null, null, 'a');
    at.ends('b');
    expect(told(at, 'a')).toEqual(['ok', ['b', 'COMPLETED', 'done']]);
  });

  test.each([
    ['itself', ['p'], 'agent "p" cannot wait for itself'],
    ['one that waits for it', ['c'], 'agent "p" cannot wait for "c", which waits for it; answer, and "c" goes on'],
    [
      'one that waits for one that waits for it',
      ['d'],
      'agent "p" cannot wait for "d", which waits for it; answer, and "d" goes on',
    ],
  ])('cannot wait for %s', (_, ids, message) => {
    const at = crew(['p', 'c', 'd']);
    at.wait('1', ['p'], null, 'c');
    at.wait('2', ['c'], null, 'd');
    expect(at.wait('3', ids, null, 'p')).toBe(message);
    expect(at.wait('4', null, null, 'p')).toBe('ok');
    expect(told(at, '4')).toEqual(['ok']);
  });

  test('and is cancelled hears of nothing more', () => {
    const at = crew(['p', 'c']);
    at.wait('w', ['c'], null, 'p');
    at.to('CANCEL_AGENT', 'p');
    at.ends('c');
    expect(at.done('answer_wait')).toEqual([]);
  });

  test('for two things at once needs its slot for the last of them only', () => {
    const at = crew(['p', 'a', 'b', 'next'], 3);
    at.wait('1', ['a'], null, 'p');
    at.wait('2', ['b'], null, 'p');
    expect(at.state('next')).toBe('RUNNING');
    at.spawn(plan('last'));
    at.ends('a');
    expect([told(at, '1')?.[0], at.state('last')]).toEqual(['ok', 'RUNNING']);
    at.ends('b');
    expect(told(at, '2')?.[0]).toBe('ok');
  });
});
