import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openStores } from '../../activities/artifacts/index.js';
import { loadConfig } from '../../src/config.js';
import { findS3Server } from '../support/parts.js';
import { type Product, startProduct } from '../support/product.js';
import { type S3Server, startS3Server } from '../support/s3-server.js';
import { says } from '../support/session-bodies.js';

const describeWithServer = findS3Server() === null ? describe.skip : describe;

describeWithServer('an installation with a bucket (needs an S3 server)', () => {
  let server: S3Server;
  let product: Product;
  beforeAll(async () => {
    server = await startS3Server();
    product = await startProduct(server.environment);
  });
  afterAll(async () => {
    await product?.stop();
    await server?.close();
  });

  test('keeps large payloads there, and nothing in its data folder', async () => {
    const status = await product.run({ prompt: 'x'.repeat(300_000), lanes: [says('a', 'blue')] });
    expect(status).toMatchObject({ lifecycle: 'completed' });
    const { claims } = openStores(loadConfig(server.environment));
    const stored: number[] = [];
    for await (const claim of claims.list()) stored.push(claim.size_bytes);
    expect(Math.max(...stored)).toBeGreaterThan(300_000);
    expect(existsSync(join(product.data, 'claims'))).toBe(false);
  });

  test('serves the artifacts that lie in it', async () => {
    const { artifacts } = openStores(loadConfig(server.environment));
    const { hash } = await artifacts.put('default', Buffer.from('{"a":1}'));
    const answer = await product.get(`/v1/artifacts/${hash}?name=a.json`);
    expect(answer).toMatchObject({ status: 200, body: { a: 1 } });
  });
});
