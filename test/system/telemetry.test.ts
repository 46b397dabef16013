import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { SpanStatusCode, trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { Registry } from 'prom-client';
import type { OpenSessionBody } from '../../src/contracts/session.js';
import { startTelemetry } from '../../src/telemetry.js';
import { openSpan, workContext } from '../../src/tracing.js';
import { serveMetrics } from '../../temporal/metrics-server.js';
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

  /** Runs a session to its end; `spans` are those that its trace holds. */
  const run = async (body: Omit<OpenSessionBody, 'prompt'>) => {
    const id = `traced-${(serial += 1)}`;
    const status = await product.run({ prompt: secretPrompt, ...body, id });
    // A lane that is cut off tells its end a moment later than the session.
    await product.client.workflow
      .getHandle(id)
      .result()
      .catch(() => {});
    return {
      id,
      status,
      spans: exporter.getFinishedSpans().filter(({ attributes }) => attributes['session_id'] === id),
    };
  };
  const named = (spans: readonly ReadableSpan[], name: string): ReadableSpan[] =>
    spans.filter((span) => span.name === name);

  beforeAll(async () => {
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
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
      policy: { threshold: 0.9, arbiter: { allowed: true, adapter: { kind: 'openai', model: 'priced' } } },
    });
    expect(spans.map(({ name }) => name).toSorted()).toEqual([
      'arbiter',
      'chat priced',
      'chat priced',
      'chat priced',
      'lane',
      'lane',
      'lane',
      'start session',
    ]);
    expect([...new Set(spans.map((span) => span.spanContext().traceId))]).toEqual([await traceIdOf(product, id)]);
    // All hang on what follows from the id alone, but for the calls of a lane or of the arbiter.
    const [start] = named(spans, 'start session');
    const parents = new Set([...named(spans, 'lane'), ...named(spans, 'arbiter')].map((span) => span.parentSpanId));
    expect([...parents]).toEqual([start!.parentSpanId]);
    const callers = [...named(spans, 'lane'), ...named(spans, 'arbiter')].map((span) => span.spanContext().spanId);
    expect(named(spans, 'chat priced').every(({ parentSpanId }) => callers.includes(parentSpanId!))).toBe(true);
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

  test('of a model that refuses are errors, and so are the arbiter’s and the lane’s above them', async () => {
    models.mock.onMessage('refuse', { error: { message: 'no', type: 'server_error' }, status: 401 });
    const id = `traced-${(serial += 1)}`;
    const adapter = { kind: 'openai' as const, model: 'priced' };
    await product.run({ id, prompt: 'refuse', lanes: [{ lane_id: 'm', adapter }] });
    const spans = exporter.getFinishedSpans().filter(({ attributes }) => attributes['session_id'] === id);
    const failed = spans.filter(({ status }) => status.code === SpanStatusCode.ERROR);
    expect(failed.map(({ name, status }) => `${name} ${status.message}`).toSorted()).toEqual([
      'chat priced ESEC',
      'lane ESEC',
    ]);
  });

  test('are not made again by a start that is repeated', async () => {
    const { id, spans } = await run({ lanes: [scripted('s', [{ final: 'blue' }])] });
    await product.run({ prompt: secretPrompt, id, lanes: [scripted('s', [{ final: 'blue' }])] });
    const all = exporter.getFinishedSpans().filter(({ attributes }) => attributes['session_id'] === id);
    expect(all).toHaveLength(spans.length);
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
    expect(
      value('parley_lane_duration_seconds_count{state="FINALIZED",provider="openai",tier="gold"}'),
    ).toBeGreaterThanOrEqual(4);
    expect(value('parley_lane_duration_seconds_count{state="FAILED",provider="scripted",tier="silver"}')).toBe(4);
    expect(value('parley_work_ended_total{kind="session",state="ERROR"}')).toBe(4);
    expect(value('parley_tokens_total{provider="openai"}')).toBeGreaterThanOrEqual(6 * 120);
    expect(value('parley_spend_usd_total{provider="openai"}')).toBeGreaterThanOrEqual(6 * 0.003);
    expect(value('parley_work_started_total{kind="session"}')).toBe(serial);
    expect(text).not.toMatch(/traced-|m#2|painter/);
  });
});

describe('telemetry', () => {
  interface Export {
    resourceSpans: {
      resource: { attributes: unknown[] };
      scopeSpans: { spans: { name: string; traceId: string }[] }[];
    }[];
  }
  const received: { url: string | undefined; body: Export }[] = [];
  const collector = createServer((request: IncomingMessage, response) => {
    void json(request).then((body) => {
      received.push({ url: request.url, body: body as Export });
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  beforeAll(async () => {
    collector.listen(0, '127.0.0.1');
    await once(collector, 'listening');
  });
  afterAll(() => void collector.close());
  const work = { id: 'session-1', traceId: '0af7651916cd43dd8448eb211c80319c' };

  test('goes by OTLP to the endpoint of the environment, and close sends what is left', async () => {
    const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/`;
    const warnings: string[] = [];
    const telemetry = await startTelemetry({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, (message) =>
      warnings.push(message),
    );
    openSpan('lane', { lane_id: 'a' }, workContext(work)).span.end();
    await Promise.all([telemetry.close(), telemetry.close()]);
    expect(warnings).toEqual([]);
    expect(received).toHaveLength(1);
    const [{ url, body }] = received as [(typeof received)[0]];
    expect(url).toBe('/v1/traces');
    expect(body.resourceSpans[0]?.resource.attributes).toEqual([
      { key: 'service.name', value: { stringValue: 'parley' } },
    ]);
    expect(body.resourceSpans[0]?.scopeSpans[0]?.spans).toMatchObject([{ name: 'lane', traceId: work.traceId }]);
  });

  test('that nobody collects warns and ends all the same', async () => {
    const warnings: string[] = [];
    const refused = createServer();
    refused.listen(0, '127.0.0.1');
    await once(refused, 'listening');
    const { port } = refused.address() as AddressInfo;
    refused.close();
    await once(refused, 'close');
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
    const telemetry = await startTelemetry(environment, (message) => warnings.push(message));
    openSpan('lane', {}, workContext(work)).span.end();
    await telemetry.close();
    expect(warnings.join()).toMatch('ECONNREFUSED');
  });

  test('without an endpoint does nothing: spans are not recorded', async () => {
    const telemetry = await startTelemetry({ OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, () => {});
    expect(openSpan('lane', {}, workContext(work)).span.isRecording()).toBe(false);
    await telemetry.close();
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
