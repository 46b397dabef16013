import type { FeedbackType } from '../../src/contracts/feedback.js';
import { openFeedback } from '../../src/domain/feedback.js';
import { type AskedWork, type ListedAnswer, optionsOf, parseAnswerList } from '../../src/domain/feedback-list.js';

const now = Date.UTC(2026, 10, 21);
const ids = { a: 'fr-20261121-00000a', b: 'fr-20261121-00000b', c: 'fr-20261121-00000c' };
const waits = (workId: string, requestId: string, type: FeedbackType = 'approval', runId?: string): AskedWork => ({
  workId,
  runId,
  requests: [openFeedback({ requestId, type, prompt: 'Go on?' }, now).request],
  status: 'awaiting_feedback',
});
const open = [
  waits('124', ids.a),
  waits('parser', ids.b, 'error_resolution', 'run-7'),
  waits('naming', ids.c, 'input'),
  { workId: '9', requests: [], status: 'cancelled' },
];
const read = (...list: ListedAnswer[]) => parseAnswerList(list, open);

describe('an item of a JSON list', () => {
  test.each<[string, ListedAnswer, string, string | null]>([
    ['by a number', { work_id: '124', response: 'approve' }, 'approve', null],
    ['by a name', { work_id: 'parser', response: 'skip' }, 'skip', null],
    ['by the id of its run', { work_id: 'run-7', response: 'retry' }, 'retry', null],
    ['in any case, with blanks', { work_id: '124', response: '  APPROVE ' }, 'approve', null],
    ['by the number of an option', { work_id: '124', response: '2' }, 'request_changes', null],
    ['with a comment', { work_id: '124', response: 'reject', comment: 'too large' }, 'reject', 'too large'],
    ['with an empty comment', { work_id: '124', response: 'reject', comment: ' ' }, 'reject', null],
    ['with an input of several lines', { work_id: 'naming', response: 'one\ntwo, three' }, 'one\ntwo, three', null],
    ['for the request it names', { work_id: '124', request_id: ids.a, response: 'approve' }, 'approve', null],
  ])('answers %s', (_, item, response, comment) => {
    const { answers, warnings, errors } = read(item);
    expect([answers.map((answer) => [answer.response, answer.comment]), warnings, errors]).toEqual([
      [[response, comment]],
      [],
      [],
    ]);
  });

  test.each<[string, ListedAnswer, string, string[]]>([
    [
      'an unknown option',
      { work_id: '124', response: 'approve it' },
      'item 1: "approve it" is not offered for #124; choose approve, request_changes, reject.',
      ['approve', 'request_changes', 'reject'],
    ],
    ['an empty response', { work_id: 'naming', response: ' ' }, 'item 1: the response for naming is empty.', []],
    [
      'a stale request',
      { work_id: '124', request_id: ids.c, response: 'approve' },
      `item 1: "${ids.c}" is not open for #124; open is ${ids.a}. Look at it and answer that.`,
      [ids.a],
    ],
    [
      'a comment that is too long',
      { work_id: '124', response: 'reject', comment: 'x'.repeat(20_001) },
      'item 1: the comment has 20001 characters; at most 20000 are taken.',
      ['approve', 'request_changes', 'reject'],
    ],
  ])('with %s is refused with what would be right', (_, item, message, valid) => {
    const { answers, errors } = read(item);
    expect([answers, errors.map((error) => [error.message, error.valid])]).toEqual([[], [[message, valid]]]);
  });

  test.each([
    ['10', 'item 1: nothing here has the id #10; skipped.'],
    ['9', 'item 1: #9 takes no answer now: it is cancelled; skipped.'],
  ])('for %s is skipped with a warning', (work_id, warning) => {
    expect(read({ work_id, response: 'approve' })).toEqual({ answers: [], warnings: [warning], errors: [] });
  });

  test('that is the second for one request counts if it is valid, by whichever id', () => {
    const { answers, warnings } = read(
      { work_id: 'parser', response: 'retry' },
      { work_id: 'run-7', response: 'abort' },
      { work_id: 'parser', response: 'approve' },
    );
    expect(answers.map(({ workId, runId, requestId, response }) => [workId, runId, requestId, response])).toEqual([
      ['parser', 'run-7', ids.b, 'abort'],
    ]);
    expect(warnings).toEqual([
      'item 2: a second answer for run-7; it counts in place of "retry" in item 1.',
      'item 3: "approve" is not offered for parser; choose retry, skip, abort. "abort" in item 2 counts.',
    ]);
  });
});

describe('the options that an answer may name', () => {
  test.each<[FeedbackType, string[]]>([
    ['approval', ['approve', 'request_changes', 'reject']],
    ['error_resolution', ['retry', 'skip', 'abort']],
    ['input', []],
  ])('are those of the type %s where the request lists none', (type, values) => {
    const { request } = openFeedback({ requestId: ids.a, type, prompt: 'Go on?' }, now);
    expect(optionsOf({ ...request, options: [] }).map(({ value }) => value)).toEqual(values);
  });

  test('are the request own where it lists any, whatever its type', () => {
    const { request } = openFeedback({ requestId: ids.a, type: 'approval', prompt: '?', options: ['approve'] }, now);
    expect(optionsOf(request).map(({ value }) => value)).toEqual(['approve']);
  });

  test('of a choice without any are none', () => {
    const { request } = openFeedback({ requestId: ids.a, type: 'choice', prompt: '?', options: ['x'] }, now);
    expect(optionsOf({ ...request, options: [] })).toEqual([]);
  });
});
