import { startProduct, type Product } from '../support/product.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
}, 60_000);
afterAll(async () => await product?.stop());

const lane = (lane_id: string, ...script: object[]) => ({ lane_id, adapter: { kind: 'scripted' as const, script } });

describe('a session', () => {
  test('of lanes that agree completes with their answer', async () => {
    const status = await product.run({
      prompt: 'Which colour?',
      lanes: ['a', 'b', 'c'].map((id) => lane(id, { after_ms: 10, partial: 'bl' }, { after_ms: 10, final: 'blue' })),
    });
    expect(status.state).toBe('COMPLETE');
  });
});
