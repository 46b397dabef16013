import { SpanStatusCode } from '@opentelemetry/api';
import { ActivityCancellationDetails } from '@temporalio/common';
import { Registry } from 'prom-client';
import type { AskModelInput } from '../../activities/ask-model.js';
import { createWorkMetrics } from '../../activities/metrics.js';
import { adapterSchema } from '../../src/contracts/adapter.js';
import { contextMessage } from '../support/agent-messages.js';
import { type ModelServer, startModelServer } from '../support/model-server.js';
import type { AdapterInput } from './adapters/agents.js';
import { askingAgents, inputOf, said, script } from './asked-model.js';
import { useSpans } from '../support/spans.js';

let models: ModelServer;
const { start, askAgent } = askingAgents();
beforeAll(async () => {
  models = await startModelServer();
});
beforeEach(() => models.reset());
afterAll(async () => await models?.close());

const model = (): AdapterInput => ({
  kind: 'openai-compatible',
  provider: 'priced',
  base_url: models.baseUrl,
  model: 'any',
});

describe('an agent', () => {
  test('that answers with text has said it, and asks for nothing', async () => {
    expect(await askAgent(script({ final: 'blue', usage: { tokens: 7, usd: 0.5 } }))).toEqual({
      type: 'said',
      reading: { text: 'blue', made: [], actions: [], faults: [] },
      answer: null,
      usage: { tokens: 7, usdMicros: 500_000 },
    });
  });

  test('calls tools by functions and by action tags, in this order', async () => {
    const final = {
      text: 'On it. <stop_sub_agent>w2</stop_sub_agent>',
      tool_calls: [
        { name: 'delegate', arguments: { child: 'w1', content: 'go' } },
        { id: 'mine', name: 'read_file', arguments: '{"path":"a"}' },
      ],
    };
    const { reading, answer } = said(
      await askAgent(script({ final }), { tools: ['delegate', 'stop_sub_agent', 'read_file'] }),
    );
    expect(answer).toBeNull();
    expect(reading).toEqual({
      text: 'On it.',
      made: [
        { callId: 'worker-1-1.1-1', name: 'delegate', arguments: { child: 'w1', content: 'go' } },
        { callId: 'worker-1-1.1-2', name: 'read_file', arguments: '{"path":"a"}' },
      ],
      actions: [
        {
          callId: 'worker-1-1.1-1',
          name: 'delegate',
          command: { tool: 'delegate', given: { child: 'w1', content: 'go', background: false, wait: false } },
        },
        { callId: 'worker-1-1.1-2', name: 'read_file', given: { path: 'a' } },
        {
          callId: 'worker-1-1.1-tag-1',
          name: 'stop_sub_agent',
          command: { tool: 'stop_sub_agent', given: { id: 'w2' } },
        },
      ],
      faults: [],
    });
  });

  test('says what it has streamed where its calls come without text', async () => {
    const calls = { tool_calls: [{ name: 'get_agent_status' }] };
    const { reading } = said(await askAgent(script({ partial: 'Let me ' }, { partial: 'look.' }, { final: calls })));
    expect(reading.text).toBe('Let me look.');
    expect(reading.actions).toHaveLength(1);
  });

  test.each<[string, string[] | null, string, string]>([
    ['that there is but not for it', ['list_files'], 'read_file', 'not_allowed'],
    ['about agents that is not in its list', ['list_files'], 'delegate', 'not_allowed'],
    ['beside those about agents where it has no list', null, 'read_file', 'not_allowed'],
    ['of any kind where its list is empty', [], 'list_files', 'not_allowed'],
    ['that there is not', null, 'fly', 'unknown_tool'],
  ])('is told that it cannot call a tool %s', async (_, tools, name, code) => {
    const { reading } = said(await askAgent(script({ final: { tool_calls: [{ name }] } }), { tools }));
    expect(reading.actions).toEqual([]);
    expect(reading.faults).toEqual([
      { callId: 'worker-1-1.1-1', fault: { tool: name, code, message: expect.stringContaining(name) as string } },
    ]);
  });

  test.each<[string, string[] | null, object, string[]]>([
    ['what its template allows where it has no list', null, { allowed_tools: ['read_file'] }, ['read_file']],
    [
      'what both its list and its template allow',
      ['read_file', 'delegate'],
      { allowed_tools: ['*_file*'] },
      ['read_file'],
    ],
    [
      'what its template does not forbid',
      ['*_file*', 'delegate'],
      { forbidden_actions: ['read_*'] },
      ['delegate', 'list_files'],
    ],
    ['what there is', ['read_file', 'fly'], {}, ['read_file']],
  ])('is offered %s', async (_, tools, capabilities, names) => {
    models.mock.onMessage('Which colour?', { content: 'blue' });
    await askAgent(model(), { tools, template: { capabilities } });
    const offered = models.bodies()[0]?.['tools'] as { function: { name: string } }[];
    expect(offered.map(({ function: { name } }) => name)).toEqual(names);
  });

  test('is told so where sub-agents are switched off, and keeps its other tools', async () => {
    const final = { tool_calls: [{ name: 'delegate' }, { name: 'read_file' }] };
    const tools = ['delegate', 'read_file'];
    const { reading } = said(await askAgent(script({ final }), { tools, subagentsEnabled: false }));
    expect(reading.faults).toMatchObject([{ fault: { code: 'subagents_disabled' } }]);
    expect(reading.actions).toMatchObject([{ name: 'read_file' }]);
  });

  test('whose script means calls that are none has failed, with what is wrong', async () => {
    const final = { tool_calls: [{ tool: 'delegate' }], note: 1 };
    expect(await askAgent(script({ final }))).toMatchObject({
      type: 'failed',
      code: 'EPROTO',
      message: expect.stringMatching(/tool_calls\[0\]\.name is missing.*note unknown field/) as string,
    });
  });

  test('streams its text under its own name, each call and each attempt at it apart', async () => {
    const adapter = script(
      { partial: 'bl' },
      { partial: 'ue' },
      { final: 'blue' },
      { partial: 're' },
      { final: 'red' },
    );
    const first = start(inputOf(adapter));
    await first.asked;
    expect(first.told).toEqual([
      { lane_id: 'worker-1', attempt: 1, offset: 0, text: 'bl' },
      { lane_id: 'worker-1', attempt: 1, offset: 2, text: 'ue' },
    ]);
    const again = start(inputOf(adapter), 2);
    const next = start(inputOf(adapter, { callsBefore: 1 }));
    await Promise.all([again.asked, next.asked]);
    expect(again.told[0]).toEqual({ lane_id: 'worker-1', attempt: 2, offset: 0, text: 'bl' });
    expect(next.told[0]).toEqual({ lane_id: 'worker-1', attempt: 1001, offset: 0, text: 're' });
  });

  test('that is cancelled says so, with what it had said by then', async () => {
    const { asked, told, environment } = start(inputOf(script({ partial: 'blue, si' })));
    while (told.length === 0) await new Promise((resolve) => setImmediate(resolve));
    environment.cancel('CANCELLED', new ActivityCancellationDetails({ cancelRequested: true }));
    expect(await asked).toMatchObject({ type: 'failed', code: 'cancelled', text: 'blue, si' });
  });

  test('that is asked through a provider ends at once when it is cancelled, and so does its request', async () => {
    models.mock.onMessage('Which colour?', { content: 'blue, since the sky is' }, { chunkSize: 5, latency: 50 });
    const { asked, told, environment } = start(inputOf(model()));
    while (told.length === 0) await new Promise((resolve) => setImmediate(resolve));
    environment.cancel('CANCELLED', new ActivityCancellationDetails({ cancelRequested: true }));
    const ended = await asked;
    expect(ended).toMatchObject({ type: 'failed', code: 'cancelled', text: told.map(({ text }) => text).join('') });
    expect(ended.type === 'failed' && ended.usage.tokens).toBeGreaterThan(0);
  });

  test('has its overrides, and what it says by its provider with its temperature', async () => {
    models.mock.onMessage('Which colour?', { content: 'blue', usage: { prompt_tokens: 100, completion_tokens: 20 } });
    const overrides = { temperature: 0.3, max_tokens: 50, model: 'small' };
    const asked = await askAgent(model(), { overrides });
    expect(models.bodies()[0]).toMatchObject({ model: 'small', temperature: 0.3, max_tokens: 50 });
    expect(asked).toMatchObject({ type: 'said', usage: { tokens: 120, usdMicros: 300 } });
  });

  test('may have 4096 tokens for its answer where nobody says', async () => {
    models.mock.onMessage('Which colour?', { content: 'blue' });
    await askAgent(model());
    expect(models.bodies()[0]).toMatchObject({ max_tokens: 4096 });
  });

  test.each<[string, Partial<AskModelInput>, RegExp]>([
    [
      'that the operator does not allow its tenant',
      { tenant: 'small', overrides: { model: 'large' } },
      /^model_overrides\.model: the operator allows small the models any, small; got large$/,
    ],
    [
      'that has no price',
      { adapter: adapterSchema.parse({ kind: 'openai', model: 'gpt-4o' }), overrides: { model: 'unheard-of' } },
      /^model_overrides\.model: no price is known for openai\/unheard-of; give one in PARLEY_PRICES/,
    ],
  ])('cannot choose a model %s', async (_, given, words) => {
    const asked = await start({ ...inputOf(model()), ...given }).asked;
    expect(asked).toMatchObject({ type: 'failed', code: 'invalid_request', usage: { tokens: 0, usdMicros: 0 } });
    expect(asked).toHaveProperty('message', expect.stringMatching(words));
    expect(models.bodies()).toEqual([]);
  });

  test('may choose a model that the operator allows its tenant', async () => {
    models.mock.onMessage('Which colour?', { content: 'blue' });
    const overrides = { model: 'small' };
    expect(await askAgent(model(), { tenant: 'small', overrides })).toMatchObject({ type: 'said' });
  });

  test('with overrides that no spawn would take is not asked', async () => {
    await expect(askAgent(model(), { overrides: { top_p: 1, max_tokens: 0 } })).rejects.toThrow(
      'model_overrides.top_p cannot be overridden; there are temperature, max_tokens and model; got 1; model_overrides.max_tokens must be a whole number from 1 to 1000000; got 0',
    );
  });

  test('is told who it is by its template, and what has to come of it', async () => {
    models.mock.onMessage('Which colour?', { content: '{"colour":"blue"}' });
    const template = { identity: { role: 'painter' }, state: { schema: { type: 'object' } } };
    await askAgent(model(), { template, instructions: 'Be brief.' });
    expect(models.bodies()[0]?.['messages']).toEqual([
      {
        role: 'system',
        content:
          'You are: painter.\n\nBe brief.\n\nYour last word on what you are asked has to be JSON alone that fits this JSON Schema:\n{"type":"object"}',
      },
      { role: 'user', content: 'Which colour?' },
    ]);
  });

  test.each([
    [400, 'EPROTO'],
    [401, 'ESEC'],
  ])('whose provider answers %i has failed, and is not asked again by another attempt', async (status, code) => {
    models.mock.onMessage('Which colour?', { error: { message: 'no', type: 'x' }, status });
    expect(await askAgent(model())).toMatchObject({ type: 'failed', code, text: null });
  });

  test('whose worker stops is asked again by another', async () => {
    const { asked, told, environment } = start(inputOf(script({ partial: 'blue, si' })));
    const outcome = expect(asked).rejects.toThrow('the call was stopped');
    while (told.length === 0) await new Promise((resolve) => setImmediate(resolve));
    environment.cancel('WORKER_SHUTDOWN', new ActivityCancellationDetails({ workerShutdown: true }));
    await outcome;
  });

  test('that does not answer in time has failed, with what it had said by then', async () => {
    expect(await askAgent(script({ partial: 'blue, si' }), { timeoutMs: 500 })).toMatchObject({
      type: 'failed',
      code: 'ETIMEOUT',
      message: 'no answer within 500 ms',
      text: 'blue, si',
    });
  });

  const outOfTime = { type: 'failed', code: 'EBUDGET', isOutOfTime: true };
  test.each<[string, Partial<AskModelInput>, object]>([
    ['that is less than its own', { timeLeftMs: 500 }, { ...outOfTime, text: 'blue, si' }],
    ['that is more than its own', { timeLeftMs: 60_000, timeoutMs: 500 }, { code: 'ETIMEOUT', text: 'blue, si' }],
    [
      'of which nothing is left',
      { timeLeftMs: 0 },
      { ...outOfTime, isUnasked: true, text: null, usage: { tokens: 0, usdMicros: 0 } },
    ],
  ])('has the time of its budget %s', async (_, given, outcome) => {
    expect(await askAgent(script({ partial: 'blue, si' }), given)).toMatchObject(outcome);
  });

  test('has the time of its budget from when it was wanted, whichever try it is', async () => {
    const input = inputOf(script({ partial: 'blue, si' }), { timeLeftMs: 60_000 });
    const { asked } = start(input, 2, undefined, undefined, Date.now() - 60_000);
    expect(await asked).toMatchObject({ ...outOfTime, text: null });
  });

  test.each<[string, Record<string, unknown>, string, string]>([
    ['fails', { fail: { code: 'EWINDOW_AGENT', message: 'too many', retryable: true } }, 'EWINDOW_AGENT', 'too many'],
    ['refuses the call', { dispatch_err: 'nobody there' }, 'EAGENTDOWN', 'nobody there'],
    [
      'says half a million bytes and more',
      { final: 'x'.repeat(500_000) },
      'EPROTO',
      'the answer is too long: it takes 500004 bytes as JSON, and at most 500000 can be kept',
    ],
  ])('that %s has failed, and is not asked again', async (_, entry, code, text) => {
    expect(await askAgent(script(entry))).toMatchObject({ type: 'failed', code, message: text, text: null });
  });
});

describe('an agent that speaks without an end', () => {
  const piece = 'x'.repeat(100_000);

  test('is stopped, and the beginning of what it said is kept', async () => {
    const asked = await askAgent(script({ partial: piece, repeat: 1_000 }, { final: 'blue' }));
    expect(asked).toMatchObject({
      type: 'failed',
      code: 'EPROTO',
      message: 'it said more than 4000000 characters without coming to an answer',
    });
    expect(asked).toHaveProperty('text.length', 200_000);
  });

  test('may say much before an answer that is short', async () => {
    expect(await askAgent(script({ partial: piece, repeat: 30 }, { final: 'blue' }))).toMatchObject({
      type: 'said',
      reading: { text: 'blue' },
    });
  });
});

describe('the metrics of calls', () => {
  const series = async (registry: Registry, name: string): Promise<[string, number][]> =>
    (await registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith(name))
      .map((line) => [line.replace(/ \S+$/, ''), Number(line.split(' ').at(-1))]);

  test('count how they ended, what they used, and the pieces that were handed on', async () => {
    const registry = new Registry();
    const metrics = createWorkMetrics(registry);
    const usage = { tokens: 7, usd: 0.5 };
    await start(inputOf(script({ partial: 'bl' }, { partial: 'ue' }, { final: 'blue', usage })), 1, metrics).asked;
    await start(inputOf(script({ fail: { code: 'EWINDOW_AGENT' } })), 1, metrics).asked;
    const { asked, told, environment } = start(inputOf(script({ partial: 'so' })), 1, metrics);
    while (told.length === 0) await new Promise((resolve) => setImmediate(resolve));
    environment.cancel('CANCELLED', new ActivityCancellationDetails({ cancelRequested: true }));
    await asked;
    const counts = await series(registry, 'parley_agent_call_duration_seconds_count');
    expect(Object.fromEntries(counts)).toEqual({
      'parley_agent_call_duration_seconds_count{outcome="said",provider="scripted"}': 1,
      'parley_agent_call_duration_seconds_count{outcome="failed",provider="scripted"}': 1,
      'parley_agent_call_duration_seconds_count{outcome="cancelled",provider="scripted"}': 1,
    });
    expect(await series(registry, 'parley_stream_hand_off_seconds_count')).toEqual([
      ['parley_stream_hand_off_seconds_count', 3],
    ]);
    expect(await series(registry, 'parley_spend_usd_total')).toEqual([
      ['parley_spend_usd_total{provider="scripted"}', 0.5],
    ]);
  });
});

describe('the spans of a call', () => {
  const exporter = useSpans();

  test("are one by the agent's role, and in it that of the model", async () => {
    models.mock.onMessage('Which colour?', { content: 'blue', usage: { prompt_tokens: 100, completion_tokens: 20 } });
    await askAgent(model(), { role: 'painter', run: 2, round: 3 });
    const [chat, agent, ...more] = exporter.getFinishedSpans();
    expect(more).toEqual([]);
    expect(agent?.name).toBe('painter');
    expect(agent?.attributes).toEqual({
      team_id: 'team-1',
      'gen_ai.agent.id': 'worker-1',
      role: 'painter',
      run: 2,
      round: 3,
      adapter: 'openai-compatible',
      attempt: 1,
      tokens: 120,
      usd_micros: 300,
    });
    expect(chat?.name).toBe('chat any');
    expect(chat?.parentSpanId).toBe(agent?.spanContext().spanId);
    expect(JSON.stringify([chat?.attributes, agent?.attributes])).not.toMatch(/colour|blue/);
  });

  test('say by its code why there was no answer', async () => {
    await askAgent(script({ fail: { code: 'EWINDOW_AGENT', message: 'secret' } }));
    const [agent] = exporter.getFinishedSpans();
    expect(agent?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'EWINDOW_AGENT' });
  });
});

describe('a call that is asked with what its team says', () => {
  const event = { type: 'READ' as const, agentId: 'worker-1', run: 1, step: 1, wrote: [], has: [1] };
  const read = { epoch: 0, event: { ...event, usage: { tokens: 0, usdMicros: 0 } } };
  const view = { ids: [1, 2], add: [contextMessage(2, { content: 'Or not?' })] };
  const metrics = (): ReturnType<typeof createWorkMetrics> => createWorkMetrics(new Registry());

  test('is told that beside what its turn holds, and hands it on', async () => {
    models.mock.onMessage(/Or not/, { content: 'blue' });
    const words: unknown[] = [];
    const { asked } = start(inputOf(model(), { read }), 1, metrics(), async (teamId, word) => {
      words.push([teamId, word]);
      return { type: 'VIEW', step: 1, view };
    });
    expect(await asked).toMatchObject({ type: 'said', asked: { type: 'VIEW', step: 1, view } });
    expect(words).toEqual([['team-1', read]]);
    expect(JSON.stringify(models.bodies()[0])).toMatch(/Which colour\?.*Or not\?/);
  });

  test('has the time that its team names with it', async () => {
    const late = script({ partial: 'blue, si' });
    const { asked } = start(inputOf(late, { read }), 1, metrics(), () =>
      Promise.resolve({ type: 'VIEW' as const, step: 1, view, timeLeftMs: 400 }),
    );
    expect(await asked).toMatchObject({ type: 'failed', isOutOfTime: true, asked: { step: 1 } });
  });

  test.each<[string, { timeLeftMs?: number }, { read?: typeof read }]>([
    ['its team names with it', { timeLeftMs: 60_000 }, { read }],
    ['it has', {}, {}],
  ])('says what of the time that %s is left to what is asked for', async (_, ofView, ofInput) => {
    const { asked } = start(
      inputOf(script({ after_ms: 20, final: 'blue' }), { ...ofInput, ...(!ofInput.read && { timeLeftMs: 60_000 }) }),
      1,
      metrics(),
      () => Promise.resolve({ type: 'VIEW' as const, step: 1, view, ...ofView }),
    );
    const { timeLeftMs: left } = said(await asked);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(60_000);
  });

  test('is not made where there is nothing to ask with', async () => {
    const word = { type: 'LATER' as const, step: 1 };
    const { asked } = start(inputOf(model(), { read }), 1, metrics(), () => Promise.resolve(word));
    expect(await asked).toEqual({ type: 'unasked', word });
    expect(models.bodies()).toEqual([]);
  });

  test('that is cancelled meanwhile still hears what its team says, and asks nobody', async () => {
    const { asked, environment } = start(inputOf(model(), { read }), 1, metrics(), async () => {
      await Promise.resolve();
      environment.cancel('CANCELLED', new ActivityCancellationDetails({ cancelRequested: true }));
      return { type: 'VIEW', step: 1, view };
    });
    expect(await asked).toMatchObject({ type: 'failed', code: 'cancelled', asked: { step: 1 } });
    expect(models.bodies()).toEqual([]);
  });
});
