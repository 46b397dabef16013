import fc from 'fast-check';
import { teamEventSchema } from '../../../src/contracts/team-events.js';
import { teamStatusSchema } from '../../../src/contracts/team-status.js';
import { slotsInUse } from '../../../src/domain/team/slot-use.js';
import { hasEnded, isOver, isSettled } from '../../../src/domain/team/state.js';
import { teamStatus } from '../../../src/domain/team/view.js';
import { idle, plan, TeamPlay } from '../../support/team-play.js';

const size = 8;
const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => `w${index}`);
const nth = fc.nat(size - 1);
const outcome = fc.constantFrom('ok', 'fail', 'abort', 'old');
const of = <T extends string, V extends object>(
  weight: number,
  type: T,
  shape: { [K in keyof V]: fc.Arbitrary<V[K]> },
) => ({ weight, arbitrary: fc.record<V>(shape).map((made): { type: T } & V => ({ type, ...made })) });
const move = fc.oneof(
  of(14, 'end', { who: nth, outcome }),
  of(3, 'spawn', { who: nth, parent: fc.option(nth), asked: fc.boolean() }),
  of(3, 'pause', { who: nth }),
  of(3, 'resume', { who: nth }),
  of(2, 'cancel', { who: nth, by: fc.option(nth) }),
  of(2, 'stop', { who: nth, by: fc.option(nth) }),
  of(2, 'clean', { who: nth }),
  of(3, 'ask', { who: nth }),
  of(4, 'delegate', { who: nth, by: nth, background: fc.boolean(), wait: fc.boolean() }),
  of(4, 'wait', {
    whom: fc.option(fc.array(nth, { maxLength: 3 })),
    by: fc.option(nth),
    ms: fc.option(fc.constantFrom(0, 10, 1_000)),
  }),
  of(2, 'pattern', { kind: fc.constantFrom('round_robin', 'role_chain', 'broadcast', 'send_to_role') }),
  of(2, 'time', { ms: fc.constantFrom(1, 50, 5_000) }),
  of(1, 'whole', { what: fc.constantFrom('PAUSE', 'RESUME', 'CLOSE', 'RESUME', 'RESUME') }),
);
const game = fc.record({
  slots: fc.integer({ min: 1, max: 4 }),
  keepOpen: fc.boolean(),
  moves: fc.array(move, { minLength: 10, maxLength: 80 }),
});
type Game = typeof game extends fc.Arbitrary<infer T> ? T : never;
type Move = Game['moves'][number];

const outcomes = {
  ok: 'answer',
  fail: { type: 'thrown', code: 'EAGENTDOWN', message: 'broke' },
  abort: { type: 'stopped', message: null },
  old: 'answer',
} as const;

const make = (at: TeamPlay, given: Move, index: number): void => {
  const name = (place: number | null) => (place === null ? null : `w${place}`);
  const who = 'who' in given ? `w${given.who}` : '';
  switch (given.type) {
    case 'end': {
      if (!at.team.agents.some(({ plan: { agentId } }) => agentId === who)) return;
      const isOld = given.outcome === 'old';
      at.ends(who, outcomes[given.outcome], isOld ? { run: -1, tokens: 1 } : { tokens: 1 });
      return;
    }
    case 'spawn':
      at.spawn(
        (given.asked ? plan : idle)(who, {
          role: given.who % 2 ? 'odd' : 'even',
          ...(given.parent !== null && { parent: `w${given.parent}` }),
        }),
      );
      return;
    case 'pause':
      at.to('PAUSE_AGENT', who);
      return;
    case 'resume':
      at.to('RESUME_AGENT', who);
      return;
    case 'cancel':
      at.to('CANCEL_AGENT', who, name(given.by));
      return;
    case 'stop':
      at.to('STOP_AGENT', who, name(given.by));
      return;
    case 'clean':
      at.to('CLEAN_UP', who);
      return;
    case 'ask':
      at.call({ type: 'ASK', agentId: who, content: `ask ${index}` });
      return;
    case 'delegate': {
      const waitId = given.wait || !given.background ? `d${index}` : null;
      at.delegate(`w${given.by}`, who, { background: given.background, waitId });
      return;
    }
    case 'wait':
      at.wait(`t${index}`, given.whom?.map((place) => `w${place}`) ?? null, given.ms, name(given.by));
      return;
    case 'pattern': {
      const content = `pattern ${index}`;
      const pattern =
        given.kind === 'round_robin'
          ? { kind: 'round_robin' as const, role: 'odd', prompts: [content, content, content] }
          : given.kind === 'role_chain'
            ? { kind: 'role_chain' as const, roles: ['odd', 'none', 'even'], content }
            : given.kind === 'broadcast'
              ? { kind: 'broadcast' as const, roles: ['even', 'odd'], content }
              : { kind: 'send_to_role' as const, role: 'even', content };
      at.pattern(`p${index}`, pattern);
      return;
    }
    case 'time':
      at.after(given.ms);
      return;
    case 'whole':
      at.take({ type: given.what });
  }
};

const play = (
  { slots, keepOpen, moves }: Game,
  look: (at: TeamPlay, given: Move | null) => void = () => undefined,
): TeamPlay => {
  const agents = ids(4).map((id, index) => plan(id, { role: index % 2 ? 'odd' : 'even' }));
  const at = new TeamPlay(agents, { maxConcurrent: slots, keepOpen });
  look(at, null);
  moves.forEach((given, index) => {
    make(at, given, index);
    look(at, given);
  });
  return at;
};

/** Everything is let end: who is paused is resumed, who runs answers, and what is asked meanwhile, too. */
const finish = (at: TeamPlay): TeamPlay => {
  if (at.team.state === 'PAUSED') at.take({ type: 'RESUME' });
  for (let round = 0; round < 2_000 && !isOver(at.team); round += 1) {
    const next = at.team.agents.find(({ state }) => state === 'RUNNING' || state === 'PAUSED');
    if (!next) break;
    if (next.state === 'PAUSED') at.to('RESUME_AGENT', next.plan.agentId);
    else at.ends(next.plan.agentId);
  }
  if (!isOver(at.team)) at.take({ type: 'CLOSE' });
  return at;
};

const seed = (): number =>
  Array.from(expect.getState().currentTestName ?? '').reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) | 0, 7);
const always = (claim: (given: Game) => void): void =>
  fc.assert(fc.property(game, claim), { seed: seed(), numRuns: 60 });

describe('a team, whatever happens to it,', () => {
  test('never has more agents at work than slots, and leaves no slot free that somebody waits for', () => {
    always((given) => {
      play(given, ({ team }) => {
        expect(slotsInUse(team)).toBeLessThanOrEqual(given.slots);
        const waits = team.agents.some(({ state, turn }) => state === 'PENDING' && turn !== null);
        if (waits && team.state === 'OPEN') expect(slotsInUse(team)).toBe(given.slots);
      });
    });
  });

  test('begins each question once, and those that wait in the order in which they were asked', () => {
    always((given) => {
      let begun = 0;
      play(given, (at) => {
        const runs = at.done('run_turn').map(({ run }) => run);
        const fresh = runs.slice(begun);
        begun = runs.length;
        expect(new Set(runs).size).toBe(runs.length);
        expect(fresh).toEqual([...fresh].sort((a, b) => a - b));
        const left = at.team.agents.flatMap(({ state, turn }) => (state === 'PENDING' && turn ? [turn.run] : []));
        if (fresh.length > 0) expect(Math.min(...left, Infinity)).toBeGreaterThan(fresh.at(-1) ?? 0);
      });
    });
  });

  test('loses no question: each is asked, cancelled with its agent, or still to come', () => {
    always((given) => {
      const at = finish(play(given));
      expect(isOver(at.team)).toBe(true);
      expect(at.team.agents.every((agent) => hasEnded(agent) && agent.queue.length === 0)).toBe(true);
      const stopped = new Set(at.done('stop_turn').map(({ run }) => run));
      for (const { run, agentId } of at.done('run_turn')) {
        const agent = at.team.agents.find(({ plan: { agentId: id } }) => id === agentId);
        expect((agent?.turn?.run ?? Infinity) >= run || stopped.has(run)).toBe(true);
      }
    });
  });

  test('answers every wait once, unless who waited is gone, and every pattern once', () => {
    always((given) => {
      const asked: string[] = [];
      const at = finish(
        play(
          given,
          ({ team: { waits } }) =>
            void asked.push(...waits.filter(({ by }) => by === null).map(({ waitId }) => waitId)),
        ),
      );
      const answers = at.done('answer_wait').map(({ waitId }) => waitId);
      expect(new Set(answers).size).toBe(answers.length);
      expect(answers).toEqual(expect.arrayContaining([...new Set(asked)]));
      expect(at.team.waits).toEqual([]);
      const patterns = at.told('pattern').map(({ pattern_id: id }) => id);
      expect([new Set(patterns).size, at.team.patterns]).toEqual([patterns.length, []]);
    });
  });

  test('pauses only who runs, resumes only who is paused, and lets no paused agent change by itself', () => {
    always((given) => {
      let before = '';
      play(given, (at, made) => {
        const paused = at.team.agents.filter(({ state }) => state === 'PAUSED').map(({ plan: { agentId } }) => agentId);
        if (made?.type === 'end' && before.includes(` w${made.who} `)) expect(paused).toContain(`w${made.who}`);
        before = ` ${paused.join(' ')} `;
      });
    });
  });

  test('has a status and events that their contracts accept, and counts that add up', () => {
    always((given) => {
      const at = play(given);
      const status = teamStatus(at.team);
      expect(teamStatusSchema.safeParse(status).error).toBeUndefined();
      expect(at.events.flatMap((event) => teamEventSchema.safeParse(event).error ?? [])).toEqual([]);
      const {
        by_state: counts,
        total_agents: total,
        free_slots: free,
        concurrent,
        max_concurrent: most,
      } = status.stats;
      expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(total);
      expect(free + concurrent).toBe(most);
      expect(status.waiting === null).toBe(isOver(at.team));
    });
  });

  test('is over exactly when all has ended and, kept open, when it is closed', () => {
    always((given) => {
      play(given, ({ team }) => {
        const isDone = team.agents.every(isSettled) && team.patterns.length === 0 && (!given.keepOpen || team.closed);
        expect(isOver(team)).toBe(isDone);
        expect(team.endedAt !== null).toBe(isOver(team));
      });
    });
  });

  test('spends what its turns have spent, of agents that are gone as well', () => {
    always((given) => {
      let ends = 0;
      const at = play(given, (_, made) => {
        if (made?.type === 'end') ends += 1;
      });
      const spent = at.team.agents.reduce((sum, agent) => sum + agent.spent.tokens, 0);
      expect(at.team.spent.tokens).toBeGreaterThanOrEqual(spent);
      expect(at.team.spent.tokens).toBeLessThanOrEqual(ends);
    });
  });

  test('is the same when it is played again, and when it was carried over as JSON', () => {
    always((given) => {
      const once = play(given).team;
      expect(play(given, (at) => (at.team = JSON.parse(JSON.stringify(at.team)) as typeof at.team)).team).toEqual(once);
    });
  });
});

describe('two hundred agents through ten slots', () => {
  test('begin in their order, never more than ten at a time, and all of them end', () => {
    const at = new TeamPlay(
      ids(200).map((id) => plan(id)),
      { maxConcurrent: 10, keepOpen: false },
    );
    let state = 7;
    while (!isOver(at.team)) {
      const running = at.team.agents.filter((agent) => agent.state === 'RUNNING');
      expect(running.length).toBeLessThanOrEqual(10);
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      const chosen = running[state % running.length]?.plan.agentId ?? '';
      at.after(1).ends(chosen, chosen);
    }
    expect(at.done('run_turn').map(({ agentId }) => agentId)).toEqual(ids(200));
    expect(at.team.result).toMatchObject({ completed: 200, failed: 0, cancelled: 0 });
    expect(at.team.result?.agents.every(({ agent_id: id, result }) => id === result)).toBe(true);
  });

  test('that are stopped as they come leave nothing behind', () => {
    const at = new TeamPlay([], { maxConcurrent: 10 });
    for (const id of ids(200)) {
      at.spawn(plan(id));
      at.to('CANCEL_AGENT', id);
      at.to('CLEAN_UP', id);
    }
    expect([at.team.agents, slotsInUse(at.team), at.done('stop_turn').length, at.done('forget_agent').length]).toEqual([
      [],
      0,
      200,
      200,
    ]);
  });
});
