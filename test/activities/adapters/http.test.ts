import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import type { Agents } from '../../../activities/adapters/index.js';
import { type FrameAgent, type FrameAgentCall, startFrameAgent } from '../../support/frame-agent.js';
import type { CallEnd } from '../../../activities/governor/port.js';
import { agentsOf, allOf, answerOf, ask, listening, requestOf } from './agents.js';

let agents: Agents;
let agent: FrameAgent;
let play: (call: FrameAgentCall) => void | Promise<void>;

beforeAll(async () => {
  agents = agentsOf();
  agent = await startFrameAgent((call) => play(call));
});
afterAll(async () => {
  await agents?.close();
  await agent?.close();
});

const adapter = () => ({ kind: 'http' as const, url: agent.url });
const askAs = async (answer: typeof play) => {
  play = answer;
  return ask(agents, adapter());
};
const blue = { type: 'final', msg_seq: 2, text: 'blue', usage: { tokens: 12, usd: 0.001 } } as const;

describe('a remote agent', () => {
  test('is asked by POST and answers with frames as server-sent events', async () => {
    play = (call) => call.send({ type: 'partial', msg_seq: 1, text: 'bl' }, blue);
    const given = { instructions: 'Be brief.', diversitySeed: 4, personaId: 'critic' };
    const { frames, usages } = await ask(agents, adapter(), given);
    expect(frames).toEqual([{ type: 'partial', msg_seq: 1, frag_seq: 0, last: true, text: 'bl' }, blue]);
    expect(usages).toEqual([{ tokens: 12, usd: 0.001 }]);
    const call = agent.calls.at(-1);
    expect(call?.question).toEqual({
      session_id: 'session-1',
      lane_id: 'a',
      persona_id: 'critic',
      instructions: 'Be brief.',
      prompt: 'Which colour?',
      diversity_seed: 4,
    });
    expect(call?.headers).toMatchObject({
      accept: 'text/event-stream, application/json;q=0.9',
      'content-type': 'application/json',
    });
  });

  test('may split its events anywhere, also inside a character', async () => {
    const { frames } = await askAs(async (call) => {
      const bytes = Buffer.from(`: hello\r\ndata: {"type":"final",\r\ndata: "msg_seq":1,"text":"blå€"}\r\n\r\n`);
      call.response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      for (const byte of bytes) await new Promise((resolve) => call.response.write(Buffer.of(byte), resolve));
    });
    expect(frames).toEqual([{ type: 'final', msg_seq: 1, text: 'blå€' }]);
  });

  test('may answer with one JSON document', async () => {
    const { frames, controls } = await askAs(({ response }) => {
      const control = { type: 'control', status: 'DRAINING' };
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
      response.end(JSON.stringify({ frames: [control, { type: 'partial', msg_seq: 1, text: 'bl' }, blue] }));
    });
    expect(answerOf(frames)).toBe('blue');
    expect(controls).toEqual([{ type: 'control', status: 'DRAINING' }]);
  });

  test('may fail in its own words', async () => {
    const fail = { type: 'fail', code: 'EAGENTDOWN', message: 'out of paint', retryable: true } as const;
    expect((await askAs((call) => call.send(fail))).frames).toEqual([fail]);
  });

  test('is not heard behind its final', async () => {
    const { frames, controls } = await askAs((call) => call.send(blue, { type: 'control', status: 'BUSY' }, blue));
    expect(frames).toEqual([blue]);
    expect(controls).toEqual([]);
  });

  test('that pauses is heard when it is ready again, though nobody pulls', async () => {
    let leave = (): void => {};
    const isLeft = new Promise<void>((resolve) => (leave = resolve));
    play = async (call) => {
      await call.send({ type: 'control', status: 'PAUSE' }, { type: 'partial', msg_seq: 1, text: 'bl' });
      await isLeft;
      await call.send({ type: 'partial', msg_seq: 2, text: 'ue' });
      await call.send({ type: 'control', status: 'READY' }, { type: 'final', msg_seq: 3 });
    };
    const ear = listening();
    const frames = (await agents.open(requestOf(adapter()), ear.context))[Symbol.asyncIterator]();
    expect(await frames.next()).toMatchObject({ value: { text: 'bl' } });
    const ready = ear.nextControl();
    leave();
    await ready;
    expect(ear.controls.map(({ status }) => status)).toEqual(['PAUSE', 'READY']);
    expect(await frames.next()).toMatchObject({ value: { text: 'ue' } });
    expect(await frames.next()).toMatchObject({ value: { type: 'final' } });
    expect(await frames.next()).toMatchObject({ done: true });
  });

  test('that nobody pulls is held up by its own answer', async () => {
    const text = 'x'.repeat(100_000);
    const sent = { held: 0, through: 0 };
    let name: keyof typeof sent = 'held';
    play = async (call) => {
      const mine = name;
      for (let msgSeq = 1; msgSeq <= 300; msgSeq += 1) {
        await call.send({ type: 'partial', msg_seq: msgSeq, text });
        sent[mine] = msgSeq;
      }
      await call.send({ type: 'final', msg_seq: 301, text: 'done' });
    };
    const held = await agents.open(requestOf(adapter()), listening().context);
    const iterator = held[Symbol.asyncIterator]();
    await iterator.next();
    name = 'through';
    // Thirty megabytes go through in a later call, while the first one stands still.
    expect(answerOf((await ask(agents, adapter())).frames)).toBe('done');
    expect(sent.through).toBe(300);
    expect(sent.held).toBeLessThan(300);
    let count = 1;
    while ((await iterator.next()).done !== true) count += 1;
    expect([sent.held, count]).toEqual([300, 301]);
  });
});

describe('a remote agent that is aborted', () => {
  test('sees its connection close', async () => {
    play = async (call) => {
      await call.send({ type: 'partial', msg_seq: 1, text: 'bl' });
      await call.closed;
    };
    const { context, controller } = listening();
    const frames = (await agents.open(requestOf(adapter()), context))[Symbol.asyncIterator]();
    await frames.next();
    const waiting = frames.next();
    controller.abort();
    expect(await waiting).toEqual({ done: true, value: undefined });
    await agent.calls.at(-1)?.closed;
  });

  test('sees its connection close also when it has not answered yet', async () => {
    const { context, controller } = listening();
    play = (call) => call.closed;
    const called = agent.nextCall();
    const hearing = allOf(await agents.open(requestOf(adapter()), context));
    const call = await called;
    controller.abort();
    expect(await hearing).toEqual([]);
    await call.closed;
  });

  test('by leaving its frames sees its connection close', async () => {
    play = async (call) => {
      await call.send({ type: 'partial', msg_seq: 1, text: 'bl' });
      await call.closed;
    };
    for await (const frame of await agents.open(requestOf(adapter()), listening().context)) {
      expect(frame).toMatchObject({ text: 'bl' });
      break;
    }
    await agent.calls.at(-1)?.closed;
  });
});

describe('a remote agent that does not keep to frames', () => {
  const status =
    (code: number, headers: Record<string, string> = {}, body = '') =>
    (call: FrameAgentCall) => {
      call.response.writeHead(code, headers).end(body);
    };
  test.each<[string, typeof play, object]>([
    [
      'by a frame that is none',
      (call) => call.sendRaw('data: {"type":"partial","msg_seq":0,"text":"a"}\n\n'),
      { code: 'EPROTO', retryable: false, message: expect.stringMatching(/^not a frame \(msg_seq: .*"msg_seq":0/) },
    ],
    [
      'by text that is no JSON',
      (call) => call.sendRaw('data: [DONE\n\n'),
      { code: 'EPROTO', message: expect.stringMatching(/^not JSON .*: \[DONE$/) },
    ],
    [
      'by an event without end',
      (call) => call.sendRaw(`data: ${'x'.repeat(1_100_000)}`),
      { code: 'EPROTO', message: 'an event is longer than 1048576 characters; split it into messages' },
    ],
    [
      'by a cut connection',
      async (call) => {
        await call.send({ type: 'control', status: 'READY' });
        call.cut();
      },
      { code: 'EAGENTDOWN', retryable: true, message: expect.stringContaining('was cut off') },
    ],
    [
      'by an end before the final',
      (call) => call.send({ type: 'control', status: 'READY' }),
      {
        code: 'EAGENTDOWN',
        retryable: true,
        message: "the agent's answer was cut off: it ended before its final frame",
      },
    ],
    [
      'by a promise to answer later',
      status(202),
      { code: 'EPROTO', retryable: false, message: expect.stringContaining('use adapter kind "external"') },
    ],
    [
      'by another type of content',
      status(200, { 'content-type': 'text/html' }, '<p>blue</p>'),
      { code: 'EPROTO', message: expect.stringContaining('answered with text/html; it must be text/event-stream') },
    ],
    ['by JSON without frames', status(200, { 'content-type': 'application/json' }, '{"frame":1}'), { code: 'EPROTO' }],
    [
      'by frames that do not end',
      status(200, { 'content-type': 'application/json' }, '{"frames":[]}'),
      { code: 'EPROTO', message: 'the frames end without final or fail' },
    ],
    ['by 401', status(401, {}, 'who are you'), { code: 'ESEC', message: 'the agent answered 401: who are you' }],
    ['by 404', status(404), { code: 'EPROTO', retryable: false }],
    [
      'by 429',
      status(429, { 'retry-after': '7' }, 'slow down'),
      { code: 'EWINDOW_AGENT', retryable: true, message: 'the agent answered 429: slow down; retry after 7 s' },
    ],
    ['by 503', status(503), { code: 'EAGENTDOWN', retryable: true }],
    [
      'by a redirect to another origin',
      status(307, { location: 'http://127.0.0.1:1/agent' }),
      { code: 'ESEC', message: expect.stringContaining('redirects to another origin are not followed') },
    ],
    [
      'by a redirect that says who calls',
      (call) => {
        const location = agent.url.replace('://', '://me:sesame@');
        call.response.writeHead(307, { location }).end();
      },
      { code: 'ESEC', message: expect.not.stringContaining('sesame') },
    ],
    ['by a redirect that drops the POST', status(302, { location: '/other' }), { code: 'EPROTO' }],
    ['by redirects in a circle', status(308, { location: '/agent' }), { code: 'EPROTO' }],
  ])('%s fails', async (_, answer, expected) => {
    const { frames } = await askAs(answer);
    expect(frames).toEqual([expect.objectContaining({ type: 'fail', ...expected })]);
  });

  test('in the middle keeps what it said before', async () => {
    const { frames } = await askAs(async (call) => {
      await call.send({ type: 'partial', msg_seq: 1, text: 'bl' });
      call.cut();
    });
    // What was on its way when the connection broke may be lost; what was read is kept.
    expect(frames.at(-1)).toMatchObject({ type: 'fail', code: 'EAGENTDOWN', retryable: true });
  });
});

describe('the connections of a worker', () => {
  const asking = (pool: Agents) => pool.open(requestOf(adapter()), listening().context);

  test('are as many as PARLEY_MAX_CONNECTIONS; a call beyond is dispatched when one is free', async () => {
    const pool = agentsOf({ environment: { PARLEY_MAX_CONNECTIONS: '1' } });
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    play = async (call) => {
      await released;
      await call.send(blue);
    };
    const firstIsThere = agent.nextCall();
    const first = await asking(pool);
    await firstIsThere;
    let isDispatched = false;
    const second = asking(pool).then((frames) => {
      isDispatched = true;
      return allOf(frames);
    });
    play = (call) => call.send(blue);
    // By the time another worker has asked and heard its answer, the second call would have been on its way.
    await ask(agents, adapter());
    expect(isDispatched).toBe(false);
    release();
    expect(await allOf(first)).toEqual([blue]);
    expect(await second).toEqual([blue]);
    await pool.close();
  });

  test.each([
    ['0', ['close']],
    ['1', ['close', 'keep-alive']],
  ])('are kept open up to PARLEY_MAX_KEEPALIVE_CONNECTIONS=%s between calls', async (kept, expected) => {
    const pool = agentsOf({ environment: { PARLEY_MAX_KEEPALIVE_CONNECTIONS: kept } });
    let came = 0;
    let release = (): void => {};
    const together = new Promise<void>((resolve) => (release = resolve));
    const headers: (string | undefined)[] = [];
    play = async (call) => {
      came += 1;
      headers.push(call.headers.connection);
      if (came === 2) release();
      await together;
      await call.send(blue);
    };
    await Promise.all([asking(pool).then(allOf), asking(pool).then(allOf)]);
    expect(new Set(headers)).toEqual(new Set(expected));
    await pool.close();
  });

  test.each(['0', '-1', '1.5', 'many'])('are refused when their number is %j', (given) => {
    expect(() => agentsOf({ environment: { PARLEY_MAX_CONNECTIONS: given } })).toThrow(
      `PARLEY_MAX_CONNECTIONS must be a whole number from 1; got "${given}"`,
    );
  });

  test('give up on an agent that does not answer', async () => {
    const dispatcher = new Agent({ headersTimeout: 100 });
    play = (call) => call.closed;
    const { frames } = await ask(agentsOf({ dispatcher }), adapter());
    expect(frames).toEqual([expect.objectContaining({ type: 'fail', code: 'ETIMEOUT', retryable: true })]);
    await dispatcher.close();
  });
});

test('a redirect within the origin is followed', async () => {
  const { frames } = await askAs(async (call) => {
    if (call.path === '/agent') call.response.writeHead(307, { location: '/moved' }).end();
    else await call.send({ type: 'final', msg_seq: 1, text: `${call.question.prompt} at ${call.path}` });
  });
  expect(answerOf(frames)).toBe('Which colour? at /moved');
});

test('an address where nothing listens refuses the call', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const url = `http://127.0.0.1:${port}`;
  await expect(
    agents.open(requestOf({ kind: 'http', url: `${url}/sesame?key=sesame` }), listening().context),
  ).rejects.toMatchObject({
    code: 'EAGENTDOWN',
    retryable: true,
    message: expect.stringMatching(new RegExp(`^no connection to the agent at ${url}: .*ECONNREFUSED`)) as string,
  });
});

test.each(['http', 'a2a'] as const)('who calls is told by no error of an %s agent', async (kind) => {
  // As work of before has it: no request may hold such a URL any more.
  const named = { kind, url: agent.url.replace('://', '://me:sesame@') };
  const opened = agents.open({ ...requestOf(adapter()), adapter: named }, listening().context);
  await expect(opened).rejects.toMatchObject({ message: expect.not.stringContaining('sesame') });
  await expect(opened).rejects.toThrow('://…@');
});

describe('a provider whose calls are limited', () => {
  const ends: CallEnd['outcome'][] = [];
  const governed = agentsOf({
    governor: {
      governs: () => true,
      admit: () => Promise.resolve({ sent: () => {}, end: ({ outcome }) => void ends.push(outcome) }),
      close: () => Promise.resolve(),
    },
  });
  beforeEach(() => ends.splice(0));
  afterAll(() => governed.close());

  test.each<[string, CallEnd['outcome']]>([
    ['EAGENTDOWN', 'failed'],
    ['ETIMEOUT', 'failed'],
    ['EWINDOW_AGENT', 'throttled'],
    ['ESEC', 'answered'],
    ['EPROTO', 'answered'],
    ['EBUDGET', 'answered'],
    ['invalid_request', 'answered'],
    ['out_of_paint', 'answered'],
  ])('whose agent fails with %s has %s', async (code, outcome) => {
    play = (call) => call.send({ type: 'fail', code, message: 'no', retryable: false });
    await ask(governed, adapter());
    expect(ends[0]).toBe(outcome);
  });

  test.each<[number, CallEnd['outcome']]>([
    [401, 'answered'],
    [404, 'answered'],
    [429, 'throttled'],
    [500, 'failed'],
    [504, 'failed'],
  ])('that answers with status %i has %s', async (status, outcome) => {
    play = ({ response }) => void response.writeHead(status).end();
    await ask(governed, adapter());
    expect(ends[0]).toBe(outcome);
  });

  test('has nothing said of it by a call that Parley refuses itself, and has failed where nobody listens', async () => {
    const open = (to: Parameters<typeof requestOf>[0]) => governed.open(requestOf(to), listening().context);
    await expect(open({ kind: 'command', argv: ['cat'] })).rejects.toMatchObject({ code: 'ESEC' });
    await expect(open({ kind: 'mcp', server: 'none', tool: 't' })).rejects.toMatchObject({ code: 'EPROTO' });
    await expect(open({ kind: 'http', url: 'http://127.0.0.1:1/' })).rejects.toMatchObject({ code: 'EAGENTDOWN' });
    expect(ends).toEqual(['unused', 'failed']);
  });
});
