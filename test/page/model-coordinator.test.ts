import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CoordinatorDurableEvent } from '../../src/contracts/coordinator-events.js';
import {
  type CoordinatedRun,
  coordinatedStatuses,
  type CoordinatorStateName,
  type CoordinatorStatus,
} from '../../src/contracts/coordinator-status.js';
import { coordinatorAnswerExample, coordinatorStatusExample } from '../../src/gateway/routes/coordinator-examples.js';

interface Row {
  run: CoordinatedRun;
  request: { request_id: string } | null;
}
interface CoordinatorModel {
  countsOf: (status: CoordinatorStatus) => { name: string; count: number }[];
  rowsOf: (status: CoordinatorStatus, group?: string) => Row[];
  stepsOf: (status: CoordinatorStatus) => { name: string; stand: string; note: string }[];
  nameIn: (rows: Row[], run: CoordinatedRun) => string;
  answerIn: (text: string, name: string) => string | null;
  withAnswer: (text: string, name: string, response: string) => string;
  withSameAnswer: (text: string, names: string[], response: string) => string;
  sharedOptions: (rows: object[]) => { value: string }[];
  wrongLines: (text: string, answer: { errors: { message: string }[] }) => string;
}
interface CoordinatorWords {
  titleOf: (status: CoordinatorStatus) => string;
  announcement: (model: { status: CoordinatorStatus | null }) => string;
  describeEvent: (event: CoordinatorDurableEvent) => [string, string];
}
const load = async <T>(file: string): Promise<T> => (await import(pathToFileURL(resolve('src/page', file)).href)) as T;
const page = await load<CoordinatorModel>('coordinator-model.js');
const words = await load<CoordinatorWords>('coordinator-words.js');

const of = (over: Partial<CoordinatorStatus>): CoordinatorStatus => ({ ...coordinatorStatusExample, ...over });
const [, second, third] = coordinatorStatusExample.runs;

describe('the runs of a coordinator', () => {
  test('are counted so that they add up, wherever they stand', () => {
    const runs = coordinatedStatuses.map((status, index) => ({ run_id: `r${index}`, work_id: `${index}`, status }));
    const counts = page.countsOf(of({ runs }));
    expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(runs.length);
    expect(counts.find(({ name }) => name === 'under way')?.count).toBe(2);
    expect(page.countsOf(coordinatorStatusExample).map(({ name, count }) => `${count} ${name}`)).toEqual([
      '1 completed',
      '1 awaiting feedback',
      '1 failed',
    ]);
  });

  test('ask what the report says while that holds, and nothing once they have moved on or all is over', () => {
    const asks = (status: CoordinatorStatus): string[] =>
      page.rowsOf(status).flatMap(({ run, request }) => (request ? [run.work_id] : []));
    expect(asks(coordinatorStatusExample)).toEqual(['124', '125']);
    const moved = coordinatorStatusExample.runs.map((run) =>
      run.work_id === '124' ? { ...run, status: 'in_progress' as const } : run,
    );
    expect(asks(of({ runs: moved }))).toEqual(['125']);
    expect(asks(of({ ended_at: coordinatorStatusExample.started_at }))).toEqual([]);
    expect(page.rowsOf(coordinatorStatusExample, 'failed').map(({ run }) => run.work_id)).toEqual(['125']);
  });

  test('are named by their work ids, and by their own where two that ask have the same', () => {
    const request = { request_id: 'fr-1' };
    const same = { ...third!, work_id: '124' };
    expect(page.nameIn([{ run: second!, request }], second!)).toBe('124');
    expect(
      page.nameIn(
        [
          { run: second!, request },
          { run: same, request },
        ],
        second!,
      ),
    ).toBe(second!.run_id);
    expect(
      page.nameIn(
        [
          { run: second!, request },
          { run: same, request: null },
        ],
        second!,
      ),
    ).toBe('124');
  });
});

describe('a text of answers', () => {
  test.each([
    ['', '124', 'approve', '#124: approve\n'],
    ['#123: retry', '124', 'approve', '#123: retry\n#124: approve\n'],
    ['#124: reject no\n#123: retry\n', '124', 'approve', '#123: retry\n#124: approve\n'],
    ['#124: approve\n', '124', 'approve', ''],
    ['#1: approve\n#12: approve\n', '1', 'reject', '#12: approve\n#1: reject\n'],
    ['', 'three', 'approve', 'three: approve\n'],
    ['', '7', '', '#7: '],
    ['#7: my own words', '7', '', '#7: my own words'],
  ])('%j with an answer for %s, %j, is %j', (text, name, response, expected) => {
    expect(page.withAnswer(text, name, response)).toBe(expected);
  });

  test.each([
    ['#124: approve', 'approve'],
    ['  #124: request_changes split it', 'request_changes split it'],
    ['#1240: approve', null],
    ['', null],
  ])('%j says %j for 124', (text, expected) => {
    expect(page.answerIn(text, '124')).toBe(expected);
  });

  test('says the same for many, whatever it said before', () => {
    const text = '#2: reject\n#3: approve\n#4: retry\n';
    expect(page.withSameAnswer(text, ['1', '2', '3'], 'approve')).toBe(
      '#3: approve\n#4: retry\n#1: approve\n#2: approve\n',
    );
  });

  test.each([
    [
      [
        ['approve', 'reject'],
        ['reject', 'abort'],
      ],
      ['reject'],
    ],
    [[['approve'], ['retry']], []],
    [[['approve'], []], []],
    [[['approve']], []],
    [[], []],
  ])('of requests with %j says %j for all', (options, expected) => {
    const asking = options.map((values) => ({ request: { options: values.map((value) => ({ value })) } }));
    const shared = page.sharedOptions([{ request: null }, ...asking]);
    expect(shared.map(({ value }) => value)).toEqual(expected);
  });

  test('keeps the lines that were wrong alone', () => {
    const errors = [
      { message: 'line 2: "maybe" is not offered' },
      { message: 'line 4: is no answer' },
      { message: '?' },
    ];
    expect(page.wrongLines('#1: approve\n#2: maybe\n\nwhat\n', { errors })).toBe('#2: maybe\nwhat\n');
  });
});

describe('the way of a coordinator', () => {
  test.each<[CoordinatorStateName, string]>([
    ['TRACKING', 'Track now, Wait ahead, Present ahead, Resume ahead, Monitor ahead, Done ahead'],
    ['ASKING', 'Track done, Wait now, Present ahead, Resume ahead, Monitor ahead, Done ahead'],
    ['PRESENTING', 'Track done, Wait done, Present now, Resume ahead, Monitor ahead, Done ahead'],
    ['MONITORING', 'Track done, Wait done, Present done, Resume done, Monitor now, Done ahead'],
  ])('in %s is %s', (state, expected) => {
    const way = page.stepsOf(of({ state })).map(({ name, stand }) => `${name} ${stand}`);
    expect(way.join(', ')).toBe(expected);
  });

  test('ends with what it came to', () => {
    const end = (state: CoordinatorStateName): string =>
      page
        .stepsOf(of({ state, ended_at: coordinatorStatusExample.started_at }))
        .map(({ name, stand }) => `${name} ${stand}`)
        .at(-1)!;
    expect([end('COMPLETE'), end('ABORTED'), end('CANCELLED')]).toEqual([
      'Done done',
      'Aborted failed',
      'Cancelled failed',
    ]);
  });
});

describe('a coordinator in words', () => {
  test('is called by its runs, and announces where it stands', () => {
    expect(words.titleOf(coordinatorStatusExample)).toBe('3 runs: #123, #124, #125');
    const many = Array.from({ length: 500 }, (_, index) => ({ ...second!, work_id: `${index}` }));
    expect(words.titleOf(of({ runs: many, total_runs: 500 }))).toBe('500 runs: #0, #1, #2, #3, #4, #5 and 494 more');
    expect(words.announcement({ status: coordinatorStatusExample })).toBe(
      'It waits for answers: 1 completed + 1 awaiting feedback + 1 failed.',
    );
  });

  const at = coordinatorStatusExample.started_at;
  test.each<[CoordinatorDurableEvent, string]>([
    [{ event: 'run', data: { ...second!, at, reason: 'it asks' } }, 'run: #124 awaiting feedback: it asks'],
    [
      { event: 'aggregation', data: { ...coordinatorStatusExample.aggregation!, since: null } },
      'report: 001-initial, 3 runs: 1 completed, 1 awaiting feedback, 1 error',
    ],
    [{ event: 'responses', data: { ...coordinatorAnswerExample, at } }, 'answers: 1 applied, 1 refused, 1 warning'],
  ])('tells %j', (event, expected) => {
    expect(words.describeEvent(event).join(': ')).toBe(expected);
  });
});
