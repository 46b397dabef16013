import { ParleyError } from '../../../src/domain/errors.js';
import { callKey } from '../../../src/domain/team/call-keys.js';
import type { TeamCall } from '../../../src/domain/team/effects.js';
import { maxConcurrentOf } from '../../../src/domain/team/setup.js';
import { teamStats } from '../../../src/domain/team/stats.js';
import { agentStatusOf } from '../../../src/domain/team/view.js';
import { idle, plan, TeamPlay } from '../../support/team-play.js';

const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => `w${index + 1}`);
const crew = (count: number, maxConcurrent: number) =>
  new TeamPlay(
    ids(count).map((id) => plan(id)),
    { maxConcurrent },
  );

describe('what an agent answers', () => {
  test('stands under the key that its template names, once it is known whether it completed', () => {
    const template = { state: { output_key: 'plan' } };
    const at = new TeamPlay([plan('a', { template }), plan('b', { template })]);
    at.ends('a', { steps: 2 });
    at.ends('b', { status: 'failed', error: 'no paper' });
    expect(agentStatusOf(at.team, 'a')).toMatchObject({ state: 'COMPLETED', result: { plan: { steps: 2 } } });
    expect(agentStatusOf(at.team, 'b')).toMatchObject({
      state: 'FAILED',
      result: null,
      error: { message: 'no paper' },
    });
  });
});

describe('a call that has a key', () => {
  const priced = (id: string, usdMicros: number) => {
    const amount = { estimate: { tokens: 0, usdMicros }, per1000Characters: { tokens: 0, usdMicros: 0 } };
    return { ...plan(id), price: { likely: amount, most: amount, isCapped: true } };
  };
  const send = (at: TeamPlay, key: string, call: TeamCall) =>
    at.take({ type: 'CALL', by: null, call, once: callKey(key, call) }).answer;

  test('counts once, and is answered as before, be it refused', () => {
    const at = new TeamPlay([plan('a')]);
    const ask: TeamCall = { type: 'ASK', agentId: 'a', content: 'more' };
    const first = send(at, 'k', ask);
    expect(first).toMatchObject({ ok: true, run: 2 });
    expect(send(at, 'k', ask)).toEqual(first);
    expect(agentStatusOf(at.team, 'a')?.queued).toBe(1);
    expect(send(at, 'other', ask)).toMatchObject({ ok: true, run: 3 });
    const resume: TeamCall = { type: 'RESUME_AGENT', agentId: 'a' };
    const refused = send(at, 'r', resume);
    at.to('PAUSE_AGENT', 'a');
    expect([send(at, 'r', resume), at.states]).toEqual([refused, 'a PAUSED']);
  });

  test('is refused where the key stands for another', () => {
    const at = new TeamPlay([plan('a')]);
    send(at, 'k', { type: 'ASK', agentId: 'a', content: 'more' });
    expect(send(at, 'k', { type: 'ASK', agentId: 'a', content: 'less' })).toMatchObject({
      code: 'conflict',
      message: 'the key "k" stands for another call, which came before; give this one its own',
    });
    expect(agentStatusOf(at.team, 'a')?.queued).toBe(1);
  });

  test('is the same when prices are others', () => {
    const at = new TeamPlay([plan('a')]);
    const spawn = (usdMicros: number) => send(at, 'k', { type: 'SPAWN', agents: [priced('b', usdMicros)] });
    expect(spawn(2)).toEqual(spawn(1));
  });

  test('is kept among the last 500', () => {
    const at = new TeamPlay([plan('a')]);
    const clean: TeamCall = { type: 'CLEAN_UP', agentId: 'x' };
    for (let call = 0; call <= 500; call += 1) send(at, `k${call}`, clean);
    expect([at.team.keyed?.length, at.team.keyed?.[0]?.key]).toEqual([500, 'k1']);
  });
});

describe('agents at once', () => {
  test.each([
    [undefined, undefined, 10],
    [undefined, 4, 4],
    [3, 4, 3],
    [1, 0, 1],
  ])('asked %s with %s in the environment are %s', (requested, environment, chosen) => {
    expect(maxConcurrentOf(requested, environment)).toBe(chosen);
  });

  test.each([
    [0, 4, 'max_concurrent must be a whole number of at least 1; got 0'],
    [-1, 4, 'max_concurrent must be a whole number of at least 1; got -1'],
    [undefined, 0, 'PARLEY_MAX_CONCURRENT_TASKS must be a whole number of at least 1; got 0'],
    [1.5, 4, 'max_concurrent must be a whole number of at least 1; got 1.5'],
  ])('cannot be %s with %s in the environment', (requested, environment, message) => {
    expect(() => maxConcurrentOf(requested, environment)).toThrow(new ParleyError('invalid_request', message));
  });

  test('are never more than the slots; the rest wait, and begin in the order in which they were spawned', () => {
    const at = crew(4, 2);
    expect(at.states).toBe('w1 RUNNING, w2 RUNNING, w3 PENDING, w4 PENDING');
    at.ends('w2');
    expect(at.states).toBe('w1 RUNNING, w2 COMPLETED, w3 RUNNING, w4 PENDING');
    at.fails('w1').ends('w3');
    expect(at.done('run_turn').map(({ agentId }) => agentId)).toEqual(['w1', 'w2', 'w3', 'w4']);
    at.ends('w4');
    expect(teamStats(at.team)).toMatchObject({ free_slots: 2, concurrent: 0, queue_depth: 0 });
  });

  test('keep their slot while they are paused, and give it back when they are cancelled', () => {
    const at = crew(2, 1);
    at.to('PAUSE_AGENT', 'w1');
    expect(at.states).toBe('w1 PAUSED, w2 PENDING');
    at.to('CANCEL_AGENT', 'w1');
    expect(at.states).toBe('w1 CANCELLED, w2 RUNNING');
  });

  test('are told of by state, queue and percentiles of their latency', () => {
    const at = crew(4, 3);
    at.after(10).ends('w1').after(10).fails('w2').after(10).ends('w3');
    expect(teamStats(at.team)).toEqual({
      max_concurrent: 3,
      total_agents: 4,
      by_state: { PENDING: 0, RUNNING: 1, PAUSED: 0, COMPLETED: 2, FAILED: 1, CANCELLED: 0 },
      free_slots: 2,
      concurrent: 1,
      queue_depth: 0,
      latency_ms: { count: 3, p50: 20, p90: 30, p95: 30, p99: 30 },
      slot_wait_ms: { count: 4, p50: 0, p90: 10, p95: 10, p99: 10 },
    });
  });
});

describe('a spawn', () => {
  test('of an id in use is refused, also after its end, until it is cleaned up', () => {
    const at = crew(1, 1);
    expect(at.spawn(plan('w1'))).toBe(
      'the id "w1" is in use; it is RUNNING: give another id, or cancel it and clean it up first',
    );
    at.ends('w1');
    expect(at.spawn(plan('w1'))).toBe('the id "w1" is in use; it is COMPLETED: ask it again, or clean it up first');
    expect([at.to('CLEAN_UP', 'w1'), at.spawn(plan('w1')), at.state('w1')]).toEqual(['ok', 'ok', 'RUNNING']);
  });

  test('of several keeps those before the one that is refused', () => {
    const at = crew(1, 9);
    expect(at.spawn(plan('a'), plan('w1'), plan('b'))).toMatch(/^the id "w1" is in use/);
    expect([at.states, at.answer]).toEqual(['w1 RUNNING, a RUNNING', expect.objectContaining({ agentIds: ['a'] })]);
  });

  test.each([
    ['its own parent', { parent: 'x' }, 'agent "x" cannot be its own parent'],
    ['an unknown parent', { parent: 'nobody' }, 'there is no agent "nobody" in this team; there are w1'],
    [
      'a window of nobody',
      { share_context_window_with: 'nobody' },
      'there is no agent "nobody" in this team; there are w1',
    ],
    [
      'nobody that answers for it',
      { adapter: undefined },
      'agent "x" needs an adapter, or a parent whose adapter answers for it',
    ],
  ])('with %s is refused and leaves no trace', (_, over, message) => {
    const at = crew(1, 9);
    const before = at.team;
    expect(at.spawn(plan('x', over))).toBe(message);
    expect(at.team).toEqual(before);
  });

  test('goes no deeper than eight below one another', () => {
    const at = crew(1, 99);
    const below = ids(12).slice(1);
    const said = below.map((id, index) => at.spawn(plan(id, { parent: `w${index + 1}` })));
    expect(said.filter((answer) => answer === 'ok')).toHaveLength(8);
    expect(said[8]).toBe(
      'agent "w9" has 8 agents above it and can have none below; do the work there, or spawn under another',
    );
  });
});

describe('an agent that is', () => {
  const calls = ['PAUSE_AGENT', 'RESUME_AGENT', 'CANCEL_AGENT', 'STOP_AGENT', 'CLEAN_UP'] as const;
  const into: Record<string, (at: TeamPlay) => unknown> = {
    idle: () => undefined,
    PENDING: (at) => at.call({ type: 'ASK', agentId: 'w', content: 'go' }),
    RUNNING: (at) => at.ends('first') && at.call({ type: 'ASK', agentId: 'w', content: 'go' }),
    PAUSED: (at) => [into['RUNNING']?.(at), at.to('PAUSE_AGENT', 'w')],
    COMPLETED: (at) => [into['RUNNING']?.(at), at.ends('w')],
    FAILED: (at) => [into['RUNNING']?.(at), at.fails('w')],
    CANCELLED: (at) => [into['RUNNING']?.(at), at.to('CANCEL_AGENT', 'w')],
  };
  const noPause = (state: string) => `agent "w" is ${state}: only a RUNNING agent can be paused`;
  const noResume = (state: string) => `agent "w" is ${state}: only a PAUSED agent can be resumed`;
  const noStop = (state: string) => `agent "w" is ${state}: it has nothing under way that could be stopped`;
  const noCleanUp = (state: string) =>
    `agent "w" is ${state}: only an agent that has ended can be cleaned up; wait for it, or cancel it first`;
  const over = (state: string) => `agent "w" is ${state}: there is nothing left to cancel`;
  const nothing = 'PENDING and has nothing to do yet';

  test.each([
    ['idle', [noPause(nothing), noResume(nothing), 'ok', noStop(nothing), noCleanUp('PENDING')]],
    ['PENDING', [noPause('PENDING'), noResume('PENDING'), 'ok', 'ok', noCleanUp('PENDING')]],
    ['RUNNING', ['ok', noResume('RUNNING'), 'ok', 'ok', noCleanUp('RUNNING')]],
    ['PAUSED', [noPause('PAUSED'), 'ok', 'ok', 'ok', noCleanUp('PAUSED')]],
    ...['COMPLETED', 'FAILED', 'CANCELLED'].map((state): [string, string[]] => [
      state,
      [noPause(state), noResume(state), over(state), noStop(state), 'ok'],
    ]),
  ])(
    '%s takes what it can of pause, resume, cancel, stop and clean-up, and says why not the rest',
    (state, answers) => {
      const said = calls.map((call) => {
        const at = new TeamPlay([plan('first'), idle('w')], { maxConcurrent: 1 });
        into[state]?.(at);
        const before = at.team;
        const answer = at.to(call, 'w');
        if (answer !== 'ok') expect(at.team.agents).toEqual(before.agents);
        return answer;
      });
      expect(said).toEqual(answers);
    },
  );

  test('unknown is refused by name, with whom there is', () => {
    const at = crew(2, 1);
    for (const call of calls) expect(at.to(call, 'x')).toBe('there is no agent "x" in this team; there are w1, w2');
    expect(agentStatusOf(at.team, 'x')).toBeNull();
  });

  test('cancelled twice is told so the second time, and nothing is stopped again', () => {
    const at = crew(1, 1);
    expect(at.to('CANCEL_AGENT', 'w1')).toBe('ok');
    expect(at.to('CANCEL_AGENT', 'w1')).toBe('agent "w1" is CANCELLED: there is nothing left to cancel');
    expect(at.done('stop_turn')).toHaveLength(1);
  });

  test('cancelled takes those that it has spawned with it, and no others', () => {
    const at = crew(2, 9);
    at.spawn(
      plan('child', { parent: 'w1' }),
      plan('grandchild', { parent: 'child' }),
      idle('unasked', { parent: 'w1' }),
    );
    at.ends('child');
    expect(at.to('CANCEL_AGENT', 'w1')).toBe('ok');
    expect(at.states).toBe('w1 CANCELLED, w2 RUNNING, child COMPLETED, grandchild CANCELLED, unasked PENDING');
    expect(at.agent('grandchild').error?.message).toBe('it was cancelled with agent "w1", which it was spawned under');
  });

  test('cancelled keeps what it had said, and nothing that comes later changes how it ended', () => {
    const at = crew(1, 1);
    const run = at.agent('w1').turn?.run ?? 0;
    at.to('CANCEL_AGENT', 'w1');
    at.ends('w1', { type: 'stopped', message: null }, { text: 'half an ans', tokens: 5 });
    at.ends('w1', 'the whole answer', { run, tokens: 2 });
    expect(at.agent('w1')).toMatchObject({ state: 'CANCELLED', text: 'half an ans', result: null });
    expect([at.team.dropped, at.team.spent.tokens, at.agent('w1').spent.tokens]).toEqual([1, 7, 7]);
  });

  test('paused holds its end until it is resumed, and makes no other call for it', () => {
    const at = crew(2, 1);
    at.to('PAUSE_AGENT', 'w1');
    at.ends('w1', 'the answer');
    expect([at.states, at.agent('w1').result]).toEqual(['w1 PAUSED, w2 PENDING', null]);
    at.to('RESUME_AGENT', 'w1');
    expect([at.states, at.agent('w1').result]).toEqual(['w1 COMPLETED, w2 RUNNING', 'the answer']);
    expect(at.done('go_on')).toEqual([]);
  });

  test('paused with its end held is cancelled without anything to stop', () => {
    const at = crew(1, 1);
    at.to('PAUSE_AGENT', 'w1');
    at.ends('w1', 'the answer').to('CANCEL_AGENT', 'w1');
    expect([at.state('w1'), at.agent('w1').result, at.done('stop_turn')]).toEqual(['CANCELLED', null, []]);
  });

  test('resumed goes on with the turn that it had', () => {
    const at = crew(1, 1);
    at.to('PAUSE_AGENT', 'w1');
    at.to('RESUME_AGENT', 'w1');
    const { run } = at.done('run_turn')[0] ?? {};
    expect([at.state('w1'), at.done('hold_turn'), at.done('go_on')]).toEqual([
      'RUNNING',
      [{ type: 'hold_turn', agentId: 'w1', run }],
      [{ type: 'go_on', agentId: 'w1', run }],
    ]);
  });

  test('asked again has a turn of its own, and forgets how the one before ended', () => {
    const at = crew(1, 1);
    at.fails('w1');
    at.call({ type: 'ASK', agentId: 'w1', content: 'again' });
    expect(at.agent('w1')).toMatchObject({ state: 'RUNNING', error: null, turns: 2, turn: { content: 'again' } });
    at.ends('w1', 'late', { run: 1 });
    expect([at.state('w1'), at.team.dropped]).toEqual(['RUNNING', 1]);
  });

  test('asked while it works answers one after the other', () => {
    const at = crew(1, 1);
    at.call({ type: 'ASK', agentId: 'w1', content: 'second' });
    at.call({ type: 'ASK', agentId: 'w1', content: 'third' });
    at.ends('w1').ends('w1').ends('w1');
    expect(at.done('run_turn').map(({ content }) => content)).toEqual(['do w1', 'second', 'third']);
    expect([at.state('w1'), at.agent('w1').turns]).toEqual(['COMPLETED', 3]);
  });

  test('cleaned up leaves its children to its own parent', () => {
    const at = crew(1, 9);
    at.spawn(plan('middle', { parent: 'w1' }), plan('last', { parent: 'middle' }));
    at.ends('middle').to('CLEAN_UP', 'middle');
    expect([at.agent('last').plan.parent, at.done('forget_agent')]).toEqual([
      'w1',
      [{ type: 'forget_agent', agentId: 'middle' }],
    ]);
  });
});
