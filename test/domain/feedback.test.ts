import type { FeedbackOptionBody, FeedbackType, GivenFeedback } from '../../src/contracts/feedback.js';
import { feedbackSchema, refusalCodes } from '../../src/contracts/feedback.js';
import { ParleyError } from '../../src/domain/errors.js';
import {
  feedbackOptions,
  type FeedbackRefusal,
  nextFeedbackDue,
  openFeedback,
  type OpenFeedback,
  readFeedbackSignal,
  refusalError,
  stepFeedback,
} from '../../src/domain/feedback.js';

const now = Date.parse('2026-11-20T10:00:00.000Z');
const requestId = 'fr-20261120-0a1b2c';

const open = (over: Partial<OpenFeedback> = {}) =>
  openFeedback({ requestId, type: 'choice', prompt: 'Which way?', options: ['left', 'right'], ...over }, now);

const given = (response: string, over: Partial<GivenFeedback> = {}): GivenFeedback => ({
  request_id: requestId,
  response,
  comment: null,
  digest: null,
  provided_by: 'anna',
  authenticated: true,
  source: 'http',
  ...over,
});

const answer = (response: string, over: Partial<GivenFeedback> = {}) => ({
  type: 'answer' as const,
  given: given(response, over),
});

describe('the options of a request', () => {
  test.each<[FeedbackType, FeedbackOptionBody[], string[]]>([
    ['approval', [], ['approve', 'request_changes', 'reject']],
    ['error_resolution', [], ['retry', 'skip', 'abort']],
    ['error_resolution', ['retry', 'abort'], ['retry', 'abort']],
    ['choice', ['left', { value: 'right' }], ['left', 'right']],
    ['input', [], []],
  ])('of the type %s with %j of its own are %j', (type, own, values) => {
    expect(feedbackOptions(type, own).map(({ value }) => value)).toEqual(values);
  });

  test('say what each does, from the type where they do not say it themselves', () => {
    expect(
      feedbackOptions('error_resolution', ['retry', { value: 'skip', label: 'Leave out', effect: 'is lost' }]),
    ).toEqual([
      { value: 'retry', label: 'Retry', effect: 'does the failed step again' },
      { value: 'skip', label: 'Leave out', effect: 'is lost' },
    ]);
    expect(feedbackOptions('choice', ['left'])).toEqual([{ value: 'left', label: 'left', effect: '' }]);
  });

  test.each<[string, FeedbackType, FeedbackOptionBody[], string]>([
    ['none of a choice', 'choice', [], 'A choice must list its options, such as ["left","right"].'],
    ['any of an input', 'input', ['x'], 'An input is free text and takes no options; a choice has options.'],
    ['twice the same in another case', 'choice', ['a', 'B', 'b'], 'The option "b" stands twice; case is ignored.'],
  ])('are refused: %s', (_, type, own, message) => {
    expect(() => feedbackOptions(type, own)).toThrow(message);
  });

  test('must have the one that a timeout counts as', () => {
    expect(() => open({ onTimeout: 'up' })).toThrow('on_timeout must be left, right; got "up".');
    expect(open({ onTimeout: 'LEFT', timeoutMs: 1000 }).request).toMatchObject({
      on_timeout: 'left',
      expires_at: '2026-11-20T10:00:01.000Z',
    });
  });
});

describe('an answer', () => {
  test('that is valid closes the request and is recorded with who gave it, how and when', () => {
    const step = stepFeedback(open(), answer('left', { comment: 'because' }), now + 5);
    expect(step).toMatchObject({ refused: null, repeated: false });
    expect(step.feedback).toMatchObject({ state: 'answered', closed_at: '2026-11-20T10:00:00.005Z' });
    expect(step.feedback.answers).toEqual([
      { ...given('left', { comment: 'because' }), parsed_at: '2026-11-20T10:00:00.005Z' },
    ]);
    expect(feedbackSchema.parse(step.feedback)).toEqual(step.feedback);
  });

  test.each([
    ['LEFT', 'left'],
    [' Left ', 'left'],
    ['right', 'right'],
  ])('%j is taken for the option %s', (response, value) => {
    expect(stepFeedback(open(), answer(response), now).feedback.answers[0]?.response).toBe(value);
  });

  test('to an input is its text, without the blanks around it', () => {
    const input = openFeedback({ requestId, type: 'input', prompt: 'Which port?' }, now);
    expect(stepFeedback(input, answer(' 8080 or so '), now).feedback.answers[0]?.response).toBe('8080 or so');
  });

  const answered = stepFeedback(open(), answer('left'), now).feedback;
  const expired = stepFeedback(open({ timeoutMs: 1000 }), { type: 'tick' }, now + 1000).feedback;
  const gone = stepFeedback(open(), { type: 'void' }, now).feedback;
  const input = openFeedback({ requestId, type: 'input', prompt: 'Which port?' }, now);
  const digest = 'd'.repeat(64);

  test.each<[string, ReturnType<typeof open>, GivenFeedback, number, FeedbackRefusal['code'], string]>([
    [
      'to another request',
      open(),
      given('left', { request_id: 'fr-20261120-ffffff' }),
      0,
      'other_request',
      'This answers "fr-20261120-ffffff"; the open request is fr-20261120-0a1b2c.',
    ],
    [
      'to another, older one',
      answered,
      given('left', { request_id: 'fr-1' }),
      0,
      'other_request',
      'This answers "fr-1"; fr-20261120-0a1b2c was the last request and is closed.',
    ],
    [
      'to a closed one',
      answered,
      given('right'),
      0,
      'closed',
      'fr-20261120-0a1b2c was answered with "left" by anna at 2026-11-20T10:00:00.000Z; nothing was changed.',
    ],
    [
      'by another, the same',
      answered,
      given('left', { provided_by: 'bert' }),
      0,
      'closed',
      'fr-20261120-0a1b2c was answered with "left" by anna at 2026-11-20T10:00:00.000Z; nothing was changed.',
    ],
    [
      'to an expired one',
      expired,
      given('left'),
      2000,
      'closed',
      'fr-20261120-0a1b2c expired at 2026-11-20T10:00:01.000Z; nothing was changed.',
    ],
    [
      'to a void one',
      gone,
      given('left'),
      0,
      'closed',
      'fr-20261120-0a1b2c is void since 2026-11-20T10:00:00.000Z: what it was about has changed; nothing was changed.',
    ],
    [
      'with an unknown option',
      open(),
      given('up'),
      0,
      'unknown_option',
      '"up" is not offered for fr-20261120-0a1b2c; choose left, right.',
    ],
    [
      'with words around the option',
      open(),
      given('left please'),
      0,
      'unknown_option',
      '"left please" is not offered for fr-20261120-0a1b2c; choose left, right.',
    ],
    [
      'empty, to an input',
      input,
      given('  '),
      0,
      'no_response',
      'fr-20261120-0a1b2c asks for an input; the response is empty.',
    ],
    [
      'about other content',
      open({ digest }),
      given('left', { digest: 'e' }),
      0,
      'changed_content',
      `fr-20261120-0a1b2c is about the content with the digest ${digest}; the answer names "e". Look at it again and answer with its digest.`,
    ],
  ])(
    '%s is refused and changes nothing but the list of the refused',
    (_, before, refusedAnswer, afterMs, code, message) => {
      const { feedback, refused } = stepFeedback(before, { type: 'answer', given: refusedAnswer }, now + afterMs);
      expect(refused).toEqual({ code, message });
      expect(feedback).toEqual({
        ...before,
        refused: [{ ...refusedAnswer, code, message, refused_at: new Date(now + afterMs).toISOString() }],
        refused_count: 1,
      });
      expect(feedbackSchema.parse(feedback)).toEqual(feedback);
    },
  );

  test('given again by the same person is no fault and changes nothing', () => {
    expect(stepFeedback(answered, answer('LEFT', { provided_by: 'Anna' }), now + 9)).toEqual({
      feedback: answered,
      refused: null,
      repeated: true,
    });
  });

  test.each([
    [999, 'answered', null],
    [1000, 'expired', 'closed'],
  ])('%i ms into a request of 1000 ms leaves it %s', (afterMs, state, code) => {
    const { feedback, refused } = stepFeedback(open({ timeoutMs: 1000 }), answer('left'), now + afterMs);
    expect([feedback.state, refused?.code ?? null]).toEqual([state, code]);
  });

  test('of the refused keeps the latest twenty and counts them all', () => {
    let feedback = open();
    for (let count = 0; count < 25; count += 1) ({ feedback } = stepFeedback(feedback, answer(`no-${count}`), now));
    expect([feedback.refused.length, feedback.refused_count]).toEqual([20, 25]);
    expect(feedback.refused[0]?.response).toBe('no-5');
  });

  test.each<[FeedbackRefusal['code'], string]>([
    ['other_request', 'wrong_state'],
    ['closed', 'wrong_state'],
    ['expired', 'wrong_state'],
    ['unknown_option', 'invalid_request'],
    ['no_response', 'invalid_request'],
    ['changed_content', 'conflict'],
    ['not_an_approver', 'forbidden'],
    ['self_approval', 'forbidden'],
    ['unauthenticated', 'forbidden'],
  ])('refused as %s is the error %s', (code, error) => {
    expect(refusalError({ code, message: 'x' })).toMatchObject({ code: error, message: 'x', retryable: false });
    expect(refusalError({ code, message: 'x' })).toBeInstanceOf(ParleyError);
    expect(refusalCodes).toContain(code);
  });
});

describe('a request', () => {
  test('needs a tick at its end, and none once it is closed or without an end', () => {
    const timed = open({ timeoutMs: 1000 });
    expect(nextFeedbackDue(timed)).toBe(now + 1000);
    expect(nextFeedbackDue(stepFeedback(timed, answer('left'), now).feedback)).toBeNull();
    expect(nextFeedbackDue(open())).toBeNull();
  });

  test('expired at its end, however late that was noticed', () => {
    const { feedback } = stepFeedback(open({ timeoutMs: 1000 }), { type: 'tick' }, now + 60_000);
    expect(feedback).toMatchObject({ state: 'expired', closed_at: '2026-11-20T10:00:01.000Z' });
  });

  test('once closed stays as it is', () => {
    const { feedback } = stepFeedback(open(), answer('left'), now);
    for (const event of [{ type: 'tick' }, { type: 'void' }] as const)
      expect(stepFeedback(feedback, event, now + 1e9).feedback).toBe(feedback);
  });
});

describe('the signal feedback', () => {
  test('is an unauthenticated answer', () => {
    expect(
      readFeedbackSignal({ request_id: 'fr-1', response: 'approve', comment: 'fine', provided_by: ' anna ', more: 1 }),
    ).toEqual({
      request_id: 'fr-1',
      response: 'approve',
      comment: 'fine',
      digest: null,
      provided_by: 'anna',
      authenticated: false,
      source: 'signal',
    });
  });

  test.each([undefined, '', ' ', 5])('with the name %j is of somebody unknown', (name) => {
    expect(readFeedbackSignal({ request_id: 'fr-1', response: 'x', provided_by: name })).toMatchObject({
      provided_by: 'unknown',
    });
  });

  test('cannot claim to be authenticated', () => {
    expect(
      readFeedbackSignal({ request_id: 'fr-1', response: 'x', authenticated: true, source: 'http' }),
    ).toMatchObject({
      authenticated: false,
      source: 'signal',
    });
  });

  test('gives limits of a budget', () => {
    const limits = { max_tokens: 5, max_usd: 0.5, max_seconds: 600 };
    expect(readFeedbackSignal({ request_id: 'fr-1', response: 'approve', limits })).toMatchObject({ limits });
  });

  test.each<[unknown, RegExp]>([
    ...[
      {},
      [],
      5,
      { max_seconds: 1.5 },
      { max_seconds: 31_536_001 },
      { max_usd: 0 },
      { max_tokens: '5' },
      { time: 5 },
    ].map((limits): [unknown, RegExp] => [
      { request_id: 'fr-1', response: 'approve', limits },
      /^limits must be an object such as .*"max_seconds":600/,
    ]),
    ['approve', /^feedback must be an object such as \{"request_id":.*; got a string\.$/],
    [null, /got null\.$/],
    [undefined, /got a undefined\.$/],
    [[], /got a list\.$/],
    [{}, /^feedback needs request_id and response as text, such as /],
    [{ request_id: 'fr-1', response: 1 }, /^feedback needs response as text/],
    [{ response: 'x' }, /^feedback needs request_id as text/],
  ])('%j is refused with what would be right', (value, message) => {
    expect(readFeedbackSignal(value)).toMatch(message);
  });
});
