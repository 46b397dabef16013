import { createHash, randomUUID } from 'node:crypto';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { loadConfig } from '../../src/config.js';
import type { FramesAnswer } from '../../src/contracts/frames.js';
import { openSessionSchema, type OpenSessionBody } from '../../src/contracts/session.js';
import { type LaneStatus, type SessionStatus } from '../../src/contracts/session-status.js';
import { setUpSession } from '../../src/domain/session/set-up-session.js';
import { createOperator } from '../../src/operator.js';
import { framesUpdate, sessionWorkflowType } from '../../workflows/messages.js';
import type { SaidFrame } from '../support/frame-agent.js';
import { startProduct, type Answer, type Product } from '../support/product.js';
import { beat, external, says, silent } from '../support/session-bodies.js';
import { dataOf, follow, idsOf, laneRows, numbered, upTo } from '../support/sse.js';

// A lane that is fed from outside, frame by frame, over HTTP (spec 01 "Frames").

let product: Product;
beforeAll(async () => {
  product = await startProduct();
}, 60_000);
afterAll(async () => await product?.stop());

interface Remote {
  id: string;
  key: string;
  /** Posts as the remote agent does; whatever the answer. */
  try(...frames: SaidFrame[]): Promise<Answer>;
  /** Posts what must be taken. */
  post(...frames: SaidFrame[]): Promise<FramesAnswer>;
  lane(): Promise<LaneStatus>;
  until(holds: (lane: LaneStatus) => boolean): Promise<SessionStatus>;
  /** Cancels what a test has no more use for. */
  drop(): Promise<void>;
}

const open = async (
  policy: OpenSessionBody['policy'] = {},
  lanes: OpenSessionBody['lanes'] = [external('e')],
  budget: OpenSessionBody['budget'] = {},
): Promise<Remote> => {
  const { id, lane_keys: keys } = await product.start({ prompt: 'Which colour?', lanes, policy, budget });
  const first = lanes[0]?.lane_id ?? '';
  const key = keys?.[first] ?? '';
  const laneOf = ({ lanes: all }: SessionStatus): LaneStatus => all.find(({ lane_id }) => lane_id === first)!;
  const remote: Remote = {
    id,
    key,
    try: (...frames) => product.post(`/v1/sessions/${id}/lanes/${first}/frames`, { frames }, bearer(key)),
    post: async (...frames) => {
      let { status, body } = await remote.try(...frames);
      // A busy machine may be too late for Temporal, which then has not taken them: an agent sends them again.
      for (let again = 0; status === 503 && again < 5; again += 1) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        ({ status, body } = await remote.try(...frames));
      }
      if (status !== 200) throw new Error(JSON.stringify(body));
      return body;
    },
    lane: async () => laneOf(await product.status(id)),
    until: (holds) => product.until(id, (status) => holds(laneOf(status))),
    drop: async () => void (await product.post(`/v1/sessions/${id}/cancel`)),
  };
  return remote;
};
/** Gaps are never given up: a frame may come as late as a busy machine sends it. */
const patient: OpenSessionBody['policy'] = { gaps: { fragment_ms: 600_000, message_ms: 600_000 } };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const partial = (msg_seq: number, text: string, over: object = {}): SaidFrame => ({
  type: 'partial',
  msg_seq,
  text,
  ...over,
});
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('a remote agent', () => {
  test.concurrent.each<[string, SaidFrame[], Partial<LaneStatus>]>([
    [
      'that streams and says its answer',
      [
        partial(1, 'bl'),
        partial(2, 'ue'),
        { type: 'final', msg_seq: 3, text: 'Blue.', usage: { tokens: 9, usd: 0.001 } },
      ],
      { state: 'FINALIZED', answer: 'Blue.', usage: { tokens: 9, usd: '0.001' } },
    ],
    [
      'that answers in JSON',
      [{ type: 'final', msg_seq: 1, json: { colour: 'blue' }, usage: { tokens: 2 } }],
      { answer: { colour: 'blue' }, usage: { tokens: 2, usd: '0' } },
    ],
    [
      'whose final adds nothing',
      [partial(1, 'bl'), partial(2, 'ue'), { type: 'final', msg_seq: 3 }],
      { answer: 'blue' },
    ],
    [
      'whose frames come in disorder',
      [{ type: 'final', msg_seq: 3 }, partial(2, 'ue'), partial(1, 'bl')],
      { answer: 'blue', lost: 0, late: 0 },
    ],
    [
      'that says everything twice',
      [partial(1, 'bl'), partial(1, 'xx'), partial(2, 'ue'), partial(1, 'bl'), { type: 'final', msg_seq: 3 }],
      { answer: 'blue', duplicates: 2 },
    ],
    [
      'that fails',
      [partial(1, 'bl'), { type: 'fail', code: 'EPROTO', message: 'out of paint' }],
      { state: 'FAILED', reason: { code: 'EPROTO', message: 'out of paint' } },
    ],
    [
      'that sends a message in fragments',
      [
        partial(1, 'the', { frag_seq: 0, last: false }),
        partial(1, 'y', { frag_seq: 2 }),
        partial(1, ' sk', { frag_seq: 1, last: false, checksum: sha256(' sk') }),
        { type: 'final', msg_seq: 2 },
      ],
      { answer: 'the sky', refused: 0 },
    ],
    [
      'whose fragments do not fit',
      [
        partial(1, 'blue', { checksum: sha256('red') }),
        partial(1, 'bl', { frag_seq: 0, last: false }),
        partial(1, 'u', { frag_seq: 1, last: false }),
        partial(1, 'ue', { frag_seq: 1, checksum: `sha256:${sha256('ue')}` }),
        { type: 'final', msg_seq: 2 },
      ],
      { answer: 'blue', refused: 2 },
    ],
  ])('%s in one batch, or frame by frame', async (_, frames, expected) => {
    const [whole, single] = await Promise.all([open(patient), open(patient)]);
    await whole.post(...frames);
    for (const frame of frames) await single.post(frame);
    for (const remote of [whole, single]) {
      const status = await product.until(remote.id, ({ ended_at }) => ended_at !== null);
      expect(status.lanes[0]).toMatchObject(expected);
    }
  });

  test.concurrent('hears up to where nothing is missing, and what to send again', async () => {
    const remote = await open(patient);
    const first = await remote.post(
      partial(1, 'a'),
      partial(3, 'ccc', { frag_seq: 0, last: false }),
      partial(3, 'c', { frag_seq: 3 }),
    );
    expect(first).toMatchObject({
      accepted: 3,
      duplicates: 0,
      late: 0,
      refused: 0,
      ack: { msg_seq: 1, frag_seq: 0 },
      missing: [
        { msg_seq: 3, frag_seq: 1 },
        { msg_seq: 3, frag_seq: 2 },
      ],
      window: {},
      state: 'STREAMING',
    });
    expect((await remote.lane()).answer).toBe('a');
    const second = await remote.post(partial(2, 'b'), partial(3, 'ddd', { frag_seq: 1, last: false }));
    expect(second).toMatchObject({ ack: { msg_seq: 3, frag_seq: 1 }, missing: [{ msg_seq: 3, frag_seq: 2 }] });
    const third = await remote.post(partial(3, 'eee', { frag_seq: 2, last: false }), { type: 'final', msg_seq: 4 });
    expect(third).toMatchObject({ ack: { msg_seq: 4 }, missing: [], state: 'ENDED' });
    expect((await product.until(remote.id, ({ result }) => result !== null)).result?.answer).toBe('abcccdddeeec');
  });

  test.concurrent('loses the message of a gap that nobody fills; what comes after that is late', async () => {
    const remote = await open({ gaps: { message_ms: beat } });
    await remote.post(partial(1, 'a'), partial(3, 'c'));
    const { lanes } = await remote.until(({ lost }) => lost === 1);
    expect(lanes[0]).toMatchObject({ answer: 'ac', late: 0 });
    expect(await remote.post(partial(2, 'b'))).toMatchObject({ accepted: 0, late: 1, ack: { msg_seq: 3 } });
    await remote.post({ type: 'final', msg_seq: 4 });
    const ended = await product.until(remote.id, ({ result }) => result !== null);
    expect(ended.lanes[0]).toMatchObject({ answer: 'ac', lost: 1, late: 1 });
  });

  test.concurrent('loses a message whole of which a fragment is lost', async () => {
    const remote = await open({ gaps: { fragment_ms: beat } });
    await remote.post(partial(1, 'aa', { last: false }), partial(1, 'a', { frag_seq: 2 }), partial(2, 'b'));
    expect((await remote.until(({ lost }) => lost === 1)).lanes[0]).toMatchObject({ answer: 'b' });
    expect(await remote.post(partial(1, 'aa', { frag_seq: 1, last: false }))).toMatchObject({ late: 1 });
    await remote.drop();
  });

  test.concurrent('whose final waits behind a gap ends when the gap is given up', async () => {
    const remote = await open({ gaps: { message_ms: beat } });
    expect(await remote.post(partial(1, 'blue'), { type: 'final', msg_seq: 3 })).toMatchObject({ state: 'STREAMING' });
    const status = await product.until(remote.id, ({ result }) => result !== null);
    expect(status.lanes[0]).toMatchObject({ state: 'FINALIZED', answer: 'blue', lost: 1 });
  });

  test.concurrent('that pauses is held to a full buffer, then told to wait, and loses nothing', async () => {
    const remote = await open({ window: { max_parallel: 3 } });
    const paused = await remote.post(
      partial(1, 'a'),
      { type: 'control', status: 'PAUSE', window: { max_tokens: 5 } },
      partial(2, 'b'.repeat(256)),
    );
    expect(paused).toMatchObject({ accepted: 3, state: 'PAUSED', window: { max_parallel: 3, max_tokens: 5 } });
    expect((await remote.until(({ state }) => state === 'PAUSED')).lanes[0]?.answer).toBe('a');
    const refused = await remote.try(partial(3, 'c'));
    expect([refused.status, refused.body]).toEqual([
      429,
      expect.objectContaining({ code: 'EWINDOW_AGENT', status: 429 }),
    ]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await remote.post({ type: 'control', status: 'READY' })).toMatchObject({ state: 'STREAMING' });
    await remote.post(partial(3, 'c'));
    await remote.post({ type: 'final', msg_seq: 4 });
    const status = await product.until(remote.id, ({ result }) => result !== null);
    expect(status.result?.answer).toBe(`a${'b'.repeat(256)}c`);
    expect(laneRows(await follow(`${product.url}/v1/sessions/${remote.id}/events`), 'e')).toEqual([
      'INIT ADMIT ADMITTED',
      'ADMITTED DISPATCH_OK STREAMING',
      'STREAMING PARTIAL STREAMING',
      'STREAMING PAUSE PAUSED',
      'PAUSED RESUME STREAMING',
      'STREAMING FINAL FINALIZED',
    ]);
  });

  test.concurrent('that is busy has a window of nothing at once', async () => {
    const remote = await open();
    const busy = await remote.post({ type: 'control', status: 'BUSY' });
    expect(busy).toMatchObject({ state: 'PAUSED', window: { max_parallel: 0, max_tokens: 0, max_usd_micros: 0 } });
    await remote.drop();
  });

  test.concurrent('whose buffer is full behind a gap may fill the gap, and nothing else', async () => {
    const remote = await open({ gaps: { message_ms: 600_000 } });
    expect(await remote.post(partial(2, 'b'.repeat(300)))).toMatchObject({ accepted: 1, state: 'PAUSED' });
    const refused = await remote.try(partial(3, 'c'));
    expect([refused.status, refused.body]).toEqual([429, expect.objectContaining({ code: 'EWINDOW_AGENT' })]);
    // Only time could make room: then it is told how much.
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(500);
    expect(await remote.post(partial(1, 'a'))).toMatchObject({ state: 'STREAMING', ack: { msg_seq: 2 } });
    await remote.post(partial(3, 'c'), { type: 'final', msg_seq: 4 });
    const status = await product.until(remote.id, ({ result }) => result !== null);
    expect(status.result?.answer).toBe(`a${'b'.repeat(300)}c`);
  });

  test.concurrent('that takes too long is timed out by the session, paused or not', async () => {
    const remote = await open({}, [{ ...external('e'), timeout_ms: 8 * beat }, says('a', 'blue', 4)]);
    await remote.post(partial(1, 'red'), { type: 'control', status: 'PAUSE' });
    const status = await product.until(remote.id, ({ result }) => result !== null);
    expect(status.lanes[0]).toMatchObject({ state: 'FAILED', reason: { code: 'ETIMEOUT' } });
    expect(status.result).toMatchObject({ answer: 'blue', agreement: 1 });
  });

  test.concurrent('is one of clones, each with its own key, numbers and answer', async () => {
    const lanes = [{ ...external('e'), clones: 2 }];
    const { id, lane_keys: keys } = await product.start({ prompt: 'Which colour?', lanes });
    expect(Object.keys(keys ?? {})).toEqual(['e#1', 'e#2']);
    const post = (clone: string, key: string, text: string) =>
      product.post(
        `/v1/sessions/${id}/lanes/e%23${clone}/frames`,
        { frames: [{ type: 'final', msg_seq: 1, text }] },
        bearer(key),
      );
    expect((await post('1', keys?.['e#2'] ?? '', 'red')).status).toBe(401);
    expect((await post('1', keys?.['e#1'] ?? '', 'blue')).status).toBe(200);
    expect((await product.status(id)).lanes.map(({ state }) => state)).toEqual(['FINALIZED', 'STREAMING']);
    expect((await post('2', keys?.['e#2'] ?? '', 'blue')).status).toBe(200);
    expect((await product.until(id, ({ result }) => result !== null)).result).toMatchObject({
      answer: 'blue',
      completed_count: 2,
    });
  });
});

describe('frames are refused', () => {
  const frames = [{ type: 'partial', msg_seq: 1, text: 'x' }];
  let remote: Remote;
  beforeAll(async () => {
    remote = await open({}, [external('e'), silent('s')]);
  });
  afterAll(async () => await remote.drop());

  test.each<[number, string, string, () => { path?: string; key?: string; body?: unknown }]>([
    [401, 'unauthorized', 'without a key', () => ({ key: '' })],
    [401, 'unauthorized', 'with a key that is none', () => ({ key: `lane_${'x'.repeat(43)}` })],
    [404, 'not_found', 'for a lane that there is not', () => ({ path: `${remote.id}/lanes/x` })],
    [404, 'not_found', 'for a session that there is not', () => ({ path: `s-${randomUUID()}/lanes/e` })],
    [409, 'wrong_state', 'for a lane with an agent of its own', () => ({ path: `${remote.id}/lanes/s` })],
    [422, 'invalid_request', 'when there are none', () => ({ body: { frames: [] } })],
    [422, 'invalid_request', 'of an unknown type', () => ({ body: { frames: [{ type: 'poem', text: 'x' }] } })],
    [422, 'invalid_request', 'with numbers from 0', () => ({ body: { frames: [{ ...frames[0], msg_seq: 0 }] } })],
  ])('with %i %s %s', async (status, code, _, given) => {
    const { path = `${remote.id}/lanes/e`, key = remote.key, body = { frames } } = given();
    const answer = await product.post(`/v1/sessions/${path}/frames`, body, key === '' ? {} : bearer(key));
    expect([answer.status, answer.body]).toEqual([status, expect.objectContaining({ status, code })]);
    expect((await remote.lane()).answer).toBe(null);
  });

  test('with 409 wrong_state when the session has ended', async () => {
    const ended = await open();
    await ended.post({ type: 'final', msg_seq: 1, text: 'blue' });
    await product.until(ended.id, ({ result }) => result !== null);
    const { status, body } = await ended.try(partial(2, 'x'));
    expect([status, body]).toEqual([
      409,
      expect.objectContaining({ code: 'wrong_state', detail: expect.stringContaining('COMPLETE') }),
    ]);
  });

  test('late when their lane has ended and its session has not, whatever else is in the batch', async () => {
    const ended = await open({}, [external('e'), silent('s')]);
    await ended.post({ type: 'final', msg_seq: 1, text: 'blue' });
    expect(await ended.post(partial(2, 'x'), { type: 'final', msg_seq: 1, text: 'red' })).toMatchObject({
      accepted: 0,
      late: 1,
      duplicates: 1,
      state: 'ENDED',
    });
    expect(await ended.lane()).toMatchObject({ state: 'FINALIZED', answer: 'blue', late: 1, duplicates: 1 });
    await ended.drop();
  });
});

describe('a lane that is fed from outside', () => {
  test.concurrent('takes what was posted before its session had begun', async () => {
    const identity = { id: `early-${randomUUID()}`, traceId: '0'.repeat(32), webUiUrl: '' };
    const body = openSessionSchema.parse({ prompt: 'Which colour?', lanes: [external('e')] });
    const setup = setUpSession(body, identity, createOperator(loadConfig({})));
    const startWorkflowOperation = new WithStartWorkflowOperation(sessionWorkflowType, {
      workflowId: setup.id,
      taskQueue: product.taskQueue,
      args: [setup],
      workflowIdConflictPolicy: 'FAIL',
    });
    const answer = await product.client.workflow.executeUpdateWithStart(framesUpdate, {
      args: ['e', [{ type: 'final', msg_seq: 1, text: 'blue' }]],
      startWorkflowOperation,
    });
    expect(answer).toMatchObject({ accepted: 1, state: 'ENDED' });
    const { result } = await product.until(setup.id, ({ ended_at }) => ended_at !== null);
    expect(result?.answer).toBe('blue');
  });

  test.concurrent('pays for its text while it streams, and still when it is cut off', async () => {
    const remote = await open({}, [external('e'), silent('s')]);
    await remote.post(partial(1, 'word '.repeat(80)));
    // 4 tokens of the prompt and 100 of the text.
    await remote.until(({ usage }) => usage.tokens === 104);
    await remote.drop();
    expect(await remote.lane()).toMatchObject({ state: 'CANCELLED', usage: { tokens: 104 } });
  });

  test.concurrent('ends with EBUDGET when its text outgrows the budget', async () => {
    const remote = await open({}, [external('e'), silent('s')], { max_tokens: 300 });
    await remote.post(partial(1, 'word '.repeat(200)));
    expect(await remote.lane()).toMatchObject({ state: 'STREAMING' });
    await remote.post(partial(2, 'word '.repeat(100)));
    await remote.until(({ state }) => state === 'FAILED');
    expect(await remote.lane()).toMatchObject({ reason: { code: 'EBUDGET' }, usage: { tokens: 379 } });
    await remote.drop();
  });

  test.concurrent('fails when it says more than can be kept', async () => {
    const remote = await open({}, [external('e'), silent('s')]);
    await remote.post(partial(1, 'x'.repeat(400_000)));
    await remote.post(partial(2, 'x'.repeat(100_000)));
    await remote.until(({ state }) => state === 'FAILED');
    expect(await remote.lane()).toMatchObject({ reason: { code: 'EPROTO' } });
    await remote.drop();
  });

  test.concurrent('may be called as a member of every object is', async () => {
    const remote = await open({}, [{ ...external('valueOf'), timeout_ms: 600_000 }]);
    await remote.post(partial(1, 'bl'), { type: 'final', msg_seq: 2, text: 'blue' });
    await remote.until(({ answer }) => answer === 'blue');
  });

  test.concurrent('and has run out of time is told so', async () => {
    const remote = await open({}, [{ ...external('e'), timeout_ms: 8 * beat }, silent('s')]);
    await remote.post(partial(1, 'bl'));
    await remote.until(({ state }) => state === 'FAILED');
    expect(await remote.post(partial(2, 'ue'), { type: 'final', msg_seq: 3 })).toMatchObject({
      accepted: 0,
      late: 2,
      state: 'ENDED',
    });
    await remote.until(({ late }) => late === 2);
    await remote.drop();
  });
});

describe('a session with more posts than one run may take', () => {
  test('continues as new, and no client notices', async () => {
    const remote = await open({ deadline_ms: 600_000, gaps: { message_ms: 600_000 } }, [external('e'), silent('s')]);
    const url = `${product.url}/v1/sessions/${remote.id}/events`;
    const whole = follow(url);
    const handle = product.client.workflow.getHandle(remote.id);
    const firstRun = (await handle.describe()).runId;
    await remote.post(partial(1, 'begun '), { type: 'control', status: 'PAUSE' });
    await remote.post({ type: 'control', status: 'READY' });
    const half = await follow(url, 0, (heard) => laneRows(heard, 'e').includes('PAUSED RESUME STREAMING'));
    // One message is held back, so that there is something in order's way at the border.
    const [held, last] = [1_400, 1_550];
    const numbers = Array.from({ length: last - 2 }, (_, index) => index + 2).filter((number) => number !== held);
    while (numbers.length > 0)
      await Promise.all(numbers.splice(0, 32).map((number) => remote.post(partial(number, ''))));
    const { runId } = await handle.describe();
    expect(runId).not.toBe(firstRun);
    await remote.post(partial(held, 'and '));
    await remote.post({ type: 'control', status: 'PAUSE' }, { type: 'control', status: 'READY' });
    await remote.post(partial(last, 'done'));
    const across = follow(url, Math.max(...idsOf(half)));
    expect((await product.status(remote.id)).lanes).toMatchObject([
      { state: 'STREAMING', answer: 'begun and done', lost: 0 },
      // The call under way was taken over, not made again.
      { state: 'STREAMING', attempt: 1 },
    ]);
    await remote.post({ type: 'final', msg_seq: last + 1, text: 'blue' });
    await product.post(`/v1/sessions/${remote.id}/cancel`);

    const heard = numbered(await whole);
    expect(idsOf(heard)).toEqual(upTo(heard.length));
    expect(laneRows(heard, 'e')).toEqual([
      'INIT ADMIT ADMITTED',
      'ADMITTED DISPATCH_OK STREAMING',
      'STREAMING PARTIAL STREAMING',
      'STREAMING PAUSE PAUSED',
      'PAUSED RESUME STREAMING',
      'STREAMING PAUSE PAUSED',
      'PAUSED RESUME STREAMING',
      'STREAMING FINAL FINALIZED',
    ]);
    expect(dataOf(heard, 'state').at(-1)).toMatchObject({ to: 'CANCELLED' });
    // Reconnected across the border; and come after the end, from before the border and from behind it.
    const resumed = numbered(half).length;
    expect([...numbered(half), ...numbered(await across)]).toEqual(heard);
    for (const since of [0, resumed, heard.length - 1])
      expect(numbered(await follow(url, since))).toEqual(heard.slice(since));
  }, 90_000);
});
