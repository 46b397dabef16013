import fc from 'fast-check';
import { sessionStatusSchema } from '../../../src/contracts/session-status.js';
import { hasEnded, type Lane } from '../../../src/domain/lane.js';
import { forkSession } from '../../../src/domain/session/fork.js';
import { isOver } from '../../../src/domain/session/session.js';
import type { SessionSetup } from '../../../src/domain/session/setup.js';
import { spent, type Session } from '../../../src/domain/session/state.js';
import { sessionStatus } from '../../../src/domain/session/view.js';
import { playOut, randomPlay } from '../../support/random-play.js';
import { deepFreeze } from '../../support/deep-freeze.js';
import { Play, type PlayBody } from '../../support/session-play.js';

/** A day after the session that it is forked from. */
const later = 86_401_000;

/** A fork of a session, played from its first event on; its setup is the old one's but for `change`. */
const forked = (work: Session, change: Partial<SessionSetup> = {}): Play => {
  const play = new Play();
  play.now = later;
  const setup = { ...work.setup, id: `${work.setup.id}-fork`, ...change };
  const fork = forkSession(work, setup, play.now);
  play.work = deepFreeze(fork.work);
  play.take(fork.first);
  if (play.session.state === 'INIT') play.take({ type: 'RATINGS', ratings: {} });
  return dispatched(play);
};
/** Every lane that was admitted is dispatched. */
const dispatched = (play: Play): Play => {
  for (const lane of play.session.lanes) {
    if (lane.state === 'ADMITTED') play.report(lane.setup.laneId, { type: 'DISPATCH_OK' });
  }
  return play;
};
const askedIn = (play: Play): string[] =>
  play.effects.flatMap((effect) => (effect.type === 'run_lanes' ? effect.lanes : []));
const withLane = (setup: SessionSetup, laneId: string, change: Partial<Lane['setup']>): Partial<SessionSetup> => ({
  lanes: setup.lanes.map((lane) => (lane.laneId === laneId ? { ...lane, ...change } : lane)),
});

const scripted = { kind: 'scripted' as const, script: [{ final: 'x' }] };
const judge = { method: 'judge' as const, adapter: scripted };

/** Finals one after the other; a judge takes answers of one first letter for one answer, and nobody else says anything. */
const playOn = (play: Play, answers: readonly (readonly [string, string])[]): Play => {
  answerCalls(play);
  for (const [lane, answer] of answers) {
    if (isOver(play.session)) break;
    if (play.session.lanes.some(({ setup }) => setup.laneId === lane)) {
      play.now += 10;
      if (answer === 'fails') play.fail(lane);
      else play.final(lane, answer);
    }
    answerCalls(play);
  }
  return answerCalls(play);
};
const answerCalls = (play: Play): Play => {
  for (let round = 0; round < 9 && !isOver(play.session); round += 1) {
    dispatched(play);
    if (play.session.scoring) {
      const lanes = play.session.scoring.key.split(' ').map((entry) => entry.slice(0, entry.lastIndexOf(':')));
      const letter = (lane: string): string => JSON.stringify(play.lane(lane).answer ?? play.lane(lane).text).charAt(1);
      play.scored([...new Set(lanes.map(letter))].map((first) => lanes.filter((lane) => letter(lane) === first)));
    }
    if (play.session.state === 'ARBITER')
      play.take({
        type: 'ARBITER_RESULT',
        record: { usage: { tokens: 1, usdMicros: 0 }, outcome: 'answered', answer: 'judged' },
      });
    if (play.session.state === 'RECONCILING')
      play.take({
        type: 'MERGED',
        record: { usage: { tokens: 1, usdMicros: 0 }, outcome: 'answered', answer: 'merged' },
      });
  }
  return play;
};
const outcome = (play: Play): unknown => {
  const { timing_ms: _, ...rest } = play.session.result ?? { timing_ms: null };
  return { state: play.state, ...rest, error: play.session.error?.message };
};

type Answers = [lane: string, answer: string][];
const agreeing: Answers = [
  ['a', 'blue'],
  ['b', 'blue'],
  ['c', 'red'],
];
const splitting: Answers = [
  ['a', 'blue'],
  ['b', 'red'],
  ['c', 'green'],
  ['premium', 'red'],
  ['premium#2', 'red'],
];
const escalation = { allowed: true, limit: 2, lane: { lane_id: 'premium', adapter: scripted } };
const cases: [string, PlayBody, Answers][] = [
  ['that agrees', {}, agreeing],
  ['that waits for all', { policy: { early_exit: { enabled: false } } }, agreeing],
  ['without a provisional', { policy: { provisional: { enabled: false } } }, agreeing],
  ['of the simple profile', { policy: { profile: 'simple' } }, agreeing],
  [
    'whose first answer wins',
    { policy: { reconciliation: 'first_win', threshold: 0.9, early_exit: { threshold: 0.95 } } },
    splitting,
  ],
  ['that merges', { policy: { reconciliation: 'weighted_merge', merge: { adapter: scripted } } }, agreeing],
  ['with a judge', { policy: { agreement: judge } }, agreeing],
  ['that escalates', { policy: { threshold: 0.6, escalation } }, splitting],
  [
    'with an arbiter',
    { policy: { threshold: 0.9, early_exit: { threshold: 0.95 }, arbiter: { allowed: true, adapter: scripted } } },
    splitting,
  ],
  ['with a reputation', { policy: { elo_weights: true } }, agreeing],
  [
    'with a lane that fails',
    {},
    [
      ['a', 'fails'],
      ['b', 'blue'],
      ['c', 'blue'],
    ],
  ],
  [
    'in which all fail',
    {},
    [
      ['a', 'fails'],
      ['b', 'fails'],
      ['c', 'fails'],
    ],
  ],
];

describe('a fork of a session', () => {
  test.each(cases)('%s, with nothing changed, comes to the same at every point', (_, body, answers) => {
    const begin = (): Play => {
      const play = new Play(body).take({ type: 'FAN_OUT' });
      if (play.state === 'INIT') play.take({ type: 'RATINGS', ratings: {} });
      return dispatched(play);
    };
    const whole = playOn(begin(), answers);
    expect(isOver(whole.session)).toBe(true);
    for (let count = 0; count <= answers.length; count += 1) {
      const original = playOn(begin(), answers.slice(0, count));
      const fork = forked(original.session);
      const ended = original.session.lanes.filter(({ state }) => state === 'FINALIZED' || state === 'FAILED');
      const kept = ended.map(({ setup }) => setup.laneId);
      expect(askedIn(fork).filter((lane) => kept.includes(lane))).toEqual([]);
      const rest = answers.filter(([lane]) => !kept.includes(lane));
      expect(outcome(playOn(fork, rest))).toEqual(outcome(whole));
      const again = forked(fork.session);
      expect(outcome(playOn(again, rest))).toEqual(outcome(whole));
      // What the kept lanes used was paid by the first.
      const own = fork.session.lanes.filter(({ setup }) => !kept.includes(setup.laneId));
      const used = own.reduce((sum, lane) => sum + lane.usage.tokens, fork.overhead.tokens);
      expect(spent(fork.session).tokens).toBe(used);
    }
  });

  const change = (name: string): [string, (setup: SessionSetup) => Partial<SessionSetup>, string[]] => {
    switch (name) {
      case 'the prompt':
        return [name, () => ({ prompt: 'Which number?' }), ['a', 'b', 'c']];
      case 'instructions':
        return [name, (setup) => withLane(setup, 'b', { instructions: 'be brief' }), ['b', 'c']];
      case 'a persona':
        return [name, (setup) => withLane(setup, 'a', { personaId: 'other' }), ['a', 'c']];
      case 'an adapter':
        return [name, (setup) => withLane(setup, 'a', { adapter: { kind: 'command', argv: ['x'] } }), ['a', 'c']];
      case 'a tier':
        return [name, (setup) => withLane(setup, 'a', { tier: 'gold' }), ['a', 'c']];
      case 'a time limit':
        return [name, (setup) => withLane(setup, 'b', { timeoutMs: 5 }), ['b', 'c']];
      case 'a lane added':
        return [name, ({ lanes }) => ({ lanes: [...lanes, { ...lanes[0]!, laneId: 'd' }] }), ['c', 'd']];
      case 'a lane taken away':
        return [name, ({ lanes }) => ({ lanes: lanes.filter(({ laneId }) => laneId !== 'a') }), ['c']];
      case 'the deadline':
        return [name, ({ policy }) => ({ policy: { ...policy, deadline_ms: 77 } }), ['b', 'c']];
      case 'the budget':
        return [name, () => ({ budget: { maxTokens: 500, maxUsdMicros: null } }), ['b', 'c']];
      case 'the threshold':
        return [name, ({ policy }) => ({ policy: { ...policy, threshold: 0.1 } }), ['c']];
      case 'a weight':
        return [name, (setup) => withLane(setup, 'a', { weight: 7 }), ['c']];
      default:
        return [name, () => ({}), ['c']];
    }
  };
  test.each(
    [
      'nothing',
      'the prompt',
      'instructions',
      'a persona',
      'an adapter',
      'a tier',
      'a time limit',
      'a lane added',
      'a lane taken away',
      'the deadline',
      'the budget',
      'the threshold',
      'a weight',
    ].map(change),
  )('with %s changed asks those whom it concerns', (_, changed, asked) => {
    // a has answered, b has failed, c is under way.
    const { session } = new Play({ policy: { threshold: 0.9, early_exit: { threshold: 0.95 } } })
      .open()
      .final('a', 'blue')
      .fail('b')
      .partial('c', 'bl');
    const fork = forked(session, changed(session.setup));
    expect(askedIn(fork)).toEqual(asked);
    for (const lane of fork.session.lanes) expect(hasEnded(lane)).toBe(!asked.includes(lane.setup.laneId));
  });

  test('counts kept answers with the new weights', () => {
    const { session } = new Play().open().finals({ a: 'blue', b: 'red', c: 'red' });
    const fork = forked(session, withLane(session.setup, 'a', { weight: 7 }));
    expect([fork.state, fork.result.answer, askedIn(fork)]).toEqual(['COMPLETE', 'blue', []]);
  });

  test('in whose kept answers there is enough asks nobody, and says who would have been asked', () => {
    const body = { lanes: ['a', 'b', 'c', 'd'] };
    const { session } = new Play(body).open().finals({ a: 'blue', b: 'blue', c: 'blue' });
    const fork = forked(session);
    expect([fork.state, fork.effects]).toEqual(['COMPLETE', []]);
    expect(fork.result.cancelled).toEqual([{ lane_id: 'd', reason: 'session_complete' }]);
  });

  test('tells whom it keeps', () => {
    const { session } = new Play().open().final('b', 'blue');
    expect(forked(session).logs).toEqual(['kept as they ended before the fork, and not asked again: b']);
  });

  test('begins its deadline with the first lane that it dispatches', () => {
    const { session } = new Play({ policy: { threshold: 0.9, early_exit: { threshold: 0.95 }, deadline_ms: 1_000 } })
      .open()
      .final('a', 'blue');
    const play = new Play();
    play.work = forkSession(session, session.setup, play.now).work;
    play.take({ type: 'FAN_OUT' });
    expect([play.state, play.session.deadlineAt]).toEqual(['BUFFERING', null]);
    play.at(50).report('b', { type: 'DISPATCH_OK' });
    expect(play.session.deadlineAt).toBe(play.now + 1_000);
    play.wait();
    expect(play.result).toMatchObject({ answer: 'blue', ended_by: 'deadline' });
  });

  test('goes on without lanes that can no longer be dispatched', () => {
    const { session } = new Play({ policy: { threshold: 0.9, early_exit: { threshold: 0.95 } } })
      .open()
      .final('a', 'blue');
    const play = new Play();
    play.work = forkSession(session, session.setup, play.now).work;
    play.take({ type: 'FAN_OUT' }).take({ type: 'GROUP_ENDED', group: 'lanes-1', message: 'no worker' });
    expect(play.result.answer).toBe('blue');
  });

  test('keeps weights of reputation to lanes that are kept, too', () => {
    const { session } = new Play({ policy: { elo_weights: true } })
      .take({ type: 'FAN_OUT' })
      .take({ type: 'RATINGS', ratings: {} })
      .report('a', { type: 'DISPATCH_OK' })
      .final('a', 'blue');
    const play = new Play();
    play.work = forkSession(session, session.setup, play.now).work;
    play.take({ type: 'FAN_OUT' });
    expect(play.effects.map(({ type }) => type)).toEqual(['load_ratings']);
    play.take({ type: 'RATINGS', ratings: { a: { elo: 1_800, matches: 3, successes: 3 } } });
    expect([play.lane('a').state, play.lane('a').setup.weight, play.lane('b').state]).toEqual([
      'FINALIZED',
      1.5 * session.setup.lanes[0]!.weight,
      'ADMITTED',
    ]);
  });

  test('asks a premium lane again where its setup is another', () => {
    const original = playOn(new Play({ policy: { threshold: 0.6, escalation } }).open(), splitting);
    const fork = forked(original.session, {
      escalation: { ...original.session.setup.escalation!, instructions: 'be brief' },
    });
    expect(askedIn(fork)).toEqual(['premium']);
    expect(askedIn(forked(original.session))).toEqual([]);
  });
});

describe('a fork of a session, from whatever point of it,', () => {
  test('begins with nothing under way, spends only its own, asks no kept lane, and ends', () => {
    const claim = fc.property(randomPlay, fc.nat(), (random, seed) => {
      const moments: Session[] = [];
      playOut(random, ({ session }) => void moments.push(session));
      const work = moments[seed % moments.length]!;
      const setup = { ...work.setup, id: 'fork-1' };
      const { work: fork } = forkSession(work, setup, later);
      expect([fork.state, fork.startedAt, spent(fork)]).toEqual(['INIT', later, { tokens: 0, usdMicros: 0 }]);
      for (const lane of fork.lanes) {
        expect([lane.group, lane.isKept ?? false]).toEqual([null, hasEnded(lane)]);
        expect(lane.endedAt ?? 0).toBeLessThanOrEqual(later);
        if (!lane.isKept) continue;
        const before = work.lanes.find(({ setup: { laneId } }) => laneId === lane.setup.laneId)!;
        expect([lane.state, lane.answer, lane.usage]).toEqual([before.state, before.answer, before.usage]);
      }
      const order = (of: readonly Lane[]): string[] =>
        [...of]
          .filter(({ setup: { laneId } }) => fork.lanes.some((lane) => lane.isKept && lane.setup.laneId === laneId))
          .sort((a, b) => a.endedAt! - b.endedAt!)
          .map(({ setup: { laneId } }) => laneId);
      expect(order(fork.lanes)).toEqual(order(work.lanes));

      const kept = fork.lanes.filter(hasEnded).map(({ setup: { laneId } }) => laneId);
      const played = playOut({ ...random, fork }, (play) =>
        expect(sessionStatusSchema.safeParse(sessionStatus(play.session)).error).toBeUndefined(),
      );
      expect(isOver(played.session)).toBe(true);
      expect(askedIn(played).filter((lane) => kept.includes(lane))).toEqual([]);
      // A fork of the fork keeps at least as much.
      const again = forkSession(played.session, setup, later * 2).work;
      const isKeptAgain = (laneId: string): boolean =>
        again.lanes.some((lane) => lane.setup.laneId === laneId && lane.isKept);
      expect(kept.filter((laneId) => !isKeptAgain(laneId))).toEqual([]);
    });
    fc.assert(claim, { seed: 11, numRuns: 60 });
  });
});
