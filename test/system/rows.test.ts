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
import { laneWays } from './lane-ways.js';
import { arbiter, type Body, disagreeing, done, noAnswer, premium, result, sessionWays } from './session-ways.js';

// Each row of both tables of spec 01, seen by a client: what is asked, and the way the session went.

let product: Product;
beforeAll(async () => {
  product = await startProduct({
    PARLEY_POLICY: JSON.stringify({ default: {}, tenants: { acme: { tiers: ['bronze'] } } }),
  });
}, 60_000);
afterAll(async () => await product?.stop());

const whole = (body: Body): OpenSessionBody => ({ prompt: 'Which colour?', ...body });

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

describe('a session', () => {
  test.concurrent.each(sessionWays)('%s: %s', async (_, way, body, expected) => {
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
        policy: { deadline_ms: 6 * beat, agreement: { method: 'judge', adapter: scripted(...silence) } },
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
      policy: { ...noEarlyExit, deadline_ms: 14 * beat },
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
        lanes: [says('a', 'blue'), says('b', 'blue'), says('c', 'blue', 14)],
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
      { lanes: [says('a', 'blue'), silent('b')], policy: { ...simple, deadline_ms: 8 * beat } },
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
  test.concurrent.each(laneWays)('%s: %s', async (_, way, body, expected) => {
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
