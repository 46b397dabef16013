import { setTimeout as delay } from 'node:timers/promises';
import request from 'supertest';
import { roles } from '../../src/contracts/access.js';
import type { InboxAnswered, InboxList } from '../../src/contracts/inbox.js';
import { ParleyError } from '../../src/domain/errors.js';
import { readNote } from '../../src/domain/inbox/asks.js';
import { Inbox } from '../../src/gateway/inbox.js';
import { InboxWatch } from '../../src/gateway/inbox-watch.js';
import type { SseMessage } from '../../src/gateway/sse.js';
import { FakeAsking, requestIdOf, subject } from './fake-asking.js';
import { createRig } from './rig.js';

const keyOf = (name: string): string => `key-of-${name}-0123456789`;
const keys = JSON.stringify([
  ...roles.map((role) => ({ name: role, role, key: keyOf(role) })),
  { name: 'dora', role: 'approver', tenant: 'other', key: keyOf('dora') },
]);

interface HowAnswered {
  name?: string;
  query?: string;
  key?: string;
}

const anInbox = (env: Record<string, string> = {}) => {
  const { app, ports, draining } = createRig({ env });
  const asking = new FakeAsking();
  ports.inbox = new Inbox(asking, [asking]);
  ports.inboxWatch = new InboxWatch(ports.inbox, { pollMs: 5 });
  const as = (name?: string): Record<string, string> => (name ? { authorization: `Bearer ${keyOf(name)}` } : {});
  const list = async (query = '', name?: string): Promise<InboxList> =>
    (await request(app).get(`/v1/inbox${query}`).set(as(name)).expect(200)).body as InboxList;
  const answer = (body: object | string, { name, query = '?provided_by=anna', key }: HowAnswered = {}) =>
    request(app)
      .post(`/v1/inbox/answers${query}`)
      .set({
        ...as(name),
        ...(key !== undefined && { 'idempotency-key': key }),
        'content-type': typeof body === 'string' ? 'text/plain' : 'application/json',
      })
      .send(body);
  const answered = async (body: object | string, options?: HowAnswered): Promise<InboxAnswered> =>
    (await answer(body, options).expect(200)).body as InboxAnswered;
  return { app, ports, asking, draining, as, list, answer, answered };
};

describe('the inbox', () => {
  test('shows what is asked, since when, who may answer, and exactly what is approved', async () => {
    const { asking, list } = anInbox();
    const { request: asked } = asking.ask('d1', { needed: 2, approvers: ['anna', 'ben'], startedBy: 'olga' });
    const { items, open, unread, next_cursor } = await list();
    expect([open, unread, next_cursor]).toEqual([1, [], null]);
    expect(items).toEqual([
      {
        work_id: 'd1',
        kind: 'debate',
        tenant: 'default',
        name: null,
        about: 'Do d1',
        request: asked,
        age_ms: expect.any(Number),
        content: subject,
        policy_version: 'test-1',
        approvals: 0,
        needed: 2,
        approved_by: [],
        may_answer: ['anna', 'ben'],
        may_not_approve: 'olga',
        asked_before: 0,
        links: expect.objectContaining({ self: '/v1/debates/d1' }),
      },
    ]);
  });

  test('shows no content that is not what the digest is made of', async () => {
    const { asking, list } = anInbox();
    asking.ask('d1', { subject: { another: 'plan' } });
    expect((await list()).items[0]).toMatchObject({ content: null, request: { digest: expect.any(String) } });
  });

  test.each(['oldest', 'newest'] as const)('lists the %s first, page by page, each item once', async (order) => {
    const { asking, list } = anInbox();
    const ids = Array.from({ length: 7 }, (_, index) => `d${index}`);
    for (const id of ids) asking.ask(id);
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: InboxList = await list(`?order=${order}&limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`);
      expect(page.open).toBe(7);
      seen.push(...page.items.map(({ work_id }) => work_id));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(order === 'oldest' ? ids : ids.toReversed());
  });

  test('names what waits and cannot be asked, and lists the rest', async () => {
    const { asking, list } = anInbox();
    asking.ask('d1');
    asking.ask('d2');
    asking.failing.set('d1', new ParleyError('unavailable', 'Temporal or its workers do not answer now.'));
    const { items, unread } = await list();
    expect(items.map(({ work_id }) => work_id)).toEqual(['d2']);
    expect(unread).toEqual([{ work_id: 'd1', kind: 'debate', message: 'Temporal or its workers do not answer now.' }]);
  });

  test('keeps what it knows of work that does not answer for a moment', async () => {
    const { asking, list, ports } = anInbox();
    asking.ask('d1');
    await list();
    asking.failing.set('d1', new ParleyError('unavailable', 'Temporal or its workers do not answer now.'));
    await ports.inbox.read({ id: 'd1', kind: 'debate', tenant: 'default' });
    expect(await list()).toMatchObject({ items: [{ work_id: 'd1' }], unread: [] });
  });

  test('asks no work that has noted what it asks, and believes no note of what was answered a moment ago', async () => {
    const { asking, list, answered } = anInbox();
    for (const id of ['d1', 'd2']) {
      asking.ask(id, { needed: id === 'd1' ? 2 : 1 });
      asking.note(id);
    }
    expect(await list()).toMatchObject({ items: [{ work_id: 'd1', content: subject }, { work_id: 'd2' }], open: 2 });
    expect(asking.asked).toEqual([]);
    const approve = (...ids: string[]) => answered(ids.map((work_id) => ({ work_id, response: 'approve' })));
    expect((await approve('d1', 'd2')).applied).toMatchObject([{ outcome: 'pending' }, { outcome: 'approved' }]);
    expect(asking.asked).toEqual([]);
    // The visibility store lags: both notes are still those of before.
    asking.held.get('d2')!.isOver = false;
    expect(await list()).toMatchObject({ items: [{ work_id: 'd1', approvals: 1, approved_by: ['anna'] }], open: 1 });
  });

  test('shows no noted content that is not what the digest is made of', async () => {
    const { asking, list } = anInbox();
    asking.ask('d1');
    asking.note('d1');
    asking.notes.set('d1', readNote({ ...asking.notes.get('d1')!, content: { another: 'plan' } }));
    expect((await list()).items[0]).toMatchObject({ content: null, request: { digest: expect.any(String) } });
  });

  test('looks once at all that waits before hundreds of answers, in a list or in a text', async () => {
    const { asking, answered } = anInbox();
    const ids = Array.from({ length: 250 }, (_, index) => `${index + 1}`);
    for (const id of ids) {
      asking.ask(id);
      asking.note(id);
    }
    const half = ids.splice(0, 120);
    const { applied } = await answered(half.map((work_id) => ({ work_id, response: 'approve' })));
    const text = await answered(ids.map((id) => `#${id}: reject`).join('\n'));
    expect([applied.length, text.applied.length, text.errors]).toEqual([120, 130, []]);
    expect([asking.asked, asking.listed.length]).toEqual([[], 2]);
  });

  test('is not held up by what does not answer, and hears it all the same', async () => {
    const { asking, ports } = anInbox();
    for (const id of ['d1', 'd2']) asking.ask(id);
    const asks = asking.asks.bind(asking);
    let answers = (): void => undefined;
    const answering = new Promise<void>((resolve) => (answers = resolve));
    asking.asks = async (id) => {
      if (id === 'd1') await answering;
      return await asks(id);
    };
    const inbox = new Inbox(asking, [asking], { atOnce: 1, answerMs: 20 });
    ports.inbox = inbox;
    const page = { order: 'oldest', limit: 10 } as const;
    expect(await inbox.list(page)).toMatchObject({ items: [{ work_id: 'd2' }], unread: [{ work_id: 'd1' }] });
    answers();
    await inbox.read({ id: 'd1', kind: 'debate', tenant: 'default' });
    expect(await inbox.list(page)).toMatchObject({ items: [{ work_id: 'd1' }, { work_id: 'd2' }], unread: [] });
  });

  test('shows what one piece of work asks, and nothing of another tenant', async () => {
    const { asking, list } = anInbox({ PARLEY_API_KEYS: keys });
    asking.ask('d1');
    const ids = async (query: string, name: string) => (await list(query, name)).items.map(({ work_id }) => work_id);
    expect(await ids('?work_id=d1', 'viewer')).toEqual(['d1']);
    expect(await ids('?work_id=d1&kind=run', 'viewer')).toEqual([]);
    expect(await ids('?work_id=d1', 'dora')).toEqual([]);
    expect(await ids('?work_id=..%2Fd1', 'viewer')).toEqual([]);
  });

  test('leaves out what has asked nothing that is open, though the visibility store still lists it', async () => {
    const { asking, list, answered } = anInbox();
    asking.ask('d1', { needed: 1 });
    const held = asking.held.get('d1')!;
    await answered([{ work_id: 'd1', response: 'approve' }]);
    held.isOver = false;
    expect((await list()).items).toEqual([]);
  });

  test.each<[string, string, string]>([
    ['?order=sideways', 'query.order', 'oldest or newest'],
    ['?limit=0', 'query.limit', 'at least 1'],
    ['?limit=many', 'query.limit', 'number'],
    ['?cursor=abc', 'query.cursor', 'next_cursor'],
    ['?kind=quarrel', 'query.kind', 'debate'],
    ['?state=x', 'query.state', 'unknown field'],
  ])('refuses %s by its path', async (query, path, words) => {
    const { app } = anInbox();
    const { status, body } = await request(app).get(`/v1/inbox${query}`);
    expect([status, body]).toMatchObject([422, { errors: [{ path, message: expect.stringContaining(words) }] }]);
  });

  test('takes the cursor of one order in no other', async () => {
    const { app, asking, list } = anInbox();
    for (const id of ['d1', 'd2']) asking.ask(id);
    const { next_cursor: cursor } = await list('?limit=1');
    expect((await request(app).get(`/v1/inbox?order=newest&cursor=${cursor}`)).status).toBe(422);
  });

  test('is that of the tenant of the key', async () => {
    const { app, asking, list, as } = anInbox({ PARLEY_API_KEYS: keys });
    asking.ask('d1');
    asking.ask('d2', { tenant: 'other' });
    const ids = async (name: string, query = '') => (await list(query, name)).items.map(({ work_id }) => work_id);
    expect(await ids('viewer')).toEqual(['d1', 'd2']);
    expect(await ids('viewer', '?tenant=other')).toEqual(['d2']);
    expect(await ids('dora')).toEqual(['d2']);
    expect((await request(app).get('/v1/inbox?tenant=default').set(as('dora'))).status).toBe(403);
  });
});

describe('answers to many requests', () => {
  test('count each for itself, and only the wrong ones are asked again', async () => {
    const { asking, answered } = anInbox();
    for (const id of ['d1', 'd2', 'd3']) asking.ask(id);
    const result = await answered([
      { work_id: 'd1', response: 'APPROVE', comment: 'fine' },
      { work_id: 'd2', response: 'aprove' },
      { work_id: 'd3', response: '3' },
    ]);
    expect(result.applied).toMatchObject([
      { work_id: 'd1', request_id: requestIdOf(1), outcome: 'approved', repeated: false },
      { work_id: 'd3', outcome: 'rejected', repeated: false },
    ]);
    expect(result.errors).toEqual([
      {
        work_id: 'd2',
        request_id: requestIdOf(2),
        code: 'invalid_request',
        message: `"aprove" is not offered for ${requestIdOf(2)}; choose approve, request_changes, reject.`,
        open: true,
        valid: ['approve', 'request_changes', 'reject'],
        meant: [],
      },
    ]);
    expect(result.reprompt).toContain('    d2: approve');
    expect(result.reprompt).not.toContain('d1');
    expect(asking.open('d1').answers).toMatchObject([{ provided_by: 'anna', comment: 'fine', source: 'http' }]);
  });

  test.each<[string, (asking: FakeAsking) => object, string, boolean, RegExp]>([
    ['unknown work', () => ({ work_id: 'd9', response: 'approve' }), 'not_found', false, /There is no work d9/],
    [
      'an id that can be none',
      () => ({ work_id: '../d1', response: 'approve' }),
      'not_found',
      false,
      /There is no work/,
    ],
    [
      'a request that was answered otherwise',
      (asking) => {
        asking.ask('d2');
        const who = { provided_by: 'ben', authenticated: false, source: 'cli' as const };
        void asking.feedback('d2', {
          request_id: requestIdOf(2),
          response: 'reject',
          comment: null,
          digest: null,
          ...who,
        });
        return { work_id: 'd2', response: 'approve' };
      },
      'wrong_state',
      false,
      /was answered with "reject" by ben at 2026-11-20T10:00:\d\d/,
    ],
    [
      'a request of before',
      () => ({ work_id: 'd1', request_id: requestIdOf(77), response: 'approve' }),
      'wrong_state',
      true,
      /the open request is fr-20261120-000001/,
    ],
    [
      'content that has changed',
      () => ({ work_id: 'd1', digest: '0'.repeat(64), response: 'approve' }),
      'conflict',
      true,
      /Look at it again and answer with its digest/,
    ],
    ['an option that is none', () => ({ work_id: 'd1', response: 'maybe' }), 'invalid_request', true, /choose approve/],
    [
      'an approval of one’s own work',
      (asking) => {
        asking.ask('d3', { startedBy: 'anna' });
        return { work_id: 'd3', response: 'approve' };
      },
      'forbidden',
      true,
      /started this work/,
    ],
    [
      'work that has ended over an open request',
      (asking) => {
        asking.ask('d4');
        asking.end('d4');
        return { work_id: 'd4', response: 'approve' };
      },
      'wrong_state',
      false,
      /asks nothing now|cannot take feedback/,
    ],
  ])('refuse %s with words, and change nothing', async (_, make, code, open, message) => {
    const { asking, answered } = anInbox();
    asking.ask('d1');
    const { applied, errors } = await answered([make(asking)]);
    expect(applied).toEqual([]);
    expect(errors).toMatchObject([{ code, open, message: expect.stringMatching(message) }]);
    expect(asking.open('d1').state).toBe('open');
  });

  test('of another tenant’s work are answered as if there were none', async () => {
    const { asking, answered } = anInbox({ PARLEY_API_KEYS: keys });
    asking.ask('d1');
    asking.ask('d2', { tenant: 'other' });
    const both = [
      { work_id: 'd1', response: 'approve' },
      { work_id: 'd2', response: 'approve' },
    ];
    const { applied, errors } = await answered(both, { name: 'dora' });
    expect(applied).toMatchObject([{ work_id: 'd2' }]);
    expect(errors).toMatchObject([{ work_id: 'd1', code: 'not_found', request_id: null, valid: [] }]);
    expect(asking.open('d2').answers).toMatchObject([{ provided_by: 'dora', authenticated: true }]);
  });

  test.each([
    ['viewer', 403],
    ['operator', 403],
    ['approver', 200],
    ['admin', 200],
  ])('with the key of a %s are answered with %i', async (name, status) => {
    const { asking, answer } = anInbox({ PARLEY_API_KEYS: keys });
    asking.ask('d1');
    expect((await answer([{ work_id: 'd1', response: 'approve' }], { name })).status).toBe(status);
    expect(asking.open('d1').state).toBe(status === 200 ? 'answered' : 'open');
  });

  test('change nothing when they are sent again', async () => {
    const { asking, answered } = anInbox();
    asking.ask('d1');
    asking.ask('d2', { needed: 2 });
    const both = ['d1', 'd2'].map((work_id) => ({ work_id, response: 'approve' }));
    const first = await answered(both);
    const again = await answered(both);
    expect(first.applied.map(({ repeated }) => repeated)).toEqual([false, false]);
    expect(again.applied).toEqual(first.applied.map((each) => ({ ...each, repeated: true })));
    expect(again.errors).toEqual([]);
    expect(asking.open('d2').answers).toHaveLength(1);
  });

  describe('sent again when something else was asked since', () => {
    const asked = () => {
      const inbox = anInbox();
      const { asking } = inbox;
      asking.ask('778');
      const goesOn = asking.feedback.bind(asking);
      asking.feedback = async (id, given) => {
        const receipt = await goesOn(id, given);
        asking.held.get(id)!.isOver = false;
        if (receipt.outcome === 'approved' && asking.held.get(id)!.approvals.length === 1) asking.ask(id);
        return receipt;
      };
      return inbox;
    };
    const list = [{ work_id: '778', response: 'approve' }];
    const second = requestIdOf(2);

    test.each<[string, object | string, HowAnswered]>([
      ['a list', list, {}],
      ['a list with an option by its place', [{ work_id: '778', response: '1' }], {}],
      ['a text', '#778: approve', {}],
      ['a text with an option by its place', '#778: 1', {}],
      ['a list with a key', list, { key: 'k1' }],
    ])('%s counts once, and says what is asked now', async (_, body, how) => {
      const { asking, answered } = asked();
      expect((await answered(body, how)).applied).toMatchObject([{ request_id: requestIdOf(1), repeated: false }]);
      const again = await answered(body, how);
      expect(again.applied).toMatchObject([{ request_id: requestIdOf(1), repeated: true, outcome: 'approved' }]);
      expect(again.warnings.join()).toContain(`${second} was asked since`);
      expect(asking.open('778').state).toBe('open');
    });

    test.each<[string, object | string, HowAnswered]>([
      ['names it', [{ work_id: '778', response: 'approve', request_id: second }], {}],
      ['says when the list was read', '#778: approve', { query: '?provided_by=anna&as_of=2026-11-20T11:00:00Z' }],
      ['says something else', '#778: reject', {}],
      ['has another comment', '#778: approve this too', {}],
      ['has another key', list, { key: 'k2' }],
      ['is of somebody else', list, { query: '?provided_by=ben' }],
    ])('an answer counts for it that %s', async (_, body, how) => {
      const { asking, answered } = asked();
      await answered(list, { key: 'k1' });
      const { applied, warnings } = await answered(body, how);
      expect([applied, warnings]).toMatchObject([[{ request_id: second, repeated: false }], []]);
      expect(asking.open('778').answers).toHaveLength(1);
    });

    test('with the same key, another answer is refused', async () => {
      const { asking, answered } = asked();
      await answered(list, { key: 'k1' });
      const { applied, errors } = await answered([{ work_id: '778', response: 'reject' }], { key: 'k1' });
      expect([applied, errors]).toMatchObject([[], [{ code: 'conflict', message: expect.stringContaining('key') }]]);
      expect(asking.open('778').state).toBe('open');
    });
  });

  test('ask no work first that the inbox has shown', async () => {
    const { asking, list, answered } = anInbox();
    for (const id of ['d1', 'd2']) asking.ask(id);
    await list();
    asking.asked.length = 0;
    const { applied } = await answered(['d1', 'd2'].map((work_id) => ({ work_id, response: '1' })));
    expect([applied.map(({ outcome }) => outcome), asking.asked]).toEqual([['approved', 'approved'], []]);
  });

  test('are given again to work that does not answer in time, and count once', async () => {
    const { asking, answered } = anInbox();
    asking.ask('d1');
    const feedback = asking.feedback.bind(asking);
    let calls = 0;
    asking.feedback = async (id, given) => {
      const receipt = await feedback(id, given);
      calls += 1;
      if (calls === 1) throw new ParleyError('unavailable', 'They do not answer now.', { retryable: true });
      return receipt;
    };
    const { applied, errors } = await answered([{ work_id: 'd1', response: 'approve' }]);
    expect([applied, errors]).toMatchObject([[{ outcome: 'approved', repeated: true }], []]);
    expect([calls, asking.open('d1').answers.length]).toEqual([1, 1]);
  });

  test('are asked again of work that does not answer at all', async () => {
    const { ports, asking, list, answered } = anInbox();
    ports.inbox = new Inbox(asking, [asking], { givingMs: 0 });
    asking.ask('d1');
    await list();
    asking.feedback = () =>
      Promise.reject(new ParleyError('unavailable', 'They do not answer now.', { retryable: true }));
    const { errors, reprompt } = await answered([{ work_id: 'd1', response: 'approve' }]);
    expect(errors).toMatchObject([
      { code: 'unavailable', open: true, valid: ['approve', 'request_changes', 'reject'] },
    ]);
    expect(reprompt).toContain('    d1: approve');
  });

  test('stand in their line for as long as others of the same call are taken', async () => {
    const { ports, asking, list, answered } = anInbox();
    ports.inbox = new Inbox(asking, [asking], { givingMs: 1_200 });
    const others = ['d1', 'd2', 'd3'];
    for (const id of [...others, 'last']) asking.ask(id);
    await list();
    const feedback = asking.feedback.bind(asking);
    asking.feedback = async (id, given) => {
      if (id !== 'last') await delay(600 * (others.indexOf(id) + 1));
      else if (!others.every((other) => asking.held.get(other)!.isOver))
        throw new ParleyError('unavailable', 'They do not answer now.', { retryable: true });
      return await feedback(id, given);
    };
    const { applied, errors } = await answered(['last', ...others].map((id) => ({ work_id: id, response: 'approve' })));
    expect([applied.length, errors]).toEqual([4, []]);
  });

  test('with as_of answer nothing that was asked since, also when they are sent again', async () => {
    const { asking, answered } = anInbox();
    const { opened_at: at } = asking.ask('d1').request;
    const query = `?provided_by=anna&as_of=${at}`;
    const changes = [{ work_id: 'd1', response: 'request_changes', comment: 'two lines' }];
    expect((await answered(changes, { query })).applied).toMatchObject([{ outcome: 'changes_requested' }]);
    expect((await answered(changes, { query })).applied).toMatchObject([
      { request_id: requestIdOf(1), repeated: true },
    ]);
    expect(asking.held.get('d1')!.approvals).toHaveLength(2);
    asking.ask('d5');
    const { errors } = await answered([{ work_id: 'd5', response: 'approve' }], { query });
    expect(errors).toMatchObject([
      { code: 'conflict', open: true, message: expect.stringContaining('after the list') },
    ]);
    const text = await answered('d1: request_changes two lines', { query });
    expect([text.applied, asking.held.get('d1')!.approvals.length]).toMatchObject([[{ repeated: true }], 2]);
  });

  test('for one piece of work: the last valid one counts, and the others are told', async () => {
    const { asking, answered } = anInbox();
    asking.ask('d1');
    const { applied, warnings, errors } = await answered([
      { work_id: 'd1', response: 'approve' },
      { work_id: 'd1', response: 'reject' },
      { work_id: 'd1', response: 'perhaps' },
    ]);
    expect([applied, errors]).toMatchObject([[{ response: 'reject' }], []]);
    expect(warnings).toEqual([
      'd1 stands 3 times; its last valid answer counts: reject.',
      expect.stringContaining('"perhaps" is not offered'),
    ]);
  });

  test('for one piece of work: none counts in place of the last while that may have been taken', async () => {
    const { ports, asking, answered } = anInbox();
    ports.inbox = new Inbox(asking, [asking], { givingMs: 0 });
    asking.ask('d1');
    const feedback = asking.feedback.bind(asking);
    asking.feedback = async (id, given) => {
      if (given.response === 'approve') return await feedback(id, given);
      throw new ParleyError('unavailable', 'They do not answer now.', { retryable: true });
    };
    const { applied, errors } = await answered([
      { work_id: 'd1', response: 'approve' },
      { work_id: 'd1', response: 'reject' },
    ]);
    expect([applied, errors]).toMatchObject([[], [{ code: 'unavailable', open: true }]]);
    expect(asking.open('d1').answers).toEqual([]);
  });

  test('of two people at the same moment: one wins, and the other is told who and when', async () => {
    const { asking, answered } = anInbox();
    asking.ask('d1');
    const [anna, ben] = await Promise.all([
      answered([{ work_id: 'd1', response: 'approve' }], { query: '?provided_by=anna' }),
      answered([{ work_id: 'd1', response: 'reject' }], { query: '?provided_by=ben' }),
    ]);
    const [won, lost] = anna.applied.length === 1 ? [anna, ben] : [ben, anna];
    const winner = won === anna ? ['approve', 'anna'] : ['reject', 'ben'];
    expect([won.applied.length, lost.applied.length]).toEqual([1, 0]);
    expect(lost.errors[0]?.message).toMatch(
      new RegExp(`was answered with "${winner[0]}" by ${winner[1]} at 2026-11-20T10:`),
    );
  });

  test.each<[string, object | string, number, string, RegExp]>([
    ['that are no list', { work_id: 'd1', response: 'approve' }, 422, '', /must be a list/],
    ['that are none', [], 422, '', /at least 1/],
    ['without a response', [{ work_id: 'd1' }], 422, '[0].response', /is missing/],
    ['with an empty response', [{ work_id: 'd1', response: ' ' }], 422, '[0].response', /must name an option/],
    ['without work', [{ response: 'approve' }], 422, '[0].work_id', /is missing/],
    ['with a field that is none', [{ work_id: 'd1', response: 'approve', by: 'me' }], 422, '[0].by', /unknown field/],
    [
      'with a request id that can be none',
      [{ work_id: 'd1', response: 'a', request_id: 'x' }],
      422,
      '[0].request_id',
      /fr-/,
    ],
    ['as an empty text', ' \n ', 422, '', /one answer in a line/],
  ])('%s are refused whole, by their path', async (_, body, status, path, message) => {
    const { asking, answer } = anInbox();
    asking.ask('d1');
    const refused = await answer(body);
    expect(refused.status).toBe(status);
    expect(refused.body).toMatchObject({ errors: [{ path, message: expect.stringMatching(message) }] });
    expect(asking.open('d1').state).toBe('open');
  });

  test.each<[string, object | string]>([
    ['JSON', [{ work_id: 'd1', response: 'approve', comment: 'x'.repeat(5_000_000) }]],
    ['text', `d1: approve ${'x'.repeat(5_000_000)}`],
  ])('of 5 MB of %s are too large', async (_, body) => {
    const { asking, answer } = anInbox();
    asking.ask('d1');
    const refused = await answer(body);
    expect([refused.status, refused.body]).toMatchObject([413, { code: 'too_large' }]);
    expect(asking.open('d1').state).toBe('open');
  });

  test('of another type are refused with the types that are read', async () => {
    const { app } = anInbox();
    const refused = await request(app).post('/v1/inbox/answers').set('content-type', 'text/html').send('d1: approve');
    expect([refused.status, refused.body]).toMatchObject([
      415,
      { code: 'unsupported_media_type', detail: expect.stringMatching(/application\/json, or .* text\/plain; got/) },
    ]);
  });

  test('as text are read line by line', async () => {
    const { asking, answered } = anInbox();
    for (const id of ['124', 'debate-x', '126', '127']) asking.ask(id);
    asking.end('127');
    const { applied, warnings, errors, reprompt } = await answered(
      [
        '#124: approve',
        'debate-x: request_changes split the module',
        '126: perhaps',
        '#127: approve',
        '#999: reject',
        'debate-y: approve',
      ].join('\r\n'),
    );
    expect(applied).toMatchObject([
      { work_id: '124', outcome: 'approved' },
      { work_id: 'debate-x', outcome: 'changes_requested' },
    ]);
    expect(asking.held.get('debate-x')!.approvals[0]!.answers).toMatchObject([{ comment: 'split the module' }]);
    expect(warnings.join('\n')).toMatch(/#127 .*DONE.*\n.*#999 .*not known here.*\n.*debate-y .*not known here/);
    expect(errors).toMatchObject([{ work_id: '126', open: true, valid: ['approve', 'request_changes', 'reject'] }]);
    expect(reprompt).toContain('    #126: approve');
  });

  test('as text may name work as people call it, where that is one alone', async () => {
    const { asking, answered } = anInbox();
    for (const id of ['run-a', 'run-b', 'run-c']) asking.ask(id);
    for (const [id, name] of Object.entries({ 'run-a': '124', 'run-b': '125', 'run-c': '125' }))
      asking.names.set(id, name);
    const { applied, errors, reprompt } = await answered('#124: approve\n#125: reject\n');
    expect(applied).toMatchObject([{ work_id: 'run-a', outcome: 'approved' }]);
    expect(errors).toMatchObject([{ work_id: '125', meant: [{ work_id: 'run-b' }, { work_id: 'run-c' }] }]);
    expect(reprompt).toContain('    run-b: approve\n    run-c: approve');
    expect((await answered('run-c: reject')).applied).toMatchObject([{ work_id: 'run-c' }]);
  });

  test('as text name whatever work may be called', async () => {
    const { asking, answered } = anInbox();
    const names = ['org/proj/5', 'runner-1', 'run179', '#9', 'runbook-1790000000000'];
    for (const [index, name] of names.entries()) {
      asking.ask(`run-${index}`);
      asking.names.set(`run-${index}`, name);
    }
    const { applied, errors, warnings } = await answered(names.map((name) => `${name}: approve`).join('\n'));
    expect([applied.map(({ work_id }) => work_id), errors, warnings]).toEqual([
      names.map((_, index) => `run-${index}`),
      [],
      [],
    ]);
  });

  test('as text look at all that is open once, and one by one only at a few that are not', async () => {
    const { asking, answered } = anInbox();
    asking.ask('run-a');
    asking.names.set('run-a', '5000');
    const unknown = Array.from({ length: 999 }, (_, index) => `#${index + 1}: approve`);
    const { applied, warnings } = await answered([...unknown, '#5000: approve'].join('\n'));
    expect([applied.map(({ work_id }) => work_id), warnings.length]).toEqual([['run-a'], 999]);
    expect(new Set(asking.asked.filter((id) => id !== 'run-a')).size).toBe(100);
    expect(warnings.at(-1)).toContain('only 100 are looked up');
    const tooMany = await answered([...unknown, '#5000: approve', '#5001: approve'].join('\n'));
    expect(tooMany.errors).toMatchObject([{ work_id: null, message: expect.stringContaining('at most 1000') }]);
  });

  test('by a name that asks nothing any more are told who was first, and when', async () => {
    const { asking, answered } = anInbox();
    asking.ask('run-a');
    asking.names.set('run-a', '124');
    const approve = [{ work_id: '124', response: 'approve' }];
    expect((await answered(approve)).applied).toMatchObject([{ work_id: 'run-a', outcome: 'approved' }]);
    expect((await answered(approve)).applied).toMatchObject([{ work_id: 'run-a', repeated: true }]);
    const { errors } = await answered([{ work_id: '124', response: 'reject' }], { query: '?provided_by=ben' });
    const words = /was answered with "approve" by anna at 2026-11-20T10:/;
    expect(errors).toMatchObject([{ work_id: 'run-a', message: expect.stringMatching(words) }]);
    expect((await answered('#124: reject')).warnings.join()).toMatch(words);
  });

  test('as a list by a name that means several are asked again by their ids', async () => {
    const { asking, answered } = anInbox();
    for (const id of ['run-a', 'run-b']) {
      asking.ask(id);
      asking.names.set(id, '124');
    }
    const { applied, errors, reprompt } = await answered([{ work_id: '124', response: 'approve' }]);
    expect([applied, errors.length]).toEqual([[], 1]);
    expect(reprompt).toContain('    run-a: approve\n    run-b: approve');
  });

  test('as text in which nothing can be read are answered with an example', async () => {
    const { asking, answered } = anInbox();
    asking.ask('d1');
    const { applied, errors } = await answered('yes please, all of them');
    expect([applied, errors[0]]).toMatchObject([[], { work_id: null, open: false }]);
    expect(errors.map(({ message }) => message).join('\n')).toContain('#124: approve');
  });
});

describe('a live inbox', () => {
  const watching = async ({ ports, draining }: ReturnType<typeof anInbox>, filter: object = {}) => {
    const gone = new AbortController();
    const messages = ports.inboxWatch.watch(filter, { signal: gone.signal, draining: draining.signal });
    const next = async (): Promise<SseMessage> => (await messages.next()).value as SseMessage;
    expect(await next()).toMatchObject({ comment: 'parley' });
    const told = async () => {
      const { event, data } = await next();
      const { work_id: id, open } = data as { work_id?: string; open?: number };
      return `${event} ${id ?? open}`;
    };
    return { next, told, leave: () => gone.abort(), rest: () => messages.next() };
  };

  test('begins with everything open, then tells what comes, changes and goes', async () => {
    const inbox = anInbox();
    const { asking, answered } = inbox;
    asking.ask('d1', { needed: 2 });
    const { told, leave, rest } = await watching(inbox);
    expect([await told(), await told()]).toEqual(['added d1', 'ready 1']);
    asking.ask('d2');
    expect(await told()).toBe('added d2');
    await answered([{ work_id: 'd1', response: 'approve' }]);
    expect(await told()).toBe('changed d1');
    await answered([{ work_id: 'd1', response: 'reject' }]);
    expect(await told()).toBe('removed d1');
    leave();
    expect((await rest()).done).toBe(true);
  });

  test('tells of a new request of the same work as another', async () => {
    const inbox = anInbox();
    inbox.asking.ask('d1');
    const { next, told, leave, rest } = await watching(inbox);
    await told();
    await told();
    await inbox.answered([{ work_id: 'd1', response: 'request_changes' }]);
    expect([await next(), await next()]).toMatchObject([
      { event: 'removed', data: { request_id: requestIdOf(1) } },
      { event: 'added', data: { request: { request_id: requestIdOf(2) } } },
    ]);
    leave();
    await rest();
  });

  test('is filtered for each client, asks each piece of work once for all, and stops with the last', async () => {
    const inbox = anInbox();
    const { asking, ports } = inbox;
    asking.ask('d1');
    asking.ask('d2', { tenant: 'other' });
    const [all, others] = [await watching(inbox), await watching(inbox, { tenant: 'other' })];
    expect([await all.told(), await all.told(), await all.told()].sort()).toEqual(['added d1', 'added d2', 'ready 2']);
    expect([await others.told(), await others.told()]).toEqual(['added d2', 'ready 1']);
    expect(asking.asked.toSorted()).toEqual(['d1', 'd2']);
    expect(ports.inboxWatch.watchers).toBe(2);
    all.leave();
    others.leave();
    await Promise.all([all.rest(), others.rest()]);
    expect(ports.inboxWatch.watchers).toBe(0);
  });

  test('ends where the gateway drains, with the wish to connect again', async () => {
    const inbox = anInbox();
    inbox.asking.ask('d1');
    const { next, told, rest } = await watching(inbox);
    await told();
    await told();
    inbox.draining.abort();
    expect(await next()).toEqual({ comment: 'this gateway stops; connect again' });
    expect((await rest()).done).toBe(true);
    expect(inbox.ports.inboxWatch.watchers).toBe(0);
  });
});
