import { holdClock, resumeClock } from '../../../src/domain/ledger/clock.js';
import { nextLedgerTick } from '../../../src/domain/ledger/settle.js';
import { ledgerView } from '../../../src/domain/ledger/view.js';
import { amount, LedgerPlay, terms } from '../../support/ledger-play.js';

describe('the time of an account', () => {
  const play = (): LedgerPlay => LedgerPlay.tree({ r: terms({ maxMs: 1_000 }), a: terms({ maxMs: 400 }) });

  test('limits a call to what is left at every level', () => {
    const at = play();
    expect(at.reserve('a', 1, amount(1))).toMatchObject({ outcome: 'admitted', timeLeftMs: 400 });
    at.now += 300;
    expect(at.reserve('a', 2, amount(1))).toMatchObject({ outcome: 'admitted', timeLeftMs: 100 });
    expect(at.reserve('b', 1, amount(1))).toMatchObject({ outcome: 'admitted', timeLeftMs: 700 });
    expect(LedgerPlay.tree().reserve('a', 1, amount(1))).toMatchObject({ timeLeftMs: null });
  });
  test('refuses calls once it is used up, and neither waiting nor a cheaper model helps', () => {
    const at = LedgerPlay.tree({ a: terms({ maxMs: 400 }, { cheaperPercent: 90 }) });
    at.reserve('a', 1, amount(1));
    at.now += 400;
    expect(at.reserve('a', 2, amount(1))).toMatchObject({
      outcome: 'refused',
      remedy: 'stop',
      faults: [{ accountId: 'a', message: 'has used up its time of 400 ms' }],
    });
  });
  test('stands still at every level below while a person is waited for, however many wait', () => {
    const at = play();
    at.now += 100;
    at.state = holdClock(at.state, 't', 'fr-1', at.now);
    at.state = holdClock(at.state, 't', 'fr-1', at.now);
    at.now += 10_000;
    at.state = holdClock(at.state, 'a', 'fr-2', at.now);
    at.state = resumeClock(at.state, 't', 'fr-1', at.now);
    at.now += 10_000;
    at.open('c', 'lane', 't');
    expect(ledgerView(at.state, at.now).map((each) => [each.account_id, each.elapsed_ms])).toEqual([
      ['acme', 20_100],
      ['r', 20_100],
      ['t', 10_100],
      ['a', 100],
      ['b', 10_100],
      ['c', 0],
    ]);
    at.state = resumeClock(at.state, 'a', 'fr-2', at.now);
    at.state = resumeClock(at.state, 'a', 'fr-2', at.now);
    at.now += 5;
    expect(ledgerView(at.state, at.now)[3]?.elapsed_ms).toBe(105);
  });
  test('of an account opened below one that stands still begins with it', () => {
    const at = play();
    at.state = holdClock(at.state, 'r', 'fr-1', at.now);
    at.open('c', 'lane', 't', terms({ maxMs: 10 }));
    at.now += 500;
    at.state = resumeClock(at.state, 'r', 'fr-1', at.now);
    expect(at.reserve('c', 1, amount(1))).toMatchObject({ outcome: 'admitted', timeLeftMs: 10 });
  });
  test('is looked at when it nears its end, and never while it stands still', () => {
    const at = LedgerPlay.tree({ r: terms({ maxMs: 1_000 }, { warnPercent: 80 }) });
    expect(nextLedgerTick(at.state, at.now)).toBe(at.now + 800);
    expect(at.after(799).steps).toEqual([]);
    expect(at.after(1).steps).toEqual(['warn r']);
    expect(nextLedgerTick(at.state, at.now)).toBe(at.now + 200);
    at.state = holdClock(at.state, 'r', 'fr-1', at.now);
    expect(nextLedgerTick(at.state, at.now)).toBeNull();
  });
});
