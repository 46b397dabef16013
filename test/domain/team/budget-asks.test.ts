import type { GivenFeedback } from '../../../src/contracts/feedback.js';
import { auditEntrySchema } from '../../../src/contracts/audit.js';
import { teamStatusSchema } from '../../../src/contracts/team-status.js';
import { approvalDigest } from '../../../src/domain/approval.js';
import { teamAsks } from '../../../src/domain/inbox/asks-of.js';
import { askedItem } from '../../../src/domain/inbox/asks.js';
import { elapsedMs, holdClock } from '../../../src/domain/ledger/clock.js';
import { addsUp } from '../../../src/domain/ledger/settle.js';
import { answerRefusal, openRequest } from '../../../src/domain/team/permissions.js';
import type { AgentPlan, TeamSetup } from '../../../src/domain/team/setup.js';
import { teamStatus } from '../../../src/domain/team/view.js';
import { answers, calling, given, plan, TeamPlay, teamSetup } from '../../support/team-play.js';

const none = { tokens: 0, usdMicros: 0 };
const call = (usdMicros: number) => ({ estimate: { tokens: 0, usdMicros }, per1000Characters: none });
const dollar = 1_000_000;
const priced = (id: string, most: number, over: Partial<AgentPlan> = {}): AgentPlan => ({
  ...plan(id),
  price: { likely: call(most), most: call(most), isCapped: true },
  ...over,
});
const asks = (maxUsdMicros: number, over: Partial<TeamSetup> = {}): Partial<TeamSetup> => ({
  budget: { maxTokens: null, maxUsdMicros, asks: true },
  ...over,
});
const reads = (play: TeamPlay, agentId: string, usdMicros: number): TeamPlay => {
  const { turn, read } = play.agent(agentId);
  const step = (read?.step ?? 0) + 1;
  const usage = { tokens: 0, usdMicros };
  return play.take({ type: 'READ', agentId, run: turn?.run ?? 0, step, wrote: [], has: [], usage });
};
const steps = (play: TeamPlay): string[] => play.told('budget').map(({ step }) => step);
const budgetOf = (play: TeamPlay) => teamStatusSchema.parse(teamStatus(play.team)).budget!;

/** One agent that has used 0.9 of 1 dollar and needs 0.4 more, and one that goes on. */
const asking = (over: Partial<TeamSetup> = {}): TeamPlay => {
  const play = new TeamPlay([priced('a', 400_000), priced('b', 50_000)], asks(dollar, over));
  return reads(play, 'a', 900_000);
};

describe('a team whose budget asks', () => {
  test('asks once what was spent, what the limit is and what the call takes, and tells it once', () => {
    const play = asking();
    expect(play.told('feedback_requested')[0]).not.toHaveProperty('agent_id');
    expect(play.told('feedback_requested').map(({ request }) => request.prompt)).toEqual([
      `May the team use more?

Used: 0.9 USD of 1 USD.
The next call takes up to 0.4 USD, which does not fit.
Waiting: a.

approve raises the limits to 2 USD, or to those that you give; reject ends it: no further call of a model is made.`,
    ]);
    expect(steps(play)).toEqual(['warn', 'ask']);
    reads(play, 'b', 1);
    expect(steps(play)).toEqual(['warn', 'ask']);
    expect(play.told('feedback_requested')).toHaveLength(1);
  });

  test('lets clocks go that it held by its request, as it did before they were kept by who is at work', () => {
    const play = asking();
    const { request } = openRequest(play.team)!;
    play.team = { ...play.team, ledger: holdClock(play.team.ledger, 'team', request.request_id, play.now) };
    play.spawn({ ...plan('c'), budget: { maxTokens: null, maxUsdMicros: null, maxMs: 60_000 } });
    answers(play, 'approve').after(2_000);
    const of = play.team.ledger.accounts.find(({ accountId }) => accountId.startsWith('c#'))!;
    expect(elapsedMs(of, play.now)).toBe(2_000);
  });

  test('lets whoever needs it wait, and others go on', () => {
    const play = asking();
    expect(calling(play)).toEqual(['a', 'b']);
    reads(play, 'b', 10_000);
    expect(calling(play)).toEqual(['a', 'b', 'b']);
    const { lifecycle, waiting, agents } = teamStatus(play.team);
    expect([lifecycle, waiting?.for, waiting?.who_can_unblock]).toEqual(['running', 'budget', 'whoever may approve']);
    expect(agents.map((agent) => [agent.state, agent.waiting?.for, agent.waiting?.who_can_unblock])).toEqual([
      ['RUNNING', 'budget', 'whoever may approve'],
      ['RUNNING', undefined, undefined],
    ]);
    play.ends('b', 'done');
    expect(teamStatus(play.team).lifecycle).toBe('waiting');
  });

  test('shows in the inbox exactly what is approved', () => {
    const { team } = asking();
    const status = teamStatusSchema.parse(teamStatus(team));
    const item = askedItem(teamAsks(status))!;
    expect(item.content).toEqual({
      team: 'team-1',
      budget: {
        agent_id: null,
        spent: { tokens: 0, usd: '0.9' },
        limits: { max_tokens: null, max_usd: '1' },
        needs: { tokens: 0, usd: '0.4' },
        proposed: { max_tokens: null, max_usd: '2' },
      },
    });
    expect(approvalDigest(item.content as object, item.policy_version!)).toBe(item.request.digest);
  });

  test.each<[string, GivenFeedback['limits'], string]>([
    ['to what it proposes', undefined, '2'],
    ['to what is given', { max_usd: 1.5 }, '1.5'],
  ])('goes on when the limit is raised %s', (_, limits, raised) => {
    const play = answers(asking(), 'approve', limits && { limits });
    expect(calling(play)).toEqual(['a', 'b', 'a']);
    expect(budgetOf(play)).toMatchObject({ max_usd: raised, state: 'open' });
    expect(openRequest(play.team)).toBeNull();
    expect(play.team.feedback[0]).toMatchObject({ outcome: 'approved', used_at: expect.any(String) });
  });

  test('warns, and asks, anew within the limits that were raised', () => {
    const play = answers(asking(), 'approve');
    reads(play, 'a', 800_000);
    expect(steps(play)).toEqual(['warn', 'ask', 'warn', 'ask']);
    expect(openRequest(play.team)?.request.prompt).toContain('1.7 USD of 2 USD');
    answers(play, 'approve');
    expect(budgetOf(play).max_usd).toBe('3');
  });

  test.each<[string, (play: TeamPlay) => unknown, string]>([
    ['by a person', (play) => answers(play, 'reject'), 'was stopped by a person'],
    [
      'as nobody answers in time',
      (play) => {
        play.now += 3_600_000;
        play.take({ type: 'TICK' });
      },
      'was stopped by a person',
    ],
  ])('refuses what waits when it is stopped %s', (_, act, words) => {
    const play = asking({ approval: { ...teamSetup().approval, timeoutMs: 3_600_000 } });
    act(play);
    expect(play.done('answer_read').at(-1)?.read).toEqual({ code: 'EBUDGET', refused: expect.stringContaining(words) });
    expect([budgetOf(play).state, openRequest(play.team)]).toEqual(['stopped', null]);
    // What does not even ask for much is refused, too.
    reads(play, 'b', 1);
    expect(play.done('answer_read').at(-1)?.read).toMatchObject({ code: 'EBUDGET' });
    expect(steps(play)).toEqual(['warn', 'ask', 'stop']);
  });

  test('is asked no more when nobody needs it, and asks again when somebody does', () => {
    const play = asking();
    play.to('CANCEL_AGENT', 'a');
    expect([openRequest(play.team), play.team.feedback[0]?.outcome]).toEqual([null, 'void']);
    expect(budgetOf(play).state).toBe('open');
    play.spawn(priced('c', 400_000));
    expect(openRequest(play.team)?.request.prompt).toContain('Waiting: c.');
  });

  test('asks again by itself after it went back, and refuses the answer to what it asked before', () => {
    const play = asking();
    const before = given(play, 'approve');
    play.take({ type: 'WENT_BACK', known: [] });
    expect(play.team.feedback.map(({ outcome }) => outcome)).toEqual(['void', 'pending']);
    expect(answerRefusal(play.team, before, play.now)?.code).toBe('closed');
  });

  test('asks while it is paused, and goes on where it was when it is resumed', () => {
    const play = asking();
    play.take({ type: 'PAUSE' });
    answers(play, 'approve');
    expect(calling(play)).toEqual(['a', 'b']);
    play.take({ type: 'RESUME' });
    expect(calling(play)).toEqual(['a', 'b', 'a']);
  });

  test('asks about the budget of an agent by itself, behind what is asked already', () => {
    const own = { maxTokens: null, maxUsdMicros: 100_000, asks: true };
    const play = new TeamPlay([priced('a', 60_000, { budget: own }), priced('b', 1)]);
    play.spawn(priced('c', 60_000, { parent: 'a' }));
    play.take({ type: 'PERMISSION', agentId: 'b', run: 2, callId: 'x', name: 'rm', given: {} });
    reads(play, 'a', 60_000);
    expect(teamStatus(play.team).waiting).toMatchObject({
      for: 'person',
      detail: expect.stringContaining('and 1 ques'),
    });
    answers(play, 'approve');
    expect(openRequest(play.team)?.request.prompt).toContain('May agent "a" and those that it has spawned use more?');
    answers(play, 'approve');
    const [a] = teamStatus(play.team).agents;
    expect(a?.budget).toMatchObject({ max_usd: '0.2', when_used_up: 'ask' });
  });
});

describe('limits that an answer gives', () => {
  const kOf2 = { approval: { ...teamSetup().approval, needed: 2 } };

  test.each<[string, Partial<GivenFeedback> & { response: string }, string, string]>([
    [
      'too low for the call',
      { response: 'approve', limits: { max_usd: 1.2 } },
      'wrong_limits',
      'With these limits the call that waits would not fit: max_usd must be at least 1.3; got 1.2.',
    ],
    [
      'given with a stop',
      { response: 'reject', limits: { max_usd: 5 } },
      'wrong_limits',
      'Limits go with approve; got "reject".',
    ],
  ])('are refused where they are %s, and nothing changes', (_, answer, code, message) => {
    const play = asking();
    const what = given(play, answer.response, answer);
    expect(answerRefusal(play.team, what, play.now)).toEqual({ code, message });
    play.take({ type: 'FEEDBACK', given: what });
    expect(play.team.feedback[0]).toMatchObject({ state: 'open', refused: [{ code }] });
    expect(budgetOf(play).max_usd).toBe('1');
  });

  test('are refused for the call of a tool', () => {
    const play = new TeamPlay([priced('b', 1)]);
    play.take({ type: 'PERMISSION', agentId: 'b', run: 1, callId: 'x', name: 'rm', given: {} });
    const what = given(play, 'approve', { limits: { max_usd: 5 } });
    expect(answerRefusal(play.team, what, play.now)?.code).toBe('wrong_limits');
  });

  test('of several people are the lowest that they have given', () => {
    const play = asking(kOf2);
    answers(play, 'approve', { limits: { max_usd: 9 } });
    expect(openRequest(play.team)).not.toBeNull();
    answers(play, 'approve', { limits: { max_usd: 4 }, provided_by: 'ben' });
    expect(budgetOf(play).max_usd).toBe('4');
  });

  test('are not given twice by one person', () => {
    const play = asking(kOf2);
    answers(play, 'approve', { limits: { max_usd: 9 } });
    const again = (limits?: GivenFeedback['limits']) =>
      answerRefusal(play.team, given(play, 'approve', limits && { limits }), play.now)?.code ?? null;
    expect([again({ max_usd: 9 }), again({ max_usd: 8 }), again()]).toEqual([null, 'closed', 'closed']);
    answers(play, 'approve', { limits: { max_usd: 8 } });
    expect(play.team.feedback[0]?.answers).toHaveLength(1);
  });
});

describe('the evidence of what a team has asked', () => {
  test('is who answered what about which content, and what was granted', () => {
    const play = answers(asking(), 'approve', { limits: { max_usd: 4 } });
    const [entries] = play.done('audit').map((effect) => effect.entries);
    for (const entry of entries ?? []) auditEntrySchema.parse(entry);
    expect(entries?.map(({ type }) => type)).toEqual(['approval.requested', 'approval.closed']);
    expect(entries?.[1]).toMatchObject({
      kind: 'team',
      work_id: 'team-1',
      data: {
        about: 'budget',
        agent_id: null,
        outcome: 'approved',
        digest: play.team.feedback[0]?.request.digest,
        answers: [{ response: 'approve', provided_by: 'anna' }],
        granted: { max_usd: '4' },
      },
    });
  });

  test('is recorded of each call of a tool once, without its arguments, whatever became of it', () => {
    const play = new TeamPlay([priced('b', 1)]);
    for (const callId of ['x', 'y', 'z'])
      play.take({ type: 'PERMISSION', agentId: 'b', run: 1, callId, name: 'rm', given: { secret: 'hush' } });
    answers(play, 'approve');
    answers(play, 'reject');
    play.to('CANCEL_AGENT', 'b');
    const entries = play.done('audit').flatMap((effect) => effect.entries);
    expect(entries.filter(({ type }) => type === 'approval.closed').map(({ data }) => data)).toMatchObject([
      { about: 'call', agent_id: 'b', tool: 'rm', call_id: 'x', outcome: 'approved', used_at: expect.any(String) },
      { call_id: 'y', outcome: 'rejected', used_at: null },
      { call_id: 'z', outcome: 'void', used_at: null },
    ]);
    expect(JSON.stringify(entries)).not.toContain('hush');
    expect(new Set(entries.map(({ key }) => key)).size).toBe(6);
  });
});

describe('twenty agents that race for a budget that asks, with a cheaper model', () => {
  const most = 150_000;
  const play = (seed: number): { team: TeamPlay; asked: number; limit: number } => {
    let state = seed * 7919;
    const random = (): number => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    };
    const cheaper = { model: 'small', price: { likely: call(5_000), most: call(20_000), isCapped: true } };
    const ids = Array.from({ length: 20 }, (_, index) => `w${index}`);
    const team = new TeamPlay(
      ids.map((id, index) => priced(id, most, index % 3 === 0 ? {} : { cheaper })),
      {
        ...asks(dollar, { maxConcurrent: 20 }),
        budget: { maxTokens: null, maxUsdMicros: dollar, cheaperPercent: 60, asks: true },
      },
    );
    let limit = dollar;
    let asked = 0;
    const models = new Map<string, boolean>();
    const note = (from: number): string[] => {
      for (const effect of team.effects.slice(from))
        if (effect.type === 'run_turn' || effect.type === 'answer_read')
          models.set(effect.agentId, effect.model !== undefined);
      return calling(team, from);
    };
    const open = note(0);
    for (let turn = 0; turn < 400; turn += 1) {
      const before = team.effects.length;
      if (open.length > 0 && (random() < 0.9 || !openRequest(team.team))) {
        const [id] = open.splice(Math.floor(random() * open.length), 1);
        reads(team, id!, Math.floor(random() * (models.get(id!) ? 20_000 : most)));
      } else if (openRequest(team.team)) {
        asked += 1;
        const isStop = asked > 4;
        answers(team, isStop ? 'reject' : 'approve');
        limit = team.team.ledger.accounts[0]!.limits.maxUsdMicros!;
      } else break;
      open.push(...note(before));
      expect(addsUp(team.team.ledger)).toBe(true);
      expect(team.team.feedback.filter(({ state: each }) => each === 'open').length).toBeLessThanOrEqual(1);
      // Of calls that the provider ends in time nothing is used beyond what a person has allowed.
      expect(team.team.spent.usdMicros).toBeLessThanOrEqual(limit);
      // Whoever waits is waited for by a question, or by calls that are open.
      if (team.team.held.length > 0 && open.length === 0) expect(openRequest(team.team)).not.toBeNull();
    }
    return { team, asked, limit };
  };

  test('stay within what people allow, are asked about one at a time, and all come to an end', () => {
    for (let seed = 1; seed <= 10; seed += 1) {
      const { team, asked, limit } = play(seed);
      expect([asked, limit]).toEqual([5, 5 * dollar]);
      expect(team.team.held).toEqual([]);
      expect(budgetOf(team).state).toBe('stopped');
    }
  });
});
