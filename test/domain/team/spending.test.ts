import { addsUp } from '../../../src/domain/ledger/settle.js';
import type { AgentPlan, TeamSetup } from '../../../src/domain/team/setup.js';
import { ledgerView } from '../../../src/domain/ledger/view.js';
import { calling, plan, TeamPlay } from '../../support/team-play.js';

const none = { tokens: 0, usdMicros: 0 };
const call = (usdMicros: number) => ({ estimate: { tokens: 0, usdMicros }, per1000Characters: none });
const dollar = 1_000_000;

/** An agent whose calls cost `likely` as a rule and `most` at most, in millionths of a dollar. */
const priced = (id: string, likely: number, most: number, over: Partial<AgentPlan> = {}): AgentPlan => ({
  ...plan(id),
  price: { likely: call(likely), most: call(most), isCapped: true },
  ...over,
});
const within = (maxUsdMicros: number | null): Partial<TeamSetup> => ({ budget: { maxTokens: null, maxUsdMicros } });

const reads = (play: TeamPlay, agentId: string, usdMicros: number): TeamPlay => {
  const { turn, read } = play.agent(agentId);
  const usage = { tokens: 0, usdMicros };
  const step = (read?.step ?? 0) + 1;
  return play.take({ type: 'READ', agentId, run: turn?.run ?? 0, step, wrote: [], has: [], usage });
};

describe('the budget of a team', () => {
  test('admits calls at once as long as all fit, and then one at a time', () => {
    const play = new TeamPlay(
      ['a', 'b', 'c', 'd'].map((id) => priced(id, 200_000, 400_000)),
      within(dollar),
    );
    expect(calling(play)).toEqual(['a', 'b', 'c']);
    expect(play.team.waiting?.on).toBe('agents');
    reads(play, 'c', 100_000);
    // What c has not used goes to who waited first, and then to c itself.
    expect(calling(play)).toEqual(['a', 'b', 'c', 'd']);
    reads(play, 'd', 100_000);
    expect(calling(play).slice(4)).toEqual([]);
    reads(play, 'a', 100_000);
    expect(calling(play).slice(4)).toEqual(['c']);
  });

  describe('that has lite agents, which have no account', () => {
    const lites = ['l', 'm'].map((liteId) => ({
      liteId,
      role: 'voter',
      adapter: { kind: 'scripted' as const, script: [] },
      price: { likely: call(200_000), most: call(300_000), isCapped: true },
    }));
    const asked = () =>
      new TeamPlay([], { ...within(dollar), liteAgents: lites, keepOpen: true }).pattern('p', {
        ...{ kind: 'send_to_role', role: 'voter', content: 'q' },
      });
    const answers = (play: TeamPlay, liteId: string, usdMicros: number): TeamPlay => {
      const held = play.done('ask_lite').find((effect) => effect.liteId === liteId)?.held;
      const usage = { tokens: 0, usdMicros };
      return play.take({ type: 'LITE_ANSWERED', patternId: 'p', liteId, answer: 'yes', usage, ...(held && { held }) });
    };
    const books = ({ team }: TeamPlay) => {
      const { reserved, spent } = team.ledger.accounts[0]!;
      expect(addsUp(team.ledger)).toBe(true);
      return [reserved.usdMicros, spent.usdMicros, team.spent.usdMicros];
    };

    test('holds what their calls may use until they are answered', () => {
      const play = asked();
      expect(books(play)).toEqual([600_000, 0, 0]);
      for (const id of ['a', 'b']) play.spawn(priced(id, 300_000, 400_000));
      // What is left is the first one's, and the other has to wait for what is held.
      expect(calling(play)).toEqual(['a']);
      answers(play, 'l', 10_000);
      answers(play, 'm', 0);
      expect(books(play)).toEqual([800_000, 10_000, 10_000]);
      expect(calling(play)).toEqual(['a', 'b']);
    });
    test('asks them all the same where that does not fit, and spends what they use', () => {
      const play = new TeamPlay([priced('a', 900_000, 900_000)], { ...within(dollar), liteAgents: lites });
      play.pattern('p', { kind: 'send_to_role', role: 'voter', content: 'q' });
      expect(play.done('ask_lite').map(({ held }) => held)).toEqual([1, undefined]);
      answers(play, 'm', 50_000);
      expect(books(play)).toEqual([1_200_000, 50_000, 50_000]);
    });
    test('gives back what they held where it goes back to an earlier point, and holds it for them anew', () => {
      const play = asked();
      answers(play, 'l', 10_000);
      play.take({ type: 'WENT_BACK', known: [] });
      expect([books(play), play.done('ask_lite').map(({ liteId, held }) => [liteId, held])]).toEqual([
        [300_000, 10_000, 10_000],
        [
          ['l', 1],
          ['m', 2],
          ['m', 3],
        ],
      ]);
    });
  });

  test('is never passed by more than one call, whoever races', () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      let state = seed * 7919;
      const random = (): number => {
        state = (state * 48_271) % 2_147_483_647;
        return state / 2_147_483_647;
      };
      const ids = Array.from({ length: 20 }, (_, index) => `w${index}`);
      const most = 150_000;
      const play = new TeamPlay(
        ids.map((id) => priced(id, 50_000, most)),
        { ...within(dollar), maxConcurrent: 20 },
      );
      const open = calling(play);
      while (open.length > 0) {
        const [id] = open.splice(Math.floor(random() * open.length), 1);
        const before = play.effects.length;
        reads(play, id!, Math.floor(random() * most));
        open.push(...calling(play, before));
        expect(addsUp(play.team.ledger)).toBe(true);
      }
      expect(play.team.spent.usdMicros).toBeLessThan(dollar + most);
      expect(play.team.spent.usdMicros).toBeGreaterThanOrEqual(dollar);
      expect(play.team.held).toEqual([]);
    }
  });

  test('refuses in words what is beyond it, and says so once', () => {
    const play = new TeamPlay([priced('a', 400_000, 400_000)], within(500_000));
    reads(play, 'a', 500_000);
    expect(play.done('answer_read')[0]?.read).toEqual({
      code: 'EBUDGET',
      refused: expect.stringContaining('the team'),
    });
    expect(play.told('budget').map(({ step, agent_id: id }) => [step, id])).toEqual([
      ['warn', null],
      ['stop', null],
    ]);
  });

  test('of an agent is that of those that it spawns, too', () => {
    const play = new TeamPlay([
      priced('a', 100_000, 100_000, { budget: { maxTokens: null, maxUsdMicros: 250_000 } }),
      priced('b', 100_000, 100_000),
    ]);
    play.spawn(priced('c', 100_000, 100_000, { parent: 'a' }), priced('d', 100_000, 100_000, { parent: 'c' }));
    expect(calling(play)).toEqual(['a', 'b', 'c', 'd']);
    for (const id of ['a', 'c', 'd']) reads(play, id, 90_000);
    // 270,000 of 250,000: one call beyond.
    expect(play.done('answer_read').map(({ agentId, read }) => [agentId, 'view' in read])).toEqual([
      ['a', false],
      ['c', false],
      ['d', false],
    ]);
    expect(reads(play, 'b', 90_000).done('answer_read').at(-1)?.read).toMatchObject({ view: {} });
  });

  test('holds for a call what it tells of its tools and instructions, too', () => {
    const held = (over: Partial<AgentPlan>): number | undefined => {
      const one = { estimate: none, per1000Characters: { tokens: 0, usdMicros: 100 } };
      const price = { likely: one, most: one, isCapped: false };
      const play = new TeamPlay([{ ...plan('a'), prompt: '', price, ...over }], within(dollar));
      return play.team.ledger.accounts[0]?.reserved.usdMicros;
    };
    const bare = held({ tools: [] }) ?? 0;
    expect(held({ tools: ['read_file', 'write_file'] })).toBe(bare + 200);
    expect(held({ tools: null })).toBe(bare + 1_000);
    expect(held({ tools: null, template: { capabilities: { allowed_tools: ['delegate'] } } })).toBe(bare + 100);
    // Instructions are a message, which something stands around.
    expect(held({ tools: [], instructions: 'x'.repeat(4_000) })).toBe(bare + 804);
  });

  test('gets back what an agent held that is cancelled, or is cleaned up', () => {
    const play = new TeamPlay([priced('a', 600_000, 600_000), priced('b', 600_000, 600_000)], within(dollar));
    expect(calling(play)).toEqual(['a', 'b']);
    play.to('CANCEL_AGENT', 'a');
    play.to('CLEAN_UP', 'a');
    expect(ledgerView(play.team.ledger, play.now).map(({ account_id: id, open_calls: open }) => [id, open])).toEqual([
      ['team', 0],
      ['b#2', 1],
    ]);
    play.ends('b', 'done');
    expect(play.team.ledger.accounts.every(({ reserved }) => reserved.usdMicros === 0)).toBe(true);
  });

  test('keeps apart the calls of a turn that was cancelled and of the one after it', () => {
    const play = new TeamPlay([priced('a', 400_000, 400_000)], within(dollar));
    const end = (run: number, usdMicros: number): TeamPlay => {
      const outcome = { type: 'stopped' as const, message: null };
      return play.take({ type: 'ENDED', agentId: 'a', run, outcome, text: null, usage: { tokens: 0, usdMicros } });
    };
    const books = (): (number | undefined)[] => {
      const { spent, reserved } = play.team.ledger.accounts[0] ?? {};
      return [spent?.usdMicros, reserved?.usdMicros];
    };
    const again = (): void => {
      play.to('CANCEL_AGENT', 'a');
      play.call({ type: 'ASK', agentId: 'a', content: 'again' });
    };
    again();
    expect(books()).toEqual([0, 800_000]);
    again();
    // The third may be larger than what is left; a fourth waits until one of those that were cancelled has told its use.
    again();
    expect([books(), calling(play), play.team.waiting?.on]).toEqual([[0, 1_200_000], ['a', 'a', 'a'], 'budget']);
    end(3, 100_000);
    expect([books(), calling(play).length]).toEqual([[100_000, 1_200_000], 4]);
    end(4, 100_000);
    end(1, 100_000);
    expect(books()).toEqual([300_000, 400_000]);
    end(2, 100_000);
    expect([books(), play.team.ledger.calls]).toEqual([[400_000, 0], []]);
    again();
    play.to('CANCEL_AGENT', 'a');
    play.to('CLEAN_UP', 'a');
    expect(books()).toEqual([400_000, 0]);
  });

  test('counts what is used by who is gone', () => {
    const play = new TeamPlay([priced('a', 1, 1)]);
    const { run } = play.agent('a').turn!;
    play.to('CANCEL_AGENT', 'a');
    play.to('CLEAN_UP', 'a');
    const usage = { tokens: 5, usdMicros: 7 };
    play.take({ type: 'ENDED', agentId: 'a', run, outcome: { type: 'stopped', message: null }, text: null, usage });
    expect([play.team.spent, play.team.ledger.accounts[0]?.spent]).toEqual([usage, usage]);
  });

  test('lets a paused agent ask for nothing until it is resumed', () => {
    const play = new TeamPlay([priced('a', 1, 1)]);
    play.to('PAUSE_AGENT', 'a');
    reads(play, 'a', 1);
    expect(play.done('answer_read')).toEqual([]);
    play.to('RESUME_AGENT', 'a');
    expect(play.done('answer_read')).toHaveLength(1);
  });

  test('tells from the part of a limit that it names', () => {
    const told = (over: Partial<TeamSetup['budget']>): string[] => {
      const play = new TeamPlay([priced('a', 1, 1)], { budget: { maxTokens: null, maxUsdMicros: dollar, ...over } });
      reads(play, 'a', 500_000);
      return play.told('budget').map(({ step }) => step);
    };
    expect([told({}), told({ warnPercent: 50 }), told({ warnPercent: 51 })]).toEqual([[], ['warn'], []]);
  });
});

const cheaper = (likely: number): Partial<AgentPlan> => ({
  cheaper: { model: 'small', price: { likely: call(likely), most: call(likely), isCapped: true } },
});
/** The model of each call that was admitted: null is the agent's own. */
const models = (play: TeamPlay): (string | null)[] =>
  play.effects.flatMap((effect) =>
    (effect.type === 'run_turn' && 'view' in effect.asked) || (effect.type === 'answer_read' && 'view' in effect.read)
      ? [effect.model ?? null]
      : [],
  );

describe('the cheaper model of a budget', () => {
  const budget = { maxTokens: null, maxUsdMicros: dollar, cheaperPercent: 50 };

  test('answers from the part of the limit on that it names, which is told once', () => {
    const play = new TeamPlay([priced('a', 100_000, 100_000, cheaper(10_000))], { budget });
    for (const used of [300_000, 300_000, 10_000, 10_000]) reads(play, 'a', used);
    expect(models(play)).toEqual([null, null, 'small', 'small', 'small']);
    expect(play.told('budget').map(({ step }) => step)).toEqual(['cheaper_model']);
    // What is held is what the cheaper one costs.
    expect(play.team.ledger.calls.map(({ amount }) => amount.usdMicros)).toEqual([10_000]);
  });

  test('answers sooner where a call of an agent’s own does not fit what is left', () => {
    const play = new TeamPlay([priced('a', 700_000, 700_000, cheaper(10_000))], {
      budget: { ...budget, cheaperPercent: 90, asks: true },
    });
    reads(play, 'a', 400_000);
    expect(models(play)).toEqual([null, 'small']);
    expect(play.told('budget').map(({ step }) => step)).toEqual(['cheaper_model']);
  });

  test('is no model of agents that have none, and is that of those that they spawn', () => {
    const play = new TeamPlay([priced('a', 1, 1), priced('b', 1, 1, cheaper(1))], { budget });
    reads(play, 'a', 600_000);
    reads(play, 'b', 1);
    play.spawn({ ...plan('c', { parent: 'b' }), adapter: null }, { ...plan('d', { parent: 'a' }), adapter: null });
    expect(models(play)).toEqual([null, null, null, 'small', 'small', null]);
  });

  test('is one of an agent’s own budget for those below it alone', () => {
    const own = { maxTokens: null, maxUsdMicros: 100_000, cheaperPercent: 50, cheaperModel: 'small' };
    const play = new TeamPlay([
      priced('a', 1, 1, { ...cheaper(1), budget: own }),
      priced('b', 1, 1, { ...cheaper(1), parent: 'a' }),
      priced('c', 1, 1, cheaper(1)),
    ]);
    for (const id of ['b', 'a', 'b', 'c']) reads(play, id, 60_000 / 2);
    expect(models(play)).toEqual([null, null, null, null, 'small', 'small', null]);
  });
});
