import type { RatingTable } from '../../../src/contracts/memory.js';
import { Play } from '../../support/session-play.js';

const ratings = (elo: Record<string, number>): RatingTable =>
  Object.fromEntries(
    Object.entries(elo).map(([persona, value]) => [persona, { elo: value, matches: 3, successes: 1 }]),
  );

const lanes = [
  { lane_id: 'a', persona: { persona_id: 'painter' }, weight: 2 },
  { lane_id: 'b', persona: { persona_id: 'critic' } },
  { lane_id: 'c', persona: { persona_id: 'painter' } },
];

describe('a session that weighs by reputation', () => {
  test('asks memory for each persona once, before any lane goes out', () => {
    const play = new Play({ lanes, policy: { elo_weights: true } }).take({ type: 'FAN_OUT' });
    expect(play.effects).toEqual([{ type: 'load_ratings', personas: ['painter', 'critic'] }]);
    expect(play.state).toBe('INIT');
    expect(play.session.waiting).toMatchObject({ for: 'worker', on: 'ratings' });
  });

  test.each<[number, number]>([
    [1200, 2],
    [600, 1],
    [100, 1],
    [1500, 2.5],
    [9000, 3],
  ])('weighs a persona of weight 2 with a rating of %d by clamp(elo/1200, 0.5, 1.5): %d', (elo, weight) => {
    const play = new Play({ lanes, policy: { elo_weights: true } }).take({ type: 'FAN_OUT' });
    play.take({ type: 'RATINGS', ratings: ratings({ painter: elo }) });
    expect(play.lane('a').setup.weight).toBeCloseTo(weight);
    expect(play.lane('b').setup.weight).toBe(1);
    expect(play.state).toBe('DISPATCHED');
    expect(play.effects.at(-1)).toMatchObject({ type: 'run_lanes', lanes: ['a', 'b', 'c'] });
  });

  test('lets the better reputation lead between two of the same weight', () => {
    const body = { lanes: ['a', 'b'], policy: { elo_weights: true, early_exit: { enabled: false } } };
    const play = new Play(body).take({ type: 'FAN_OUT' });
    play.take({ type: 'RATINGS', ratings: ratings({ a: 900, b: 1800 }) });
    for (const lane of ['a', 'b']) play.report(lane, { type: 'DISPATCH_OK' });
    play.finals({ a: 'red', b: 'blue' });
    expect(play.result).toMatchObject({
      answer: 'blue',
      agreement: expect.closeTo(1.5 / 2.25),
      for: [{ lane_id: 'b', weight: 1.5 }],
      against: [{ lane_id: 'a', weight: 0.75 }],
    });
  });

  test('weighs the lane of an escalation too', () => {
    const escalation = {
      allowed: true,
      lane: { lane_id: 'z', tier: 'gold' as const, adapter: { kind: 'external' as const } },
    };
    const play = new Play({ lanes: ['a'], policy: { elo_weights: true, escalation } }).take({ type: 'FAN_OUT' });
    expect(play.effects).toEqual([{ type: 'load_ratings', personas: ['a', 'z'] }]);
    play.take({ type: 'RATINGS', ratings: ratings({ z: 1800 }) });
    expect(play.session.setup.escalation?.weight).toBeCloseTo(1.5);
  });

  test('goes on with the weights of the request when memory cannot be read, and says so', () => {
    const play = new Play({ lanes, policy: { elo_weights: true } }).take({ type: 'FAN_OUT' });
    play.take({ type: 'RATINGS', ratings: null, message: 'the file is damaged' });
    expect(play.session.lanes.map(({ setup }) => setup.weight)).toEqual([2, 1, 1]);
    expect(play.logs).toEqual(['memory could not be read, so that every persona counts the same: the file is damaged']);
    expect(play.state).toBe('DISPATCHED');
  });

  test('can be cancelled meanwhile; ratings that come then are counted and change nothing', () => {
    const play = new Play({ lanes, policy: { elo_weights: true } }).take({ type: 'FAN_OUT' }).cancel();
    expect(play.state).toBe('CANCELLED');
    play.take({ type: 'RATINGS', ratings: ratings({ painter: 1800 }) });
    expect({ state: play.state, dropped: play.session.dropped }).toEqual({ state: 'CANCELLED', dropped: 1 });
    expect(play.effects).toHaveLength(1);
  });

  test('takes ratings once', () => {
    const play = new Play({ lanes, policy: { elo_weights: true } }).take({ type: 'FAN_OUT' });
    play.take({ type: 'RATINGS', ratings: ratings({ painter: 1800 }) });
    play.take({ type: 'RATINGS', ratings: ratings({ painter: 600 }) });
    expect(play.lane('a').setup.weight).toBeCloseTo(3);
    expect(play.session.dropped).toBe(1);
  });
});

describe('a session that does not weigh by reputation', () => {
  test('asks memory nothing', () => {
    expect(new Play({ lanes }).take({ type: 'FAN_OUT' }).effects.map(({ type }) => type)).toEqual(['run_lanes']);
  });
});
