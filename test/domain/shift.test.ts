import fc from 'fast-check';
import { shifted } from '../../src/domain/shift.js';
import type { DebateMove } from '../support/random-debate.js';
import { DebatePlay, plan } from '../support/debate-play.js';
import { FanOutPlay, setupOf } from '../support/fan-out-play.js';
import { playDebate, randomDebate } from '../support/random-debate.js';
import { playOut, randomPlay } from '../support/random-play.js';
import { RefinementPlay, scored } from '../support/refinement-play.js';
import { Play } from '../support/session-play.js';

const ms = 3_600_000;

/**
 * What of a state is told once and not moved is made equal: what was said, when people were asked and answered, and results. The
 * times of a request that is open stay, so that they are compared. An account is as old as its work, and moved all the same: no time
 * in which it stood still counts.
 */
const normal = (value: unknown, path: readonly string[] = []): unknown => {
  if (Array.isArray(value)) return value.map((item) => normal(item, path));
  if (typeof value === 'string') {
    const isOpenTime = path.at(-1) === 'expires_at' || path.at(-1) === 'escalate_at';
    return isOpenTime ? value : value.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|^fr-\d{8}-/g, 'a stamp');
  }
  if (typeof value !== 'object' || value === null) return value;
  const isClosed = 'state' in value && 'request' in value && value.state !== 'open';
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'pending' && name !== 'result' && name !== 'openedAt')
      .map(([name, member]) => [name, normal(member, [...path, isClosed ? `closed ${name}` : name])]),
  );
};
/** Times of closed requests are no part of the comparison. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(normal(value), (name, member: unknown) =>
      typeof member === 'object' &&
      member !== null &&
      'request' in member &&
      'state' in member &&
      member.state !== 'open'
        ? { state: member.state }
        : member,
    ),
  );

/** States that a play passes, but for the first; its clock goes so much ahead before anything happens. */
type Passed = (ahead: number) => unknown[];
const expectMoved = (passed: Passed): void => {
  const [usual, ahead] = [passed(0), passed(ms)];
  expect(usual.length).toBeGreaterThan(0);
  expect(usual.length).toBe(ahead.length);
  usual.forEach((state, index) => expect(plain(shifted(state, ms))).toEqual(plain(ahead[index])));
};

/** The first that is seen is the state in which the play begins. */
const recorder = <P extends { now: number }>(ahead: number, state: (play: P) => unknown) => {
  const states: unknown[] = [];
  let begun = false;
  const seen = (play: P): void => {
    if (begun) states.push(state(play));
    else play.now += ahead;
    begun = true;
  };
  return { states, seen };
};

describe('a state moved in time is as if everything had happened later', () => {
  test('for sessions', () => {
    const claim = fc.property(randomPlay, (random) =>
      expectMoved((ahead) => {
        const { states, seen } = recorder<Play>(ahead, ({ session }) => session);
        playOut(random, seen);
        return states;
      }),
    );
    fc.assert(claim, { seed: 7, numRuns: 40 });
  });

  test('for debates', () => {
    const claim = fc.property(randomDebate, (random) =>
      expectMoved((ahead) => {
        const { states, seen } = recorder<DebatePlay>(ahead, ({ debate }) => debate);
        playDebate(random, seen, seen);
        return states;
      }),
    );
    fc.assert(claim, { seed: 7, numRuns: 40 });
  });

  test('for fan-outs', () => {
    expectMoved((ahead) => {
      const play = new FanOutPlay(setupOf());
      play.now += ahead;
      const states: unknown[] = [];
      const after = (): void => void states.push(play.fanOut);
      play.send({ type: 'START' });
      after();
      play.send({ type: 'PREPARED' });
      after();
      play.now += 10;
      play.end('t1');
      after();
      play.fail('t2');
      after();
      play.pass(play.fanOut.setup.barrier.timeout_ms);
      after();
      return states;
    });
  });

  test('for refinements', () => {
    expectMoved((ahead) => {
      const play = new RefinementPlay();
      play.now += ahead;
      const states: unknown[] = [];
      const after = (): void => void states.push(play.refinement);
      play.start();
      after();
      play.after(5).generated({ outcome: 'generated', output: 'v1' });
      after();
      play.after(5).critiqued({ outcome: 'unscored', faults: ['none'] });
      after();
      play.after(5).critiqued(scored(0.2));
      after();
      play.wait();
      after();
      return states;
    });
  });
});

describe('moving a state in time', () => {
  test('leaves what others wrote alone, whatever its members are called', () => {
    const said = { at: 5, endedAt: 6, since: 7, list: [{ startedAt: 8 }] };
    const session = new Play().open().final('a', said).session;
    expect(shifted(session, ms).lanes[0]?.answer).toEqual(said);
    const fanOut = new FanOutPlay(setupOf())
      .begin()
      .end('t1', { outcome: 'completed', output: said, kept: null }).fanOut;
    expect(shifted(fanOut, ms).tasks[0]?.output).toEqual(said);
    const play = new RefinementPlay().start().generated({ outcome: 'generated', output: said });
    play.critiqued(scored(0.1, { scores: { at: 0.1 } }));
    const [version] = shifted(play.refinement, ms).versions;
    expect([version?.output, version?.critique?.scores]).toEqual([said, { at: 0.1 }]);
    expect(shifted(session, ms).setup).toEqual(session.setup);
  });

  test('keeps when the work began, and gives an open approval the time that it had', () => {
    const play = new DebatePlay({ plan: plan('t1'), approval: { required: true, timeout_ms: 60_000 } }).open().pass();
    const [moved] = shifted(play.debate, ms).approvals;
    const [asked] = play.debate.approvals;
    expect(play.state).toBe('AWAITING_APPROVAL');
    expect(shifted(play.debate, ms).startedAt).toBe(play.startedAt);
    expect(Date.parse(moved?.request.expires_at ?? '')).toBe(Date.parse(asked?.request.expires_at ?? '') + ms);
    expect(moved?.request.opened_at).toBe(asked?.request.opened_at);
  });

  test('leaves an approval that was answered as it stands: it is evidence', () => {
    const body = { plan: plan('t1'), approval: { required: true, timeout_ms: 60_000 } };
    const play = new DebatePlay(body).open().pass().feedback('approve');
    expect(shifted(play.debate, ms).approvals).toEqual(play.debate.approvals);
  });

  test('there and back again changes nothing', () => {
    const moves: DebateMove[] = [{ type: 'due' }];
    const random = fc.sample(randomDebate, { seed: 3, numRuns: 20 });
    for (const each of random) {
      const { debate } = playDebate({ ...each, moves: [...each.moves, ...moves] });
      expect(shifted(shifted(debate, ms), -ms)).toEqual(debate);
    }
  });
});
