import type { FeedbackRequest } from '../../src/contracts/feedback.js';
import { openFeedback, type OpenFeedback } from '../../src/domain/feedback.js';
import type { AskedWork } from '../../src/domain/feedback-list.js';
import { parseAnswers } from '../../src/domain/feedback-text.js';

const now = Date.UTC(2026, 10, 21);
let made = 0;
const request = (over: Partial<OpenFeedback> = {}): FeedbackRequest => {
  made += 1;
  const requestId = `fr-20261121-${made.toString(16).padStart(6, '0')}`;
  return openFeedback({ requestId, type: 'approval', prompt: 'Go on?', ...over }, now).request;
};
const waits = (workId: string, over: Partial<OpenFeedback> = {}, runId?: string): AskedWork => ({
  workId,
  runId,
  requests: [request(over)],
  status: 'awaiting_feedback',
});
const still = (workId: string, status: string): AskedWork => ({ workId, requests: null, status });
const retryAbort = { type: 'error_resolution' as const, options: ['retry', 'abort'] };

/** Run 1, 7, 23 and 24 ask for approval, 3, 13 and 14 have failed, 5 asks for text, 9 has completed. */
const open: AskedWork[] = [
  waits('1'),
  waits('7'),
  waits('23'),
  waits('24'),
  waits('3', retryAbort),
  waits('13', retryAbort),
  waits('14', retryAbort),
  waits('5', { type: 'input', prompt: 'Which name?' }),
  still('9', 'completed'),
];
const brief = (text: string, works = open) => {
  const { answers, warnings, errors } = parseAnswers(text, works);
  return {
    answers: answers.map(({ workId, response, comment }) => [workId, response, comment]),
    warnings,
    errors: errors.map(({ workId, message }) => [workId, message]),
  };
};
const applied = (...answers: [string, string, string | null][]) => ({ answers, warnings: [], errors: [] });
const offered = 'choose approve, request_changes, reject';

describe('a line of text', () => {
  test.each<[string, string, string, string | null]>([
    ['#1: approve', '1', 'approve', null],
    ['1: approve', '1', 'approve', null],
    ['Run #1: approve', '1', 'approve', null],
    ['Run 1: approve', '1', 'approve', null],
    ['run1:approve', '1', 'approve', null],
    ['#Run #1: approve', '1', 'approve', null],
    ['RUN#1:APPROVE', '1', 'approve', null],
    ['Run #3: RETRY', '3', 'retry', null],
    ['  #1: approve', '1', 'approve', null],
    ['\t#1: approve\t', '1', 'approve', null],
    ['#1 : approve', '1', 'approve', null],
    ['#1:   Request_Changes', '1', 'request_changes', null],
    ['#1: request_changes split the module', '1', 'request_changes', 'split the module'],
    ['#1: approve, looks good', '1', 'approve', 'looks good'],
    ['#1: approve; looks good', '1', 'approve', 'looks good'],
    ['#1: approve. Looks good.', '1', 'approve', 'Looks good.'],
    ['#1: approve,', '1', 'approve', null],
    ['#1: approve;', '1', 'approve', null],
    ['#1: approve.', '1', 'approve', null],
    ['#1: approve,because it is small', '1', 'approve', 'because it is small'],
    ['#1: approve!', '1', 'approve', null],
    ['#1: approve - looks good', '1', 'approve', 'looks good'],
    ['#1: reject the plan is: too large', '1', 'reject', 'the plan is: too large'],
    ['#1: 1', '1', 'approve', null],
    ['#1: 3. too large', '1', 'reject', 'too large'],
    ['#3: 2', '3', 'abort', null],
    ['#5: Blue, or: green.', '5', 'Blue, or: green.', null],
    ['#5: 2', '5', '2', null],
  ])('%j answers %s with %s and the comment %j', (line, id, response, comment) => {
    expect(brief(line)).toEqual(applied([id, response, comment]));
  });

  test.each([
    ['- #1: approve'],
    ['**#1**: approve'],
    ['> #1: approve'],
    ['# 1: approve'],
    ['#1 approve'],
    ['approve'],
    ['note: all fine'],
    ['#1.5: approve'],
  ])('%j is reported as no answer, with what would be one', (line) => {
    expect(brief(`${line}\n#23: approve`)).toEqual({
      answers: [['23', 'approve', null]],
      warnings: [],
      errors: [
        [null, `line 1: ${JSON.stringify(line)} is no answer; write it as "#1: approve", with nothing before the id.`],
      ],
    });
  });

  test.each<[string, string, string]>([
    ['#1: request changes', '1', `"request" is not offered for #1; ${offered}. Did you mean request_changes?`],
    ['#1: re-try', '1', `"re-try" is not offered for #1; ${offered}.`],
    ['#1: approve/reject', '1', `"approve/reject" is not offered for #1; ${offered}.`],
    ['#1: 4', '1', `"4" is not offered for #1; ${offered}, or a number from 1 to 3.`],
    ['#1: 0', '1', `"0" is not offered for #1; ${offered}, or a number from 1 to 3.`],
    ['#3: skip', '3', '"skip" is not offered for #3; choose retry, abort.'],
    ['#3: skip: it', '3', '"skip:" is not offered for #3; choose retry, abort.'],
    ['#1:', '1', 'the answer for #1 is missing; write it on the same line, such as "#1: approve".'],
    ['#5:', '5', 'the answer for #5 is missing; write it on the same line, such as "#5: your text".'],
    ['#1: , approve', '1', `"," is not offered for #1; ${offered}.`],
    [`#1: approve ${'x'.repeat(20_001)}`, '1', 'the comment has 20001 characters; at most 20000 are taken.'],
    [`#5: ${'x'.repeat(20_001)}`, '5', 'the response has 20001 characters; at most 20000 are taken.'],
  ])('%j is refused with what is offered', (line, id, message) => {
    expect(brief(line)).toEqual({ answers: [], warnings: [], errors: [[id, `line 1: ${message}`]] });
  });

  test('names the values that would be right', () => {
    expect(parseAnswers('#3: skip\n#1: x', open).errors.map(({ valid }) => valid)).toEqual([
      ['retry', 'abort'],
      ['approve', 'request_changes', 'reject'],
    ]);
  });

  test.each([
    ['#007: approve', 'nothing here has the id #007; skipped.'],
    ['#8: approve', 'nothing here has the id #8; skipped.'],
    ['#9: approve', '#9 takes no answer now: it is completed; skipped.'],
    ['#9:', '#9 takes no answer now: it is completed; skipped.'],
  ])('%j is skipped with a warning', (line, warning) => {
    expect(brief(`${line}\n#1: approve`)).toEqual({
      answers: [['1', 'approve', null]],
      warnings: [`line 1: ${warning}`],
      errors: [],
    });
  });
});

describe('several lines', () => {
  test('apply each by itself, also after LF, CRLF, CR and blank lines', () => {
    expect(brief('#1: approve\r\n\r\n#23: reject no\n   \n#3: retry\r#5: Blue\r\n')).toEqual(
      applied(['1', 'approve', null], ['23', 'reject', 'no'], ['3', 'retry', null], ['5', 'Blue', null]),
    );
  });

  test('do not run into each other: an answer on the line after is none', () => {
    expect(brief('#1:\napprove')).toEqual({
      answers: [],
      warnings: [],
      errors: [
        [null, 'line 2: "approve" is no answer; write it as "#1: approve", with nothing before the id.'],
        ['1', 'line 1: the answer for #1 is missing; write it on the same line, such as "#1: approve".'],
      ],
    });
  });

  test('lose no run after a line without an answer', () => {
    expect(brief('#13:\n14: retry')).toEqual({
      answers: [['14', 'retry', null]],
      warnings: [],
      errors: [['13', 'line 1: the answer for #13 is missing; write it on the same line, such as "#13: retry".']],
    });
  });

  test('in one are one answer, whose comment is warned of', () => {
    expect(brief('#23: approve, #24: reject')).toEqual({
      answers: [['23', 'approve', '#24: reject']],
      warnings: ['line 1: "#24: reject" was taken as a comment on #23; write each answer on a line of its own.'],
      errors: [],
    });
  });

  test.each([
    ['#1: approve see 4: it is fine', []],
    ['#1: approve see 24: it is fine', ['see 24: it is fine']],
    ['#1: approve after run 99: done', ['after run 99: done']],
    ['#5: as in #24: reject', []],
  ])('are looked for in a comment alone, by what names a run: %j', (line, comments) => {
    expect(brief(line).warnings).toEqual(
      comments.map(
        (comment) =>
          `line 1: ${JSON.stringify(comment)} was taken as a comment on #1; write each answer on a line of its own.`,
      ),
    );
  });

  test('for one run: the last valid one counts, with a warning', () => {
    expect(brief('#1: approve\n#1: reject')).toEqual({
      answers: [['1', 'reject', null]],
      warnings: ['line 2: a second answer for #1; it counts in place of "approve" in line 1.'],
      errors: [],
    });
  });

  test.each([
    ['#1: approve\n#1: nonsense', 'line 2', 'line 1'],
    ['#1: nonsense\n#1: approve', 'line 1', 'line 2'],
  ])('of which one is invalid leave the valid one: %j', (text, bad, good) => {
    expect(brief(text)).toEqual({
      answers: [['1', 'approve', null]],
      warnings: [`${bad}: "nonsense" is not offered for #1; ${offered}. "approve" in ${good} counts.`],
      errors: [],
    });
  });
});

describe('a text without an answer', () => {
  const none = 'There is no answer in it. Write one a line, such as:\n#1: approve\n#7: approve\n#23: approve';

  test.each([[''], ['  \n\r\n\t'], ['\uFEFF']])('such as %j is told the format by an example', (text) => {
    expect(brief(text)).toEqual({ answers: [], warnings: [], errors: [[null, none]] });
  });

  test('is told which lines are none, too, at most twenty one by one', () => {
    const { errors } = brief('approve everything\n'.repeat(30));
    expect(errors).toHaveLength(22);
    expect(errors[0]).toEqual([null, none]);
    expect(errors.at(-1)).toEqual([null, '10 more lines are no answers.']);
  });

  test('gives an example of what is asked, also where nothing is', () => {
    const example = (works: AskedWork[]): string => brief('', works).errors[0]![1]!.split('\n').slice(1).join('\n');
    expect(example([waits('3', retryAbort), waits('5', { type: 'input' })])).toBe('#3: retry\n#5: your text');
    expect(example([still('9', 'completed')])).toBe('#124: approve\n#125: retry');
  });

  test.each([
    ['of 5 MB in one line', `#1${' '.repeat(5_000_000)}`, 2],
    ['of punctuation', `#1: ${'.!'.repeat(2_000_000)}a`, 1],
    ['of digits', `${'1'.repeat(3_000_000)}`, 2],
    ['of blanks', `${' '.repeat(3_000_000)}x`, 2],
    ['of too many lines', '#1: x\n'.repeat(600_000), 1],
  ])('and %s is read in linear time, and applies nothing', (_, text, count) => {
    const { answers, errors } = parseAnswers(text, open);
    expect([answers.length, errors.length]).toEqual([0, count]);
    expect(errors.every(({ message }) => message.length < 300)).toBe(true);
  });
});

describe('an id', () => {
  const named = [waits('debate-x'), waits('ABC_7.b', retryAbort), waits('Run'), waits('#q')];

  test.each<[string, string, string]>([
    ['debate-x: approve', 'debate-x', 'approve'],
    ['#debate-x: reject', 'debate-x', 'reject'],
    ['run debate-x : approve', 'debate-x', 'approve'],
    ['ABC_7.b:abort', 'ABC_7.b', 'abort'],
    ['Run: approve', 'Run', 'approve'],
    ['#q: approve', '#q', 'approve'],
  ])('that is no number is written as it is: %j', (line, id, response) => {
    expect(brief(line, named)).toEqual(applied([id, response, null]));
  });

  test.each([['debate-y: approve'], ['DEBATE-X: approve']])('that nothing has is no answer: %j', (line) => {
    expect(brief(line, named).errors.map(([, message]) => message)).toEqual([
      'There is no answer in it. Write one a line, such as:\ndebate-x: approve\nABC_7.b: retry\nRun: approve',
      `line 1: ${JSON.stringify(line)} is no answer; write it as "debate-x: approve", with nothing before the id.`,
    ]);
  });

  test('of two runs means the one that needs an answer', () => {
    const works = [still('1', 'completed'), waits('1', {}, 'run-b')];
    expect(parseAnswers('#1: approve', works).answers).toEqual([
      expect.objectContaining({ workId: '1', runId: 'run-b', response: 'approve' }),
    ]);
  });

  test('of two runs that both need one is ambiguous, and their own ids are not', () => {
    const works = [waits('1', {}, 'run-a'), waits('1', {}, 'run-b')];
    expect(brief('#1: approve', works).errors).toEqual([
      ['1', 'line 1: #1 may mean 2 open requests; answer with one of their own ids: run-a, run-b.'],
    ]);
    expect(parseAnswers('run-a: approve\nrun-b: reject', works).answers.map((answer) => answer.runId)).toEqual([
      'run-a',
      'run-b',
    ]);
  });

  test.each<[string, string[], string, string[]]>([
    [
      'some of which are answered by their own ids leaves the others',
      ['#1: approve', 'run-a: approve', 'run-c: reject'],
      'line 1: #1 may mean 3 open requests; some are answered by their own ids here: answer the others so, too: run-b.',
      ['run-b'],
    ],
    [
      'whose own id is answered wrong leaves that, too',
      ['run-a: maybe', '#1: approve', 'run-b: approve', 'run-c: approve'],
      'line 2: #1 may mean 3 open requests; some are answered by their own ids here: answer the others so, too: run-a.',
      ['run-a'],
    ],
  ])('of several runs %s', (_, lines, message, left) => {
    const works = ['run-a', 'run-b', 'run-c'].map((runId) => waits('1', {}, runId));
    const { errors } = parseAnswers(lines.join('\n'), works);
    const fault = errors.find(({ meant }) => meant);
    expect([fault?.message, fault?.valid, fault?.meant?.map(({ workId }) => workId)]).toEqual([message, left, left]);
  });

  test('of several runs that are all answered by their own ids is a warning', () => {
    const works = [waits('1', {}, 'run-a'), waits('1', {}, 'run-b')];
    expect(brief('run-a: approve\n#1: reject\nrun-b: reject', works)).toEqual({
      answers: [expect.anything(), expect.anything()],
      warnings: ['line 2: #1 may mean 2 open requests; each is answered by its own id here, and this counts for none.'],
      errors: [],
    });
  });

  test('of work with two open requests asks for the one that is meant', () => {
    const both = [request(), request(retryAbort)];
    const works = [{ workId: '1', requests: both, status: 'awaiting_feedback' }];
    expect(parseAnswers('#1: approve', works).errors).toEqual([
      expect.objectContaining({ workId: '1', valid: both.map(({ request_id: id }) => id) }),
    ]);
  });
});

describe('every line that the pattern of the specification takes', () => {
  const pattern = /^#?(?:Run\s*#?)?(\d+):\s*(\w+)/gim;

  test.each([['#1: approve'], ['1:approve'], ['run 1: Approve it'], ['Run#1:\tAPPROVE'], ['#run1: approve)']])(
    'such as %j is taken with the same id and option',
    (line) => {
      const [[, id, word]] = [...line.matchAll(pattern)] as [RegExpMatchArray];
      expect(brief(line).answers[0]?.slice(0, 2)).toEqual([id, word!.toLowerCase()]);
    },
  );
});
