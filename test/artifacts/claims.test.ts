import { mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { defaultPayloadConverter, type Payload, type PayloadCodec } from '@temporalio/common';
import { createFolderStore } from '../../activities/artifacts/folder.js';
import type { ArtifactStore } from '../../activities/artifacts/port.js';
import { claimOf, converterOf, createDataConverter } from '../../temporal/data-converter.js';

const root = mkdtempSync(join(tmpdir(), 'parley-claims-'));
afterAll(() => rmSync(root, { recursive: true }));
let made = 0;

const codecIn = ({ payloadCodecs }: { payloadCodecs?: PayloadCodec[] }): PayloadCodec => {
  const [codec] = payloadCodecs ?? [];
  if (!codec) throw new Error('there is no codec');
  return codec;
};

const aCodec = (limits: { inlineBytes?: number; maxBytes?: number; namespace?: string } = {}) => {
  const folder = join(root, `claims-${(made += 1)}`);
  const store = createFolderStore(folder);
  let puts = 0;
  const claims: ArtifactStore = { ...store, put: (...given) => ((puts += 1), store.put(...given)) };
  const dataConverter = createDataConverter({
    claims,
    isShared: true,
    namespace: 'default',
    inlineBytes: 100,
    maxBytes: 10_000,
    ...limits,
  });
  const fileOf = (digest: string): string => join(folder, 'default', digest.slice(7, 9), digest.slice(7));
  return { folder, codec: codecIn(dataConverter), dataConverter, store, fileOf, puts: () => puts };
};
const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const valueOf = (payload: Payload | undefined): unknown => payload && defaultPayloadConverter.fromPayload(payload);
const digestOf = (payload: Payload | undefined): string => (payload && claimOf(payload)) ?? 'no claim';
const textOf = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString();

describe('a claim check', () => {
  test('leaves small payloads as they are, without a copy', async () => {
    const { codec, puts } = aCodec();
    const small = [payloadOf('x'.repeat(98)), payloadOf({ a: 1 }), {}];
    expect(await codec.encode(small)).toBe(small);
    expect(await codec.decode(small)).toBe(small);
    expect(puts()).toBe(0);
  });

  test.each([
    ['text', 'x'.repeat(99)],
    ['a document', { text: 'ä'.repeat(60), list: [1, null, { deep: true }] }],
    ['bytes', Uint8Array.from({ length: 101 }, (_, index) => index)],
  ])('puts %s in the store and gives it back as it was', async (_, value) => {
    const { codec } = aCodec();
    const before = payloadOf(value);
    const [after] = await codec.encode([before]);
    expect(after?.data?.byteLength).toBeLessThan(400);
    const [back] = await codec.decode(after ? [after] : []);
    expect(valueOf(back)).toEqual(value);
    expect(textOf(back?.metadata?.['encoding'])).toBe(textOf(before.metadata?.['encoding']));
  });

  test('shows in a history what it is, how large and under which digest', async () => {
    const { codec, store } = aCodec();
    const [claim] = await codec.encode([payloadOf('x'.repeat(200))]);
    expect(textOf(claim?.metadata?.['encoding'])).toBe('parley/claim');
    expect(JSON.parse(textOf(claim?.data))).toEqual({
      claim: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      size_bytes: 202,
      note: expect.stringContaining('/codec'),
    });
    expect(await store.has('default', digestOf(claim))).toBe(true);
  });

  test('stores the same content once, and content of another namespace apart', async () => {
    const { codec, puts } = aCodec();
    const [one, two] = await codec.encode([payloadOf('x'.repeat(200)), payloadOf('small')]);
    await codec.encode([payloadOf('x'.repeat(200))]);
    expect(puts()).toBe(1);
    expect(valueOf(two)).toBe('small');
    const elsewhere = aCodec({ namespace: 'an odd/name' });
    const [three] = await elsewhere.codec.encode([payloadOf('x'.repeat(200))]);
    expect(digestOf(three)).toBe(digestOf(one));
    const scopes: string[] = [];
    for await (const { tenant } of elsewhere.store.list()) scopes.push(tenant);
    expect(scopes).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
  });

  test('that finds nothing under the digest names it and says what to do', async () => {
    const { codec, store } = aCodec();
    const claims = await codec.encode([payloadOf('x'.repeat(200))]);
    const digest = digestOf(claims[0]);
    await store.remove('default', digest);
    await expect(codec.decode(claims)).rejects.toMatchObject({
      code: 'unavailable',
      retryable: true,
      message: expect.stringContaining(`The payload ${digest} is not among the claims here.`),
    });
  });

  test('that finds other content names the digest too', async () => {
    const { codec, fileOf } = aCodec();
    const claims = await codec.encode([payloadOf('x'.repeat(200))]);
    const digest = digestOf(claims[0]);
    truncateSync(fileOf(digest), 7);
    await expect(codec.decode(claims)).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringContaining(digest),
    });
  });

  test('of a payload that says it is a claim and names no digest is refused', async () => {
    const { codec } = aCodec();
    const [claim] = await codec.encode([payloadOf('x'.repeat(200))]);
    const forged = { ...claim, data: Buffer.from('{"claim":"../../etc/passwd"}') };
    await expect(codec.decode([forged])).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('in a replay reads claims and stores none', async () => {
    const { dataConverter, codec, puts } = aCodec();
    const client = new Client({ connection: Connection.lazy(), dataConverter });
    const replaying = codecIn(converterOf(client, 'replay'));
    const claims = await codec.encode([payloadOf('x'.repeat(200))]);
    expect(valueOf((await replaying.decode(claims))[0])).toBe('x'.repeat(200));
    const large = [payloadOf('y'.repeat(200))];
    expect(await replaying.encode(large)).toBe(large);
    expect(puts()).toBe(1);
  });

  test('in a place that others do not find keeps payloads inline, refuses those beyond the limit, and reads what is there', async () => {
    const { codec: before, store, puts } = aCodec();
    const claims = await before.encode([payloadOf('z'.repeat(200))]);
    const apart = { claims: store, isShared: false, namespace: 'default', inlineBytes: 100, maxBytes: 1_000 };
    const codec = codecIn(createDataConverter(apart));
    const large = payloadOf('x'.repeat(900));
    expect(await codec.encode([large])).toEqual([large]);
    await expect(codec.encode([payloadOf('x'.repeat(999))])).rejects.toThrow(
      'takes 1001 bytes; one payload may take at most 1000',
    );
    expect(valueOf((await codec.decode(claims))[0])).toBe('z'.repeat(200));
    expect(puts()).toBe(1);
  });
});
