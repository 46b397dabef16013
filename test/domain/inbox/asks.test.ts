import fc from 'fast-check';
import type { RefusedAnswer } from '../../../src/contracts/inbox.js';
import { approvalDigest } from '../../../src/domain/approval.js';
import { gateContent } from '../../../src/domain/debate/gate-content.js';
import { debateStatus } from '../../../src/domain/debate/view.js';
import { openFeedback } from '../../../src/domain/feedback.js';
import { type Asks, inboxItem, openRequest } from '../../../src/domain/inbox/asks.js';
import { comparePlaces } from '../../../src/domain/inbox/order.js';
import { repromptOf } from '../../../src/domain/inbox/reprompt.js';
import { DebatePlay, plan } from '../../support/debate-play.js';

const gated = (): DebatePlay => new DebatePlay({ plan: plan('a', 'b'), approval: { required: true } }).open().pass();

describe('the content of a debate’s gate, from its status', () => {
  test.each<[string, () => DebatePlay]>([
    ['a plan', gated],
    ['the plan of another pass', () => gated().feedback('request_changes').pass()],
    [
      'a repaired plan, after a task that has succeeded',
      () => gated().feedback('approve').snapshot().ends().ends('failed').diagnose().repair(plan('b2')),
    ],
  ])('is exactly what is approved of %s', (_, played) => {
    const status = debateStatus(played().debate);
    const { request, policy_version: version, state } = status.feedback.at(-1)!;
    expect(state).toBe('open');
    expect(approvalDigest(gateContent(status)!, version)).toBe(request.digest);
  });

  test('is none where nothing is asked', () => {
    expect(gateContent(debateStatus(gated().feedback('reject').debate))).toBeNull();
  });
});

describe('an item of the inbox', () => {
  const at = Date.UTC(2026, 10, 21);
  const asks = (over: Partial<Asks> = {}): Asks => ({
    workId: 'run-1',
    kind: 'run',
    tenant: 'default',
    name: '124',
    state: 'awaiting_feedback',
    isOver: false,
    about: 'Build it',
    links: { self: '', events: '', web_ui: '' },
    requests: [openFeedback({ requestId: 'fr-20261121-000001', type: 'error_resolution', prompt: 'It failed.' }, at)],
    subject: null,
    ...over,
  });

  test('of a request that is no approval needs one answer, and has no content', () => {
    expect(inboxItem(asks(), at + 5_000)).toMatchObject({
      age_ms: 5_000,
      needed: 1,
      approvals: 0,
      may_answer: null,
      content: null,
      policy_version: null,
      request: { type: 'error_resolution', options: [{ value: 'retry' }, { value: 'skip' }, { value: 'abort' }] },
    });
  });

  test('is never of the future, whatever the clocks say', () => {
    expect(inboxItem(asks(), at - 5_000)?.age_ms).toBe(0);
  });

  test.each<[string, Partial<Asks>]>([
    ['work that has ended', { isOver: true }],
    ['work that has asked nothing', { requests: [] }],
    ['work whose requests are closed', { requests: [{ ...asks().requests[0]!, state: 'answered' }] }],
  ])('is none for %s', (_, over) => {
    expect([openRequest(asks(over)), inboxItem(asks(over), at)]).toEqual([null, null]);
  });
});

describe('the order of the inbox', () => {
  const place = fc.record({
    openedAt: fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map((date) => date.toISOString()),
    workId: fc.stringMatching(/^[a-z]{1,3}$/),
  });

  test('is by time, then by id, and the newest first is its reverse', () => {
    fc.assert(
      fc.property(fc.array(place), (places) => {
        const oldest = places.toSorted((a, b) => comparePlaces(a, b, 'oldest'));
        const newest = oldest.toReversed().toSorted((a, b) => comparePlaces(a, b, 'newest'));
        expect(newest).toEqual(oldest.toReversed());
        const times = oldest.map(({ openedAt }) => Date.parse(openedAt));
        expect(times).toEqual(times.toSorted((a, b) => a - b));
      }),
    );
  });
});

describe('what is asked again', () => {
  const refused = (over: Partial<RefusedAnswer>): RefusedAnswer => ({
    work_id: 'd1',
    request_id: null,
    code: 'invalid_request',
    message: 'no.',
    open: true,
    valid: ['approve', 'reject'],
    meant: [],
    ...over,
  });

  test('is what still asks, each with what it takes and a line to answer it', () => {
    expect(repromptOf([refused({ work_id: '7' }), refused({ work_id: 'd2', valid: [] })])).toBe(
      [
        '### To be answered again',
        '',
        '- **7** (approve, reject): no.',
        '- **d2** (free text): no.',
        '',
        '### Provide feedback',
        '',
        '    #7: approve',
        '    d2: your text',
      ].join('\n'),
    );
  });

  test('names each by its own id where a name means several', () => {
    const meant = ['run-b', 'run-c'].map((work_id) => ({ work_id, valid: ['retry', 'abort'] }));
    expect(repromptOf([refused({ work_id: '126', valid: [], meant })])?.split('\n')).toEqual(
      expect.arrayContaining(['- **126** (run-b or run-c): no.', '    run-b: retry', '    run-c: retry']),
    );
  });

  test.each<[string, Partial<RefusedAnswer>]>([
    ['asks nothing any more', { open: false }],
    ['this person may not answer', { code: 'forbidden' }],
    ['names no work', { work_id: null }],
  ])('is not what %s', (_, over) => {
    expect(repromptOf([refused(over)])).toBeNull();
  });
});
