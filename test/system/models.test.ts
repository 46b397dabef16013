import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OpenSessionBody } from '../../src/contracts/session.js';
import type { SessionStatus } from '../../src/contracts/session-status.js';
import { startFrameAgent, type FrameAgent, type FrameAgentCall } from '../support/frame-agent.js';
import { startModelServer, type ModelServer } from '../support/model-server.js';
import { findSandbox } from '../support/parts.js';
import { startProduct, type Product } from '../support/product.js';
import { fails, noEarlyExit, says, silent } from '../support/session-bodies.js';
import { dataOf, follow, laneRows } from '../support/sse.js';

// Sessions whose lanes are answered by real servers and real processes: models, remote agents, programs.

let product: Product;
let models: ModelServer;
let agent: FrameAgent;
let play: (call: FrameAgentCall) => void | Promise<void> = () => {};
/** A provider by hand, that shows when a caller has left. */
let answer: (response: ServerResponse) => void = (response) => response.end();
const handmade = createServer((request, response) => {
  request.resume();
  request.once('end', () => answer(response));
});

beforeAll(async () => {
  models = await startModelServer();
  agent = await startFrameAgent((call) => play(call));
  handmade.listen(0, '127.0.0.1');
  await once(handmade, 'listening');
  product = await startProduct({
    PARLEY_PRICES: JSON.stringify({ 'lab/*': { input: 1, output: 10 } }),
    PARLEY_TRUSTED_COMMANDS: JSON.stringify(['cat', ['sh', '-c']]),
  });
}, 60_000);
beforeEach(() => models.reset());
afterAll(async () => {
  await product?.stop();
  await agent?.close();
  await models?.close();
  handmade.close();
  handmade.closeAllConnections();
});

type Lane = OpenSessionBody['lanes'][number];
const prompt = 'Which colour?';
const run = (lanes: Lane[], policy: OpenSessionBody['policy'] = noEarlyExit): Promise<SessionStatus> =>
  product.run({ prompt, lanes, policy });
const model = (lane_id: string, over: object = {}): Lane => ({
  lane_id,
  adapter: { kind: 'openai-compatible', provider: 'lab', base_url: models.baseUrl, model: 'any', ...over },
});
const byHand = (lane_id: string): Lane =>
  model(lane_id, { base_url: `http://127.0.0.1:${(handmade.address() as AddressInfo).port}/v1` });
const usage = { usage: { prompt_tokens: 1000, completion_tokens: 200 } };
const cancel = async (id: string): Promise<SessionStatus> => (await product.post(`/v1/sessions/${id}/cancel`)).body;

describe('models', () => {
  const sky = 'blue, since the sky is of that colour on most days';

  test('stream, agree, and cost what they used', async () => {
    models.mock.onMessage(
      prompt,
      { content: sky, ...usage },
      { chunkSize: 4, streamingProfile: { ttft: 20, tps: 40 } },
    );
    const { id } = await product.start({ prompt, lanes: [model('a'), model('b')], policy: noEarlyExit });
    const heard = await follow(`${product.url}/v1/sessions/${id}/events`);
    const pieces = dataOf(heard, 'partial').filter(({ lane_id }) => lane_id === 'a');
    expect(pieces.length).toBeGreaterThan(2);
    expect(sky.startsWith(pieces.map(({ text }) => text).join(''))).toBe(true);
    const status = await product.status(id);
    expect(status.lanes.map(({ state, answer: said, usage: used }) => [state, said, used])).toEqual([
      ['FINALIZED', sky, { tokens: 1200, usd: '0.003' }],
      ['FINALIZED', sky, { tokens: 1200, usd: '0.003' }],
    ]);
    expect(status.result).toMatchObject({ answer: sky, agreement: 1 });
    expect(status.spend).toEqual({ tokens: 2400, usd: '0.006' });
  });

  test('are given their persona, and each clone a seed of its own', async () => {
    models.mock.onMessage(prompt, { content: 'blue' });
    await run([{ ...model('a'), clones: 2, persona: { persona_id: 'painter', instructions: 'You paint.' } }]);
    const bodies = models.bodies();
    expect(new Set(bodies.map(({ seed }) => seed))).toEqual(new Set([1, 2]));
    for (const body of bodies) expect(JSON.stringify(body)).toContain('You paint.');
  });

  test('that ask to wait are asked again', async () => {
    const error = { message: 'slow down', type: 'rate_limit' };
    models.mock.on({ userMessage: prompt, sequenceIndex: 0 }, { error, status: 429, retryAfter: 1 });
    models.mock.on({ userMessage: prompt }, { content: 'blue', ...usage });
    const { result, lanes } = await run([model('a')]);
    expect(result?.answer).toBe('blue');
    expect(lanes[0]?.usage).toEqual({ tokens: 1200, usd: '0.003' });
    expect(models.bodies()).toHaveLength(2);
  });

  test.each<[string, string, RegExp, () => void]>([
    [
      'always asks to wait',
      'EWINDOW_AGENT',
      /429.*slow down/,
      () => models.mock.on({ userMessage: prompt }, { error: { message: 'slow down' }, status: 429, retryAfter: 1 }),
    ],
    [
      'refuses its key',
      'ESEC',
      /401.*LAB_API_KEY/,
      () => models.mock.on({ userMessage: prompt }, { error: { message: 'bad key' }, status: 401 }),
    ],
    [
      'is cut off in mid-stream',
      'EAGENTDOWN',
      /lab/,
      () =>
        models.mock.onMessage(
          prompt,
          { content: sky },
          { chunkSize: 4, truncateAfterChunks: 4, streamingProfile: { ttft: 5, tps: 100 } },
        ),
    ],
  ])('of which one %s do not keep the session from its answer', async (_, code, message, script) => {
    script();
    const status = await run([model('a'), says('b', 'blue', 1)]);
    expect(status.lanes[0]).toMatchObject({
      state: 'FAILED',
      reason: { code, message: expect.stringMatching(message) },
    });
    expect(status.result).toMatchObject({ answer: 'blue', for: [{ lane_id: 'b', weight: 1 }], against: [] });
  });

  test('without a price are refused, never taken for free', async () => {
    const status = await run([model('a', { provider: 'unheard-of' }), says('b', 'blue')]);
    expect(status.lanes[0]).toMatchObject({
      state: 'REJECTED',
      reason: { code: 'EBUDGET', message: expect.stringContaining('PARLEY_PRICES') },
    });
    expect(status.result?.answer).toBe('blue');
    expect(models.bodies()).toEqual([]);
  });

  test('that would cost more than the budget has are refused before they are called', async () => {
    const { lanes } = await product.run({
      prompt,
      lanes: [model('a'), says('b', 'blue')],
      budget: { max_usd: 0.000_1 },
    });
    expect(lanes[0]).toMatchObject({ state: 'REJECTED', reason: { code: 'EBUDGET' } });
    expect(models.bodies()).toEqual([]);
  });

  test.each<[string, Lane[], (id: string) => Promise<unknown>, string]>([
    ['a cancel', [], cancel, 'session_cancelled'],
    ['an early exit', [says('b', 'blue', 2), says('c', 'blue', 2)], async () => {}, 'early_exit'],
    [
      'the end of the session',
      [says('b', 'blue', 2), says('c', 'blue', 2), silent('d')],
      async () => {},
      'session_complete',
    ],
  ])('are hung up on by %s, and what they said so far is paid', async (_, others, end, reason) => {
    const gone = new Promise<void>((resolve) => {
      answer = (response) => {
        response.once('close', resolve);
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const choices = [{ index: 0, delta: { role: 'assistant', content: 'red, I would say' } }];
        response.write(
          `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'any', choices })}\n\n`,
        );
      };
    });
    const tier = reason === 'early_exit' ? 'bronze' : 'gold';
    const policy = { threshold: 0.5, early_exit: { threshold: 0.6 } };
    const { id } = await product.start({ prompt, lanes: [{ ...byHand('a'), tier }, ...others], policy });
    await product.until(id, ({ lanes }) => lanes[0]?.answer === 'red, I would say');
    await end(id);
    await gone;
    const { lanes } = await product.until(
      id,
      ({ lanes: all }) => all[0]?.state === 'CANCELLED' && all[0].usage.tokens > 0,
    );
    expect(lanes[0]?.reason?.code).toBe(reason);
    expect(Number(lanes[0]?.usage.usd)).toBeGreaterThan(0);
  });

  test('judge, arbitrate and merge as well', async () => {
    const asks = (text: string) => new RegExp(text);
    models.mock.onMessage(asks('Group the ids'), { content: '{"groups":[["a","b"]]}', ...usage });
    models.mock.onMessage(asks('Give the one answer'), { content: 'purple', ...usage });
    models.mock.onMessage(asks('Merge them'), { content: 'red and blue', ...usage });
    const { adapter } = model('x', { max_tokens: 100 });
    const lanes = [says('a', 'red'), says('b', 'blue')];
    const judged = await run(lanes, { ...noEarlyExit, agreement: { method: 'judge', adapter } });
    expect(judged.result).toMatchObject({ agreement: 1, below_threshold: false });
    const arbitrated = await run(lanes, { arbiter: { allowed: true, adapter } });
    expect(arbitrated.result).toMatchObject({ answer: 'purple', arbiter_used: true });
    const merged = await run(lanes, { reconciliation: 'weighted_merge', merge: { adapter } });
    expect(merged.result).toMatchObject({ answer: 'red and blue' });
    for (const { spend } of [judged, arbitrated, merged]) expect(Number(spend.usd)).toBe(0.003);
  });
});

describe('a program', () => {
  const command = (...argv: string[]): Lane => ({ lane_id: 'p', adapter: { kind: 'command', argv } });

  test.each<[string, Lane, string]>([
    ['is given the prompt and streams its output', command('cat'), prompt],
    ['knows who it is', command('sh', '-c', 'echo $PARLEY_LANE_ID of $PARLEY_PERSONA_ID'), 'p of p'],
  ])('that the operator trusts %s', async (_, lane, expected) => {
    expect((await run([lane])).result?.answer).toBe(expected);
  });

  (findSandbox() === null ? test.skip : test)('that the operator does not trust runs in a sandbox', async () => {
    const lane = command('node', '-p', 'require("os").userInfo().username + require("fs").readdirSync(".")');
    expect((await run([lane])).result?.answer).toBe('parley');
  });

  test.each<[string, Lane, string, RegExp]>([
    ['fails', command('sh', '-c', 'echo half; echo no colours >&2; exit 3'), 'EAGENTDOWN', /exit code 3: no colours/],
  ])('that %s is a lane that failed, and the session goes on', async (_, lane, code, message) => {
    const status = await run([lane, says('b', 'blue', 1)]);
    expect(status.lanes[0]).toMatchObject({
      state: 'FAILED',
      reason: { code, message: expect.stringMatching(message) },
    });
    expect(status.result?.answer).toBe('blue');
  });

  test('is ended, with what it started, when its session is cancelled', async () => {
    const { id } = await product.start({ prompt, lanes: [command('sh', '-c', 'sleep 600 & echo $!; wait')] });
    const { lanes } = await product.until(id, (status) => status.lanes[0]?.answer !== null);
    const child = Number(lanes[0]?.answer);
    expect(child).toBeGreaterThan(1);
    expect(await cancel(id)).toMatchObject({ state: 'CANCELLED' });
    const isAlive = (): boolean => {
      const stat = `/proc/${child}/stat`;
      // One that has ended and waits to be collected is not alive.
      if (existsSync('/proc/self')) return existsSync(stat) && !/\) Z /.test(readFileSync(stat, 'utf8'));
      try {
        return process.kill(child, 0);
      } catch {
        return false;
      }
    };
    // Nothing tells when a process that is not our child is gone, so it is looked for.
    while (isAlive()) await product.status(id);
  });
});

describe('a remote agent', () => {
  const remote = (lane_id: string): Lane => ({ lane_id, adapter: { kind: 'http', url: agent.url } });

  test('streams frames, pauses and goes on', async () => {
    play = async (call) => {
      const { session_id: id } = call.question;
      await call.send({ type: 'partial', msg_seq: 1, text: 'bl' });
      await product.until(id, ({ lanes }) => lanes[0]?.answer === 'bl');
      await call.send({ type: 'control', status: 'PAUSE' });
      await product.until(id, ({ lanes }) => lanes[0]?.state === 'PAUSED');
      await call.send(
        { type: 'control', status: 'READY' },
        { type: 'final', msg_seq: 2, text: 'blue', usage: { tokens: 12, usd: 0.001 } },
      );
    };
    const { id } = await product.start({ prompt, lanes: [remote('r')] });
    const heard = await follow(`${product.url}/v1/sessions/${id}/events`);
    expect(laneRows(heard, 'r')).toEqual([
      'INIT ADMIT ADMITTED',
      'ADMITTED DISPATCH_OK STREAMING',
      'STREAMING PARTIAL STREAMING',
      'STREAMING PAUSE PAUSED',
      'PAUSED RESUME STREAMING',
      'STREAMING FINAL FINALIZED',
    ]);
    const { result, spend } = await product.status(id);
    expect([result?.answer, spend]).toEqual(['blue', { tokens: 12, usd: '0.001' }]);
  });

  test('that is cut off is a lane that failed, and the session goes on', async () => {
    play = async (call) => {
      await call.send({ type: 'partial', msg_seq: 1, text: 'bl' });
      call.cut();
    };
    const status = await run([remote('r'), says('b', 'blue', 1)]);
    expect(status.lanes[0]).toMatchObject({ state: 'FAILED', reason: { code: 'EAGENTDOWN' } });
    expect(status.result).toMatchObject({ answer: 'blue', against: [] });
  });

  test('that nobody can reach is a dispatch that failed', async () => {
    const nowhere: Lane = { lane_id: 'r', adapter: { kind: 'http', url: 'http://127.0.0.1:1/agent' } };
    const status = await run([nowhere, says('b', 'blue')]);
    expect(status.lanes[0]).toMatchObject({
      state: 'FAILED',
      reason: { code: 'EAGENTDOWN', message: expect.stringContaining('127.0.0.1:1') },
    });
  });

  test('is hung up on when its session is cancelled', async () => {
    const called = agent.nextCall();
    play = async (call) => {
      await call.send({ type: 'partial', msg_seq: 1, text: 'bl' });
      await call.closed;
    };
    const { id } = await product.start({ prompt, lanes: [remote('r')] });
    const call = await called;
    await product.until(id, ({ lanes }) => lanes[0]?.answer === 'bl');
    await cancel(id);
    await call.closed;
  });

  test('that drains ends what it has begun, and is asked nothing more', async () => {
    let asked = 0;
    play = async (call) => {
      asked += 1;
      await call.send({ type: 'control', status: 'DRAINING' }, { type: 'final', msg_seq: 1, text: 'red' });
    };
    const escalation = { allowed: true, lane: remote('premium') };
    const status = await run([remote('r'), says('b', 'blue', 1)], { escalation });
    expect(status.lanes.map(({ lane_id, state }) => [lane_id, state])).toEqual([
      ['r', 'FINALIZED'],
      ['b', 'FINALIZED'],
    ]);
    expect(status.result).toMatchObject({ escalated: false, below_threshold: true });
    expect(asked).toBe(1);
  });
});

describe('simulated models', () => {
  test('give the same answers for the same seeds', async () => {
    const lanes: Lane[] = Array.from({ length: 5 }, (_, index) => ({
      lane_id: `s${index}`,
      adapter: {
        kind: 'simulated',
        seed: 7 + index,
        answer: 'blue',
        accuracy: 0.7,
        first_token_ms: 1,
        tokens_per_second: 10_000,
      },
    }));
    const [first, second] = [await run([...lanes, fails('x')]), await run([...lanes, fails('x')])];
    const answers = ({ lanes: all }: SessionStatus): unknown[] => all.map((lane) => lane.answer);
    expect(answers(first)).toEqual(answers(second));
    expect(first.state).toBe('COMPLETE');
  });
});
