import { coordinatorDetails, coordinatorStatus } from '../../../src/domain/coordinator/view.js';
import { awaiting, CoordinatorPlay, done } from '../../support/coordinator-play.js';

const working = { status: 'in_progress' };
const answered = (): CoordinatorPlay => {
  const at = new CoordinatorPlay(['1', '2', '3']).all({ '1': awaiting(), '2': awaiting(), '3': done });
  at.respond('#1: approve');
  return at;
};

describe('a coordinator that', () => {
  test.each<[string, CoordinatorPlay, string, string | null, string | null]>([
    [
      'reads its runs',
      new CoordinatorPlay(['1', '2']).says('1', working),
      'running',
      'worker',
      '1 of 2 runs: #2 have not been read yet',
    ],
    [
      'waits for its runs',
      new CoordinatorPlay(['1', 'two']).all({ '1': working, two: working }),
      'running',
      'lane',
      '2 of 2 runs: #1, two are not at a stop',
    ],
    [
      'asks about them after a time',
      new CoordinatorPlay(['1'], { waitTimeoutMs: 1_000 }).says('1', working),
      'running',
      'lane',
      '1 of 1 runs: #1 are not at a stop, asked about at 2026-11-21T00:00:01.000Z',
    ],
    ['resumes its runs', answered(), 'running', 'worker', '1 of 3 runs: #1 have not taken their answers yet'],
    [
      'waits for resumed runs',
      answered().resumeAll(),
      'running',
      'lane',
      '1 of 3 runs: #1 are not at a stop; 1 still need an answer',
    ],
    ['is complete', new CoordinatorPlay(['1']).says('1', done), 'completed', null, null],
    ['is cancelled', new CoordinatorPlay(['1']).take({ type: 'CANCEL' }), 'cancelled', null, null],
  ])('%s says so', (_, at, lifecycle, waitsFor, detail) => {
    const status = coordinatorStatus(at.coordinator);
    expect([status.lifecycle, status.waiting?.for ?? null, status.waiting?.detail ?? null]).toEqual([
      lifecycle,
      waitsFor,
      detail,
    ]);
    if (detail) expect(coordinatorDetails(at.coordinator)).toContain(detail);
  });

  test('asks whether to wait on says by which request', () => {
    const at = new CoordinatorPlay(['1'], { waitTimeoutMs: 1_000 }).says('1', working).wait();
    const { waiting, lifecycle, feedback } = coordinatorStatus(at.coordinator);
    const id = feedback[0]?.request.request_id;
    expect([lifecycle, waiting]).toEqual([
      'waiting',
      {
        for: 'person',
        since: '2026-11-21T00:00:01.000Z',
        detail: `${id}: whether to wait on; 1 of 1 runs: #1 are not at a stop`,
        who_can_unblock: 'whoever may approve: POST /v1/coordinators/many/feedback',
      },
    ]);
  });

  test('has very many runs names some of them, and counts the rest', () => {
    const at = new CoordinatorPlay(Array.from({ length: 60 }, (_, index) => String(index)));
    expect(coordinatorStatus(at.coordinator).waiting?.detail).toBe(
      '60 of 60 runs: #0, #1, #2, #3, #4, #5, #6, #7 and 52 more have not been read yet',
    );
    expect(coordinatorDetails(at.coordinator)).toMatch(/\n\nand 10 more$/);
  });

  test('waits for the same all the time says since when, once', () => {
    const at = new CoordinatorPlay(['1', '2', '3']);
    at.after(5_000).says('1', working).after(5_000).says('2', working);
    expect(coordinatorStatus(at.coordinator).waiting?.since).toBe('2026-11-21T00:00:00.000Z');
    expect(at.told('waiting')).toHaveLength(1);
  });
});
