import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import type { Agents } from '../../../activities/adapters/index.js';
import type { AgentRequest } from '../../../activities/ports.js';
import { type ModelServer, startModelServer } from '../../support/model-server.js';
import { type AdapterInput, agentsOf, allOf, answerOf, ask, listening, requestOf } from './agents.js';

let models: ModelServer;
let agents: Agents;
/** A provider whose answers are written by hand, for what a well-behaved server does not do. */
let answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;
const handmade = createServer((request, response) => {
  request.resume();
  request.once('end', () => void answer(request, response));
});
let handmadeUrl: string;

beforeAll(async () => {
  models = await startModelServer();
  agents = agentsOf();
  handmade.listen(0, '127.0.0.1');
  await once(handmade, 'listening');
  handmadeUrl = `http://127.0.0.1:${(handmade.address() as AddressInfo).port}/v1`;
});
beforeEach(() => models.reset());
afterAll(async () => {
  await agents?.close();
  await models?.close();
  handmade.close();
  handmade.closeAllConnections();
});

const compatible = (given: Partial<Extract<AdapterInput, { kind: 'openai-compatible' }>> = {}): AdapterInput => ({
  kind: 'openai-compatible',
  provider: 'priced',
  base_url: models.baseUrl,
  model: 'any',
  ...given,
});
const byHand = (): AdapterInput => compatible({ base_url: handmadeUrl });
const chunk = (delta: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'any', choices: [{ index: 0, delta, ...more }] })}\n\n`;
const asOpenAi = { usage: { prompt_tokens: 1000, completion_tokens: 200 } };
const asAnthropic = { usage: { input_tokens: 1000, output_tokens: 200 } };

describe('a model', () => {
  test.each<[string, AdapterInput['kind'], object]>([
    ['an OpenAI-compatible server', 'openai-compatible', asOpenAi],
    ['OpenAI', 'openai', asOpenAi],
    ['Anthropic', 'anthropic', asAnthropic],
  ])('of %s streams its text, and its final has the usage', async (_, kind, usage) => {
    models.mock.onMessage('Which colour?', { content: 'blue, since the sky is', ...usage }, { chunkSize: 5 });
    const env = { OPENAI_BASE_URL: models.baseUrl, ANTHROPIC_BASE_URL: models.mock.url };
    const adapter = {
      kind,
      model: kind === 'anthropic' ? 'claude-sonnet-4-5' : 'gpt-4o',
      max_tokens: 77,
    } as AdapterInput;
    const { frames, usages } = await ask(agentsOf({ environment: env }), adapter, { instructions: 'Be brief.' });
    const pieces = frames.slice(0, -1);
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.map((frame) => frame.type === 'partial' && [frame.msg_seq, frame.frag_seq, frame.last])).toEqual(
      pieces.map((__, index) => [index + 1, 0, true]),
    );
    expect(answerOf(frames)).toBe('blue, since the sky is');
    expect(frames.at(-1)).toMatchObject({ type: 'final', msg_seq: pieces.length + 1, usage: { tokens: 1200 } });
    expect(usages.at(-1)).toMatchObject({ tokens: 1200 });
    expect(JSON.stringify(models.bodies()[0])).toContain('Be brief.');
    expect(models.bodies()[0]).toMatchObject({ max_tokens: 77 });
  });

  test.each<[string, Partial<Extract<AdapterInput, { kind: 'openai-compatible' }>>, number | undefined]>([
    ['a configured price', { provider: 'priced' }, (1000 * 1 + 200 * 10) / 1e6],
    ["the table's price", { provider: 'openai', model: 'gpt-4o-mini' }, (1000 * 0.15 + 200 * 0.6) / 1e6],
    ['no known price, which is not 0', { provider: 'unheard-of' }, undefined],
  ])('costs by %s', async (_, given, usd) => {
    models.mock.onMessage('Which colour?', { content: 'blue', ...asOpenAi });
    const { frames } = await ask(agents, compatible(given));
    const final = frames.at(-1);
    const cost = final?.type === 'final' ? final.usage?.usd : null;
    if (usd === undefined) expect(cost).toBeUndefined();
    else expect(cost).toBeCloseTo(usd, 9);
  });

  test.each<[string, object, Partial<AgentRequest>, object]>([
    ['its limit when the request has none', { max_tokens: 50 }, {}, { max_tokens: 50 }],
    ["the request's limit when that is lower", { max_tokens: 50 }, { maxTokens: 20 }, { max_tokens: 20 }],
    ['1024 tokens by default', {}, {}, { max_tokens: 1024 }],
    ['a temperature', { temperature: 0.5 }, {}, { temperature: 0.5 }],
    ["the request's temperature when it has none of its own", {}, { temperature: 0.7 }, { temperature: 0.7 }],
    ["its own temperature before the request's", { temperature: 0 }, { temperature: 0.7 }, { temperature: 0 }],
    ['the diversity seed', {}, { diversitySeed: 42 }, { seed: 42 }],
    ['a wish for usage', {}, {}, { stream: true, stream_options: { include_usage: true } }],
  ])('is given %s', async (_, given, request, expected) => {
    models.mock.onMessage('Which colour?', { content: 'blue' });
    await ask(agents, compatible(given), request);
    expect(models.bodies()[0]).toMatchObject(expected);
  });

  test('that stops at its length limit has answered', async () => {
    models.mock.onMessage('Which colour?', { content: 'blue, beca', finishReason: 'length' });
    const { frames } = await ask(agents, compatible());
    expect(answerOf(frames)).toBe('blue, beca');
    expect(frames.at(-1)).toMatchObject({ type: 'final' });
  });

  test('tells its use while it streams', async () => {
    models.mock.onMessage('Which colour?', { content: 'x'.repeat(400) }, { chunkSize: 40 });
    const { usages } = await ask(agents, compatible());
    const tokens = usages.map((usage) => usage.tokens);
    expect(tokens.length).toBeGreaterThan(5);
    expect(tokens.slice(0, -1)).toEqual([...tokens.slice(0, -1)].sort((a, b) => a - b));
    expect(usages[0]?.usd).toBeGreaterThan(0);
  });
});

describe('a key', () => {
  const keyFor = async (adapter: AdapterInput, environment: Record<string, string>): Promise<string | undefined> => {
    models.mock.onMessage('Which colour?', { content: 'blue' });
    await ask(agentsOf({ environment }), adapter);
    const headers = models.headers().at(-1);
    return headers?.['authorization'] ?? headers?.['x-api-key'];
  };

  // aimock hides keys in its journal, so a server by hand reads them here.
  const authorizationOf = async (adapter: AdapterInput, environment: Record<string, string>): Promise<string> => {
    let seen = '';
    answer = (request, response) => {
      seen = String(request.headers.authorization ?? request.headers['x-api-key']);
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"bad key"}}');
    };
    const { frames } = await ask(agentsOf({ environment }), adapter);
    expect(frames).toEqual([expect.objectContaining({ type: 'fail', code: 'ESEC', retryable: false })]);
    return seen;
  };

  test.each<[string, () => AdapterInput, Record<string, string>, string]>([
    [
      "is the provider's",
      () => compatible({ provider: 'my-lab', base_url: handmadeUrl }),
      { MY_LAB_API_KEY: 'k1', OPENAI_API_KEY: 'k2' },
      'Bearer k1',
    ],
    [
      "is OpenAI's where the provider has none",
      () => compatible({ provider: 'my-lab', base_url: handmadeUrl }),
      { OPENAI_API_KEY: 'k2' },
      'Bearer k2',
    ],
    ['is not needed by a server on this machine', () => byHand(), {}, 'Bearer none'],
    ['for OpenAI is its own', () => ({ kind: 'openai', model: 'gpt-4o' }), { OPENAI_API_KEY: 'k2' }, 'Bearer k2'],
    [
      'for Anthropic is its own',
      () => ({ kind: 'anthropic', model: 'claude' }),
      { ANTHROPIC_API_KEY: 'k3', OPENAI_API_KEY: 'k2' },
      'k3',
    ],
  ])('%s', async (_, adapter, environment, expected) => {
    const here = { OPENAI_BASE_URL: handmadeUrl, ANTHROPIC_BASE_URL: handmadeUrl };
    expect(await authorizationOf(adapter(), { ...here, ...environment })).toBe(expected);
  });

  test.each<[AdapterInput, RegExp]>([
    [{ kind: 'openai', model: 'gpt-4o' }, /set OPENAI_API_KEY in the worker's environment/],
    [{ kind: 'anthropic', model: 'claude' }, /set ANTHROPIC_API_KEY in the worker's environment/],
  ])('that is missing refuses the call and names the variable', async (adapter, message) => {
    await expect(ask(agentsOf(), adapter)).rejects.toMatchObject({
      code: 'ESEC',
      message: expect.stringMatching(message) as string,
    });
  });

  test('is not sent where only the request points', async () => {
    // 127.0.0.1 by a name that does not look like this machine; nothing outside is asked.
    const elsewhere = handmadeUrl.replace('127.0.0.1', '0.0.0.0');
    const adapter = compatible({ provider: 'my-lab', base_url: elsewhere });
    expect(await authorizationOf(adapter, { MY_LAB_API_KEY: 'k1', OPENAI_API_KEY: 'k2' })).toBe('Bearer none');
    const configured = { MY_LAB_API_KEY: 'k1', MY_LAB_BASE_URL: elsewhere };
    expect(await authorizationOf(adapter, configured)).toBe('Bearer k1');
  });

  test('never shows in an answer', async () => {
    expect(await keyFor(compatible({ provider: 'my-lab' }), { MY_LAB_API_KEY: 'k1-secret' })).not.toContain(
      'k1-secret',
    );
  });
});

describe('an address', () => {
  test('that nobody gives refuses the call and names what to give', async () => {
    await expect(
      ask(agentsOf(), { kind: 'openai-compatible', provider: 'my-lab', model: 'any' }),
    ).rejects.toMatchObject({
      code: 'EPROTO',
      message:
        'no address for provider "my-lab": give base_url, or set MY_LAB_BASE_URL or OPENAI_BASE_URL in the worker\'s environment',
    });
  });

  test("is the environment's where the request has none", async () => {
    models.mock.onMessage('Which colour?', { content: 'blue' });
    const environment = { OPENAI_BASE_URL: models.baseUrl };
    const { frames } = await ask(agentsOf({ environment }), { kind: 'openai-compatible', model: 'any' });
    expect(answerOf(frames)).toBe('blue');
  });

  test('where nothing listens refuses the call after the tries are used up', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    await expect(ask(agents, compatible({ base_url: `http://127.0.0.1:${port}/v1` }))).rejects.toMatchObject({
      code: 'EAGENTDOWN',
      retryable: true,
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
  });
});

describe('a provider that refuses', () => {
  test('for a moment is asked again when it says', async () => {
    const error = { message: 'slow down', type: 'rate_limit_error' };
    models.mock.on({ userMessage: 'Which', sequenceIndex: 0 }, { error, status: 429, retryAfter: 1 });
    models.mock.on({ userMessage: 'Which' }, { content: 'blue' });
    const { frames } = await ask(agents, compatible());
    expect(answerOf(frames)).toBe('blue');
    expect(models.bodies()).toHaveLength(2);
  });

  test.each<[number, string, boolean, number]>([
    [400, 'EPROTO', false, 1],
    [401, 'ESEC', false, 1],
    [403, 'ESEC', false, 1],
    [404, 'EPROTO', false, 1],
    [429, 'EWINDOW_AGENT', true, 3],
    [503, 'EAGENTDOWN', true, 3],
  ])('with %i fails as %s, retryable %s, after %i tries', async (status, code, retryable, tries) => {
    let asked = 0;
    answer = (_, response) => {
      asked += 1;
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0', 'retry-after-ms': '1' });
      response.end(JSON.stringify({ error: { message: 'says the provider' } }));
    };
    const { frames } = await ask(agents, byHand());
    expect(frames).toEqual([
      {
        type: 'fail',
        code,
        retryable,
        message: expect.stringContaining(`priced answered ${status}: says the provider`),
      },
    ]);
    expect(asked).toBe(tries);
  });
});

describe('a stream', () => {
  const begun = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ role: 'assistant', content: 'bl' }));
  };

  test('that is cut after its first token is not begun again', async () => {
    let asked = 0;
    answer = (_, response) => {
      asked += 1;
      begun(response);
      response.write(chunk({ content: 'u' }), () => setImmediate(() => response.destroy()));
    };
    const { frames } = await ask(agents, byHand());
    expect(frames.at(-1)).toMatchObject({ type: 'fail', code: 'EAGENTDOWN', retryable: true });
    expect(frames.filter(({ type }) => type === 'final')).toEqual([]);
    expect(asked).toBe(1);
  });

  test('that is cut keeps the text before the cut', async () => {
    const options = { chunkSize: 4, truncateAfterChunks: 4, streamingProfile: { ttft: 5, tps: 100 } };
    models.mock.onMessage('Which', { content: 'blue, since the sky is' }, options);
    const { frames } = await ask(agents, compatible());
    expect(answerOf(frames)).toMatch(/^blue/);
    expect(frames.at(-1)).toMatchObject({ type: 'fail', code: 'EAGENTDOWN', retryable: true });
    expect(models.bodies()).toHaveLength(1);
  });

  test('that stands still for too long has timed out', async () => {
    const dispatcher = new Agent({ bodyTimeout: 100 });
    answer = (_, response) => begun(response);
    const { frames } = await ask(agentsOf({ dispatcher }), byHand());
    expect(answerOf(frames)).toBe('bl');
    expect(frames.at(-1)).toMatchObject({ type: 'fail', code: 'ETIMEOUT', retryable: true });
    await dispatcher.close();
  });

  test('that ends without a finish reason is cut as well', async () => {
    answer = (_, response) => {
      begun(response);
      response.end('data: [DONE]\n\n');
    };
    const { frames } = await ask(agents, byHand());
    expect(frames).toEqual([
      expect.objectContaining({ type: 'partial', text: 'bl' }),
      expect.objectContaining({ type: 'fail', code: 'EAGENTDOWN', retryable: true }),
    ]);
  });

  test('in which the provider reports an error fails with its words', async () => {
    answer = (_, response) => {
      begun(response);
      response.end(`data: ${JSON.stringify({ error: { message: 'overloaded, come back' } })}\n\n`);
    };
    const { frames } = await ask(agents, byHand());
    expect(frames.at(-1)).toMatchObject({
      type: 'fail',
      code: 'EAGENTDOWN',
      retryable: true,
      message: expect.stringContaining('overloaded, come back') as string,
    });
  });

  test.each<[string, (response: ServerResponse) => void, number]>([
    ['before its first token', (response) => response.flushHeaders(), 0],
    ['in the middle', begun, 1],
  ])('that is aborted %s ends quietly, and the provider sees it', async (_, begin, pulled) => {
    let asked = (): void => {};
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    const gone = new Promise<void>((resolve) => {
      answer = (__, response) => {
        response.once('close', resolve);
        response.setHeader('content-type', 'text/event-stream');
        begin(response);
        asked();
      };
    });
    const { context, controller } = listening();
    const frames = (await agents.open(requestOf(byHand()), context))[Symbol.asyncIterator]();
    for (let count = 0; count < pulled; count += 1)
      expect(await frames.next()).toMatchObject({ value: { text: 'bl' } });
    const waiting = frames.next();
    await isAsked;
    controller.abort(new Error('a foreign reason'));
    expect(await waiting).toEqual({ done: true, value: undefined });
    await gone;
  });

  test('that is left is closed', async () => {
    const gone = new Promise<void>((resolve) => {
      answer = (_, response) => {
        response.once('close', resolve);
        begun(response);
      };
    });
    for await (const frame of await agents.open(requestOf(byHand()), listening().context)) {
      expect(frame).toMatchObject({ text: 'bl' });
      break;
    }
    await gone;
  });

  test('that nobody pulls is held up by its own text', async () => {
    const text = 'x'.repeat(20_000);
    const count = 1500;
    const sent = { held: 0, through: 0 };
    let name: keyof typeof sent = 'held';
    answer = async (_, response) => {
      const mine = name;
      begun(response);
      for (let index = 1; index <= count; index += 1) {
        if (!response.write(chunk({ content: text }))) await once(response, 'drain');
        sent[mine] = index;
      }
      response.end(`${chunk({}, { finish_reason: 'stop' })}data: [DONE]\n\n`);
    };
    const held = (await agents.open(requestOf(byHand()), listening().context))[Symbol.asyncIterator]();
    await held.next();
    name = 'through';
    expect((await allOf(await agents.open(requestOf(byHand()), listening().context))).at(-1)).toMatchObject({
      type: 'final',
    });
    expect(sent.through).toBe(count);
    expect(sent.held).toBeLessThan(count);
    await held.return?.();
  });
});
