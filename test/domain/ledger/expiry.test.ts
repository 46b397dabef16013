import { addsUp, expireHolder, nextLedgerTick, renewHolder, reportUse } from '../../../src/domain/ledger/settle.js';
import { amount, LedgerPlay, terms } from '../../support/ledger-play.js';

describe('a reservation of a dead holder', () => {
  test('goes back when its time comes, and not a millisecond before', () => {
    const play = LedgerPlay.tree({ t: terms({ maxTokens: 10 }) });
    play.reserve('a', 1, amount(10), { expiresAt: play.now + 500 });
    expect(nextLedgerTick(play.state, play.now)).toBe(play.now + 500);
    expect(play.after(499).state.calls).toHaveLength(1);
    expect(play.after(1).state.calls).toEqual([]);
    expect(play.account('acme').reserved).toEqual(amount(0, 0));
    expect(nextLedgerTick(play.state, play.now)).toBeNull();
    expect(play.reserve('b', 1, amount(10)).outcome).toBe('admitted');
  });
  test('is kept while the holder says that it lives', () => {
    const play = LedgerPlay.tree();
    play.reserve('a', 1, amount(10), { expiresAt: play.now + 500 });
    play.reserve('b', 1, amount(10), { expiresAt: play.now + 500, holder: 'w2' });
    play.state = renewHolder(play.state, 'w1', play.now + 900);
    expect(play.after(500).state.calls.map(({ accountId }) => accountId)).toEqual(['a']);
    play.state = renewHolder(play.state, 'w1', play.now + 100);
    expect(nextLedgerTick(play.state, play.now)).toBe(play.now + 400);
  });
  test("goes back at once where the holder is known to be dead, and nobody else's does", () => {
    const play = LedgerPlay.tree();
    play.reserve('a', 1, amount(3));
    play.reserve('a', 2, amount(4));
    play.reserve('b', 1, amount(5), { holder: 'w2' });
    const { ledger, expired } = expireHolder(play.state, 'w1');
    expect(expired.map(({ number }) => number)).toEqual([1, 2]);
    expect(ledger.accounts.map(({ reserved }) => reserved.tokens)).toEqual([5, 5, 5, 0, 5]);
    expect(addsUp(ledger)).toBe(true);
  });
  test('does not keep what its call used from being spent, once', () => {
    const play = LedgerPlay.tree();
    play.reserve('a', 1, amount(10), { expiresAt: play.now + 1 });
    play.after(1);
    expect([play.settle('a', 1, amount(4)), play.settle('a', 1, amount(4))]).toEqual(['late', 'repeated']);
    expect(play.account('acme').spent.tokens).toBe(4);
  });
  test('leaves its number to the call that is tried again', () => {
    const play = LedgerPlay.tree();
    play.reserve('a', 1, amount(10), { expiresAt: play.now + 1 });
    play.after(1);
    expect(play.reserve('a', 1, amount(10)).outcome).toBe('admitted');
  });
});

describe('a call that streams', () => {
  const streaming = (): LedgerPlay => {
    const play = LedgerPlay.tree({ t: terms({ maxTokens: 100 }) });
    play.reserve('a', 1, amount(60));
    return play;
  };
  test.each([
    [60, 60, []],
    [70, 70, []],
    [100, 100, []],
    [101, 101, ['needs 101 tokens; 100 of max_tokens 100 are left']],
  ])('and has used %i tokens of 60 holds %i', (used, held, messages) => {
    const { ledger, faults } = reportUse(streaming().state, { accountId: 'a', number: 1 }, amount(used));
    expect(ledger.accounts.map(({ reserved }) => reserved.tokens)).toEqual([held, held, held, held, 0]);
    expect(faults.map(({ message }) => message)).toEqual(messages);
    expect(addsUp(ledger)).toBe(true);
  });
  test('leaves what others hold out of its own room', () => {
    const play = streaming();
    play.reserve('b', 1, amount(40));
    expect(reportUse(play.state, { accountId: 'a', number: 1 }, amount(61)).faults).toHaveLength(1);
  });
  test('and is over holds nothing', () => {
    const play = streaming();
    play.settle('a', 1, amount(1));
    expect(reportUse(play.state, { accountId: 'a', number: 1 }, amount(500))).toEqual({
      ledger: play.state,
      faults: [],
    });
  });
});
