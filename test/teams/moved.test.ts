import { startProduct, type Product } from '../support/product.js';
import { hangs } from '../support/team-bodies.js';

const queued = async ({ url }: Product): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^parley_agents_queued (\d+)$/m.exec(text)?.[1]);
};

describe('the line of a team', () => {
  test('is told by the worker that goes on with it, once it makes a step', async () => {
    const first = await startProduct();
    const id = await first.teams.start({ max_concurrent: 1, agents: [hangs('a'), hangs('b'), hangs('c')] } as never);
    await first.teams.until(id, ({ agents }) => agents.some(({ streaming }) => streaming));
    expect(await queued(first)).toBe(2);
    await first.stop({ leavesWork: true });
    const second = await startProduct({}, first.taskQueue);
    try {
      await second.post(`/v1/teams/${id}/agents/a/pause`);
      await second.teams.until(id, ({ agents }) => agents.some(({ state }) => state === 'PAUSED'));
      while ((await queued(second)) !== 2) await new Promise((resolve) => setTimeout(resolve, 50));
      await second.post(`/v1/teams/${id}/cancel`);
      await second.teams.until(id, ({ lifecycle }) => lifecycle === 'cancelled');
      expect(await queued(second)).toBe(0);
    } finally {
      await second.stop();
    }
  }, 120_000);
});
