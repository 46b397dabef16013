import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Checkpoint } from '../../src/contracts/checkpoint.js';
import type { Problem } from '../../src/contracts/problem.js';
import { type Product, startProduct } from '../support/product.js';
import { says } from '../support/session-bodies.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(async () => {
  await product?.stop();
});

const claims = (): string[] => {
  try {
    return readdirSync(join(product.data, 'claims'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name);
  } catch {
    return []; // the folder is made with the first
  }
};
const historySize = async (id: string): Promise<number> =>
  Number((await product.client.workflow.getHandle(id).describe()).historySize);
const lanes = [says('a', 'blue'), says('b', 'blue', 1)];

describe('a session', () => {
  test('with a small prompt leaves nothing in the store', async () => {
    const before = claims().length;
    expect(await product.run({ prompt: 'Which colour?', lanes })).toMatchObject({ lifecycle: 'completed' });
    expect(claims()).toHaveLength(before);
  });

  test('with a prompt of 900,000 characters runs, in a history that is small', async () => {
    const prompt = `Which colour? ${'x'.repeat(890_000)}`;
    const { id } = await product.start({ prompt, lanes });
    const status = await product.until(id, ({ lifecycle }) => lifecycle !== 'running');
    expect(status).toMatchObject({ lifecycle: 'completed' });
    expect(claims().length).toBeGreaterThan(0);
    expect(await historySize(id)).toBeLessThan(100_000);
  });

  test('whose payloads are claims can be inspected at each checkpoint, which stores nothing', async () => {
    const { id } = await product.run({ prompt: 'x'.repeat(200_000), lanes });
    const before = claims().toSorted();
    const { status, body } = await product.get(`/v1/sessions/${id}/checkpoints/0`);
    expect(status).toBe(200);
    expect((body as Checkpoint).sequence_num).toBe(0);
    expect(claims().toSorted()).toEqual(before);
  });

  test('shares no claim as an artifact', async () => {
    await product.run({ prompt: 'y'.repeat(200_000), lanes });
    for (const digits of claims()) {
      for (const tenant of ['default', 'claims'])
        expect((await product.get(`/v1/artifacts/${digits}?tenant=${tenant}`)).status).toBe(404);
    }
  });

  test('with a prompt of 5 MB is refused in words', async () => {
    const answer = await product.post('/v1/sessions', { prompt: 'x'.repeat(5_000_000), lanes });
    expect(answer.status).toBe(413);
    expect((answer.body as Problem).detail).toBe('The body must be at most 1 MiB.');
  });
});
