import type { CoordinatorAnswer } from '../../src/contracts/coordinator.js';
import type { CoordinatorStatus } from '../../src/contracts/coordinator-status.js';
import { askingRuns, fiveRunBodies } from '../support/coordinator-bodies.js';
import { removeWorkspaces } from '../support/debate-bodies.js';
import { describeWithSandbox } from '../support/describe-with.js';
import { type Product, startProduct } from '../support/product.js';

const presents = ({ state }: CoordinatorStatus): boolean => state === 'PRESENTING';
const ended = ({ lifecycle }: CoordinatorStatus): boolean => lifecycle !== 'running' && lifecycle !== 'waiting';
const statuses = ({ runs }: CoordinatorStatus): string[] => runs.map(({ work_id: id, status }) => `${id} ${status}`);

afterAll(removeWorkspaces);

describeWithSandbox('a coordinator', () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct();
  });
  afterAll(() => product?.stop());

  test('asks about five runs in one report, and one text brings all to their ends', async () => {
    const id = await product.coordinators.start({ runs: fiveRunBodies() });
    const asked = await product.coordinators.until(id, presents);
    expect(statuses(asked)).toEqual([
      '122 completed',
      '123 completed',
      '124 awaiting_feedback',
      '125 awaiting_feedback',
      '126 error',
    ]);
    expect(asked.aggregation?.runs[0]?.artifacts).toEqual({ pr_url: 'https://git.example/acme/122/pull/1' });
    expect(asked.prompt).toContain('src/main.ts(3,7): error TS2322');
    expect(asked.waiting).toMatchObject({ for: 'person', detail: 'answers for 3 of 5 runs: #124, #125, #126' });

    const { status, body } = await product.coordinators.respond(id, '#124: approve\n#125: retry\n#126: abort\n');
    const answer: CoordinatorAnswer = body;
    expect([status, answer.applied.map(({ response }) => response), answer.errors, answer.reprompt]).toEqual([
      200,
      ['approve', 'retry', 'abort'],
      [],
      null,
    ]);
    const over = await product.coordinators.until(id, ended);
    expect([over.state, over.result?.outcome, over.reports.map(({ report }) => report)]).toEqual([
      'COMPLETE',
      'completed',
      ['001-initial', '002-resumed'],
    ]);
    expect(statuses(over)).toEqual([
      '122 completed',
      '123 completed',
      '124 completed',
      '125 completed',
      '126 cancelled',
    ]);
    const { feedback } = await product.runs.status(over.runs[2]!.run_id);
    expect(feedback[0]?.answers).toMatchObject([{ response: 'approve', provided_by: 'anna', source: 'http' }]);
  });

  test('adopts runs, of which one has ended, one asks, and one is not there', async () => {
    const [first, second] = [fiveRunBodies()[1]!, fiveRunBodies()[2]!];
    const done = (await product.runs.run(first)).id;
    const asking = await product.runs.start(second);
    const id = await product.coordinators.start({ adopt: [done, asking, 'run-nobody'] });
    const asked = await product.coordinators.until(id, presents);
    expect(statuses(asked)).toEqual(['123 completed', '124 awaiting_feedback', 'run-nobody unknown']);
    expect(asked.aggregation?.runs[2]?.reason).toBe('There is no run run-nobody.');
    // Whoever answers the run itself moves it on, and the coordinator hears of it.
    const { feedback } = await product.runs.status(asking);
    const request_id = feedback[0]?.request.request_id;
    await product.post(`/v1/runs/${asking}/feedback`, { request_id, response: 'approve', provided_by: 'ben' });
    const over = await product.coordinators.until(id, ended);
    expect([over.state, over.history, over.reports.length]).toEqual(['COMPLETE', [], 2]);
  });

  test('starts one run for each work id of a list, and a repeated one once', async () => {
    const id = await product.coordinators.start(askingRuns(['1', '2', '1']));
    const { runs } = await product.coordinators.until(id, presents);
    expect(runs.map(({ run_id, work_id }) => [run_id, work_id])).toEqual([
      [`${id}.run.1`, '1'],
      [`${id}.run.2`, '2'],
    ]);
    await product.post(`/v1/coordinators/${id}/cancel`);
    for (const { run_id } of runs) {
      expect((await product.runs.until(run_id, ({ lifecycle }) => lifecycle === 'cancelled')).state).toBe('cancelled');
    }
  });
});
