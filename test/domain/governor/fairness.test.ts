import type { Tier } from '../../../src/contracts/session.js';
import type { GovernorSettings } from '../../../src/domain/governor/state.js';
import { GovernorPlay, serve } from '../../support/governor-play.js';
import { randomOf } from '../../support/governor-simulation.js';

const windowMs = 60_000;
const minute = (of: Partial<GovernorSettings> = {}): GovernorPlay =>
  new GovernorPlay({
    windowMs,
    burst: 0.25,
    agingMs: windowMs,
    leaseMs: 600_000,
    limits: { requests: 60, tokens: null, concurrency: null },
    ...of,
  });

const calls = (tenant: string, count: number, tier: Tier = 'silver', from = 0) =>
  Array.from({ length: count }, (_, index) => ({ id: `${tenant}${from + index}`, tenant, tier }));

describe('a small tenant behind a big one', () => {
  test.each([1, 2, 3, 4, 5])('waits no longer than its fair share takes, whenever it comes (seed %i)', (seed) => {
    const random = randomOf(seed);
    const play = minute();
    const start = play.now;
    play.want(...calls('big', 500, random() < 0.5 ? 'gold' : 'bronze'));
    const asks = Array.from({ length: 5 }, (_, time) => ({
      at: start + Math.floor(random() * 240_000),
      ask: () => play.want(...calls(`small${time}-`, 4, 'bronze')),
    }));
    const small = serve(play, start + 400_000, asks).filter(({ tenant }) => tenant.startsWith('small'));
    expect(small).toHaveLength(20);
    // With up to five small tenants beside the big one each has a sixth at worst; a burst and a tier's lead may be before it.
    for (const { id, waitedMs } of small) {
      const place = Number(id.split('-')[1]) + 1;
      expect({ id, isFair: waitedMs <= (place * 6 * windowMs) / 60 + (0.25 + 0.1) * windowMs }).toEqual({
        id,
        isFair: true,
      });
    }
  });
  test('has its calls answered as fast as the big one has, from its first on', () => {
    const play = minute();
    play.want(...calls('big', 500));
    const start = play.now;
    const served = serve(play, start + 300_000, [{ at: start + 90_000, ask: () => play.want(...calls('small', 40)) }]);
    const first = served.findIndex(({ tenant }) => tenant === 'small');
    const beside = served.slice(first, first + 60).filter(({ tenant }) => tenant === 'small');
    expect(beside.length).toBeGreaterThanOrEqual(29);
    expect(beside.length).toBeLessThanOrEqual(31);
  });
});

describe('tenants', () => {
  test.each([
    [1, 1, 60],
    [3, 1, 90],
    [1, 3, 30],
    [5, 1, 100],
  ])('with weights %i and %i share what goes out by them', (a, b, expected) => {
    const weights = [
      { tenant: 'a', weight: a },
      { tenant: 'b', weight: b },
    ];
    const play = minute({ weights });
    play.want(...calls('a', 300), ...calls('b', 300));
    const ofA = serve(play, play.now + 300_000)
      .slice(0, 120)
      .filter(({ tenant }) => tenant === 'a').length;
    expect(Math.abs(ofA - expected)).toBeLessThanOrEqual(3);
  });
  test('share tokens where tokens are what is short, by what they really used', () => {
    const play = minute({ limits: { requests: null, tokens: 10_000, concurrency: null } });
    const of = (tenant: string, tokens: number) => calls(tenant, 400).map((call) => ({ ...call, tokens }));
    play.want(...of('large', 400), ...of('small', 100));
    const served = serve(play, play.now + 300_000);
    const used = (tenant: string, tokens: number): number =>
      served.filter((each) => each.tenant === tenant).length * tokens;
    expect(Math.abs(used('large', 400) - used('small', 100))).toBeLessThanOrEqual(1_000);
  });
  test('that ask for more tokens than they use are served by what they use', () => {
    const play = minute({ limits: { requests: null, tokens: 10_000, concurrency: null } });
    play.want(...calls('careful', 400).map((call) => ({ ...call, tokens: 400 })));
    play.want(...calls('exact', 400).map((call) => ({ ...call, tokens: 100 })));
    const served = serve(play, play.now + 300_000, [], 500, 100);
    const careful = served.filter(({ tenant }) => tenant === 'careful').length;
    expect(Math.abs(2 * careful - served.length)).toBeLessThanOrEqual(10);
  });
  test('save nothing up while they ask for nothing', () => {
    const play = minute();
    const start = play.now;
    play.want(...calls('a', 5), ...calls('b', 300));
    const served = serve(play, start + 400_000, [
      { at: start + 200_000, ask: () => play.want(...calls('a', 60, 'silver', 5)) },
    ]);
    const back = served.findIndex(({ id }) => id === 'a5');
    const beside = served.slice(back, back + 40).filter(({ tenant }) => tenant === 'a').length;
    expect(beside).toBeGreaterThanOrEqual(19);
    expect(beside).toBeLessThanOrEqual(21 + 6);
  });
  test('save nothing up while one call of theirs goes on and on', () => {
    const play = minute();
    const start = play.now;
    play.want({ id: 'long', tenant: 'a' });
    play.want(...calls('b', 300));
    const asks = [{ at: start + 200_000, ask: () => play.want(...calls('a', 60)) }];
    serve(play, start + 199_000);
    const served = serve(play, start + 400_000, asks);
    const back = served.findIndex(({ id }) => id === 'a0');
    expect(served.slice(back, back + 40).filter(({ tenant }) => tenant === 'a').length).toBeLessThanOrEqual(27);
  });
  test('are forgotten once they have nothing more to do', () => {
    const play = minute();
    play.want(...calls('a', 3), ...calls('b', 3));
    expect(play.state.shares.map(({ tenant }) => tenant).sort()).toEqual(['a', 'b']);
    serve(play, play.now + 60_000);
    expect(play.state).toMatchObject({ shares: [], fairLine: 0, queue: [], grants: [] });
  });
});

describe('tiers', () => {
  const order = (play: GovernorPlay, ms: number): string[] => serve(play, play.now + ms, [], 0).map(({ id }) => id);
  const one = {
    limits: { requests: 1, tokens: null, concurrency: null },
    windowMs: 1_000,
    burst: 1,
    agingMs: 1_000_000,
  };

  test('go gold, silver, bronze, in order of arrival within a tier', () => {
    const play = new GovernorPlay(one);
    const tiers: [string, Tier][] = [
      ['s1', 'silver'],
      ['b1', 'bronze'],
      ['g1', 'gold'],
      ['s2', 'silver'],
      ['g2', 'gold'],
    ];
    play.say(
      tiers.map(([id, tier]) => ({
        type: 'wanted',
        demand: { id, tier, tenant: 'a', model: 'm', tokens: 0, worker: 'w' },
      })),
    );
    expect(order(play, 10_000)).toEqual(['g1', 'g2', 's1', 's2', 'b1']);
  });
  test('do not starve: a call that has waited goes before those of the next higher tier that come later', () => {
    const play = new GovernorPlay({ ...one, agingMs: 5_000 });
    const start = play.now;
    play.want({ id: 'first', tier: 'gold' }, { id: 'b', tier: 'bronze' });
    const golds = Array.from({ length: 60 }, (_, index) => ({
      at: start + index * 500,
      ask: () => play.want({ id: `g${index}`, tier: 'gold' }),
    }));
    const served = serve(play, start + 30_000, golds, 0);
    const bronze = served.find(({ id }) => id === 'b');
    expect(bronze?.waitedMs).toBeGreaterThan(9_000);
    expect(bronze?.waitedMs).toBeLessThan(22_000);
  });
  test('count between tenants, as far as nobody gets ahead of its share by that', () => {
    const play = minute({ burst: 1 });
    play.want(...calls('bronze', 100, 'bronze'), ...calls('gold', 100, 'gold'));
    // `want` fills the first window: gold leads by a tenth of a window, and from there they take turns.
    const granted = play.last?.granted.map(({ tenant }) => tenant) ?? [];
    expect(granted.slice(0, 6)).toEqual(Array.from({ length: 6 }, () => 'gold'));
    const gold = granted.filter((tenant) => tenant === 'gold').length;
    expect([granted.length, gold >= 30 && gold <= 34]).toEqual([60, true]);
  });
});
