import { forkFaults, forkTeam } from '../../../src/domain/team/fork.js';
import type { TeamEvent } from '../../../src/domain/team/effects.js';
import type { AgentPlan } from '../../../src/domain/team/setup.js';
import { openRequest } from '../../../src/domain/team/permissions.js';
import { afterGoingBack, runsUnderWay } from '../../../src/domain/team/turns-again.js';
import { messagesOf } from '../../../src/domain/team/context/book.js';
import { plan, TeamPlay, teamSetup } from '../../support/team-play.js';

const none = { tokens: 0, usdMicros: 0 };
const costs = (usdMicros: number) => ({ estimate: { tokens: 0, usdMicros }, per1000Characters: none });
const priced = (id: string, most: number): AgentPlan => ({
  ...plan(id),
  price: { likely: costs(most), most: costs(most), isCapped: true },
});
const budget = { maxTokens: null, maxUsdMicros: 1_000_000 };

const goesBack = (play: TeamPlay, known: number[] = []): TeamPlay => {
  play.effects = [];
  return play.take({ type: 'WENT_BACK', known });
};
const begun = (play: TeamPlay): string[] => play.done('run_turn').map(({ agentId, run }) => `${agentId} ${run}`);
const contentsOf = (play: TeamPlay, agentId: string): string[] =>
  messagesOf(play.team.contexts, agentId).map(({ content }) => content);
const reads = (play: TeamPlay, agentId: string, wrote: Extract<TeamEvent, { type: 'READ' }>['wrote']): TeamPlay => {
  const { turn, read } = play.agent(agentId);
  return play.take({
    type: 'READ',
    agentId,
    run: turn?.run ?? 0,
    step: (read?.step ?? 0) + 1,
    wrote,
    has: [],
    usage: none,
  });
};
const mail = (to: string, content: string) => ({
  type: 'SEND' as const,
  message: { content, targets: [to], channel: null, metadata: {} },
});

describe('a team that went back', () => {
  test('begins again whose turn was under way, and nobody else', () => {
    const play = new TeamPlay(
      ['a', 'b', 'c', 'd'].map((id) => plan(id)),
      { maxConcurrent: 3 },
    ).ends('b');
    expect(begun(goesBack(play))).toEqual(['a 1', 'c 3', 'd 4']);
    expect(play.states).toBe('a RUNNING, b COMPLETED, c RUNNING, d RUNNING');
  });

  test('does not begin a run whose end had come by then', () => {
    expect(begun(goesBack(new TeamPlay([plan('a'), plan('b')]), [1]))).toEqual(['b 2']);
  });

  test('leaves a paused agent paused, and begins it when it is resumed', () => {
    const play = new TeamPlay([plan('a'), plan('b')]);
    play.to('PAUSE_AGENT', 'a');
    expect([begun(goesBack(play)), play.state('a')]).toEqual([['b 2'], 'PAUSED']);
    expect(runsUnderWay(play.team, [])).toEqual([{ agentId: 'b', run: 2 }]);
    play.to('RESUME_AGENT', 'a');
    expect(begun(play)).toEqual(['b 2', 'a 1']);
  });

  test('gives back what calls of then held of the budget, and holds it for those that begin again', () => {
    const play = new TeamPlay([priced('a', 1_000_000), priced('b', 600_000)], { budget });
    expect(begun(play)).toEqual(['a 1']);
    play.to('CANCEL_AGENT', 'a');
    // Its turn is being stopped: what it holds comes back with its end, which nobody hears of after the restore.
    expect(begun(play)).toEqual(['a 1']);
    expect(begun(goesBack(play))).toEqual(['b 2']);
    expect(play.team.ledger.calls).toHaveLength(1);
    play.take({
      type: 'ENDED',
      agentId: 'b',
      run: 2,
      outcome: { type: 'returned', value: 'x' },
      text: null,
      usage: none,
    });
    expect(play.team.ledger.calls).toEqual([]);
  });

  test('answers in its context every call that nobody answers any more, under ids that are not used again', () => {
    const play = reads(new TeamPlay([plan('a')]), 'a', [
      { role: 'assistant', content: 'Both.', calls: ['c1', 'c2'] },
      { role: 'tool', resultOf: 'c1', content: 'one' },
    ]);
    goesBack(play);
    expect(contentsOf(play, 'a')).toEqual([
      'do a',
      'Both.',
      'one',
      expect.stringContaining('the team went back to a point before this'),
    ]);
    expect(play.done('run_turn')[0]?.asked).toMatchObject({ view: { add: [{}, {}, {}, {}] } });
    expect(play.team.wentBack).toBe(1);
  });

  test('tells a turn again what was on its way to the one before, and nothing that this had read', () => {
    const play = new TeamPlay([plan('a')]);
    play.call(mail('a', 'first'));
    play.call(mail('a', 'second'));
    reads(play, 'a', [{ role: 'user', content: 'Message from the human:\nfirst' }]);
    goesBack(play);
    expect(contentsOf(play, 'a')).toEqual([
      'do a',
      'Message from the human:\nfirst',
      'Message from the human:\nsecond',
    ]);
    expect(contentsOf(goesBack(play), 'a')).toHaveLength(3);
  });

  test('asks nobody any more what turns of then had asked', () => {
    const play = new TeamPlay([plan('a')]);
    play.take({ type: 'PERMISSION', agentId: 'a', run: 1, callId: 'c', name: 'write_file', given: {} });
    expect(openRequest(goesBack(play).team)).toBeNull();
    expect(play.team.feedback).toMatchObject([{ state: 'void' }]);
    expect(play.team.waiting?.on).toBe('agents');
  });

  test('asks lite agents again that had not answered', () => {
    const adapter = { kind: 'scripted' as const, script: [{ after_ms: 0, final: 'x' }] };
    const liteAgents = ['l1', 'l2'].map((liteId) => ({ liteId, role: 'voter', adapter }));
    const play = new TeamPlay([], { liteAgents }).pattern('p', { kind: 'send_to_role', role: 'voter', content: 'q' });
    play.take({ type: 'LITE_ANSWERED', patternId: 'p', liteId: 'l1', answer: 'yes' });
    expect(goesBack(play).done('ask_lite')).toEqual([{ type: 'ask_lite', patternId: 'p', liteId: 'l2', content: 'q' }]);
  });
});

describe('mail that came too late for a turn', () => {
  test('stands in the context for what is asked next', () => {
    const play = new TeamPlay([plan('a')]);
    play.call(mail('a', 'late'));
    play.ends('a');
    expect(contentsOf(play, 'a')).toEqual(['do a', 'Message from the human:\nlate']);
  });
});

describe('what a team does first that goes on from an earlier point', () => {
  const ended: TeamEvent = {
    type: 'ENDED',
    agentId: 'a',
    run: 1,
    outcome: { type: 'returned', value: 'x' },
    text: null,
    usage: none,
  };
  const asks: TeamEvent = { type: 'COMMAND', agentId: 'b', run: 2, callId: 'c', command: { tool: 'x' } as never };

  test('is without what turns of then had said, but for their ends, and answers no caller of then', () => {
    const pause = { type: 'PAUSE' as const, caller: 4 };
    expect(
      afterGoingBack([{ type: 'answered' }, { type: 'stop_turn', agentId: 'a', run: 1 }], [asks, ended, pause]),
    ).toEqual({ resume: [], inbox: [{ type: 'WENT_BACK', known: [1] }, ended, { type: 'PAUSE' }] });
  });

  test('is to start where it had not started', () => {
    expect(afterGoingBack([], [{ type: 'START' }])).toEqual({ resume: [], inbox: [{ type: 'START' }] });
  });
});

describe('a fork', () => {
  test('begins again whose turn was under way, within its own budget, and asks what it is given anew', () => {
    const origin = new TeamPlay([priced('a', 600_000), priced('b', 10)], { budget }).ends('b').team;
    const agents = [priced('a', 600_000), { ...priced('b', 10), prompt: 'something else' }];
    const { work, first } = forkTeam(origin, teamSetup({ id: 'team-2', agents, budget }), 0);
    const play = new TeamPlay([]);
    play.team = work;
    play.effects = [];
    play.take(first);
    expect(begun(play)).toEqual(['a 1', 'b 3']);
    expect(play.done('run_turn')[1]).toMatchObject({ content: 'something else' });
    expect(play.team.ledger.calls.map(({ amount }) => amount.usdMicros)).toEqual([600_000, 10]);
    expect(play.team.wentBack).toBe(1);
  });

  test('leaves out who was cleaned up, unless they are asked something else, and makes nobody their child again', () => {
    const origin = [plan('a'), plan('b', { parent: 'a' })];
    const at = new TeamPlay(origin).ends('a').ends('b');
    at.to('CLEAN_UP', 'a');
    const forked = (agents: AgentPlan[]) => forkTeam(at.team, teamSetup({ agents }), at.now);
    const same = forked(origin);
    expect(same.first).toMatchObject({ type: 'FORKED', spawn: [], ask: [] });
    expect(same.work.agents.map(({ plan: { agentId, parent } }) => [agentId, parent])).toEqual([['b', null]]);
    const again = { ...plan('a'), prompt: 'something else' };
    expect(forked([again, ...origin.slice(1)]).first).toMatchObject({ spawn: [again], ask: [] });
  });

  test('names the new agent that cannot be spawned', () => {
    const at = new TeamPlay([plan('a'), plan('b', { parent: 'a' })]).ends('a').ends('b');
    at.to('CLEAN_UP', 'a');
    const agents = [plan('a'), plan('b', { parent: 'a' }), plan('c'), plan('d', { parent: 'a' })];
    expect(forkFaults(at.team, teamSetup({ agents }), at.now)).toEqual([
      { path: 'agents[3]', message: 'there is no agent "a" in this team; there are b, c' },
    ]);
    expect(forkFaults(at.team, teamSetup({ agents: agents.slice(0, 3) }), at.now)).toEqual([]);
  });

  test('of a paused team is paused', () => {
    const play = new TeamPlay([plan('a')]).take({ type: 'PAUSE' });
    const { work } = forkTeam(play.team, teamSetup({ agents: [plan('a')] }), 0);
    expect([work.state, work.agents[0]?.state]).toEqual(['PAUSED', 'PAUSED']);
  });
});
