import { coordinatorEventSchema } from '../../../src/contracts/coordinator-events.js';
import { coordinatorStatusSchema } from '../../../src/contracts/coordinator-status.js';
import { coordinatorDetails, coordinatorStatus } from '../../../src/domain/coordinator/view.js';
import { done } from '../../support/coordinator-play.js';
import { fiveAnswers, fiveRuns } from '../../support/five-runs.js';

/** The prompt, the answers of one person, and every run to its end. */
const toTheEnd = () => {
  const at = fiveRuns();
  at.respond(fiveAnswers);
  return at
    .resumeAll()
    .all({ '124': done, '125': done })
    .says('126', { status: 'cancelled', outcome: 'aborted by anna' });
};

describe('five runs, of which two complete, two await feedback and one does not compile,', () => {
  test('stand in one report', () => {
    const at = fiveRuns();
    expect([at.state, at.report.report, at.report.needs_feedback]).toEqual(['PRESENTING', '001-initial', true]);
    expect(at.report.summary).toEqual({
      total_runs: 5,
      completed: 2,
      awaiting_feedback: 2,
      error: 1,
      cancelled: 0,
      unknown: 0,
      resume_failed: 0,
    });
  });

  test('are answered with one text, each its own way', () => {
    const at = fiveRuns();
    const { applied, warnings, errors, reprompt } = at.answered(fiveAnswers);
    expect(applied.map(({ work_id: id, response }) => [id, response])).toEqual([
      ['124', 'approve'],
      ['125', 'retry'],
      ['126', 'abort'],
    ]);
    expect([warnings, errors, reprompt]).toEqual([[], [], null]);
    expect(at.told('feedback_received').map((told) => ('message' in told ? told.message : null))).toEqual([
      'Approval granted',
      'To be done again',
      'To be ended',
    ]);
    expect(at.done('resume').map(({ runId, given }) => [runId, given.response])).toEqual([
      ['many.run.3', 'approve'],
      ['many.run.4', 'retry'],
      ['many.run.5', 'abort'],
    ]);
  });

  test('are resumed and all come to their ends', () => {
    const at = toTheEnd();
    expect(at.path).toEqual([
      ...['TRACKING', 'WAITING', 'AGGREGATING', 'PRESENTING', 'PARSING', 'DISTRIBUTING', 'RESUMING', 'MONITORING'],
      ...['AGGREGATING', 'COMPLETE'],
    ]);
    expect(at.coordinator.result?.aggregation.summary).toMatchObject({ total_runs: 5, completed: 4, cancelled: 1 });
    expect(at.coordinator.reports.map(({ report }) => report)).toEqual(['001-initial', '002-resumed']);
  });

  test('are told in a status and events that their contracts accept', () => {
    for (const at of [fiveRuns(), toTheEnd()]) {
      const status = coordinatorStatus(at.coordinator);
      expect(coordinatorStatusSchema.parse(status)).toEqual(status);
      for (const event of at.events) expect(coordinatorEventSchema.parse(event)).toEqual(event);
    }
    expect(coordinatorStatus(toTheEnd().coordinator)).toMatchObject({ lifecycle: 'completed', total_runs: 5 });
  });

  test('are shown in a table with what they wait for', () => {
    const { waiting, lifecycle } = coordinatorStatus(fiveRuns().coordinator);
    expect([lifecycle, waiting]).toEqual([
      'waiting',
      {
        for: 'person',
        since: '2026-11-21T00:00:00.000Z',
        detail: 'answers for 3 of 5 runs: #124, #125, #126',
        who_can_unblock: 'whoever may approve: POST /v1/coordinators/many/responses',
      },
    ]);
    const details = coordinatorDetails(fiveRuns().coordinator);
    expect(details).toContain('**PRESENTING**, 5 runs, 1 reports');
    expect(details).toContain(
      '| #126 | many.run.5 | error | src/main.ts(3,7): error TS2322: Type string \\| null is not assignable |',
    );
  });

  test('are answered in as many rounds as a person needs', () => {
    const at = fiveRuns();
    expect(at.respond('#124: aprove\n#125: retry please').errors.map(({ message }) => message)).toEqual([
      'line 1: "aprove" is not offered for #124; choose approve, request_changes, reject.',
    ]);
    at.respond('124: 1');
    at.respond([{ work_id: '126', response: 'ABORT', comment: 'not worth it' }]);
    at.resumeAll().all({ '124': done, '125': done, '126': { status: 'cancelled' } });
    expect(at.state).toBe('COMPLETE');
    expect(at.coordinator.history.map((entry) => [entry.work_id, entry.response, entry.comment])).toEqual([
      ['124', 'approve', null],
      ['125', 'retry', 'please'],
      ['126', 'abort', 'not worth it'],
    ]);
  });
});
