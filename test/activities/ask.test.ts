import { AskError, failureOf } from '../../activities/ask.js';
import { noAmount } from '../../src/domain/budget.js';
import { ParleyError } from '../../src/domain/errors.js';

describe('why an agent gave no answer', () => {
  test.each<[string, Error, object]>([
    [
      'its own failure',
      new AskError('EWINDOW_AGENT', 'busy', noAmount, true),
      { code: 'EWINDOW_AGENT', message: 'busy', retryable: true },
    ],
    ['one that does not say', new AskError('EAGENTDOWN', 'gone', noAmount), { code: 'EAGENTDOWN', message: 'gone' }],
    ['its adapter’s', new ParleyError('ESEC', 'no key'), { code: 'ESEC', message: 'no key' }],
    ['an error of no code', new Error('broken pipe'), { code: 'EAGENTDOWN', message: 'broken pipe' }],
  ])('has the code beside the words, not in them: %s', (_, error, failure) => {
    expect(failureOf(error)).toEqual(failure);
  });
});
