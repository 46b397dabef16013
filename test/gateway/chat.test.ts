import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI, { APIError } from 'openai';
import type { ChatCompletionChunk, ChatCompletionCreateParams } from 'openai/resources/chat/completions';
import request from 'supertest';
import { ConfigError, loadConfig } from '../../src/config.js';
import { createDefaultPanel } from '../../src/default-panel.js';
import { createPanels } from '../../src/gateway/openai/panels.js';
import { readConversation } from '../../src/gateway/openai/conversation.js';
import type { WorkList } from '../../src/contracts/work.js';
import { until } from '../support/installation.js';
import { type Product, startProduct } from '../support/product.js';
import { scratchFolder } from '../support/scratch.js';
import { createRig } from './rig.js';
import { keyEntry, keyOf } from '../support/keys.js';

const fileOf = (content: unknown): string => {
  const file = join(scratchFolder(), 'models.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
};

const says = (lane_id: string, after_ms: number, final: unknown) => ({
  lane_id,
  adapter: { kind: 'scripted', script: [{ after_ms, final, usage: { tokens: 10 } }] },
});

const models = {
  models: {
    quick: { description: 'Two that agree.', lanes: [says('a', 0, 'Blue.'), says('b', 0, 'Blue.')] },
    json: { lanes: [says('a', 0, { colour: 'blue' })] },
    // Two agree at once; the other two, who are slow, overrule them.
    changing: {
      lanes: [says('a', 0, 'red'), says('b', 0, 'red'), { ...says('c', 700, 'blue'), weight: 5 }],
      policy: { agreement: { method: 'exact' }, early_exit: { enabled: false }, threshold: 0.6 },
    },
    silent: { lanes: [{ lane_id: 'a', adapter: { kind: 'external' } }], policy: { deadline_ms: 60_000 } },
    broken: {
      lanes: [{ lane_id: 'a', adapter: { kind: 'scripted', script: [{ fail: { message: 'no paper' } }] } }],
    },
    // What it is asked, and which instructions it has.
    echo: {
      lanes: [
        {
          lane_id: 'e',
          persona: { persona_id: 'e', instructions: 'Be brief.' },
          adapter: { kind: 'command', argv: ['sh', '-c', 'cat; printf "|%s" "$PARLEY_INSTRUCTIONS"'] },
        },
      ],
    },
  },
};

type Extended = ChatCompletionChunk & { parley?: { event: string; session_id: string; text?: string } };

describe('a chat completion', () => {
  let product: Product;
  let openai: OpenAI;
  beforeAll(async () => {
    product = await startProduct({
      PARLEY_MODELS: fileOf(models),
      PARLEY_TRUSTED_COMMANDS: '["sh"]',
    });
    openai = new OpenAI({ baseURL: `${product.url}/v1`, apiKey: 'none' });
  });
  afterAll(() => product.stop());

  const asking = (model: string, content = 'Which colour?') => ({
    model,
    messages: [{ role: 'user' as const, content }],
  });

  test('is the final of a session, to the official client', async () => {
    const { data: completion, response } = await openai.chat.completions.create(asking('quick')).withResponse();
    expect(completion.choices).toMatchObject([
      { index: 0, message: { role: 'assistant', content: 'Blue.' }, finish_reason: 'stop' },
    ]);
    expect(completion.usage).toEqual({ prompt_tokens: 18, completion_tokens: 2, total_tokens: 20 });
    const id = response.headers.get('parley-session') ?? '';
    expect(completion).toMatchObject({ id: `chatcmpl-${id}`, parley: { session_id: id, agreement: 1 } });
    expect(await product.status(id)).toMatchObject({ state: 'COMPLETE', prompt: 'Which colour?' });
  });

  test('streams the final as its content, to the official client', async () => {
    const stream = openai.chat.completions.stream({
      ...asking('quick'),
      stream_options: { include_usage: true },
    });
    expect(await stream.finalContent()).toBe('Blue.');
    expect((await stream.finalChatCompletion()).usage?.total_tokens).toBe(20);
  });

  test('tells of provisional answers and revisions beside a content that is the final alone', async () => {
    const chunks: Extended[] = [];
    for await (const chunk of await openai.chat.completions.create({ ...asking('changing'), stream: true }))
      chunks.push(chunk);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('blue');
    expect(chunks.flatMap(({ parley }) => (parley ? [[parley.event, parley.text]] : []))).toEqual([
      ['started', undefined],
      ['provisional', 'red'],
      ['revision', 'blue'],
      ['final', undefined],
    ]);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.every((chunk) => !('usage' in chunk))).toBe(true);
  });

  test('writes an answer that is no text as JSON, and ends before a stop', async () => {
    const { choices } = await openai.chat.completions.create({ ...asking('json'), stop: ['"blue', 'never'] });
    expect(choices[0]?.message.content).toBe('{"colour":');
  });

  test('gives system messages to each lane as instructions, and the conversation as the prompt', async () => {
    const { choices } = await openai.chat.completions.create({
      model: 'echo',
      messages: [
        { role: 'system', content: 'Answer in French.' },
        { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
      ],
    });
    expect(choices[0]?.message.content).toBe('Hello|Be brief.\n\nAnswer in French.');
  });

  test('of the installation’s own panel is answered without any configuration', async () => {
    const { choices } = await openai.chat.completions.create(asking('parley'));
    expect(choices[0]?.message.content).toBe('A simulated answer to: Which colour?');
  });

  test('with a key is the same session again', async () => {
    const headers = { 'idempotency-key': 'once' };
    const ids = [];
    for (let count = 0; count < 2; count += 1)
      ids.push((await openai.chat.completions.create(asking('quick'), { headers })).id);
    expect(ids[0]).toBe(ids[1]);
  });

  test.each([false, true])('whose client goes away is cancelled (stream: %s)', async (stream) => {
    const leaving = new AbortController();
    // A tenant of its own: the sessions of other files may stand in the same namespace without a worker.
    const tenant = `left-${randomUUID()}`;
    const body = { ...asking('silent'), stream, parley: { tenant } };
    const asked = openai.chat.completions.create(body, { signal: leaving.signal, maxRetries: 0 });
    asked.catch(() => undefined);
    const listed = await until<WorkList>(product.url, `/v1/sessions?tenant=${tenant}`, ({ items }) =>
      items.some(({ state }) => state === 'STREAMING'),
    );
    const id = listed.items[0]!.id;
    leaving.abort();
    expect((await product.until(id, ({ lifecycle }) => lifecycle !== 'running')).state).toBe('CANCELLED');
  });

  test.each([false, true])('of a session that fails says why, and is not asked again (stream: %s)', async (stream) => {
    let sent = 0;
    const counting = openai.withOptions({
      fetch: (...given) => {
        sent += 1;
        return fetch(...given);
      },
    });
    const asked = async () => {
      const answer = await counting.chat.completions.create({ ...asking('broken'), stream });
      if (Symbol.asyncIterator in answer) for await (const _ of answer);
    };
    const error = await asked().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ code: 'work_failed', type: 'server_error' });
    expect((error as Error).message).toMatch(/ECONSENSUS.*no paper/);
    expect(sent).toBe(1);
  });

  test('lists the panels as models', async () => {
    const listed = [];
    for await (const model of openai.models.list()) listed.push(model.id);
    expect(listed).toEqual(['parley', ...Object.keys(models.models)]);
    expect(await openai.models.retrieve('quick')).toMatchObject({ id: 'quick', description: 'Two that agree.' });
  });

  test.each<[string, Partial<ChatCompletionCreateParams>, number, string, string, RegExp]>([
    ['an unknown model', { model: 'gpt' }, 404, 'model_not_found', 'model', /"gpt"; there are parley, quick, json/],
    ['tools', { tools: [{ type: 'function', function: { name: 'f' } }] }, 400, 'invalid_request', 'tools', /not supp/],
    [
      'five stops',
      { stop: ['a', 'b', 'c', 'd', 'e'] },
      400,
      'invalid_request',
      'stop',
      /stop must have at most 4 entries; got 5/,
    ],
    ['two choices', { n: 2 }, 400, 'invalid_request', 'n', /n is not supported: one session has one answer/],
    [
      'a JSON mode',
      { response_format: { type: 'json_object' } },
      400,
      'invalid_request',
      'response_format.type',
      /form/,
    ],
    ['no messages', { messages: [] }, 400, 'invalid_request', 'messages', /at least 1/],
    ['an empty message', { messages: [{ role: 'user', content: '' }] }, 400, 'invalid_request', 'messages', /empty/],
    [
      'an image',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://x' } }] }] },
      400,
      'invalid_request',
      'messages[0].content[0].type',
      /only parts of type "text"/,
    ],
    ['a typing error', { temprature: 1 } as object, 400, 'invalid_request', 'temprature', /unknown field "temprature"/],
    ['labels that are too long', { metadata: { a: 'x'.repeat(300) } }, 400, 'invalid_request', 'metadata.a', /256/],
  ])('is refused with %s', async (_, body, status, code, param, message) => {
    const error = await openai.chat.completions
      .create({ ...asking('quick'), ...body, stream: false })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status, code, param, type: 'invalid_request_error' });
    expect((error as Error).message).toMatch(message);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['responses', () => openai.responses.create({ model: 'quick', input: 'x' })],
    ['completions', () => openai.completions.create({ model: 'quick', prompt: 'x' })],
    ['embeddings', () => openai.embeddings.create({ model: 'quick', input: 'x' })],
  ])('is what there is, who asks for %s is told', async (_, ask) => {
    const error = await ask().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 404, code: 'not_found' });
    expect((error as Error).message).toMatch(/Nothing is at .*; there are .*\/v1\/chat/);
  });

  test('is one of many streams at a time, each in its own words of any script', async () => {
    const texts = Array.from({ length: 10 }, (_, index) => `Größe ${index} 🎨 日本語 \u2028 عربى`);
    const answers = await Promise.all(
      texts.map(async (text) => {
        let told = '';
        for await (const { choices } of await openai.chat.completions.create({ ...asking('echo', text), stream: true }))
          told += choices[0]?.delta.content ?? '';
        return told;
      }),
    );
    expect(answers).toEqual(texts.map((text) => `${text}|Be brief.`));
  });
});

describe('errors at the paths of OpenAI', () => {
  const keys = JSON.stringify([{ name: 'v', sha256: '0'.repeat(64), role: 'viewer', tenant: '*' }]);
  test.each(['/v1/models', '/v1/models/parley'])('without a key %s says so in their shape', async (path) => {
    const { app } = createRig({ env: { PARLEY_API_KEYS: keys } });
    const { status, body } = await request(app).get(path);
    expect([status, body]).toMatchObject([
      401,
      { error: { type: 'authentication_error', code: 'unauthorized', param: null } },
    ]);
  });

  test('count towards the same limit', async () => {
    const { app } = createRig({ env: { PARLEY_RATE_LIMIT: '1' } });
    await request(app).get('/v1/models');
    const { status, body, headers } = await request(app).get('/v1/models');
    expect([status, body]).toMatchObject([429, { error: { type: 'rate_limit_error', code: 'rate_limited' } }]);
    expect(headers).toHaveProperty('retry-after');
  });

  test('a body that is no JSON is told where', async () => {
    const { status, body } = await request(createRig().app)
      .post('/v1/chat/completions')
      .set('content-type', 'application/json')
      .send('{"model":');
    expect([status, body]).toMatchObject([
      400,
      { error: { code: 'invalid_json', message: expect.stringContaining('line 1') } },
    ]);
  });
});

describe('a chat completion with keys', () => {
  const start = () => {
    const rig = createRig({
      env: { PARLEY_API_KEYS: JSON.stringify([keyEntry('v', 'viewer'), keyEntry('acme', 'operator', 'acme')]) },
    });
    rig.ports.panels = {
      names: [{ id: 'silent', description: null }],
      panel: async () => ({ lanes: [{ lane_id: 'a', adapter: { kind: 'external' } }] }),
    };
    const ask = (name: string, more: object = {}) =>
      request(rig.app)
        .post('/v1/chat/completions')
        .set({ authorization: `Bearer ${keyOf(name)}` })
        .send({ model: 'silent', messages: [{ role: 'user', content: 'x' }], ...more });
    return { ...rig, ask };
  };

  test('is refused to who may not start sessions, and to other tenants', async () => {
    const { ask, sessions } = start();
    const viewer = await ask('v');
    expect([viewer.status, viewer.body]).toMatchObject([
      403,
      { error: { type: 'permission_error', code: 'forbidden', message: expect.stringContaining('viewer') } },
    ]);
    const other = await ask('acme', { parley: { tenant: 'other' } });
    expect([other.status, other.body]).toMatchObject([403, { error: { code: 'forbidden' } }]);
    expect(sessions.held.size).toBe(0);
  });

  test('goes on when its gateway stops, which tells the stream where the answer will be', async () => {
    const { ask, sessions, draining } = start();
    const asked = ask('acme', { stream: true, parley: { id: 'mine' } }).then(({ text }) => text);
    while (!sessions.held.has('mine') || sessions.asked.length === 0)
      await new Promise((resolve) => setTimeout(resolve, 5));
    draining.abort();
    const text = await asked;
    expect(text).toMatch(/"code":"unavailable"/);
    expect(text).toMatch(/Session mine goes on: GET \/v1\/sessions\/mine has its answer/);
    expect(text).not.toMatch(/DONE/);
    expect(sessions.held.get('mine')).toMatchObject({ state: 'STREAMING', setup: { tenant: 'acme' } });
  });
});

describe('a conversation', () => {
  test('of one message is the prompt as it is', () => {
    expect(readConversation([{ role: 'user', content: [{ type: 'text', text: 'Why?' }] }])).toEqual({
      instructions: null,
      prompt: 'Why?',
      question: 'Why?',
    });
  });

  test('of several is told in order, and the last message is what is to be answered', () => {
    const text = (said: string) => [{ type: 'text' as const, text: said }];
    const { prompt, instructions, question } = readConversation([
      { role: 'developer', content: text('Be kind.') },
      { role: 'user', content: text('Two and two?') },
      { role: 'assistant', content: text('Four.') },
      { role: 'system', content: text('Be short.') },
      { role: 'user', content: text('And three?') },
    ]);
    expect(instructions).toBe('Be kind.\n\nBe short.');
    expect(question).toBe('And three?');
    expect(prompt).toBe(
      "The conversation so far:\n\nUser: Two and two?\n\nAssistant: Four.\n\nAnswer the user's last message:\n\nAnd three?",
    );
  });
});

describe('the panels', () => {
  const noPreset = () => Promise.reject(new Error('nobody'));

  test('of a file are told with every fault', async () => {
    const file = fileOf({
      models: {
        'a b': { lanes: [says('a', 0, 'x')] },
        one: { lanes: [] },
        two: { lanes: [says('a', 0, 'x'), says('a', 0, 'y')], policy: { threshold: 2 } },
      },
    });
    const error = (await createPanels(file, noPreset).catch((thrown: unknown) => thrown)) as ConfigError;
    expect(error).toBeInstanceOf(ConfigError);
    expect(error.faults.map(({ variable }) => variable)).toEqual(error.faults.map(() => 'PARLEY_MODELS'));
    for (const told of [/a b/, /models\.one\.lanes must have at least one lane/, /models\.two\.policy\.threshold/])
      expect(error.message).toMatch(told);
  });

  test('that contradict themselves are refused at the start too', async () => {
    const file = fileOf({ models: { two: { lanes: [says('a', 0, 'x'), says('a', 0, 'y')] } } });
    await expect(createPanels(file, noPreset)).rejects.toThrow(/models\.two\.lanes\[1\]\.lane_id "a" is taken/);
  });

  test.each(['/nowhere/models.json', fileOf('a: [b')])(
    'of a file that cannot be read are refused: %s',
    async (file) => {
      await expect(createPanels(file, noPreset)).rejects.toBeInstanceOf(ConfigError);
    },
  );

  test('may be written in YAML, and may replace the installation’s own', async () => {
    const file = fileOf(
      'models:\n  parley:\n    lanes: [{lane_id: a, adapter: {kind: scripted, script: [{final: x}]}}]\n',
    );
    const { names, panel } = await createPanels(file, noPreset);
    expect(names).toEqual([{ id: 'parley', description: null }]);
    expect((await panel('parley', '')).lanes).toHaveLength(1);
  });

  test('of models sit in three temperaments, and say nothing of forms', async () => {
    const { lanes } = await createDefaultPanel({ PARLEY_ASK_MODELS: 'openai/gpt-5-mini' })('Which colour?');
    expect(lanes.map(({ lane_id, adapter }) => [lane_id, adapter])).toEqual(
      ['practitioner', 'sceptic', 'scholar'].map((name) => [name, { kind: 'openai', model: 'gpt-5-mini' }]),
    );
  });

  test('that cannot be found are looked for again', async () => {
    const panel = createDefaultPanel({ OPENAI_BASE_URL: 'http://127.0.0.1:9' });
    await expect(panel('x')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(panel('x')).rejects.toThrow(/names no model/);
  });

  test('are named by an absolute path', () => {
    expect(loadConfig({ PARLEY_MODELS: 'models.yaml' }).modelsFile).toBe(join(process.cwd(), 'models.yaml'));
    expect(loadConfig({}).modelsFile).toBeNull();
  });
});
