import { ContextPlay } from './play.js';

const agent = (limit: number, ...texts: string[]) =>
  new ContextPlay().add('a', null, { maxTokens: limit }).write('a', ...texts);

describe('a full window', () => {
  test('drops the oldest first, and keeps what is system', () => {
    const at = agent(20, '!sys', 'one', '!two', 'three').write('a', 'four', 'five');
    expect([at.sees('a'), at.info('a')?.stats?.trimmed_messages]).toEqual(['!sys !two four five', 2]);
  });

  test.each<[string, string[], string]>([
    ['a call with its result', ['!s', '?x', '>x', 'a'], '!s a bbbbbbb'],
    ['a call of two with both results', ['!s', '?x,y', '>x', '>y'], '!s bbbbbbb'],
    ['a call with its result over what stands between', ['?x', 'mid', '>x'], 'mid bbbbbbb'],
    ['a result alone, whose call is not there', ['>x aaa', 'mid'], 'mid bbbbbbb'],
  ])('drops %s as one', (_, texts, left) => {
    expect(
      agent(10, ...texts)
        .write('a', 'bbbbbbb')
        .sees('a'),
    ).toBe(left);
  });

  test('keeps a call whose result is still to come, and drops what is younger instead', () => {
    const at = agent(12, '?x,y', '>x', 'talk').write('a', 'more', '>y');
    expect(at.sees('a')).toBe('?x,y >x more >y');
  });

  test('refuses as a whole what does not fit even so, and changes nothing', () => {
    const at = agent(10, '!system', 'ab');
    const before = at.book;
    at.write('a', '1234', '5678');
    expect(at.said).toBe(
      'agent "a" has no room for this: 5 tokens more than the 10 of its window, with all dropped that may be; shorten it',
    );
    expect(at.book).toBe(before);
    expect(at.write('a', '123').sees('a')).toBe('!system 123');
  });

  test('is filled to its limit exactly', () => {
    expect(agent(10, '12345').write('a', '67890').stats('a')).toEqual([10, 0, 10, 0]);
  });

  test('that several share drops the oldest of all of them, and what two hold from both', () => {
    const at = new ContextPlay().add('p', null, { maxTokens: 20 }).write('p', '!sys', '+ctx', 'talk');
    at.add('c', 'p', { windowOf: 'p' }).write('c', 'mine').write('p', 'newer');
    expect([at.sees('p'), at.sees('c'), at.stats('c')]).toEqual(['!sys talk newer', '!sys mine', [17, 4, 4, 3]]);
  });

  test('drops nothing from a window that is another, though it holds the same', () => {
    const at = new ContextPlay().add('p', null, { maxTokens: 12 }).write('p', '!sys', '+ctx').add('c', 'p');
    at.write('p', '12345678');
    expect([at.sees('p'), at.sees('c')]).toEqual(['!sys 12345678', '!sys +ctx']);
  });

  test('knows two calls of one name in two sessions apart', () => {
    const at = new ContextPlay().add('p', null, { maxTokens: 12 }).add('c', 'p', { windowOf: 'p' });
    at.write('c', '?x').write('p', '?x', '>x', 'aaaa').write('p', 'bbbb');
    expect([at.sees('p'), at.sees('c')]).toEqual(['aaaa bbbb', '?x']);
  });

  test('drops a call that was written anew with its result', () => {
    const at = agent(10, '?x', '>x', 'ab').rewrite('a', '?x', '?x!').write('a', '1234567');
    expect(at.sees('a')).toBe('ab 1234567');
  });
});

describe('a sync', () => {
  const pair = () =>
    new ContextPlay()
      .add('p', null, { maxTokens: 100 })
      .write('p', '!sys', '+ctx', 'talk', '?x', '>x', '?open')
      .add('c', 'p')
      .write('c', 'mine');

  test.each([
    [['dialog'], '!sys +ctx mine talk', 1],
    [['tool'], '!sys +ctx mine ?x >x', 2],
    [['dialog', 'tool'], '!sys +ctx mine talk ?x >x', 3],
  ] as const)('of %j copies these, calls only with their results', (categories, sees, copied) => {
    const at = pair().sync('p', 'c', { categories });
    expect([at.sees('c'), at.synced]).toEqual([sees, { copied, removed: 0, dropped: 0, note: null }]);
  });

  test('that adds leaves what is copied twice there twice, and counts it twice; calls stay once', () => {
    const at = pair()
      .sync('p', 'c', { categories: ['system', 'tool'] })
      .sync('p', 'c', { categories: ['system', 'tool'] });
    expect([at.sees('c'), at.stats('c')]).toEqual(['!sys !sys !sys +ctx mine ?x >x', [24, 0, 24, 76]]);
  });

  test('that replaces takes away what the child had of these categories, and of no others', () => {
    const at = pair()
      .write('c', '+own', '?c')
      .sync('p', 'c', { categories: ['context', 'tool'], replace: true });
    expect([at.sees('c'), at.synced?.removed]).toEqual(['!sys mine ?c +ctx ?x >x', 2]);
  });

  test('copies to the other side as well, and between agents that are not kin', () => {
    const at = pair()
      .add('other')
      .sync('c', 'other', { categories: ['dialog'] });
    expect(at.sees('other')).toBe('mine');
  });

  test('trims the child where its window is full, and is refused where even so it does not fit', () => {
    const at = new ContextPlay()
      .add('p')
      .write('p', '+0123456789')
      .add('c', null, { maxTokens: 14 })
      .write('c', 'talk', 'x');
    at.sync('p', 'c');
    expect([at.sees('c'), at.synced?.dropped]).toEqual(['x +0123456789', 1]);
    at.add('small', null, { maxTokens: 5 }).write('small', 'keep');
    const before = at.book;
    at.sync('p', 'small');
    expect([at.said, at.book]).toEqual([
      'agent "small" has no room for this: 6 tokens too many; ask for fewer categories',
      before,
    ]);
  });

  test.each([
    ['p', 'x', 'agent "x" has no context; p, c, twin have'],
    ['x', 'c', 'agent "x" has no context; p, c, twin have'],
    ['p', 'p', 'agent "p" cannot be synced with itself; name another'],
  ])('from %s to %s is refused, and makes nobody', (from, to, message) => {
    const at = pair().add('twin', 'p', { sessionOf: 'p', windowOf: 'p' });
    const before = at.book;
    at.sync(from, to);
    expect([at.said, at.book]).toEqual([message, before]);
  });

  test('between two of one session has nothing to copy, and says so', () => {
    const at = pair().add('twin', 'p', { sessionOf: 'p', windowOf: 'p' }).sync('p', 'twin');
    expect(at.synced).toEqual({
      copied: 0,
      removed: 0,
      dropped: 0,
      note: 'p and twin share one session: there is nothing to copy',
    });
  });
});
