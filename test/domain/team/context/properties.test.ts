import fc from 'fast-check';
import { entriesOf, messagesOf, sessionOf } from '../../../../src/domain/team/context/book.js';
import { contextCategories } from '../../../../src/contracts/team.js';
import { ContextPlay } from './play.js';

const ids = ['a', 'b', 'c', 'd', 'e'];
const id = fc.constantFrom(...ids);
const text = fc.oneof(
  fc.constantFrom('!s', '+context', 'talk', 'a longer talk', '?x', '>x', '?y,z', '>y', '>z'),
  fc.string({ minLength: 1, maxLength: 12 }).map((some) => `.${some}`),
);
const move = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('add' as const),
      id,
      parent: fc.option(id),
      session: fc.option(id),
      window: fc.option(id),
      limit: fc.option(fc.integer({ min: 1, max: 60 })),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('write' as const),
      id,
      texts: fc.array(text, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('sync' as const),
      id,
      to: id,
      categories: fc.subarray([...contextCategories], { minLength: 1 }),
      replace: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('rewrite' as const), id, nth: fc.nat(5), content: text }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('remove' as const), id }) },
);
type Move = typeof move extends fc.Arbitrary<infer T> ? T : never;

const make = (at: ContextPlay, given: Move): void => {
  switch (given.type) {
    case 'add':
      at.add(given.id, given.parent, {
        sessionOf: given.session,
        windowOf: given.session ?? given.window,
        maxTokens: given.limit,
      });
      return;
    case 'write':
      at.write(given.id, ...given.texts);
      return;
    case 'sync':
      at.sync(given.id, given.to, { categories: given.categories, replace: given.replace });
      return;
    case 'rewrite': {
      const old = messagesOf(at.book, given.id)[given.nth]?.content;
      if (old !== undefined) at.rewrite(given.id, old, given.content);
      return;
    }
    case 'remove':
      at.remove(given.id);
  }
};

const seed = (): number =>
  Array.from(expect.getState().currentTestName ?? '').reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) | 0, 7);
const always = (look: (at: ContextPlay, given: Move, before: ContextPlay['book']) => void): void =>
  fc.assert(
    fc.property(fc.array(move, { minLength: 5, maxLength: 60 }), (moves) => {
      const at = new ContextPlay();
      for (const given of moves) {
        const { book } = at;
        make(at, given);
        look(at, given, book);
      }
    }),
    { seed: seed(), numRuns: 150 },
  );

const known = (at: ContextPlay) => at.book.agents.map(({ agentId }) => agentId);

describe('the contexts of a team, whatever happens to them,', () => {
  test('hold no window above its limit, and tell what it holds with every message counted once', () => {
    always((at) => {
      for (const agentId of known(at)) {
        const { stats, shares_with: others } = at.info(agentId) ?? {};
        const held = new Map(
          [agentId, ...(others ?? [])].flatMap((one) =>
            messagesOf(at.book, one).map(({ messageId, tokens }) => [messageId, tokens]),
          ),
        );
        const used = [...held.values()].reduce((sum, tokens) => sum + tokens, 0);
        expect(stats?.used_tokens).toBe(used);
        expect(used).toBeLessThanOrEqual(stats?.limit_tokens ?? Infinity);
        const own = messagesOf(at.book, agentId).reduce((sum, { tokens }) => sum + tokens, 0);
        expect((stats?.base_tokens ?? 0) + (stats?.own_tokens ?? 0)).toBe(own);
      }
    });
  });

  test('never lose a result of a call that stays, nor a call of a result that stays', () => {
    always((at, given, before) => {
      if (given.type !== 'write' || at.said !== '') return;
      for (const { agentId } of before.agents) {
        const was = messagesOf(before, agentId);
        const is = messagesOf(at.book, agentId);
        const calls = new Set(was.flatMap((message) => message.calls));
        const had = was.filter(({ resultOf }) => resultOf !== null && calls.has(resultOf));
        for (const { messageId, resultOf } of had) {
          const stays = is.some((message) => message.messageId === messageId);
          expect(is.some((message) => message.calls.includes(resultOf ?? ''))).toBe(stays);
        }
      }
    });
  });

  test('lose a system message only to a sync that replaces it, or to who writes it anew', () => {
    always((at, given, before) => {
      if (given.type === 'rewrite' || given.type === 'remove' || (given.type === 'sync' && given.replace)) return;
      for (const { agentId } of before.agents) {
        const is = new Set(messagesOf(at.book, agentId).map(({ messageId }) => messageId));
        for (const { category, messageId } of messagesOf(before, agentId)) {
          if (category === 'system') expect(is.has(messageId)).toBe(true);
        }
      }
    });
  });

  test('keep nothing that nobody holds, and nothing that is not there', () => {
    always((at) => {
      const { book } = at;
      const held = new Set(book.agents.flatMap((agent) => sessionOf(book, agent).entries));
      expect(new Set(Object.keys(book.messages).map(Number))).toEqual(held);
      expect(new Set(book.sessions.map(({ sessionId }) => sessionId))).toEqual(
        new Set(book.agents.map(({ sessionId }) => sessionId)),
      );
      for (const session of book.sessions) expect(entriesOf(book, session)).toHaveLength(session.entries.length);
    });
  });

  test('are seen alike by all who share a session, and changed for nobody else by a word of one', () => {
    always((at, given, before) => {
      if (given.type !== 'write') return;
      const writer = before.agents.find(({ agentId }) => agentId === given.id);
      for (const agent of before.agents) {
        if (agent.sessionId === writer?.sessionId) expect(at.sees(agent.agentId)).toBe(at.sees(given.id));
        const isApart = !writer || sessionOf(before, agent).windowId !== sessionOf(before, writer).windowId;
        if (isApart) expect(messagesOf(at.book, agent.agentId)).toEqual(messagesOf(before, agent.agentId));
      }
    });
  });
});
