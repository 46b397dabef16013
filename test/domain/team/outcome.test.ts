import type { Json } from '../../../src/contracts/frames.js';
import { classifyOutcome } from '../../../src/domain/team/outcome.js';

const completed = (result: Json) => ({ as: 'completed', result });
const failed = (message: string, code = 'agent_failed') => ({ as: 'failed', error: { code, message } });
const cancelled = (message = 'the agent was aborted') => ({ as: 'cancelled', error: { code: 'aborted', message } });

describe('what an agent returns', () => {
  test.each<[Json, unknown]>([
    ['plain text', completed('plain text')],
    ['', completed('')],
    [null, completed(null)],
    [0, completed(0)],
    [[{ status: 'failed' }], completed([{ status: 'failed' }])],
    [{}, completed({})],
    [{ status: 'ok' }, completed({ status: 'ok' })],
    [{ status: 'success', error: null }, completed({ status: 'success', error: null })],
    [{ error: '' }, completed({ error: '' })],
    [{ error: false }, completed({ error: false })],
    [{ status: 'errors found: none' }, completed({ status: 'errors found: none' })],
    [{ aborted: false, answer: 1 }, completed({ aborted: false, answer: 1 })],
    [{ status: 'error' }, failed('the agent failed and did not say why')],
    [{ status: 'failed', message: 'no disk' }, failed('no disk')],
    [{ status: 'failure', error: 'no net' }, failed('no net')],
    [{ status: ' Failed\n' }, failed('the agent failed and did not say why')],
    [{ Status: 'ERROR', Error: ' full ' }, failed('full')],
    [{ error: 'boom' }, failed('boom')],
    [{ status: 'ok', error: 'boom' }, failed('boom')],
    [{ error: { message: 'deep' } }, failed('deep')],
    [{ error: { code: 7 } }, failed('{"code":7}')],
    [{ aborted: true }, cancelled()],
    [{ aborted: true, status: 'ok' }, cancelled()],
    [{ aborted: 'TRUE' }, cancelled()],
    [{ status: 'aborted' }, cancelled()],
    [{ status: 'cancelled' }, cancelled()],
    [{ status: 'canceled' }, cancelled()],
    [{ status: ' CANCELLED ' }, cancelled()],
    [{ status: 'cancelled', error: 'a person said so' }, cancelled('a person said so')],
    [{ status: 'failed', aborted: true }, cancelled()],
  ])('is classified: %j', (value, end) => {
    expect(classifyOutcome({ type: 'returned', value })).toEqual(end);
  });

  test('or throws is a failure with its message', () => {
    expect(classifyOutcome({ type: 'thrown', code: 'ETIMEOUT', message: 'too late' })).toEqual(
      failed('too late', 'ETIMEOUT'),
    );
  });

  test.each([
    ['a person', cancelled('a person')],
    [null, cancelled()],
  ])('or is stopped by %s before it could, is cancelled', (message, end) => {
    expect(classifyOutcome({ type: 'stopped', message })).toEqual(end);
  });
});
