import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SpanStatusCode, trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { Worker } from '@temporalio/worker';
import type { WorkflowInfo } from '@temporalio/workflow';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import request from 'supertest';
import { createWorkMetrics } from '../../activities/metrics.js';
import { LocalBus } from '../../src/bus/local.js';
import { loadConfig } from '../../src/config.js';
import type { OpenSessionBody } from '../../src/contracts/session.js';
import { startTelemetry } from '../../src/telemetry.js';
import { openSpan, spanIds, workContext } from '../../src/tracing.js';
import { serveMetrics } from '../../temporal/metrics-server.js';
import { workflowSinks } from '../../temporal/workflow-sinks.js';
import { aSession, createRig } from '../gateway/rig.js';
import { type ModelServer, startModelServer } from '../support/model-server.js';
import { type Product, startProduct } from '../support/product.js';

const secretPrompt = 'Which colour has the secret?';
const secretAnswer = 'ultramarine';
const scripted = (lane_id: string, script: object[], more: object = {}) => ({
  lane_id,
  adapter: { kind: 'scripted' as const, script },
  ...more,
});

/** The trace that an operator finds in Temporal by ParleyTraceId. */
const traceIdOf = async (product: Product, id: string): Promise<unknown> => {
  const { searchAttributes } = await product.client.workflow.getHandle(id).describe();
  return searchAttributes['ParleyTraceId']?.[0];
};

describe('spans of a session', () => {
  const exporter = new InMemorySpanExporter();
  let product: Product;
  let models: ModelServer;
  let serial = 0;

  const toldOf = (id: string): ReadableSpan[] =>
    exporter.getFinishedSpans().filter(({ attributes }) => attributes['session_id'] === id);
  /** Each once: where Temporal tries a session's last task again, its span is told again, which is one and the same to a collector. */
  const spansOf = (id: string): ReadableSpan[] => [
    ...new Map(toldOf(id).map((span) => [span.spanContext().spanId, span])).values(),
  ];
  /** Runs a session until its workflow has closed; `spans` are all that tell of it. */
  const run = async (body: Partial<OpenSessionBody> & Pick<OpenSessionBody, 'lanes'>) => {
    const id = `traced-${(serial += 1)}`;
    const status = await product.run({ prompt: secretPrompt, ...body, id });
    return { id, status, spans: spansOf(id) };
  };
  const named = (spans: readonly ReadableSpan[], name: string): ReadableSpan[] =>
    spans.filter((span) => span.name === name);

  beforeAll(async () => {
    const spanProcessors = [new SimpleSpanProcessor(exporter)];
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors, idGenerator: spanIds }));
    models = await startModelServer();
    models.mock.onMessage(secretPrompt, {
      content: secretAnswer,
      usage: { prompt_tokens: 100, completion_tokens: 20 },
    });
    product = await startProduct({
      OPENAI_BASE_URL: models.baseUrl,
      PARLEY_PRICES: '{"openai/priced":{"input":10,"output":100}}',
    });
  });
  afterAll(async () => {
    await product?.stop();
    await models?.close();
    trace.disable();
  });

  test('are in one trace, the one of its search attribute, from the gateway to the model', async () => {
    const { id, spans } = await run({
      lanes: [
        { lane_id: 'm', tier: 'gold', clones: 2, adapter: { kind: 'openai', model: 'priced' } },
        scripted('s', [{ final: 'red' }], { persona: { persona_id: 'painter' } }),
      ],
      policy: { threshold: 0.8, arbiter: { allowed: true, max_usd: 1, adapter: { kind: 'openai', model: 'priced' } } },
    });
    expect(spans.map(({ name }) => name).toSorted()).toEqual([
      'arbiter',
      'chat priced',
      'chat priced',
      'chat priced',
      'lane',
      'lane',
      'lane',
      'session',
      'start session',
    ]);
    expect([...new Set(spans.map((span) => span.spanContext().traceId))]).toEqual([await traceIdOf(product, id)]);
    const nameOf = new Map(spans.map((span) => [span.spanContext().spanId, span.name]));
    const edges = spans.map(
      ({ name, parentSpanId }) => `${parentSpanId === undefined ? 'none' : nameOf.get(parentSpanId)} > ${name}`,
    );
    expect([...new Set(edges)].toSorted()).toEqual([
      'arbiter > chat priced',
      'lane > chat priced',
      'none > session',
      'session > arbiter',
      'session > lane',
      'session > start session',
    ]);
  });

  test('begin and end with the session, and say how it went', async () => {
    const { id, status, spans } = await run({
      tenant: 'acme',
      lanes: [scripted('s', [{ final: 'blue', usage: { tokens: 7, usd: 0.002 } }])],
    });
    const [session] = named(spans, 'session');
    expect(session?.attributes).toEqual({
      session_id: id,
      tenant: 'acme',
      state: 'COMPLETE',
      tokens: 7,
      usd_micros: 2000,
    });
    const milliseconds = ([seconds, nanoseconds]: [number, number]): string =>
      new Date(seconds * 1000 + nanoseconds / 1e6).toISOString();
    expect([milliseconds(session!.startTime), milliseconds(session!.endTime)]).toEqual([
      status.started_at,
      status.ended_at,
    ]);
  });

  test('of a session without an answer have its code; a cancelled one is no error', async () => {
    const failed = await run({ lanes: [scripted('f', [{ fail: { code: 'EAGENTDOWN', message: 'gone' } }])] });
    expect(named(failed.spans, 'session').map(({ status }) => status)).toEqual([
      { code: SpanStatusCode.ERROR, message: 'ECONSENSUS' },
    ]);
    const id = `traced-${(serial += 1)}`;
    const slow = [{ partial: 'bl' }, { after_ms: 60_000, final: 'late' }];
    await product.start({ id, prompt: secretPrompt, lanes: [scripted('s', slow)] });
    await product.until(id, ({ state }) => state === 'BUFFERING');
    await product.post(`/v1/sessions/${id}/cancel`);
    // Whose last words are told with the end of its workflow.
    await product.client.workflow
      .getHandle(id)
      .result()
      .catch(() => undefined);
    expect(
      [...named(spansOf(id), 'session'), ...named(spansOf(id), 'lane')].map(({ name, status, attributes }) => [
        name,
        status.code,
        attributes['state'],
      ]),
    ).toEqual([
      ['session', SpanStatusCode.UNSET, 'CANCELLED'],
      ['lane', SpanStatusCode.UNSET, 'CANCELLED'],
    ]);
  });

  test('say which lane it was and how it ended, and what a model was asked for and used', async () => {
    const { id, spans } = await run({
      lanes: [
        {
          lane_id: 'm',
          tier: 'gold',
          clones: 2,
          persona: { persona_id: 'painter' },
          adapter: { kind: 'openai', model: 'priced' },
        },
      ],
    });
    const lane = named(spans, 'lane').find(({ attributes }) => attributes['lane_id'] === 'm#2');
    const identity = { session_id: id, lane_id: 'm#2', persona_id: 'painter', diversity_seed: 2 };
    expect(lane?.attributes).toEqual({
      ...identity,
      tier: 'gold',
      adapter: 'openai',
      attempt: 1,
      state: 'FINALIZED',
      tokens: 120,
      usd_micros: 3000,
    });
    const chat = named(spans, 'chat priced').find(({ attributes }) => attributes['lane_id'] === 'm#2');
    expect(chat?.attributes).toEqual({
      ...identity,
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'priced',
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
    });
  });

  test('hold neither prompts nor answers', async () => {
    const { status, spans } = await run({
      lanes: [
        { lane_id: 'm', adapter: { kind: 'openai', model: 'priced' } },
        scripted('f', [{ fail: { code: 'EAGENTDOWN', message: `cannot say ${secretAnswer}` } }]),
      ],
    });
    expect(status.result?.answer).toBe(secretAnswer);
    const told = JSON.stringify(
      spans.map(({ name, attributes, status: how, events }) => [name, attributes, how, events]),
    );
    expect(told).not.toMatch(new RegExp(`${secretAnswer}|secret`));
  });

  test.each<[string, object[], object]>([
    [
      'a lane that fails',
      [{ fail: { code: 'EPROTO', message: 'broke' } }],
      { code: SpanStatusCode.ERROR, message: 'EPROTO' },
    ],
    ['a lane that cannot be dispatched', [{ dispatch_err: 'gone' }], { code: SpanStatusCode.ERROR }],
    [
      'a lane that is too late',
      [{ after_ms: 60_000, final: 'late' }],
      { code: SpanStatusCode.ERROR, message: 'ETIMEOUT' },
    ],
    ['a lane that answers', [{ final: 'blue' }], { code: SpanStatusCode.UNSET }],
  ])('of %s have the status of its end', async (_, script, expected) => {
    const { spans } = await run({ lanes: [scripted('x', script, { timeout_ms: 300 })] });
    expect(named(spans, 'lane').map(({ status }) => status)).toEqual([expect.objectContaining(expected)]);
  });

  test('of a model that refuses are errors, and so are those above them', async () => {
    models.mock.onMessage('refuse', { error: { message: 'no', type: 'server_error' }, status: 401 });
    const adapter = { kind: 'openai' as const, model: 'priced' };
    const { spans } = await run({ prompt: 'refuse', lanes: [{ lane_id: 'm', adapter }] });
    const failed = spans.filter(({ status }) => status.code === SpanStatusCode.ERROR);
    expect(failed.map(({ name, status }) => `${name} ${status.message}`).toSorted()).toEqual([
      'chat priced ESEC',
      'lane ESEC',
      'session ECONSENSUS',
    ]);
  });

  test('are not made again by a start that is repeated or refused', async () => {
    const lanes = [scripted('s', [{ final: 'blue' }])];
    const { id } = await run({ lanes });
    const told = toldOf(id).length;
    await product.run({ prompt: secretPrompt, id, lanes });
    const refused = await product.post('/v1/sessions', { prompt: 'another', id, lanes });
    expect(refused.status).toBe(409);
    expect(toldOf(id)).toHaveLength(told);
  });

  test('are not made again by a replay', async () => {
    const { id } = await run({ lanes: [scripted('s', [{ final: 'blue' }])] });
    const told = toldOf(id).length;
    const history = await product.client.workflow.getHandle(id).fetchHistory();
    const registry = new Registry();
    await Worker.runReplayHistory(
      {
        workflowBundle: { codePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '' },
        sinks: workflowSinks(new LocalBus(), createWorkMetrics(registry), pino({ level: 'silent' })),
      },
      history,
      id,
    );
    expect(toldOf(id)).toHaveLength(told);
    expect(await registry.getSingleMetricAsString('parley_work_ended_total')).not.toMatch(/^parley/m);
  });

  test('and /metrics counts ends and what was spent, by labels that are few', async () => {
    const response = await fetch(`${product.url}/metrics`);
    const text = await response.text();
    const value = (line: string): number =>
      Number(
        text
          .split('\n')
          .find((candidate) => candidate.startsWith(`${line} `))
          ?.slice(line.length + 1),
      );
    const lanesThat = (state: string, provider: string, tier: string): number =>
      value(`parley_lane_duration_seconds_count{state="${state}",provider="${provider}",tier="${tier}"}`);
    expect(lanesThat('FINALIZED', 'openai', 'gold')).toBe(4);
    expect(lanesThat('FAILED', 'openai', 'silver')).toBe(1);
    expect(lanesThat('FAILED', 'scripted', 'silver')).toBe(5);
    expect(lanesThat('CANCELLED', 'scripted', 'silver')).toBe(1);
    const ids = Array.from({ length: serial }, (_, index) => `traced-${index + 1}`);
    const ends = (spans: readonly ReadableSpan[], state: string): number =>
      named(spans, 'session').filter(({ attributes }) => attributes['state'] === state).length;
    for (const [state, count] of Object.entries({ ERROR: 5, CANCELLED: 1, COMPLETE: serial - 6 })) {
      expect([state, ends(ids.flatMap(spansOf), state)]).toEqual([state, count]);
      // An end that is told again is counted again, with a span again.
      const counted = value(`parley_work_ended_total{kind="session",state="${state}"}`);
      expect([state, counted]).toEqual([state, ends(ids.flatMap(toldOf), state)]);
    }
    const spends = (await Promise.all(ids.map((id) => product.status(id)))).map(({ spend }) => spend);
    const total = (name: string): number =>
      ['openai', 'scripted'].reduce((sum, provider) => sum + value(`${name}{provider="${provider}"}`), 0);
    expect(total('parley_tokens_total')).toBe(spends.reduce((sum, { tokens }) => sum + tokens, 0));
    expect(total('parley_spend_usd_total')).toBeCloseTo(
      spends.reduce((sum, { usd }) => sum + Number(usd), 0),
      9,
    );
    // Five lanes and the arbiter at least, each 100 tokens in at 10 and 20 out at 100 dollars a million.
    expect(value('parley_spend_usd_total{provider="openai"}')).toBeGreaterThanOrEqual(6 * 0.003 - 1e-9);
    expect(value('parley_work_started_total{kind="session"}')).toBe(serial);
    expect(text).not.toMatch(/traced-|m#2|painter/);
  });
});

describe('telemetry', () => {
  const received: { url: string | undefined; type: string | undefined; body: Buffer }[] = [];
  let answerWith = 200;
  const collector = createServer((request: IncomingMessage, response) => {
    void buffer(request).then((body) => {
      received.push({ url: request.url, type: request.headers['content-type'], body });
      if (answerWith !== 0) response.writeHead(answerWith).end();
    });
  });
  let endpoint: string;
  beforeAll(async () => {
    collector.listen(0, '127.0.0.1');
    await once(collector, 'listening');
    endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    collector.close();
    collector.closeAllConnections();
  });
  beforeEach(() => void received.splice(0));
  const work = { id: 'session-1', traceId: '0af7651916cd43dd8448eb211c80319c' };
  /** Starts telemetry, makes one span and closes. @returns the warnings */
  const sendOne = async (environment: Record<string, string>): Promise<string[]> => {
    const warnings: string[] = [];
    const telemetry = await startTelemetry(loadConfig(environment).telemetry, (message) => warnings.push(message));
    openSpan('lane', { lane_id: 'a' }, workContext(work)).span.end();
    await Promise.all([telemetry.close(), telemetry.close()]);
    return warnings;
  };

  test('goes by OTLP to the endpoint of the environment, and close sends what is left', async () => {
    answerWith = 200;
    const warnings = await sendOne({ OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}/`, OTEL_SERVICE_NAME: 'shop' });
    expect(warnings).toEqual([]);
    expect(received.map(({ url, type }) => [url, type])).toEqual([['/v1/traces', 'application/x-protobuf']]);
    const [{ body }] = received as [(typeof received)[0]];
    // Texts and ids stand in protobuf as they are.
    const parts = [Buffer.from('service.name'), Buffer.from('shop'), Buffer.from('lane_id')];
    expect([...parts, Buffer.from(work.traceId, 'hex')].filter((part) => !body.includes(part))).toEqual([]);
  });

  test.each([
    ['refuses', 400, /did not reach OTEL_EXPORTER_OTLP_ENDPOINT \(127\.0\.0\.1:\d+\): Bad Request/],
    ['does not answer', 0, /did not reach OTEL_EXPORTER_OTLP_ENDPOINT \(127\.0\.0\.1:\d+\): Request Timeout/],
  ])('whose collector %s warns and ends all the same', async (_, status, warning) => {
    answerWith = status;
    const warnings = await sendOne({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
    expect(warnings.join()).toMatch(warning);
  });

  test('that nobody collects warns and ends all the same', async () => {
    const warnings = await sendOne({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
    expect(warnings.join()).toMatch('(127.0.0.1:9): connect ECONNREFUSED');
  });

  test('without an endpoint does nothing: spans are not recorded', async () => {
    const telemetry = await startTelemetry(loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: '' }).telemetry, () => {});
    expect(openSpan('lane', {}, workContext(work)).span.isRecording()).toBe(false);
    await telemetry.close();
    expect(received).toEqual([]);
  });

  test.each(['collector:4318', 'grpc://collector:4317', ' '])(
    'refuses the endpoint %j, naming its variable',
    (given) => {
      expect(() => loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: given })).toThrow(
        `OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL such as http://127.0.0.1:4318; got ${JSON.stringify(given)}.`,
      );
    },
  );
});

describe('the log', () => {
  test('names the trace of what a gateway starts and of what ends on a worker', async () => {
    const lines: unknown[] = [];
    const logger = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) });
    const rig = createRig({ logger });
    await request(rig.app)
      .post('/v1/sessions')
      .send(aSession({ id: 's1' }));
    const { traceId } = rig.sessions.held.get('s1')!.setup;
    const { trace: sinks } = workflowSinks(new LocalBus(), createWorkMetrics(new Registry()), logger);
    const info = { searchAttributes: { ParleyTraceId: [traceId] } } as unknown as WorkflowInfo;
    await sinks.outcome.fn(info, await rig.sessions.status('s1'));
    const work = { session_id: 's1', trace_id: traceId };
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ ...work, msg: 'session started', request_id: expect.any(String) }),
        expect.objectContaining({ ...work, msg: 'session ended', state: 'STREAMING' }),
      ]),
    );
  });
});

describe('the metrics of a worker alone', () => {
  test('are at /metrics, and nothing else is there', async () => {
    const registry = new Registry();
    const { url, close } = await serveMetrics(registry, '127.0.0.1', 0);
    const [found, other] = await Promise.all([fetch(url), fetch(new URL('/', url))]);
    expect([found.status, found.headers.get('content-type'), other.status]).toEqual([200, registry.contentType, 404]);
    await close();
  });

  test('on a port that is taken say which variable to set', async () => {
    const { url, close } = await serveMetrics(new Registry(), '127.0.0.1', 0);
    await expect(serveMetrics(new Registry(), '127.0.0.1', Number(new URL(url).port))).rejects.toThrow(
      /EADDRINUSE.*Set PARLEY_METRICS_PORT to a free port/,
    );
    await close();
  });
});
