import type { CoordinatorStatus } from '../../src/contracts/coordinator-status.js';
import type { RunStatus } from '../../src/contracts/run-status.js';
import { askingRuns } from '../support/coordinator-bodies.js';
import { call, makeInstallation, type Running, until } from '../support/installation.js';

const ids = Array.from({ length: 20 }, (_, index) => String(index + 1));

describe('when everything is killed while runs are started, and while answers are distributed', () => {
  const installation = makeInstallation();
  let running: Running;
  const read = <S>(path: string, holds: (status: S) => boolean): Promise<S> => until<S>(running.url, path, holds);
  let over: CoordinatorStatus;
  let answeredAtTheKill: number;

  beforeAll(async () => {
    running = await installation.start();
    await call(running.url, '/v1/coordinators', { ...askingRuns(ids), id: 'twenty' });
    // Some of the runs are there by now, and some are not.
    await read<{ items: object[] }>('/v1/runs', ({ items }) => items.length > 0);
    await installation.kill(running);
    running = await installation.start();
    const { runs } = await read<CoordinatorStatus>('/v1/coordinators/twenty', ({ state }) => state === 'PRESENTING');
    const answers = ids.map((work_id) => ({ work_id, response: 'approve' }));
    // Nobody waits for the answer: the kill may come before it.
    const sent = call(running.url, '/v1/coordinators/twenty/responses?provided_by=anna', answers).catch(
      () => undefined,
    );
    const first = `/v1/runs/${runs[0]!.run_id}`;
    await read<RunStatus>(first, ({ feedback }) => feedback[0]?.state === 'answered');
    await installation.kill(running);
    await sent;
    running = await installation.start();
    const after = await Promise.all(runs.map(({ run_id }) => read<RunStatus>(`/v1/runs/${run_id}`, () => true)));
    answeredAtTheKill = after.filter(({ feedback }) => feedback[0]?.state === 'answered').length;
    over = await read<CoordinatorStatus>('/v1/coordinators/twenty', ({ lifecycle }) => lifecycle === 'completed');
  }, 240_000);
  afterAll(() => installation.remove());

  test('each run has its answer once, and all come to their ends', async () => {
    expect(answeredAtTheKill).toBeGreaterThan(0);
    expect(over.result?.aggregation.summary).toMatchObject({ completed: 20, resume_failed: 0, unknown: 0 });
    expect(over.history).toHaveLength(20);
    expect(over.runs.map(({ run_id }) => run_id)).toEqual(ids.map((id) => `twenty.run.${id}`));
    for (const { run_id } of over.runs) {
      const { feedback } = await read<RunStatus>(`/v1/runs/${run_id}`, ({ state }) => state === 'completed');
      expect(feedback.map(({ answers, refused }) => [answers.length, refused.length])).toEqual([[1, 0]]);
    }
  }, 60_000);

  test('the same text again changes nothing', async () => {
    const again = await call(running.url, '/v1/coordinators/twenty/responses', [{ work_id: '1', response: 'reject' }]);
    expect([again.status, JSON.parse(again.text)]).toMatchObject([409, { code: 'wrong_state' }]);
  });
});
