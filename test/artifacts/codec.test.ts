import type { Payload } from '@temporalio/common';
import { type Answer, type Product, startProduct } from '../support/product.js';
import { says } from '../support/session-bodies.js';
import { keyOf } from '../support/keys.js';

const entry = (name: string, tenant: string, role: string) => ({ name, key: keyOf(name), tenant, role });

let product: Product;
let guarded: Product;
beforeAll(async () => {
  product = await startProduct();
  guarded = await startProduct({
    PARLEY_API_KEYS: JSON.stringify([
      entry('operator', '*', 'operator'),
      entry('viewer', '*', 'viewer'),
      entry('bound', 'acme', 'admin'),
    ]),
  });
});
afterAll(async () => {
  await product?.stop();
  await guarded?.stop();
});

interface Wire {
  payloads: { metadata: Record<string, string>; data: string }[];
}
const base64 = (bytes: Uint8Array | string | null | undefined): string => Buffer.from(bytes ?? []).toString('base64');
const plain = (base: string | undefined): string => Buffer.from(base ?? '', 'base64').toString();
const wire = (payloads: Payload[]): Wire => ({
  payloads: payloads.map(({ metadata, data }) => ({
    metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)])),
    data: base64(data),
  })),
});
const asked = (answer: Answer): Wire => {
  expect(answer.status).toBe(200);
  return answer.body;
};
const json = (value: unknown) => ({
  metadata: { encoding: base64('json/plain') },
  data: base64(JSON.stringify(value)),
});

describe('the codec for Temporal’s Web UI', () => {
  test('shows what a history has only the digest of', async () => {
    const prompt = 'x'.repeat(200_000);
    const { id } = await product.run({ prompt, lanes: [says('a', 'blue')] });
    const { events } = await product.client.workflow.getHandle(id).fetchHistory();
    const input = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    const claim = wire(input as Payload[]);
    expect(plain(claim.payloads[0]?.metadata['encoding'])).toBe('parley/claim');
    expect(plain(claim.payloads[0]?.data)).toMatch(/^\{"claim":"sha256:[0-9a-f]{64}","size_bytes":2\d{5},/);
    const whole = asked(await product.post('/codec/decode', claim));
    expect(plain(whole.payloads[0]?.metadata['encoding'])).toBe('json/plain');
    expect(JSON.parse(plain(whole.payloads[0]?.data))).toMatchObject({ id, prompt });
  });

  test('leaves small payloads alone, and takes large ones from a history again', async () => {
    const payloads = [json('small'), json('y'.repeat(100_000))];
    const encoded = asked(await product.post('/codec/encode', { payloads }));
    expect(encoded.payloads[0]).toEqual(payloads[0]);
    expect(plain(encoded.payloads[1]?.metadata['encoding'])).toBe('parley/claim');
    expect(asked(await product.post('/codec/decode', encoded))).toEqual({ payloads });
  });

  test('names the digest of what is not there', async () => {
    const digest = `sha256:${'0'.repeat(64)}`;
    const metadata = { encoding: base64('parley/claim'), 'parley-encoding': base64('json/plain') };
    const answer = await product.post('/codec/decode', {
      payloads: [{ metadata, data: base64(JSON.stringify({ claim: digest })) }],
    });
    expect(answer.status).toBe(503);
    expect(JSON.stringify(answer.body)).toContain(digest);
  });

  test.each([
    ['operator', 200],
    ['viewer', 403],
    ['bound', 403],
    ['nobody', 401],
  ])('answers the key of %s with %i: claims are of every tenant', async (name, status) => {
    const headers = { authorization: `Bearer ${keyOf(name)}` };
    for (const verb of ['decode', 'encode'])
      expect((await guarded.post(`/codec/${verb}`, { payloads: [] }, headers)).status).toBe(status);
  });

  const preflight = async (origin: string) => {
    const response = await fetch(`${product.url}/codec/decode`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
    const allowed = response.headers.get('access-control-allow-origin');
    return { status: response.status, allowed, headers: response.headers.get('access-control-allow-headers') };
  };

  test.each(['http://127.0.0.1:8233', 'http://localhost:8233'])('lets the pages of %s ask', async (origin) => {
    expect(await preflight(origin)).toEqual({
      status: 204,
      allowed: origin,
      headers: 'Authorization, Content-Type, X-Namespace',
    });
    const response = await fetch(`${product.url}/codec/decode`, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json', 'x-namespace': 'default' },
      body: JSON.stringify({ payloads: [json(1)] }),
    });
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    expect(await response.json()).toEqual({ payloads: [json(1)] });
  });

  test.each(['http://127.0.0.1:8234', 'https://localhost:8233', 'https://example.org', 'null'])(
    'does not let pages of %s ask',
    async (origin) => {
      expect(await preflight(origin)).toEqual({ status: 405, allowed: null, headers: null });
    },
  );
});
