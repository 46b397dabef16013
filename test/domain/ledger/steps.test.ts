import type { Remedy } from '../../../src/domain/ledger/reserve.js';
import type { AccountTerms } from '../../../src/domain/ledger/state.js';
import { amount, LedgerPlay, terms } from '../../support/ledger-play.js';

const spend = (play: LedgerPlay, accountId: string, number: number, tokens: number): LedgerPlay => {
  play.reserve(accountId, number, amount(tokens));
  play.settle(accountId, number, amount(tokens));
  return play;
};
const limited = (rules: Partial<AccountTerms> = {}): AccountTerms => terms({ maxTokens: 100 }, rules);

describe('the steps of a budget', () => {
  test('come in order, each told once, and end in a stop', () => {
    const play = LedgerPlay.tree({ r: limited({ warnPercent: 50, cheaperPercent: 80, asks: true }) });
    spend(play, 'a', 1, 49);
    expect(play.steps).toEqual([]);
    spend(play, 'a', 2, 1);
    spend(play, 'b', 1, 29);
    expect(play.steps).toEqual(['warn r']);
    expect(play.reserve('a', 3, amount(1))).toMatchObject({ outcome: 'admitted', wantsCheaper: false });
    play.settle('a', 3, amount(1));
    expect(play.steps).toEqual(['warn r', 'cheaper_model r']);
    expect(play.reserve('a', 4, amount(1))).toMatchObject({ outcome: 'admitted', wantsCheaper: true });
    play.settle('a', 4, amount(1));
    // What is not the cheapest is sent to a cheaper model; that does not fit either, so a person is asked.
    expect(play.reserve('a', 5, amount(30))).toMatchObject({ outcome: 'refused', remedy: 'cheaper_model' });
    expect(play.reserve('a', 5, amount(25), { isCheapest: true })).toMatchObject({ outcome: 'refused', remedy: 'ask' });
    expect(play.reserve('b', 2, amount(26), { isCheapest: true })).toMatchObject({ outcome: 'refused', remedy: 'ask' });
    expect(play.steps).toEqual(['warn r', 'cheaper_model r', 'ask r']);
    play.answer('r', 'stop');
    expect(play.reserve('b', 2, amount(26))).toMatchObject({ outcome: 'refused', remedy: 'stop' });
    expect(play.reserve('b', 2, amount(1))).toMatchObject({
      outcome: 'refused',
      remedy: 'stop',
      faults: [{ message: 'was stopped by a person, or as nobody answered; give it other limits to go on' }],
    });
    expect(play.steps).toEqual(['warn r', 'cheaper_model r', 'ask r', 'stop r']);
    expect(play.notices.map(({ message, unit }) => [unit, message])).toEqual([
      ['tokens', 'run r has used 50 of 100 tokens'],
      ['tokens', 'run r has used 80 of 100 tokens'],
      [null, 'run r needs 25 tokens; 19 of max_tokens 100 are left'],
      [
        null,
        'run r needs 26 tokens; 19 of max_tokens 100 are left; was stopped by a person, or as nobody answered; give it other limits to go on',
      ],
    ]);
  });
  test('come anew once a person has given other limits, but for those that are reached still', () => {
    const play = LedgerPlay.tree({ r: limited({ warnPercent: 50, cheaperPercent: 80, asks: true }) });
    spend(play, 'a', 1, 90);
    play.reserve('a', 2, amount(11), { isCheapest: true });
    expect(play.steps).toEqual(['warn r', 'cheaper_model r', 'ask r']);
    play.answer('r', terms({ maxTokens: 150 }).limits);
    expect(play.account('r')).toMatchObject({ told: ['warn'], asked: 'no' });
    spend(play, 'a', 2, 30);
    expect(play.steps.slice(3)).toEqual(['cheaper_model r']);
    play.reserve('a', 3, amount(31), { isCheapest: true });
    expect(play.steps.slice(4)).toEqual(['ask r']);
  });
  test('go on after a stop by a person only with other limits', () => {
    const play = LedgerPlay.tree({ r: limited() }).answer('r', 'stop');
    expect(play.reserve('a', 1, amount(1)).outcome).toBe('refused');
    play.answer('r', terms({ maxTokens: 100 }).limits);
    expect(play.reserve('a', 1, amount(1)).outcome).toBe('admitted');
  });
  test('are told by money and by time as well, and by nothing where nothing is used', () => {
    const rules = { warnPercent: 0 };
    const play = LedgerPlay.tree({ r: terms({ maxUsdMicros: 10 }, rules), a: terms({ maxMs: 10 }, rules) });
    expect(play.after(0).steps).toEqual([]);
    play.reserve('b', 1, amount(0, 1));
    play.settle('b', 1, amount(0, 1));
    play.after(1);
    expect(play.notices.map(({ message }) => message)).toEqual([
      'run r has used 0.000001 of 0.00001 USD',
      'lane a has used 1 ms of 10 ms',
    ]);
  });
  test('of several accounts are each its own', () => {
    const play = LedgerPlay.tree({ acme: limited({ warnPercent: 10 }), a: limited({ warnPercent: 10 }) });
    spend(play, 'a', 1, 10);
    expect(play.steps).toEqual(['warn acme', 'warn a']);
  });
});

describe('what helps against a refusal', () => {
  type Case = [string, AccountTerms, Partial<{ isCheapest: boolean }>, number, Remedy];
  test.each<Case>([
    ['nothing', limited(), {}, 101, 'stop'],
    ['a person', limited({ asks: true }), {}, 101, 'ask'],
    ['a cheaper model', limited({ cheaperPercent: 90, asks: true }), {}, 101, 'cheaper_model'],
    [
      'a person, as there is no cheaper model',
      limited({ cheaperPercent: 90, asks: true }),
      { isCheapest: true },
      101,
      'ask',
    ],
    ['nothing, as there is no cheaper model', limited({ cheaperPercent: 90 }), { isCheapest: true }, 101, 'stop'],
    ['to wait, as open calls hold what it needs', limited({ cheaperPercent: 90, asks: true }), {}, 100, 'wait'],
  ])('is %s', (_, of, rest, tokens, remedy) => {
    const play = LedgerPlay.tree({ r: of });
    play.reserve('b', 1, amount(1));
    expect(play.reserve('a', 1, amount(tokens), rest)).toMatchObject({ outcome: 'refused', remedy });
    expect(play.steps).toEqual(remedy === 'wait' ? [] : [`${remedy} r`]);
  });
  test.each<[AccountTerms, AccountTerms, Remedy, string[]]>([
    [limited({ asks: true }), limited(), 'stop', ['stop t']],
    [limited({ asks: true }), limited({ cheaperPercent: 90 }), 'ask', ['ask r']],
    [limited({ asks: true }), limited({ asks: true }), 'ask', ['ask r', 'ask t']],
  ])('is the hardest of what each account offers (case %#)', (r, t, remedy, steps) => {
    const play = LedgerPlay.tree({ r, t });
    expect(play.reserve('a', 1, amount(101))).toMatchObject({ remedy });
    expect(play.steps).toEqual(steps);
  });
});

describe('the last call of a budget', () => {
  const last = (): LedgerPlay =>
    LedgerPlay.tree({ t: terms({ maxTokens: 100, maxUsdMicros: 50 }, { lastCall: 'admitted' }) });

  test('is admitted while something is left, and nothing with it', () => {
    const play = last();
    play.reserve('a', 1, amount(90));
    expect(play.reserve('a', 2, amount(40)).outcome).toBe('admitted');
    expect(play.reserve('b', 1, amount(1))).toMatchObject({ outcome: 'refused', remedy: 'wait' });
    play.settle('a', 1, amount(10));
    expect(play.reserve('b', 1, amount(50)).outcome).toBe('admitted');
    expect(play.reserve('b', 2, amount(1))).toMatchObject({ outcome: 'refused', remedy: 'wait' });
  });
  test('is refused once nothing is left', () => {
    const play = spend(last(), 'a', 1, 100);
    expect(play.reserve('a', 2, amount(1))).toMatchObject({ outcome: 'refused', remedy: 'stop' });
    expect(play.reserve('a', 2, amount(0)).outcome).toBe('admitted');
  });
  test('needs something left of money too, where it costs money', () => {
    const play = last();
    play.reserve('a', 1, amount(0, 50));
    play.settle('a', 1, amount(0, 50));
    expect(play.reserve('a', 2, amount(1, 1)).outcome).toBe('refused');
    expect(play.reserve('a', 2, amount(101)).outcome).toBe('admitted');
  });
  test('whose use nobody caps runs beside calls that fit, but not beside its like', () => {
    const play = last();
    expect(play.reserve('a', 1, amount(10), { isCapped: false }).outcome).toBe('admitted');
    expect(play.reserve('a', 2, amount(10)).outcome).toBe('admitted');
    expect(play.reserve('b', 1, amount(10), { isCapped: false })).toMatchObject({
      outcome: 'refused',
      remedy: 'wait',
      faults: [{ accountId: 't', message: expect.stringContaining('another such call has to wait') as string }],
    });
    play.settle('a', 1, amount(10));
    expect(play.reserve('b', 1, amount(10), { isCapped: false }).outcome).toBe('admitted');
  });
  test('whose use nobody caps is refused once its limit is passed, though it is thought to be free', () => {
    const play = spend(LedgerPlay.tree({ t: terms({ maxTokens: 100 }) }), 'a', 1, 100);
    expect(play.reserve('a', 2, amount(0), { isCapped: false }).outcome).toBe('admitted');
    play.settle('a', 2, amount(1));
    expect(play.reserve('a', 3, amount(0), { isCapped: false })).toMatchObject({
      outcome: 'refused',
      remedy: 'stop',
      faults: [{ message: 'has passed its limit; what a further call uses is not known' }],
    });
    expect(play.reserve('a', 3, amount(0)).outcome).toBe('admitted');
  });
  test('of an account without a limit is any call', () => {
    const play = LedgerPlay.tree();
    expect(play.reserve('a', 1, amount(1), { isCapped: false }).outcome).toBe('admitted');
    expect(play.reserve('a', 2, amount(1), { isCapped: false }).outcome).toBe('admitted');
  });
});
