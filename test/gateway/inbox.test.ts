import request from 'supertest';
import { ParleyError } from '../../src/domain/errors.js';
import type { InboxList } from '../../src/contracts/inbox.js';
import { readNote } from '../../src/domain/inbox/asks.js';
import { Inbox } from '../../src/gateway/inbox.js';
import type { SseMessage } from '../../src/gateway/sse.js';
import { requestIdOf, subject } from './fake-asking.js';
import { anInbox, keys } from './inbox-rig.js';

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
