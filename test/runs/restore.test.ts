import type { RunStatus } from '../../src/contracts/run-status.js';
import { removeWorkspaces } from '../support/debate-bodies.js';
import { describeWithSandbox } from '../support/describe-with.js';
import { type Product, startProduct } from '../support/product.js';
import { aRun, asks, session, sh } from '../support/run-bodies.js';

afterAll(removeWorkspaces);

describeWithSandbox('a run that goes back', () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct();
  });
  afterAll(() => product?.stop());

  interface Listed {
    items: { sequence_num: number; agent_id: string }[];
  }
  const ended = ({ lifecycle }: RunStatus): boolean => lifecycle === 'completed' || lifecycle === 'cancelled';

  test('to after its first step does the others again, as other work, and the first one not', async () => {
    const steps = [sh('a', 'echo x >> log'), session('colour'), asks('sure'), sh('b', 'cat log')];
    const id = await product.runs.start(aRun(steps));
    await product.runs.until(id, ({ state }) => state === 'awaiting_feedback');
    const { items } = (await product.get(`/v1/runs/${id}/checkpoints`)).body as unknown as Listed;
    expect(items.map(({ agent_id }) => agent_id)).toEqual(
      expect.arrayContaining(['workspace', 'build.a', 'build.colour']),
    );
    const checkpoint = items.find(({ agent_id }) => agent_id === 'build.a')?.sequence_num;
    const restored = await product.post(`/v1/runs/${id}/restore`, { checkpoint, reason: 'another colour' });
    expect([restored.status, restored.body]).toMatchObject([expect.any(Number), { id }]);
    const again = await product.runs.until(
      id,
      ({ state, phases }) =>
        state === 'awaiting_feedback' && phases[0]?.steps[1]?.attempts.at(-1)?.work_id?.endsWith('.r1') === true,
    );
    const { request_id } = again.feedback.at(-1)!.request;
    await product.post(`/v1/runs/${id}/feedback`, { request_id, response: 'approve', provided_by: 'anna' });
    const { result } = await product.runs.until(id, ended);
    expect(result).toMatchObject({ outcome: 'completed', output: { stdout: 'x\n' } });
    expect((await product.get(`/v1/runs/${id}/export`)).status).toBe(200);
  });
});
