import type { OpenSessionBody } from '../../src/contracts/session.js';
import type { SessionState, SessionStatus } from '../../src/contracts/session-status.js';
import { laneMachine } from '../../src/domain/lane-machine.js';
import { sessionMachine, simpleSessionMachine } from '../../src/domain/session/machine.js';
import { startProduct, type Product } from '../support/product.js';
import {
  beat,
  external,
  fails,
  lane,
  noEarlyExit,
  says,
  scripted,
  silence,
  silent,
} from '../support/session-bodies.js';
import { dataOf, follow, laneRows, sessionRows, type Heard } from '../support/sse.js';

// Each row of both tables of spec 01, seen by a client: what is asked, and the way the session went.

let product: Product;
beforeAll(async () => {
  product = await startProduct({
    PARLEY_POLICY: JSON.stringify({ default: {}, tenants: { acme: { tiers: ['bronze'] } } }),
  });
}, 60_000);
afterAll(async () => await product?.stop());

type Body = Omit<OpenSessionBody, 'prompt'> & { prompt?: string };
const whole = (body: Body): OpenSessionBody => ({ prompt: 'Which colour?', ...body });

/** An end that a script is held by, and that comes after more has been streamed than it says. */
const statesLess = { final: 'blue', usage: { tokens: 1 } };

const seen = { full: new Set<string>(), simple: new Set<string>(), lane: new Set<string>() };
const note = (status: SessionStatus, heard: Heard[]): void => {
  for (const row of sessionRows(heard)) seen[status.profile].add(row);
  for (const { lane_id } of status.lanes) for (const row of laneRows(heard, lane_id)) seen.lane.add(row);
};

/** Follows a session to its end as a client does. */
const watch = async (id: string): Promise<{ status: SessionStatus; heard: Heard[] }> => {
  const heard = await follow(`${product.url}/v1/sessions/${id}/events`);
  const status = await product.status(id);
  note(status, heard);
  return { status, heard };
};
const play = async (body: Body) => watch((await product.start(whole(body))).id);

/** `FINAL BUFFERING, ALL_ENDED RECONCILING`: the events and where each led, after the lanes were dispatched. */
const wayOf = (heard: readonly Heard[]): string => {
  const [fanOut, dispatched, ...rest] = sessionRows(heard);
  expect([fanOut, dispatched]).toEqual(['INIT FAN_OUT DISPATCHED', 'DISPATCHED DISPATCH_OK STREAMING']);
  return rest.map((row) => row.slice(row.indexOf(' ') + 1)).join(', ');
};

const disagreeing = [says('a', 'red'), says('b', 'blue')];
const premium = { allowed: true, lane: lane('premium', [{ after_ms: beat, final: 'blue' }]) };
const arbiter = (...script: Parameters<typeof scripted>) => ({ allowed: true, adapter: scripted(...script) });
const result = (over: object) => ({
  state: 'COMPLETE',
  lifecycle: 'completed',
  error: null,
  result: expect.objectContaining(over),
});
const noAnswer = (...reasons: string[]) => ({
  state: 'ERROR',
  lifecycle: 'failed',
  result: null,
  error: {
    code: 'ECONSENSUS',
    message: expect.stringMatching(/^no lane (gave an answer|could be dispatched): a: /),
    lanes: reasons.map((code) => expect.objectContaining({ reason: expect.objectContaining({ code }) })),
  },
});
const done = 'RECONCILED COMPLETE';

describe('a session', () => {
  test.concurrent.each<[string, string, Body, object]>([
    [
      'of one lane that has only a final',
      `FINAL BUFFERING, ALL_ENDED RECONCILING, ${done}`,
      { lanes: [says('a', 'blue')] },
      result({
        answer: 'blue',
        agreement: 1,
        ended_by: 'all_final',
        partial: false,
        winner: { lane_id: 'a', persona_id: 'a', clone: 1 },
      }),
    ],
    [
      'of a lane that streams first',
      `PARTIAL BUFFERING, ALL_ENDED RECONCILING, ${done}`,
      { lanes: [lane('a', [{ partial: 'bl' }, { after_ms: beat, partial: 'ue' }, { after_ms: beat, final: 'blue' }])] },
      result({ answer: 'blue', ended_by: 'all_final' }),
    ],
    [
      'with quorum while a lane still runs',
      `FINAL BUFFERING, QUORUM_REACHED PROVISIONAL, ALL_ENDED RECONCILING, ${done}`,
      { lanes: [says('a', 'blue'), says('b', 'blue'), says('c', 'red', 2)], policy: noEarlyExit },
      result({ answer: 'blue', agreement: 2 / 3, ended_by: 'all_final', against: [{ lane_id: 'c', weight: 1 }] }),
    ],
    [
      'whose agreement falls',
      `FINAL BUFFERING, QUORUM_REACHED PROVISIONAL, REVISION BUFFERING, ALL_ENDED RECONCILING, ${done}`,
      {
        lanes: [says('a', 'blue'), says('b', 'blue'), says('c', 'red', 2), says('d', 'red', 2), says('e', 'blue', 4)],
        policy: noEarlyExit,
      },
      result({ answer: 'blue', agreement: 0.6, below_threshold: false }),
    ],
    [
      'whose leading answer changes',
      `FINAL BUFFERING, QUORUM_REACHED PROVISIONAL, REVISION BUFFERING, QUORUM_REACHED PROVISIONAL, ALL_ENDED RECONCILING, ${done}`,
      {
        lanes: [says('a', 'blue'), says('b', 'blue'), says('c', 'red', 2, { weight: 5 }), says('d', 'red', 4)],
        policy: noEarlyExit,
      },
      result({
        answer: 'red',
        for: [
          { lane_id: 'c', weight: 5 },
          { lane_id: 'd', weight: 1 },
        ],
      }),
    ],
    [
      'with provisional off ends at its quorum',
      `FINAL BUFFERING, QUORUM_REACHED RECONCILING, ${done}`,
      { lanes: [says('a', 'blue'), says('b', 'blue'), silent('c')], policy: { provisional: { enabled: false } } },
      result({ ended_by: 'quorum', cancelled: [{ lane_id: 'c', reason: 'session_complete' }] }),
    ],
    [
      'whose lanes disagree',
      `FINAL BUFFERING, ALL_ENDED DEADLINE, RECONCILE RECONCILING, ${done}`,
      { lanes: disagreeing },
      result({
        agreement: 0.5,
        below_threshold: true,
        ended_by: 'all_final',
        arbiter_used: false,
        arbiter_fallback: null,
      }),
    ],
    [
      'that has finals by its deadline',
      `FINAL BUFFERING, DEADLINE DEADLINE, RECONCILE RECONCILING, ${done}`,
      { lanes: [...disagreeing, silent('c')], policy: { deadline_ms: 2 * beat } },
      result({
        ended_by: 'deadline',
        below_threshold: true,
        partial: false,
        cancelled: [{ lane_id: 'c', reason: 'session_complete' }],
      }),
    ],
    [
      'that has partial answers by its deadline',
      `PARTIAL BUFFERING, DEADLINE DEADLINE, RECONCILE RECONCILING, ${done}`,
      {
        lanes: [lane('a', [{ partial: 'red' }, ...silence]), lane('b', [{ partial: 'blue' }, ...silence])],
        policy: { deadline_ms: 2 * beat },
      },
      result({ answer: 'red', ended_by: 'deadline', partial: true, completed_count: 0 }),
    ],
    [
      'that still agrees at its deadline',
      `FINAL BUFFERING, QUORUM_REACHED PROVISIONAL, DEADLINE RECONCILING, ${done}`,
      { lanes: [says('a', 'blue'), says('b', 'blue'), silent('c')], policy: { deadline_ms: 2 * beat, ...noEarlyExit } },
      result({ ended_by: 'deadline', below_threshold: false, arbiter_used: false }),
    ],
    [
      'that has nothing by its deadline',
      'NO_ANSWER ERROR',
      { lanes: [silent('a'), silent('b')], policy: { deadline_ms: beat } },
      noAnswer('ETIMEOUT', 'ETIMEOUT'),
    ],
    [
      'whose lanes all fail',
      'NO_ANSWER ERROR',
      { lanes: [fails('a'), fails('b', 1)] },
      noAnswer('EAGENTDOWN', 'EAGENTDOWN'),
    ],
    [
      'whose lane fails after it has streamed',
      'PARTIAL BUFFERING, NO_ANSWER ERROR',
      { lanes: [lane('a', [{ partial: 'bl' }, { after_ms: beat, fail: { code: 'EPROTO', message: 'lost' } }])] },
      noAnswer('EPROTO'),
    ],
    [
      'whose lanes all fail after a provisional',
      'PARTIAL BUFFERING, QUORUM_REACHED PROVISIONAL, NO_ANSWER ERROR',
      {
        lanes: ['a', 'b'].map((id) =>
          lane(id, [{ partial: 'blue' }, { after_ms: 2 * beat, fail: { message: 'lost' } }]),
        ),
      },
      noAnswer('EAGENTDOWN', 'EAGENTDOWN'),
    ],
    [
      'whose lanes all fail while a judge looks at what the deadline left',
      'PARTIAL BUFFERING, DEADLINE DEADLINE, NO_ANSWER ERROR',
      {
        lanes: ['a', 'b'].map((id) => lane(id, [{ partial: id }, { after_ms: 12 * beat, fail: { message: 'lost' } }])),
        policy: { deadline_ms: 2 * beat, agreement: { method: 'judge', adapter: scripted(...silence) } },
      },
      noAnswer('EAGENTDOWN', 'EAGENTDOWN'),
    ],
    [
      'that escalates',
      `FINAL BUFFERING, ALL_ENDED DEADLINE, ESCALATE BUFFERING, ALL_ENDED RECONCILING, ${done}`,
      { lanes: disagreeing, policy: { escalation: premium } },
      result({
        answer: 'blue',
        agreement: 2 / 3,
        escalated: true,
        for: [
          { lane_id: 'b', weight: 1 },
          { lane_id: 'premium', weight: 1 },
        ],
      }),
    ],
    [
      'that escalates up to its limit and then asks the arbiter',
      `FINAL BUFFERING, ALL_ENDED DEADLINE, ESCALATE BUFFERING, ALL_ENDED DEADLINE, ESCALATE BUFFERING, ALL_ENDED DEADLINE, RECONCILE ARBITER, ARBITER_RESULT RECONCILING, ${done}`,
      {
        lanes: disagreeing,
        policy: {
          threshold: 0.8,
          escalation: { ...premium, limit: 2 },
          arbiter: arbiter({ final: 'purple' }),
        },
      },
      result({ answer: 'purple', escalated: true, arbiter_used: true, ended_by: 'arbiter', agreement: 3 / 4 }),
    ],
    [
      'that asks the arbiter',
      `FINAL BUFFERING, ALL_ENDED DEADLINE, RECONCILE ARBITER, ARBITER_RESULT RECONCILING, ${done}`,
      { lanes: disagreeing, policy: { arbiter: arbiter({ final: 'Blue.', usage: { tokens: 7, usd: 0.05 } }) } },
      result({
        answer: 'Blue.',
        arbiter_used: true,
        arbiter_fallback: null,
        ended_by: 'arbiter',
        for: [{ lane_id: 'b', weight: 1 }],
        against: [{ lane_id: 'a', weight: 1 }],
        winner: null,
      }),
    ],
    [
      'whose arbiter fails',
      `FINAL BUFFERING, ALL_ENDED DEADLINE, RECONCILE ARBITER, ARBITER_RESULT RECONCILING, ${done}`,
      { lanes: disagreeing, policy: { arbiter: arbiter({ fail: { message: 'asleep' } }) } },
      result({ arbiter_used: false, arbiter_fallback: 'failed', below_threshold: true, ended_by: 'all_final' }),
    ],
    [
      'whose arbiter takes too long',
      `FINAL BUFFERING, ALL_ENDED DEADLINE, RECONCILE ARBITER, ARBITER_RESULT RECONCILING, ${done}`,
      { lanes: disagreeing, policy: { arbiter: { ...arbiter(...silence), timeout_ms: beat } } },
      result({ arbiter_used: false, arbiter_fallback: 'timeout', below_threshold: true }),
    ],
    [
      'whose arbiter would cost more than it may',
      `FINAL BUFFERING, ALL_ENDED DEADLINE, RECONCILE RECONCILING, ${done}`,
      {
        lanes: disagreeing,
        policy: { arbiter: { ...arbiter({ final: 'x', usage: { tokens: 1, usd: 0.2 } }), max_usd: 0.1 } },
      },
      result({ arbiter_used: false, arbiter_fallback: 'budget', below_threshold: true }),
    ],
    [
      'whose budget leaves nothing for an arbiter',
      `FINAL BUFFERING, ALL_ENDED DEADLINE, RECONCILE RECONCILING, ${done}`,
      {
        lanes: ['a', 'b'].map((id) => lane(id, [{ final: id, usage: { tokens: 10 } }])),
        budget: { max_tokens: 20 },
        policy: { arbiter: arbiter({ final: 'x', usage: { tokens: 1 } }) },
      },
      result({ arbiter_used: false, arbiter_fallback: 'budget' }),
    ],
    [
      'that converges asks no arbiter',
      `FINAL BUFFERING, QUORUM_REACHED PROVISIONAL, ALL_ENDED RECONCILING, ${done}`,
      {
        lanes: [says('a', 'blue'), says('b', 'blue'), says('c', 'blue', 1)],
        policy: { ...noEarlyExit, arbiter: arbiter({ final: 'purple' }), escalation: premium },
      },
      result({ answer: 'blue', arbiter_used: false, arbiter_fallback: null, escalated: false }),
    ],
    [
      'that exits early cancels its bronze lanes for that and the others because it is over',
      `FINAL BUFFERING, QUORUM_REACHED PROVISIONAL, EARLY_EXIT RECONCILING, ${done}`,
      { lanes: [says('a', 'blue'), says('b', 'blue'), silent('c', 'bronze'), silent('d', 'gold')] },
      result({
        ended_by: 'early_exit',
        cancelled: [
          { lane_id: 'c', reason: 'early_exit' },
          { lane_id: 'd', reason: 'session_complete' },
        ],
      }),
    ],
    [
      'that exits early and waits for its premium lanes',
      `FINAL BUFFERING, QUORUM_REACHED PROVISIONAL, EARLY_EXIT PROVISIONAL, ALL_ENDED RECONCILING, ${done}`,
      {
        lanes: [says('a', 'blue'), says('b', 'blue'), silent('c', 'bronze'), says('d', 'blue', 2, { tier: 'gold' })],
        policy: { early_exit: { wait_for_premium: true } },
      },
      result({ ended_by: 'early_exit', completed_count: 3, cancelled: [{ lane_id: 'c', reason: 'early_exit' }] }),
    ],
    [
      'that no lane could change any more is decided',
      `FINAL BUFFERING, QUORUM_REACHED PROVISIONAL, DECIDED RECONCILING, ${done}`,
      {
        lanes: [says('a', 'red'), ...['b', 'c', 'd'].map((id) => says(id, 'blue', 1)), silent('e')],
        policy: { early_exit: { threshold: 0.95 } },
      },
      result({ answer: 'blue', ended_by: 'decided', cancelled: [{ lane_id: 'e', reason: 'session_complete' }] }),
    ],
    [
      'without a lane that was rejected and one that failed goes on with the rest',
      `FINAL BUFFERING, ALL_ENDED RECONCILING, ${done}`,
      {
        tenant: 'acme',
        lanes: [
          says('a', 'red', 0, { tier: 'gold' }),
          { ...fails('b'), tier: 'bronze' },
          says('c', 'blue', 1, { tier: 'bronze' }),
        ],
      },
      result({ answer: 'blue', agreement: 1, for: [{ lane_id: 'c', weight: 1 }], against: [], completed_count: 1 }),
    ],
  ])('%s: %s', async (_, way, body, expected) => {
    const { status, heard } = await play(body);
    expect(wayOf(heard)).toBe(way);
    expect(status).toMatchObject(expected);
    expect(dataOf(heard, 'final')).toEqual(status.result ? [status.result] : []);
    expect(dataOf(heard, 'error').map(({ code }) => code)).toEqual(status.error ? [status.error.code] : []);
    expect(heard.at(-1)).toEqual({ event: 'end', id: null, data: { state: status.state } });
  });

  test.concurrent.each<[string, Body, string[]]>([
    [
      'that refuses every call',
      { lanes: [lane('a', [{ dispatch_err: 'no route' }]), lane('b', [{ dispatch_err: true }])] },
      ['EAGENTDOWN', 'EAGENTDOWN'],
    ],
    ['that is rejected in every lane', { tenant: 'acme', lanes: [says('a', 'blue')] }, ['ESEC']],
  ])('of lanes %s: DISPATCH_ERR ERROR', async (_, body, reasons) => {
    const { status, heard } = await play(body);
    expect(sessionRows(heard)).toEqual(['INIT FAN_OUT DISPATCHED', 'DISPATCHED DISPATCH_ERR ERROR']);
    expect(status).toMatchObject({ ...noAnswer(...reasons), spend: { tokens: 0, usd: '0' } });
    expect(dataOf(heard, 'budget')).toEqual([expect.objectContaining({ action: 'roll_back_budget' })]);
  });

  test.concurrent.each<[SessionState, Body]>([
    ['DISPATCHED', { lanes: [lane('a', [{ after_ms: 60_000, dispatch_err: true }])] }],
    ['STREAMING', { lanes: [silent('a'), external('b')] }],
    ['BUFFERING', { lanes: [says('a', 'blue'), silent('b')] }],
    ['PROVISIONAL', { lanes: [says('a', 'blue'), says('b', 'blue'), silent('c')], policy: noEarlyExit }],
    [
      'DEADLINE',
      {
        lanes: ['a', 'b'].map((id) => lane(id, [{ partial: id }, ...silence])),
        policy: { deadline_ms: beat, agreement: { method: 'judge', adapter: scripted(...silence) } },
      },
    ],
    ['ARBITER', { lanes: disagreeing, policy: { arbiter: arbiter(...silence) } }],
    [
      'RECONCILING',
      {
        lanes: [says('a', 'blue'), says('b', 'blue', 1)],
        policy: { reconciliation: 'weighted_merge', merge: { adapter: scripted(...silence) } },
      },
    ],
  ])('is cancelled in %s: every lane is, and there is no final', async (state, body) => {
    const { id } = await product.start(whole(body));
    const running = (await product.until(id, (status) => status.state === state)).lanes.filter(({ state: of }) =>
      ['ADMITTED', 'STREAMING'].includes(of),
    );
    const answer = await product.post(`/v1/sessions/${id}/cancel`);
    expect(answer.status).toBe(200);
    const { status, heard } = await watch(id);
    expect(status).toEqual(answer.body);
    expect(status).toMatchObject({ state: 'CANCELLED', lifecycle: 'cancelled', result: null, waiting: null });
    expect(sessionRows(heard).at(-1)).toBe(`${state} CANCEL CANCELLED`);
    expect(dataOf(heard, 'final')).toEqual([]);
    const cancelled = status.lanes.filter(({ reason }) => reason?.code === 'session_cancelled');
    expect(cancelled.map(({ lane_id }) => lane_id)).toEqual(running.map(({ lane_id }) => lane_id));
  });

  test('emits revisions that name the provisional they replace', async () => {
    const { heard } = await play({
      lanes: [
        says('a', 'blue'),
        says('b', 'blue'),
        says('c', 'red', 2, { weight: 5 }),
        says('d', 'green', 4, { weight: 9 }),
        silent('e'),
      ],
      policy: { ...noEarlyExit, deadline_ms: 6 * beat },
    });
    expect(dataOf(heard, 'provisional')).toEqual([
      expect.objectContaining({ number: 1, answer: 'blue', agreement: 1, lanes: ['a', 'b'], expiry_ms: 15_000 }),
      expect.objectContaining({ number: 2, answer: 'red', agreement: 5 / 7, lanes: ['c'] }),
    ]);
    expect(dataOf(heard, 'revision')).toEqual([
      expect.objectContaining({ replaces: 1, because: 'leader_changed', answer: 'red' }),
      expect.objectContaining({ replaces: 2, because: 'agreement_fell', answer: 'green', agreement: 9 / 16 }),
    ]);
  });

  test('marks a provisional that it has outlived, and goes on', async () => {
    const { id } = await product.start(
      whole({
        lanes: [says('a', 'blue'), says('b', 'blue'), says('c', 'blue', 6)],
        policy: { ...noEarlyExit, provisional: { expiry_ms: beat } },
      }),
    );
    const before = await product.until(id, ({ provisional }) => provisional?.expired === true);
    expect(before).toMatchObject({ state: 'PROVISIONAL', provisional: { number: 1, revised: false, expiry_ms: beat } });
    const { status, heard } = await watch(id);
    expect(status).toMatchObject({ state: 'COMPLETE', provisional: { expired: true } });
    expect(dataOf(heard, 'log').map(({ message }) => message)).toEqual([
      'provisional 1 has expired; the session goes on',
    ]);
    expect(dataOf(heard, 'revision')).toEqual([]);
  });

  test('gives the budget that an early exit frees to the lanes it waits for', async () => {
    const { status, heard } = await play({
      lanes: [
        says('a', 'blue'),
        says('b', 'blue'),
        lane('c', [{ after_ms: 3_600_000, final: 'x', usage: { tokens: 40 } }], { tier: 'bronze' }),
        says('d', 'blue', 2, { tier: 'gold' }),
      ],
      policy: { early_exit: { wait_for_premium: true } },
    });
    expect(dataOf(heard, 'budget')).toEqual([
      expect.objectContaining({ action: 'reallocate_budget', freed_tokens: 40, to: ['d'] }),
    ]);
    expect(status.result?.saved.tokens).toBeGreaterThan(0);
  });

  test('says why it escalated', async () => {
    const { heard } = await play({
      lanes: [says('a', 'blue'), says('b', 'blue'), says('c', 'red')],
      policy: { ...noEarlyExit, escalation: { ...premium, on_disagreement: true } },
    });
    expect(dataOf(heard, 'log').map(({ message }) => message)).toEqual(['escalated: disagreement']);
  });
});

describe('a session of the simple profile', () => {
  const simple = { profile: 'simple' as const };
  test.concurrent.each<[string, string, Body, object]>([
    [
      'waits for every lane, agree or not',
      `ALL_ENDED BUFFERING, RECONCILE RECONCILING, ${done}`,
      {
        lanes: [says('a', 'blue'), says('b', 'blue'), says('c', 'red', 1)],
        policy: { ...simple, arbiter: arbiter({ final: 'x' }) },
      },
      result({ answer: 'blue', ended_by: 'all_final', completed_count: 3, arbiter_used: false }),
    ],
    [
      'ends at its deadline with those that have finalised',
      `ALL_ENDED BUFFERING, RECONCILE RECONCILING, ${done}`,
      { lanes: [says('a', 'blue'), silent('b')], policy: { ...simple, deadline_ms: 2 * beat } },
      result({ answer: 'blue', completed_count: 1 }),
    ],
    ['fails when every lane does', 'NO_ANSWER ERROR', { lanes: [fails('a')], policy: simple }, noAnswer('EAGENTDOWN')],
  ])('%s: %s', async (_, way, body, expected) => {
    const { status, heard } = await play(body);
    expect(wayOf(heard)).toBe(way);
    expect(status).toMatchObject(expected);
    expect(dataOf(heard, 'provisional')).toEqual([]);
  });

  test('fails when no lane can be dispatched: DISPATCH_ERR ERROR', async () => {
    const { status, heard } = await play({ lanes: [lane('a', [{ dispatch_err: true }])], policy: simple });
    expect(sessionRows(heard)).toEqual(['INIT FAN_OUT DISPATCHED', 'DISPATCHED DISPATCH_ERR ERROR']);
    expect(status).toMatchObject(noAnswer('EAGENTDOWN'));
  });

  test.concurrent.each<[SessionState, Body]>([
    ['DISPATCHED', { lanes: [lane('a', [{ after_ms: 60_000, dispatch_err: true }])], policy: simple }],
    ['STREAMING', { lanes: [says('a', 'blue'), silent('b')], policy: simple }],
    [
      'RECONCILING',
      {
        lanes: [says('a', 'blue'), says('b', 'blue', 1)],
        policy: { ...simple, reconciliation: 'weighted_merge', merge: { adapter: scripted(...silence) } },
      },
    ],
  ])('is cancelled in %s', async (state, body) => {
    const { id } = await product.start(whole(body));
    await product.until(id, (status) => status.state === state);
    expect((await product.post(`/v1/sessions/${id}/cancel`)).body).toMatchObject({ state: 'CANCELLED', result: null });
    expect(sessionRows((await watch(id)).heard).at(-1)).toBe(`${state} CANCEL CANCELLED`);
  });
});

describe('a lane', () => {
  const begun = 'INIT ADMIT ADMITTED, ADMITTED DISPATCH_OK STREAMING';
  const long = 'x'.repeat(300);
  /** The lane `x` beside others that decide nothing here; and its status at the end. */
  test.concurrent.each<[string, string, Body, object]>([
    [
      'that answers',
      `${begun}, STREAMING FINAL FINALIZED`,
      { lanes: [says('x', 'blue')] },
      { answer: 'blue', reason: null },
    ],
    [
      'that streams its text',
      `${begun}, STREAMING PARTIAL STREAMING, STREAMING FINAL FINALIZED`,
      { lanes: [lane('x', [{ partial: 'bl' }, { partial: 'ue' }, { after_ms: beat, final: 'blue' }])] },
      { answer: 'blue' },
    ],
    [
      'that pauses and resumes',
      `${begun}, STREAMING PAUSE PAUSED, PAUSED RESUME STREAMING, STREAMING FINAL FINALIZED`,
      {
        lanes: [
          lane('x', [
            { after_ms: beat, control: { status: 'PAUSE' } },
            { after_ms: beat, control: { status: 'READY' } },
            { after_ms: beat, final: 'blue' },
          ]),
        ],
      },
      { answer: 'blue' },
    ],
    [
      'that is busy for a while',
      `${begun}, STREAMING PARTIAL STREAMING, STREAMING BACKPRESSURE PAUSED, PAUSED RESUME STREAMING, STREAMING FINAL FINALIZED`,
      {
        lanes: [
          lane('x', [
            { partial: 'bl' },
            { after_ms: beat, control: { status: 'BUSY' } },
            { after_ms: 10, partial: 'ue' },
            { after_ms: beat, control: { status: 'READY', window: { max_parallel: 2, max_tokens: -1 } } },
            { after_ms: beat, final: 'blue' },
          ]),
        ],
        policy: { window: { max_parallel: 9, max_tokens: 900 } },
      },
      { answer: 'blue', window: { max_parallel: 2, max_tokens: 0 } },
    ],
    [
      'that finalises while it is paused',
      `${begun}, STREAMING PAUSE PAUSED, PAUSED FINAL FINALIZED`,
      {
        lanes: [
          lane('x', [
            { control: { status: 'PAUSE' } },
            { after_ms: beat, partial: 'bl' },
            { after_ms: beat, final: 'blue' },
          ]),
        ],
      },
      { answer: 'blue' },
    ],
    [
      'that fails while it is paused',
      `${begun}, STREAMING PAUSE PAUSED, PAUSED FAIL FAILED`,
      {
        lanes: [
          lane('x', [{ control: { status: 'PAUSE' } }, { after_ms: beat, fail: { code: 'EPROTO', message: 'lost' } }]),
        ],
      },
      { answer: null, reason: { code: 'EPROTO', message: 'lost' } },
    ],
    [
      'that is paused when its time is over',
      `${begun}, STREAMING PAUSE PAUSED, PAUSED TIMEOUT FAILED`,
      { lanes: [lane('x', [{ control: { status: 'PAUSE' } }, ...silence], { timeout_ms: 2 * beat })] },
      { reason: { code: 'ETIMEOUT', message: `no final within the lane's timeout_ms of ${2 * beat}` } },
    ],
    [
      'that fails',
      `${begun}, STREAMING FAIL FAILED`,
      { lanes: [fails('x', 1)] },
      { reason: { code: 'EAGENTDOWN', message: 'x broke' } },
    ],
    [
      'that takes too long',
      `${begun}, STREAMING TIMEOUT FAILED`,
      { lanes: [lane('x', silence, { timeout_ms: beat }), says('a', 'blue', 2)] },
      { reason: { code: 'ETIMEOUT', message: `no final within the lane's timeout_ms of ${beat}` } },
    ],
    [
      'whose dispatch takes too long',
      'INIT ADMIT ADMITTED, ADMITTED TIMEOUT FAILED',
      { lanes: [lane('x', [{ after_ms: 60_000, dispatch_err: true }], { timeout_ms: beat }), says('a', 'blue', 2)] },
      { reason: expect.objectContaining({ code: 'ETIMEOUT' }) },
    ],
    [
      'whose dispatch fails',
      'INIT ADMIT ADMITTED, ADMITTED DISPATCH_ERR FAILED',
      { lanes: [lane('x', [{ dispatch_err: 'no route' }]), says('a', 'blue', 1)] },
      { reason: { code: 'EAGENTDOWN', message: 'no route' }, usage: { tokens: 0, usd: '0' } },
    ],
    [
      'whose buffer is full behind a gap pauses until the gap is given up',
      `${begun}, STREAMING BACKPRESSURE PAUSED, PAUSED RESUME STREAMING, STREAMING PARTIAL STREAMING, STREAMING FINAL FINALIZED`,
      {
        lanes: [
          lane('x', [
            { msg_seq: 2, partial: long },
            { after_ms: 4 * beat, final: 'blue' },
          ]),
        ],
        policy: { gaps: { message_ms: 2 * beat } },
      },
      { answer: 'blue', lost: 1 },
    ],
    [
      'beyond max_parallel',
      'INIT ADMIT REJECTED',
      {
        lanes: [says('x', 'blue', 0, { tier: 'bronze' }), says('a', 'blue', 0, { tier: 'gold' })],
        policy: { window: { max_parallel: 1 } },
      },
      { reason: { code: 'EWINDOW', message: 'max_parallel is 1, with 1 calls in flight; wait until fewer are' } },
    ],
    [
      'beyond the budget',
      'INIT ADMIT REJECTED',
      {
        lanes: [
          lane('a', [{ final: 'blue', usage: { tokens: 10 } }]),
          lane('x', [{ final: 'blue', usage: { tokens: 6 } }]),
        ],
        budget: { max_tokens: 15 },
      },
      { reason: { code: 'EBUDGET', message: 'needs 6 tokens; 5 of max_tokens 15 are left' } },
    ],
    [
      "beyond the operator's policy",
      'INIT ADMIT REJECTED',
      { tenant: 'acme', lanes: [says('x', 'blue'), says('a', 'blue', 0, { tier: 'bronze' })] },
      { reason: { code: 'ESEC', message: 'the operator allows acme the tiers bronze; got silver' } },
    ],
    [
      'beyond all three',
      'INIT ADMIT REJECTED',
      {
        tenant: 'acme',
        lanes: [lane('x', [{ final: 'x', usage: { tokens: 2 } }])],
        budget: { max_tokens: 1 },
        policy: { window: { max_parallel: 0, max_tokens: 1 } },
      },
      { reason: { all: ['EWINDOW', 'EWINDOW', 'EBUDGET', 'ESEC'].map((code) => expect.objectContaining({ code })) } },
    ],
    [
      'of bronze when the budget runs out in mid-stream',
      `${begun}, STREAMING PARTIAL STREAMING, STREAMING CANCEL CANCELLED`,
      {
        prompt: 'x'.repeat(400),
        lanes: [
          lane('a', [{ partial: 'bl' }, { after_ms: 3 * beat, ...statesLess }], { tier: 'gold' }),
          lane('x', [{ after_ms: beat, partial: 'blue, I should think, as the sky is so' }, ...silence, statesLess], {
            tier: 'bronze',
          }),
        ],
        budget: { max_tokens: 205 },
        policy: { quorum_min: 3 },
      },
      { reason: expect.objectContaining({ code: 'preempted' }) },
    ],
    [
      'alone when the budget runs out in mid-stream',
      `${begun}, STREAMING PARTIAL STREAMING, STREAMING FAIL FAILED`,
      {
        prompt: 'x'.repeat(400),
        lanes: [lane('x', [{ partial: 'bl' }, ...silence, statesLess])],
        budget: { max_tokens: 50 },
      },
      { reason: expect.objectContaining({ code: 'EBUDGET' }) },
    ],
  ])('%s: %s', async (_, way, body, expected) => {
    const { status, heard } = await play(body);
    expect(laneRows(heard, 'x').join(', ')).toBe(way);
    expect(status.lanes.find(({ lane_id }) => lane_id === 'x')).toMatchObject(expected);
  });

  test.concurrent.each<[string, string, Body['lanes'][number]]>([
    ['ADMITTED', 'a dispatch that has not ended', lane('x', [{ after_ms: 60_000, dispatch_err: true }])],
    ['STREAMING', 'a silent agent', silent('x')],
    ['PAUSED', 'a paused agent', lane('x', [{ control: { status: 'PAUSE' } }, ...silence])],
  ])('in %s is cancelled with its session, from %s', async (state, _, one) => {
    const { id } = await product.start(whole({ lanes: [one] }));
    await product.until(id, ({ lanes }) => lanes[0]?.state === state);
    await product.post(`/v1/sessions/${id}/cancel`);
    const { status, heard } = await watch(id);
    expect(laneRows(heard, 'x').at(-1)).toBe(`${state} CANCEL CANCELLED`);
    expect(status.lanes[0]?.reason).toEqual({ code: 'session_cancelled', message: 'the session was cancelled' });
  });

  test('with clones is as many lanes, each with its own seed and script', async () => {
    const { status } = await play({ lanes: [says('b', 'blue', 0, { clones: 3 })], policy: noEarlyExit });
    expect(status.lanes.map(({ lane_id, diversity_seed, answer }) => [lane_id, diversity_seed, answer])).toEqual([
      ['b#1', 1, 'blue'],
      ['b#2', 2, 'blue'],
      ['b#3', 3, 'blue'],
    ]);
  });
});

describe('of the tables', () => {
  const rowsOf = (machine: {
    rows: readonly { from: string | readonly string[]; on: string; to: string }[];
  }): string[] => machine.rows.flatMap(({ from, on, to }) => [from].flat().map((one) => `${one} ${on} ${to}`));

  test.each<[string, string[], Set<string>, string[]]>([
    [
      'the session',
      rowsOf(sessionMachine),
      seen.full,
      // A session fans out in its first task, and leaves STREAMING with the first answer, before any deadline.
      ['INIT CANCEL CANCELLED', 'STREAMING DEADLINE DEADLINE'],
    ],
    [
      'the simple session',
      rowsOf(simpleSessionMachine),
      seen.simple,
      // "ERROR from each" (spec 01 "Profile"): none but these states can come to it.
      [
        ...['INIT', 'STREAMING', 'BUFFERING', 'RECONCILING'].map((from) => `${from} DISPATCH_ERR ERROR`),
        ...['INIT', 'DISPATCHED', 'BUFFERING', 'RECONCILING'].map((from) => `${from} NO_ANSWER ERROR`),
        ...['INIT', 'BUFFERING'].map((from) => `${from} CANCEL CANCELLED`),
      ],
    ],
    [
      'the lane',
      rowsOf(laneMachine),
      seen.lane,
      // Only when a worker died under its call: told by the tests that kill one.
      [
        'ADMITTED FAIL FAILED',
        ...['STREAMING', 'PAUSED'].flatMap((from) => [`${from} DISPATCH_OK STREAMING`, `${from} DISPATCH_ERR FAILED`]),
      ],
    ],
  ])('%s has no row but those seen above, and those that nothing outside can reach', (_, rows, taken, unreachable) => {
    expect(rows.filter((row) => !taken.has(row)).sort()).toEqual(unreachable.toSorted());
  });
});
