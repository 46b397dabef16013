import type { FeedbackOptionBody, FeedbackType } from '../../../src/contracts/feedback.js';
import { messageOf } from '../../../src/domain/coordinator/distribute.js';
import { asks, awaiting, CoordinatorPlay, failed } from '../../support/coordinator-play.js';

const offered = (at: CoordinatorPlay): string[] =>
  at.reported('1')?.feedback_request?.options.map(({ value }) => value) ?? [];

describe('a run that awaits feedback', () => {
  test.each<[FeedbackType, FeedbackOptionBody[], string[]]>([
    ['approval', [], ['approve', 'request_changes', 'reject']],
    ['approval', ['approve', 'reject'], ['approve', 'reject']],
    ['error_resolution', [], ['retry', 'skip', 'abort']],
    ['error_resolution', ['retry', 'ignore'], ['retry', 'ignore']],
    ['choice', ['left', 'right'], ['left', 'right']],
    ['input', [], []],
  ])('of the type %s with the options %j offers %j', (type, options, values) => {
    expect(offered(new CoordinatorPlay(['1']).says('1', awaiting({ type, options })))).toEqual(values);
  });

  test.each([
    ['approve', 'goes on'],
    ['request_changes', 'does it again with the comment'],
    ['reject', 'ends it'],
  ])('says that %s %s', (value, effect) => {
    const at = new CoordinatorPlay(['1']).says('1', awaiting());
    expect(at.reported('1')?.feedback_request?.options).toContainEqual(expect.objectContaining({ value, effect }));
  });
});

describe('a run that failed', () => {
  test.each<[string, boolean, FeedbackOptionBody[] | null, string[]]>([
    ['for now', true, null, ['retry', 'abort']],
    ['for good', false, null, ['abort']],
    ['for now, and would be skipped', true, ['retry', 'skip', 'abort'], ['retry', 'abort']],
    ['for now, and can only be aborted', true, ['abort'], ['abort']],
    ['for good, and would be retried', false, ['retry', 'abort'], ['abort']],
    ['for good, and would only be retried', false, ['retry'], ['abort']],
  ])('%s (retryable: %s) with a request for %j offers %j', (_, retryable, options, values) => {
    const request = options && asks({ type: 'error_resolution', options });
    const at = new CoordinatorPlay(['1']).says('1', { ...failed('no', retryable), request });
    expect(offered(at)).toEqual(values);
  });

  test('has a request of its own, or one that is made for each of its failures', () => {
    const own = asks({ type: 'error_resolution' });
    const withOwn = new CoordinatorPlay(['1']).says('1', { ...failed(), request: own });
    expect(withOwn.run('1').request?.request_id).toBe(own.request_id);
    const at = new CoordinatorPlay(['1']).says('1', failed());
    const first = at.run('1').request?.request_id;
    expect(first).toMatch(/^fr-20261121-[0-9a-f]{6}$/);
    at.respond('#1: retry');
    at.resumeAll().says('1', failed());
    expect(at.run('1').request?.request_id).toMatch(/^fr-20261121-[0-9a-f]{6}$/);
    expect(at.run('1').request?.request_id).not.toBe(first);
  });

  test('is asked about at the phase and step of its error', () => {
    const at = new CoordinatorPlay(['1']).says('1', failed());
    expect(at.run('1').request).toMatchObject({ type: 'error_resolution', phase: 'build', step: 'compile' });
  });
});

describe('the words for an answer', () => {
  test.each<[FeedbackType, string, string]>([
    ['approval', 'approve', 'Approval granted'],
    ['approval', 'reject', 'Approval denied'],
    ['approval', 'request_changes', 'Changes requested'],
    ['error_resolution', 'retry', 'To be done again'],
    ['error_resolution', 'skip', 'To be left out'],
    ['error_resolution', 'abort', 'To be ended'],
    ['choice', 'left', 'Answered with left'],
    ['choice', 'approve', 'Answered with approve'],
    ['input', 'approve', 'Input given: approve'],
    ['input', 'x'.repeat(201), `Input given: ${'x'.repeat(199)}…`],
  ])('of the type %s with %s are "%s"', (type, response, message) => {
    expect(messageOf(asks({ type, ...(type === 'choice' && { options: ['left', 'approve'] }) }), response)).toBe(
      message,
    );
  });
});
