import { contextInfoSchema } from '../../../../src/contracts/team-status.js';
import { sharersOf, sharesWindow } from '../../../../src/domain/team/context/info.js';
import { ContextPlay } from './play.js';

const parent = (limit: number | null = 100) =>
  new ContextPlay().add('p', null, { maxTokens: limit }).write('p', '!sys', '+ctx', 'talk');

describe('an isolated agent', () => {
  test("begins with copies of its parent's system and context messages, and sees nothing that comes later until a sync", () => {
    const at = parent().add('c', 'p');
    at.write('p', '+new').write('c', 'mine');
    expect([at.sees('p'), at.sees('c')]).toEqual(['!sys +ctx talk +new', '!sys +ctx mine']);
    at.sync('p', 'c', { replace: true });
    expect(at.sees('c')).toBe('!sys mine +ctx +new');
  });

  test.each([
    [100, 40, 40, []],
    [100, null, 100, []],
    [null, 40, 40, []],
    [null, null, null, []],
    [100, 100, 100, []],
    [100, 500, 100, ['the window of "c" was clamped from 500 to 100 tokens, the most that it may have here']],
  ])(
    'under one with a limit of %s that asks for %s has %s, told on both sides where that is less',
    (limit, asked, has, notices) => {
      const at = parent(limit).add('c', 'p', { maxTokens: asked });
      expect([at.info('c')?.stats?.limit_tokens, at.info('c')?.notices, at.info('p')?.notices]).toEqual([
        has,
        notices,
        notices,
      ]);
    },
  );

  test('counts by itself what it has in common with its parent, in a window that is not the same', () => {
    const at = parent().add('c', 'p');
    expect([at.stats('p'), at.stats('c')]).toEqual([
      [12, 0, 12, 88],
      [8, 0, 8, 92],
    ]);
  });

  test('whose window is too small for what it inherits loses context first, and is refused for system messages alone', () => {
    const at = parent().add('c', 'p', { maxTokens: 5 });
    expect([at.said, at.sees('c'), at.info('c')?.stats?.trimmed_messages]).toEqual(['', '!sys', 1]);
    const before = at.book;
    at.add('d', 'p', { maxTokens: 3 });
    expect(at.said).toBe(
      'agent "d" cannot begin: its parent\'s system messages are 1 tokens more than its window holds; raise shared_context_window_max_tokens',
    );
    expect(at.book).toBe(before);
  });
});

describe('an agent that shares', () => {
  test("its parent's session has all that the parent hears, and the parent all that it hears", () => {
    const at = parent().add('c', 'p', { sessionOf: 'p', windowOf: 'p' });
    at.write('p', 'a').write('c', 'b');
    expect([at.sees('c'), at.sees('p')]).toEqual(['!sys +ctx talk a b', '!sys +ctx talk a b']);
    expect([at.stats('p'), at.stats('c')]).toEqual([
      [14, 14, 0, 86],
      [14, 14, 0, 86],
    ]);
  });

  test("its parent's window alone counts against one limit, what both hold once, and hears nothing without a sync", () => {
    const at = parent().add('c', 'p', { windowOf: 'p' });
    at.write('p', '+later').write('c', 'mine');
    expect([at.sees('p'), at.sees('c')]).toEqual(['!sys +ctx talk +later', '!sys +ctx mine']);
    expect([at.stats('p'), at.stats('c')]).toEqual([
      [22, 8, 10, 78],
      [22, 8, 4, 78],
    ]);
    at.sync('p', 'c', { replace: true });
    expect([at.sees('c'), at.stats('c')]).toEqual(['!sys mine +ctx +later', [22, 14, 4, 78]]);
  });

  test('another than its parent inherits from its parent and counts with the other', () => {
    const at = parent().add('q').write('q', '!other').add('c', 'p', { windowOf: 'q' });
    expect([at.sees('c'), at.info('c')]).toEqual([
      '!sys +ctx',
      expect.objectContaining({ shares_with: ['q'], shares_with_parent: false, parent: 'p' }),
    ]);
    at.add('d', 'p', { sessionOf: 'q', windowOf: 'q' });
    expect(at.sees('d')).toBe('!other');
  });

  test('is told where the limit that it asks for has no effect', () => {
    const at = parent().add('c', 'p', { windowOf: 'p', maxTokens: 7 });
    expect(at.info('c')?.notices).toEqual(['7 tokens have no effect: it shares the window of "p"']);
  });

  test('a message and writes it anew leaves it to the others as it was', () => {
    const at = parent().add('c', 'p', { windowOf: 'p' }).rewrite('c', '!sys', '!mine');
    expect([at.sees('c'), at.sees('p')]).toEqual(['!mine +ctx', '!sys +ctx talk']);
    expect([at.stats('p'), at.stats('c')]).toEqual([
      [17, 4, 8, 83],
      [17, 4, 5, 83],
    ]);
  });
});

describe('a context that cannot be had', () => {
  test.each<[string, Parameters<ContextPlay['add']>, string]>([
    ['is of an agent that has one', ['p'], 'agent "p" has a context already'],
    ['is of its own child', ['c', 'c'], 'agent "c" can be neither its own parent nor share with itself'],
    [
      'is shared with itself',
      ['c', 'p', { windowOf: 'c' }],
      'agent "c" can be neither its own parent nor share with itself',
    ],
    ['is under nobody', ['c', 'x'], 'agent "x" has no context; p, q have'],
    ['is shared with nobody', ['c', 'p', { sessionOf: 'x', windowOf: 'x' }], 'agent "x" has no context; p, q have'],
    [
      'is one session and another window',
      ['c', 'p', { sessionOf: 'p', windowOf: 'q' }],
      'agent "c" cannot share the session of "p" and the window of "q": a session brings its window',
    ],
  ])('because it %s leaves no trace', (_, given, message) => {
    const at = parent().add('q');
    const before = at.book;
    at.add(...given);
    expect([at.said, at.book]).toEqual([message, before]);
  });
});

describe('who shares a window with whom', () => {
  const at = parent()
    .add('a', 'p', { windowOf: 'p' })
    .add('b', 'a', { windowOf: 'a' })
    .add('c', 'b', { sessionOf: 'b', windowOf: 'b' })
    .add('alone', 'p');

  test('goes over a chain, leaves out the agent itself, and knows nothing of strangers', () => {
    expect([sharersOf(at.book, 'c'), sharersOf(at.book, 'alone'), sharersOf(at.book, 'x')]).toEqual([
      ['p', 'a', 'b'],
      [],
      [],
    ]);
    expect([
      sharesWindow(at.book, 'alone', 'alone'),
      sharesWindow(at.book, 'x', 'x'),
      sharesWindow(at.book, 'x', 'p'),
    ]).toEqual([true, false, false]);
  });

  test('is told of an agent with its parent and its children', () => {
    expect([at.info('p'), at.info('c'), at.info('x')]).toEqual([
      expect.objectContaining({
        children: ['a', 'alone'],
        children_sharing: ['a'],
        parent: null,
        shares_with_parent: false,
      }),
      expect.objectContaining({
        parent: 'b',
        shares_with_parent: true,
        shares_session_with_parent: true,
        children: [],
      }),
      null,
    ]);
    expect(contextInfoSchema.safeParse(at.info('p')).error).toBeUndefined();
  });

  test("changes when one goes: its children are its parent's, and what it alone held is gone", () => {
    const gone = parent()
      .add('a', 'p', { windowOf: 'p' })
      .add('b', 'a')
      .write('a', 'only mine')
      .remove('a')
      .remove('x');
    expect([gone.info('b')?.parent, gone.info('p')?.children, gone.stats('p')]).toEqual(['p', ['b'], [12, 0, 12, 88]]);
  });
});
