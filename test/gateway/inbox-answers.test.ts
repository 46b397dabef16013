import { setTimeout as delay } from 'node:timers/promises';
import request from 'supertest';
import { ParleyError } from '../../src/domain/errors.js';
import { Inbox } from '../../src/gateway/inbox.js';
import { type FakeAsking, requestIdOf } from './fake-asking.js';
import { anInbox, type HowAnswered, keys } from './inbox-rig.js';

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
});
