import fc from 'fast-check';
import type { GivenFeedback } from '../../../src/contracts/feedback.js';
import { teamStatusSchema } from '../../../src/contracts/team-status.js';
import { elapsedMs } from '../../../src/domain/ledger/clock.js';
import { agentsAtWork, nextClockDue } from '../../../src/domain/team/clocks.js';
import { closedTeam } from '../../../src/domain/team/closed-team.js';
import { answerRefusal } from '../../../src/domain/team/permissions.js';
import { isUsedUp } from '../../../src/domain/team/spending.js';
import { hasEnded, openTeamState } from '../../../src/domain/team/state.js';
import { forkTeam } from '../../../src/domain/team/fork.js';
import { shifted } from '../../../src/domain/shift.js';
import { liteCall, turnCall } from '../../../src/domain/team/tenant-waits.js';
import { afterGoingBack } from '../../../src/domain/team/turns-again.js';
import { teamStatus } from '../../../src/domain/team/view.js';
import { answers, given, idle, plan, TeamPlay, teamSetup } from '../../support/team-play.js';

const none = { maxTokens: null, maxUsdMicros: null };
const time = (maxMs: number, over: object = {}) => ({ budget: { ...none, maxMs, ...over } });
/** A turn has had an answer, or was broken off, and wants its next call. */
const reads = (play: TeamPlay, agentId: string): TeamPlay => {
  const { turn, read } = play.agent(agentId);
  const run = turn?.run ?? 0;
  const step = (read?.run === run ? read.step : 0) + 1;
  return play.take({ type: 'READ', agentId, run, step, wrote: [], has: [], usage: { tokens: 0, usdMicros: 0 } });
};
const asksFor = (play: TeamPlay, agentId: string): TeamPlay =>
  play.take({
    type: 'PERMISSION',
    agentId,
    run: play.agent(agentId).turn?.run ?? 0,
    callId: `call-${agentId}`,
    name: 'rm',
    given: {},
  });
const accountOf = (play: TeamPlay, agentId: string | null) => {
  const id = agentId === null ? 'team' : `${agentId}#${play.agent(agentId).spawn}`;
  return play.team.ledger.accounts.find(({ accountId }) => accountId === id)!;
};
const elapsed = (play: TeamPlay, agentId: string | null = null): number =>
  elapsedMs(accountOf(play, agentId), play.now);
const timesOf = (play: TeamPlay) =>
  play.effects.flatMap((effect) => ('timeLeftMs' in effect ? [effect.timeLeftMs] : []));
const budgetOf = (play: TeamPlay) => teamStatusSchema.parse(teamStatus(play.team)).budget!;
const lastRead = (play: TeamPlay) => play.done('answer_read').at(-1)?.read;

describe('the clock of a team', () => {
  test.each<[string, (play: TeamPlay) => unknown, string[]]>([
    ['agents whose models are asked', () => undefined, ['a', 'b']],
    ['who waits for a slot while somebody is at work', (play) => play.spawn(plan('c')), ['a', 'b', 'c']],
    ['not who waits for an approval', (play) => asksFor(play, 'a'), ['b']],
    [
      'nobody, when all wait for approvals, asked one after the other',
      (play) => [asksFor(play, 'a'), asksFor(play, 'b')],
      [],
    ],
    [
      'who is told what a person has decided',
      (play) => {
        asksFor(play, 'a');
        answers(play, 'approve');
      },
      ['a', 'b'],
    ],
    ['not who is paused', (play) => play.to('PAUSE_AGENT', 'b'), ['a']],
    ['nobody in a team that is paused', (play) => play.take({ type: 'PAUSE' }), []],
    [
      'nobody in line for slots of those that are paused',
      (play) => {
        play.spawn(plan('c'));
        play.to('PAUSE_AGENT', 'a');
        play.to('PAUSE_AGENT', 'b');
      },
      [],
    ],
    ['not who has ended', (play) => play.ends('a'), ['b']],
    ['not who was asked for nothing', (play) => play.spawn(idle('c')), ['a', 'b']],
    ['who waits for one that is at work', (play) => play.wait('w', ['b'], null, 'a'), ['a', 'b']],
    [
      'neither who waits for a person nor who waits for that one',
      (play) => {
        play.wait('w', ['b'], null, 'a');
        asksFor(play, 'b');
      },
      [],
    ],
    [
      'who waits for several of which one is at work',
      (play) => {
        play.to('PAUSE_AGENT', 'b');
        play.spawn(plan('c'), plan('d'));
        play.wait('w', ['b', 'c'], null, 'a');
      },
      ['a', 'c', 'd'],
    ],
  ])('counts %s', (_, act, ids) => {
    const play = new TeamPlay([plan('a'), plan('b')], { ...time(60_000), maxConcurrent: 2 });
    act(play);
    expect([...agentsAtWork(play.team)].sort()).toEqual(ids);
  });

  /** The call of an agent waits for a person of its tenant, or waits no longer. */
  const awaits = (play: TeamPlay, agentId: string, tenant: string | null = 'acme'): TeamPlay => {
    const run = play.agent(agentId).turn?.run ?? 0;
    return play.take({ type: 'PERSON_AWAITED', agentId, run, call: turnCall(run), tenant });
  };

  test('stands still while calls of all its agents wait for a person of their tenant', () => {
    const play = new TeamPlay([plan('a'), plan('b')], time(60_000)).after(1_000);
    awaits(play, 'a').after(5_000);
    expect([elapsed(play), elapsed(play, 'a'), elapsed(play, 'b')]).toEqual([6_000, 1_000, 6_000]);
    expect(teamStatusSchema.parse(teamStatus(play.team))).toMatchObject({
      waiting: { for: 'lane' },
      agents: [{ waiting: { for: 'person', detail: expect.stringContaining('tenant acme') as string } }, {}],
    });
    awaits(play, 'b').after(9_000_000);
    expect([elapsed(play), nextClockDue(play.team)]).toEqual([6_000, null]);
    expect(teamStatus(play.team)).toMatchObject({
      ...{ lifecycle: 'running', budget: { time: { ends_at: null } } },
      waiting: { for: 'person', detail: '2 calls wait for an answer whether tenant acme may use more' },
    });
    awaits(awaits(play, 'a', null), 'b', null).after(10);
    expect([elapsed(play), elapsed(play, 'a'), elapsed(play, 'b')]).toEqual([6_010, 1_010, 6_010]);
    expect([play.team.tenantWaits, teamStatus(play.team).waiting?.for]).toEqual([undefined, 'lane']);
  });
  test('runs on for a turn after one that was broken off as it waited so', () => {
    const play = awaits(new TeamPlay([plan('a')], { ...time(60_000), keepOpen: true }), 'a');
    play.ends('a');
    play.call({ type: 'ASK', agentId: 'a', content: 'And now?' });
    play.after(1_000);
    expect([elapsed(play), teamStatus(play.team).waiting?.for]).toEqual([1_000, 'lane']);
  });
  test('runs on in a team that goes back to where it waited so, as its turns begin anew', () => {
    const play = awaits(new TeamPlay([plan('a')], time(60_000)), 'a');
    const { run } = play.agent('a').turn!;
    const late = { type: 'PERSON_AWAITED', agentId: 'a', run, call: turnCall(run), tenant: 'acme' } as const;
    const { inbox } = afterGoingBack([], [late]);
    for (const event of inbox) play.take(event);
    play.after(1_000);
    expect([inbox, elapsed(play), play.team.tenantWaits]).toEqual([
      [{ type: 'WENT_BACK', known: [] }],
      1_000,
      undefined,
    ]);
  });
  test('stands still while a lite agent alone waits so', () => {
    const liteAgents = [{ liteId: 'l', role: 'critic', adapter: { kind: 'simulated' } as const }];
    const play = new TeamPlay([idle('a')], { ...time(60_000), keepOpen: true, liteAgents } as never);
    play.pattern('p', { kind: 'send_to_role', role: 'critic', content: 'What?' });
    const lite = (tenant: string | null): TeamPlay =>
      play.take({ type: 'PERSON_AWAITED', call: liteCall({ patternId: 'p', liteId: 'l' }), tenant });
    play.after(1_000);
    lite('acme').after(9_000_000);
    expect([elapsed(play), teamStatus(play.team).waiting?.for]).toEqual([1_000, 'person']);
    lite(null).after(1_000);
    expect(elapsed(play)).toBe(2_000);
  });

  test('runs while anybody in a tree is at work, and that of who waits for a person stands still', () => {
    const play = new TeamPlay([plan('a', { budget: undefined }), { ...plan('b'), parent: 'a' }], time(60_000));
    play.after(1_000);
    asksFor(play, 'b');
    play.after(5_000);
    expect([elapsed(play), elapsed(play, 'a'), elapsed(play, 'b')]).toEqual([6_000, 6_000, 1_000]);
    play.wait('w', ['b'], null, 'a');
    play.after(100_000);
    expect([elapsed(play), elapsed(play, 'a'), elapsed(play, 'b')]).toEqual([6_000, 6_000, 1_000]);
    answers(play, 'approve').after(10);
    expect([elapsed(play), elapsed(play, 'a'), elapsed(play, 'b')]).toEqual([6_010, 6_010, 1_010]);
  });
  test('does not run before its team has begun', () => {
    const { ledger } = openTeamState(teamSetup(time(60_000)), 0);
    expect(elapsedMs(ledger.accounts[0]!, 5_000)).toBe(0);
  });
  test('stands still while nobody has anything to do, and runs for a lite agent that is asked', () => {
    const play = new TeamPlay([idle('a', { role: 'reader' })], {
      ...time(60_000),
      liteAgents: [
        { liteId: 'l', role: 'voter', adapter: { kind: 'scripted', script: [{ after_ms: 0, final: 'yes' }] } },
      ],
    });
    expect([play.after(9_000) && elapsed(play), nextClockDue(play.team)]).toEqual([0, null]);
    play.pattern('p', { kind: 'send_to_role', role: 'voter', content: 'x' }).after(500);
    expect([elapsed(play), isUsedUp(play.team)]).toEqual([500, false]);
    play.take({ type: 'LITE_ANSWERED', patternId: 'p', liteId: 'l', answer: 'yes' }).after(9_000);
    expect(elapsed(play)).toBe(500);
    play.call({ type: 'ASK', agentId: 'a', content: 'go' });
    play.after(59_500);
    expect(isUsedUp(play.team)).toBe(true);
  });
  test('is kept by nobody where no time is limited', () => {
    const play = new TeamPlay([plan('a')], { budget: { maxTokens: 9, maxUsdMicros: null } });
    play.take({ type: 'PAUSE' });
    expect(play.team.ledger.accounts.map(({ holds, heldSince }) => [holds, heldSince])).toEqual([
      [[], null],
      [[], null],
    ]);
    expect([nextClockDue(play.team), budgetOf(play)]).toEqual([
      null,
      expect.not.objectContaining({ time: expect.anything() }),
    ]);
  });
  test('does not count what went by between an earlier point and the return to it, and begins anew in a fork', () => {
    const play = new TeamPlay([plan('a')], time(60_000)).after(2_000);
    const moved = shifted(play.team, 500_000);
    expect(elapsedMs(moved.ledger.accounts[0]!, play.now + 500_000)).toBe(2_000);
    const fork = forkTeam(play.team, teamSetup({ ...time(60_000), agents: [plan('a')] }), play.now);
    expect(elapsedMs(fork.work.ledger.accounts[0]!, play.now)).toBe(0);
  });
});

describe('a limit of time', () => {
  test('is told to each call as what is left, of all budgets above it the least', () => {
    const play = new TeamPlay([plan('a'), { ...plan('b'), budget: { ...none, maxMs: 4_000 } }], time(10_000));
    expect(timesOf(play)).toEqual([10_000, 4_000]);
    play.now += 3_000;
    reads(play, 'a');
    reads(play, 'b');
    expect(timesOf(play).slice(2)).toEqual([7_000, 1_000]);
    expect(new TeamPlay([plan('a')]).done('run_turn')[0]).not.toHaveProperty('timeLeftMs');
  });
  test('is told to tools with an approval and with the end of a pause, without what a person took', () => {
    const play = new TeamPlay([plan('a', { budget: undefined })], time(10_000));
    play.after(1_000);
    asksFor(play, 'a');
    play.after(100_000);
    answers(play, 'approve').after(2_000);
    play.to('PAUSE_AGENT', 'a');
    play.after(100_000);
    play.to('RESUME_AGENT', 'a');
    expect([play.done('allow_call'), play.done('go_on')]).toMatchObject([
      [{ agentId: 'a', timeLeftMs: 9_000 }],
      [{ agentId: 'a', timeLeftMs: 7_000 }],
    ]);
    const endless = new TeamPlay([plan('a')]);
    endless.to('PAUSE_AGENT', 'a');
    endless.to('RESUME_AGENT', 'a');
    expect(endless.done('go_on')[0]).not.toHaveProperty('timeLeftMs');
  });
  test('is the same to a call that is told twice, but for what has passed', () => {
    const play = new TeamPlay([plan('a')], time(10_000));
    const read = {
      type: 'READ' as const,
      agentId: 'a',
      run: 1,
      step: 1,
      wrote: [],
      has: [],
      usage: { tokens: 0, usdMicros: 0 },
    };
    play.take(read).after(1_000).take(read);
    expect(timesOf(play)).toEqual([10_000, 10_000, 9_000]);
  });
  test('is told from the part on that warn_at names, by the clock alone, and then refuses calls', () => {
    const play = new TeamPlay([plan('a')], time(10_000, { warnPercent: 50 }));
    expect(nextClockDue(play.team)).toBe(play.now + 5_000);
    play.after(4_999);
    expect(play.told('budget')).toEqual([]);
    play.after(1);
    expect(play.told('budget')).toMatchObject([
      { step: 'warn', unit: 'time', agent_id: null, message: 'run team has used 5 s of 10 s' },
    ]);
    expect(nextClockDue(play.team)).toBe(play.now + 5_000);
    play.after(5_000);
    expect([nextClockDue(play.team), play.told('budget').length]).toEqual([null, 1]);
    reads(play, 'a');
    expect(lastRead(play)).toEqual({ code: 'EBUDGET', refused: 'the team has used up its time of 10 s' });
    expect(play.told('budget').map(({ step }) => step)).toEqual(['warn', 'stop']);
  });
  test('wakes nobody while it is held or the team is over', () => {
    const play = new TeamPlay([plan('a')], { ...time(10_000), keepOpen: false });
    play.take({ type: 'PAUSE' });
    expect(nextClockDue(play.team)).toBeNull();
    play.after(50_000).take({ type: 'RESUME' });
    expect(nextClockDue(play.team)).toBe(play.now + 8_000);
    play.ends('a');
    expect([play.team.state, nextClockDue(play.team)]).toEqual(['COMPLETED', null]);
    expect(budgetOf(play).time).toMatchObject({ elapsed_ms: 0, ends_at: null });
  });
  test('stands still in a team whose workflow was closed from outside, and for its agents', () => {
    const play = new TeamPlay([{ ...plan('a'), ...time(5_000) }], time(10_000));
    const status = closedTeam(teamStatus(play.team), 'TERMINATED', '2026-11-21T00:00:30.000Z');
    expect(teamStatusSchema.parse(status)).toEqual(status);
    expect([status.budget?.time, status.agents[0]?.budget?.time]).toEqual([
      expect.objectContaining({ max_ms: 10_000, ends_at: null }),
      expect.objectContaining({ max_ms: 5_000, ends_at: null }),
    ]);
  });

  test('of one agent ends that one, and others go on', () => {
    const play = new TeamPlay([{ ...plan('a'), budget: { ...none, maxMs: 1_000 } }, plan('b')]);
    play.after(1_000);
    reads(play, 'a');
    reads(play, 'b');
    expect(play.done('answer_read').map(({ agentId, read }) => [agentId, 'refused' in read])).toEqual([
      ['a', true],
      ['b', false],
    ]);
    expect(teamStatus(play.team).agents[0]?.budget).toMatchObject({
      max_tokens: null,
      max_usd: null,
      max_seconds: 1,
      time: { max_ms: 1_000, elapsed_ms: 1_000, left_ms: 0 },
      steps: ['warn', 'stop'],
    });
  });

  /** Its time is over in the middle of a call. */
  const late = (): TeamPlay => {
    const play = new TeamPlay([plan('a'), plan('b')], time(10_000, { asks: true })).after(10_000);
    return reads(play, 'a');
  };
  test('asks a person where it is to, and the calls that wait go on with the time that is given', () => {
    const play = late();
    play.ends('b');
    const [asked] = play.told('feedback_requested');
    expect(asked?.request.prompt).toBe(`May the team use more?

Used: nothing.
It was at work for 10 s, and may be for 10 s.
Waiting: a.

approve raises the limits to 20 s, or to those that you give; reject ends it: no further call of a model is made.`);
    expect(teamStatusSchema.parse(teamStatus(play.team)).asked_budget).toMatchObject({
      elapsed_ms: 10_000,
      limits: { max_tokens: null, max_usd: null, max_seconds: 10 },
      proposed: { max_tokens: null, max_usd: null, max_seconds: 20 },
    });
    play.now += 3_600_000;
    answers(play, 'approve');
    expect([timesOf(play).at(-1), budgetOf(play).max_seconds, budgetOf(play).state]).toEqual([10_000, 20, 'open']);
    expect(nextClockDue(play.team)).toBe(play.now + 6_000);
  });
  test('is what an answer gives', () => {
    const play = answers(late(), 'approve', { limits: { max_seconds: 12 } });
    expect(timesOf(play).at(-1)).toBe(2_000);
    const [entry] = play.done('audit').flatMap(({ entries }) => entries.slice(-1));
    expect(entry?.data).toMatchObject({ granted: { max_tokens: null, max_usd: null, max_seconds: 12 } });
  });
  test('ends the work where a person says so', () => {
    const play = answers(late(), 'reject');
    expect(lastRead(play)).toMatchObject({ code: 'EBUDGET' });
  });
  test.each<[string, TeamPlay, GivenFeedback['limits'], string]>([
    ['none that has passed already', late(), { max_seconds: 10 }, 'max_seconds must be at least 11; got 10'],
    [
      'none where there was none',
      new TeamPlay([{ ...plan('a'), price: { likely: call(9), most: call(9), isCapped: true } }], {
        budget: { maxTokens: null, maxUsdMicros: 1, asks: true },
      }),
      { max_seconds: 10 },
      'has no limit of time',
    ],
  ])('that an answer gives is %s', (_, play, limits, message) => {
    expect(answerRefusal(play.team, given(play, 'approve', { limits }), play.now)).toMatchObject({
      code: 'wrong_limits',
      message: expect.stringContaining(message),
    });
  });
});

function call(usdMicros: number) {
  const nothing = { tokens: 0, usdMicros: 0 };
  return { estimate: { tokens: 0, usdMicros }, per1000Characters: nothing };
}

describe('time and people', () => {
  const who = fc.constantFrom('a', 'b', 'c');
  const move = fc.oneof(
    { weight: 6, arbitrary: fc.record({ type: fc.constant('time' as const), ms: fc.integer({ min: 1, max: 3_000 }) }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constantFrom('ask' as const, 'wait' as const), id: who }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constantFrom('pause' as const, 'resume' as const), id: who }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constantFrom('PAUSE' as const, 'RESUME' as const) }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('answer' as const) }) },
  );

  test('use no more time than the limits, whoever waits for whom: a call has what is left, and persons take none', () => {
    fc.assert(
      fc.property(
        fc.array(move, { minLength: 5, maxLength: 60 }),
        fc.array(fc.integer({ min: 1, max: 4_000 }), { minLength: 1, maxLength: 8 }),
        (moves, lengths) => {
          const own = { ...none, maxMs: 5_000 };
          const play = new TeamPlay([{ ...plan('a'), budget: own }, plan('b'), { ...plan('c'), parent: 'a' }], {
            ...time(12_000),
            maxConcurrent: 2,
          });
          let heard = 0;
          let made = 0;
          let under: { id: string; at: number }[] = [];
          /** Each call that was told takes as long as it likes, or as it may; one that is refused ends its turn. */
          const follow = (): void => {
            for (; heard < play.effects.length; heard += 1) {
              const effect = play.effects[heard]!;
              if (effect.type !== 'run_turn' && effect.type !== 'answer_read') continue;
              const { agentId: id, timeLeftMs } = effect;
              const isRefused = 'refused' in (effect.type === 'run_turn' ? effect.asked : effect.read);
              expect(isRefused || (timeLeftMs ?? 0) > 0).toBe(true);
              if (isRefused) play.ends(id, { type: 'thrown', code: 'EBUDGET', message: 'over' });
              else under.push({ id, at: play.now + Math.min(lengths[made++ % lengths.length]!, timeLeftMs ?? 0) });
            }
          };
          const pass = (ms: number): void => {
            const until = play.now + ms;
            for (;;) {
              follow();
              const next = under.toSorted((x, y) => x.at - y.at)[0];
              if (!next || next.at > until) break;
              play.now = Math.max(play.now, next.at);
              under = under.filter((each) => each !== next);
              // What waits in line may pass a limit, and no call does.
              expect(elapsed(play)).toBeLessThanOrEqual(12_000);
              if (next.id !== 'b') expect(elapsed(play, 'a')).toBeLessThanOrEqual(5_000);
              if (!hasEnded(play.agent(next.id))) reads(play, next.id);
            }
            play.now = until;
            play.take({ type: 'TICK' });
          };
          for (const given of moves) {
            const before = elapsed(play);
            const isIdle = agentsAtWork(play.team).size === 0;
            if (given.type === 'time') pass(given.ms);
            else if (
              given.type === 'ask' &&
              !hasEnded(play.agent(given.id)) &&
              !under.some(({ id }) => id === given.id)
            )
              asksFor(play, given.id);
            else if (given.type === 'wait') play.wait(`w${made}`, ['b'], null, given.id);
            else if (given.type === 'pause') play.to('PAUSE_AGENT', given.id);
            else if (given.type === 'resume') play.to('RESUME_AGENT', given.id);
            else if (given.type === 'PAUSE' || given.type === 'RESUME') play.take({ type: given.type });
            else if (given.type === 'answer') answers(play, 'approve');
            follow();
            expect(elapsed(play)).toBeGreaterThanOrEqual(before);
            if (isIdle && given.type === 'time' && under.length === 0) expect(elapsed(play)).toBe(before);
            const due = nextClockDue(play.team);
            expect(due === null || due > play.now).toBe(true);
          }
          pass(40_000);
        },
      ),
      { numRuns: 100 },
    );
  });
});
