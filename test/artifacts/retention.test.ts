import type { CheckpointList } from '../../src/contracts/checkpoint.js';
import type { Problem } from '../../src/contracts/problem.js';
import { type Product, startProduct } from '../support/product.js';
import { says } from '../support/session-bodies.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct({ PARLEY_MAX_CHECKPOINTS: '2' });
});
afterAll(async () => {
  await product?.stop();
});

test('a checkpoint beyond those that are kept is not listed, and answers 410 in words', async () => {
  const { id } = await product.run({ prompt: 'Which colour?', lanes: [says('a', 'blue'), says('b', 'blue', 1)] });
  const { body } = await product.get(`/v1/sessions/${id}/checkpoints`);
  const numbers = (body as CheckpointList).items.map((item) => item.sequence_num);
  expect(numbers).toHaveLength(2);
  expect(numbers[0]).toBeGreaterThan(0);
  const gone = await product.get(`/v1/sessions/${id}/checkpoints/0`);
  expect(gone.status).toBe(410);
  expect((gone.body as Problem).detail).toBe(
    `Checkpoint 0 of session ${id} is gone: the latest 2 are kept (PARLEY_MAX_CHECKPOINTS).`,
  );
  expect((await product.get(`/v1/sessions/${id}/checkpoints/${numbers[1]}`)).status).toBe(200);
});
