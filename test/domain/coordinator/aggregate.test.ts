import { aggregationSchema, type CoordinatedStatus } from '../../../src/contracts/coordinator-status.js';
import { reportName, summarise } from '../../../src/domain/coordinator/aggregate.js';
import { coordinatorIdOf, planRuns } from '../../../src/domain/coordinator/runs.js';
import { asks, awaiting, CoordinatorPlay, done, failed } from '../../support/coordinator-play.js';

describe('where a run stands', () => {
  const fault = { phase: 'build', step: 'compile', message: 'no', retryable: true };

  test.each<[string, CoordinatedStatus, boolean]>([
    ['completed', 'completed', true],
    ['cancelled', 'cancelled', true],
    ['error', 'error', true],
    ['failed', 'error', true],
    ['awaiting_feedback', 'awaiting_feedback', true],
    ['pending', 'pending', false],
    ['in_progress', 'in_progress', false],
    ['paused', 'unknown', true],
    ['', 'unknown', true],
    ['unknown', 'unknown', true],
    ['resume_failed', 'unknown', true],
    ['toString', 'unknown', true],
  ])('that says "%s" is %s, a stop: %s', (status, expectedStatus, isStop) => {
    const at = new CoordinatorPlay(['1']).says('1', { status, request: asks(), error: fault });
    expect(at.run('1').status).toBe(expectedStatus);
    expect(at.coordinator.reports).toHaveLength(isStop ? 1 : 0);
  });

  test('is unknown where it awaits feedback without saying on what, and the reason is told', () => {
    const at = new CoordinatorPlay(['1']).says('1', { status: 'awaiting_feedback' });
    expect(at.reported('1')).toMatchObject({ status: 'unknown', reason: 'awaits feedback, but does not say on what' });
  });

  test('is an error also where it does not say why', () => {
    const at = new CoordinatorPlay(['1']).says('1', { status: 'error' });
    expect(at.reported('1')?.error).toEqual({
      phase: null,
      step: null,
      message: 'it did not say why',
      retryable: true,
    });
  });
});

describe('a report', () => {
  const mixed = () =>
    new CoordinatorPlay(['1', '2', '3', '4', '5'])
      .all({ '1': done, '2': awaiting(), '3': failed(), '4': { status: 'cancelled' } })
      .take({ type: 'UNREADABLE', runId: 'many.run.5', message: 'not found' });

  test('counts every run once, and its counts add up to the total', () => {
    expect(mixed().report.summary).toEqual({
      total_runs: 5,
      completed: 1,
      awaiting_feedback: 1,
      error: 1,
      cancelled: 1,
      unknown: 1,
      resume_failed: 0,
    });
  });

  test('is what its contract says, with what each run says of itself', () => {
    const at = new CoordinatorPlay(['1', '2']).all({
      '1': { ...done, branch: 'feat/1', outcome: 'released', artifacts: { pr_url: 'https://git.example/1' } },
      '2': failed(),
    });
    expect(aggregationSchema.parse(at.report)).toEqual(at.report);
    expect(at.reported('1')).toEqual({
      run_id: 'many.run.1',
      work_id: '1',
      status: 'completed',
      branch: 'feat/1',
      outcome: 'released',
      artifacts: { pr_url: 'https://git.example/1' },
    });
    expect(at.reported('2')).toMatchObject({ status: 'error', error: { phase: 'build', step: 'compile' } });
  });

  test.each<[CoordinatedStatus[], boolean]>([
    [['completed', 'cancelled'], false],
    [['completed', 'awaiting_feedback'], true],
    [['error', 'completed'], true],
    [['unknown'], false],
  ])('over %j needs feedback: %s', (statuses, needs) => {
    const at = new CoordinatorPlay(statuses.map((_, index) => String(index)));
    for (const [index, status] of statuses.entries()) {
      at.says(String(index), { status, ...(status === 'awaiting_feedback' && { request: asks() }) });
    }
    expect(at.report.needs_feedback).toBe(needs);
    expect(at.state).toBe(needs ? 'PRESENTING' : 'COMPLETE');
  });

  test.each<[number, boolean, string]>([
    [1, false, '001-initial'],
    [2, false, '002-resumed'],
    [3, false, '003-resumed'],
    [1_000, false, '1000-resumed'],
    [1, true, '001-aborted'],
    [2, true, '002-aborted'],
  ])('with the number %i, at an abort: %s, is named %s', (number, isAborted, name) => {
    expect(reportName(number, isAborted)).toBe(name);
  });

  test('counts what is under way only where there is such a run', () => {
    expect(summarise([{ status: 'completed' }])).not.toHaveProperty('in_progress');
    expect(summarise([{ status: 'pending' }, { status: 'in_progress' }])).toMatchObject({
      total_runs: 2,
      in_progress: 2,
    });
  });
});

describe('the id of a coordinator in its reports', () => {
  const setup = { ...new CoordinatorPlay(['1']).coordinator.setup };
  const day = Date.UTC(2026, 10, 21, 23, 59);

  test('is its own where that has the form, else made of it', () => {
    expect(coordinatorIdOf({ ...setup, id: 'coord-20251231-0a1b2c' }, day)).toBe('coord-20251231-0a1b2c');
    expect(coordinatorIdOf(setup, day)).toMatch(/^coord-20261121-[0-9a-f]{6}$/);
    expect(coordinatorIdOf(setup, day)).not.toBe(coordinatorIdOf({ ...setup, id: 'other' }, day));
  });
});

describe('the runs of a coordinator', () => {
  test('are those of the bodies, of the work ids and of the ids to adopt, a repeated one once', () => {
    expect(
      planRuns('many', {
        runs: [{ work_id: '7' }, { id: 'mine', work_id: '8' }],
        work_ids: ['123', '124', '123'],
        adopt: ['run-x', 'run-x', 'mine'],
      }),
    ).toEqual([
      { runId: 'many.run.1', workId: '7', origin: 'started', body: 0 },
      { runId: 'mine', workId: '8', origin: 'started', body: 1 },
      { runId: 'many.run.3', workId: '123', origin: 'started', body: null },
      { runId: 'many.run.4', workId: '124', origin: 'started', body: null },
      { runId: 'run-x', workId: 'run-x', origin: 'adopted', body: null },
    ]);
  });

  test('are each tracked with what they are started with, and have the work id that they say', () => {
    const runs = planRuns('many', { runs: [{ work_id: '7' }], work_ids: [], adopt: ['run-x'] });
    const at = new CoordinatorPlay([], { runs });
    expect(at.done('track').map(({ runId, origin, body }) => [runId, origin, body])).toEqual([
      ['many.run.1', 'started', 0],
      ['run-x', 'adopted', null],
    ]);
    at.says('run-x', { ...done, workId: '99' });
    expect(at.run('99').runId).toBe('run-x');
  });
});
