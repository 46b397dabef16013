import { type Checkpoint, checkpointSchema } from '../../src/contracts/checkpoint.js';
import type { Problem } from '../../src/contracts/problem.js';
import { aDebate, proposes, removeWorkspaces, sh } from '../support/debate-bodies.js';
import { aFanOut, tasks } from '../support/fan-out-bodies.js';
import { type Product, startProduct } from '../support/product.js';
import { aRefinement } from '../support/refinement-bodies.js';
import { fails, noEarlyExit, says } from '../support/session-bodies.js';
import { checkpointsOf, oneFails } from '../support/work-at.js';
import { runCli } from '../support/run-cli.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(async () => {
  await product?.stop();
  removeWorkspaces();
});

const read = async <T>(path: string, status = 200): Promise<T> => {
  const answer = await product.get(path);
  expect(answer).toMatchObject({ status });
  return answer.body;
};
const list = async (path: string) => (await checkpointsOf(product, path)).items;
const inspect = (path: string, number: number) => read<Checkpoint>(`${path}/checkpoints/${number}`);
const eventsOf = async (id: string) => (await product.client.workflow.getHandle(id).fetchHistory()).events?.length;

const aSession = () => ({
  prompt: 'Which colour?',
  lanes: [says('a', 'blue'), says('b', 'blue', 1), fails('c')],
  policy: noEarlyExit,
});

describe('every checkpoint of ended work', () => {
  test.each<[string, () => Promise<{ id: string; state: string; result: unknown }>, string, string[]]>([
    ['sessions', () => product.run(aSession()), 'INIT', ['session', 'a', 'b', 'c']],
    [
      'debates',
      () => product.debates.run(aDebate({ says: { solution: [proposes(sh('t', 'true'))] } })),
      'IDLE',
      ['debate', 'analyst', 'solution', 'critic', 'security', 'optimizer', 't'],
    ],
    ['refinements', () => product.refinements.run(aRefinement()), 'S0', ['refinement', 'generator', 'critic']],
    ['fan-outs', () => product.fanOuts.run(oneFails()), 'IDLE', ['fan-out', 'prepare', 'a', 'fan_in']],
  ])(
    '%s: is listed, and its state comes from a replay',
    async (collection, run, initial, agents) => {
      const ended = await run();
      const path = `/v1/${collection}/${ended.id}`;
      const items = await list(path);
      expect(items.map(({ sequence_num }) => sequence_num)).toEqual(items.map((_, index) => index));
      expect(new Set(items.map(({ checkpoint_id }) => checkpoint_id)).size).toBe(items.length);
      expect(items.map(({ agent_id }) => agent_id)).toEqual(expect.arrayContaining(agents));
      const before = await eventsOf(ended.id);
      for (const item of items) {
        const checkpoint = await inspect(path, item.sequence_num);
        expect(checkpointSchema.safeParse(checkpoint).error).toBeUndefined();
        // The replay comes past the same points of the history, with the same ids.
        expect(checkpoint).toMatchObject(item);
        expect(checkpoint.state.errors).toHaveLength(
          items.filter(({ trigger, sequence_num }) => trigger === 'on_error' && sequence_num <= item.sequence_num)
            .length,
        );
        if (item.sequence_num === 0) expect(checkpoint.state.outputs).toMatchObject({ state: initial, result: null });
        if (item === items.at(-1)) {
          const { state, result } = ended;
          expect(checkpoint.state.outputs).toMatchObject({ state, result });
        }
      }
      expect(await eventsOf(ended.id)).toBe(before);
    },
    120_000,
  );
});

describe('a checkpoint', () => {
  test('says on_error, and with what, where a turn failed', async () => {
    const { id } = await product.run(aSession());
    const failed = (await list(`/v1/sessions/${id}`)).find(({ agent_id }) => agent_id === 'c')!;
    expect(failed.trigger).toBe('on_error');
    const { state } = await inspect(`/v1/sessions/${id}`, failed.sequence_num);
    expect(state.errors).toEqual([{ agent: 'c', error: 'c broke', timestamp: failed.created_at }]);
  });

  test('of running work is inspected while it runs', async () => {
    const id = await product.refinements.start(aRefinement({ after_ms: [0, 600_000] }));
    await product.refinements.until(id, ({ state }) => state === 'CRITIQUING');
    const items = await list(`/v1/refinements/${id}`);
    const { state } = await inspect(`/v1/refinements/${id}`, items.length - 1);
    expect(state.outputs).toMatchObject({ state: 'CRITIQUING', lifecycle: 'running' });
    await product.post(`/v1/refinements/${id}/cancel`);
  });

  test('beyond the latest hundred is gone', async () => {
    const { id } = await product.fanOuts.run(aFanOut({ fan_out: { tasks: tasks(110) } }));
    const items = await list(`/v1/fan-outs/${id}`);
    expect(items).toHaveLength(100);
    const [oldest] = items;
    expect(oldest!.sequence_num).toBeGreaterThan(10);
    const problem = await read<Problem>(`/v1/fan-outs/${id}/checkpoints/0`, 410);
    expect(problem).toMatchObject({ code: 'gone' });
    expect(problem.detail).toContain('the latest 100 are kept');
    expect(await inspect(`/v1/fan-outs/${id}`, items.at(-1)!.sequence_num)).toMatchObject(items.at(-1)!);
  }, 120_000);

  test.each([
    ['/v1/sessions/nobody/checkpoints', 'There is no session nobody.'],
    ['/v1/sessions/nobody/checkpoints/0', 'There is no session nobody.'],
    ['/v1/debates/ID/checkpoints', 'There is no debate ID.'],
    ['/v1/sessions/ID/checkpoints/999', 'There is no checkpoint 999 of session ID; it has 0 to '],
    ['/v1/sessions/ID/checkpoints/-1', 'There is no checkpoint -1 of session ID; they are numbered from 0.'],
    ['/v1/sessions/ID/checkpoints/last', 'There is no checkpoint last of session ID; they are numbered from 0.'],
  ])('%s is not found, and the answer says what is there', async (path, detail) => {
    const id = 'checkpointed';
    await product.run({ ...aSession(), id });
    const problem = await read<Problem>(path.replace('ID', id), 404);
    expect(problem.detail).toContain(detail.replace('ID', id));
  });
});

describe('parley checkpoints', () => {
  const parley = (...argv: string[]) => runCli({ PARLEY_URL: product.url }, argv);

  test('finds the kind by the id, lists, and shows one', async () => {
    const id = 'named-by-hand';
    await product.refinements.until(
      await product.refinements.start({ ...aRefinement(), id }),
      ({ result }) => !!result,
    );
    const items = await list(`/v1/refinements/${id}`);
    const listed = await parley('checkpoints', id);
    expect(listed.code).toBe(0);
    expect(listed.out.split('\n')).toHaveLength(items.length);
    expect(listed.out).toMatch(/^CP-0 .* refinement .* S0 .* on_complete .* event \d+/);
    const shown = await parley('checkpoint', 'show', id, '1', '--json');
    expect(JSON.parse(shown.out)).toEqual(await inspect(`/v1/refinements/${id}`, 1));
    expect((await parley('checkpoint', 'show', id, '1')).out).toMatch(
      /^CP-1 .*\n {2}state {7}GENERATING\n {2}confidence {2}0 %\n {2}GENERATING, iteration 1/,
    );
  });

  test('an id that nothing has, and a number that it has not, are usage', async () => {
    expect(await parley('checkpoints', 'nobody')).toMatchObject({
      code: 2,
      notes: expect.stringContaining('with the id nobody. See what there is: parley list --all'),
    });
    expect(await parley('checkpoint', 'show', 'named-by-hand', '999')).toMatchObject({
      code: 2,
      notes: expect.stringContaining('There is no checkpoint 999 of refinement named-by-hand; it has 0 to '),
    });
  });
});
