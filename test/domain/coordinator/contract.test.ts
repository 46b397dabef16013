import { z } from 'zod';
import {
  coordinatorResponsesSchema,
  maxCoordinatedRuns,
  openCoordinatorSchemaFor,
} from '../../../src/contracts/coordinator.js';

const run = z.strictObject({
  id: z.string().optional(),
  work_id: z.string(),
  steps: z.number({ error: 'must be a number' }),
});
const open = openCoordinatorSchemaFor(run);
const faults = (body: object): [string, string][] =>
  (open.safeParse(body).error?.issues ?? []).map(({ path, message }) => [path.join('.'), message]);
const many = Array.from({ length: maxCoordinatedRuns }, (_, index) => index);

describe('the body of a coordinator', () => {
  test('takes runs, work ids with one body, and ids to adopt, and fills in the rest', () => {
    const body = {
      runs: [{ work_id: '1', steps: 1 }],
      work_ids: [123, '124', 123],
      run: { steps: 2 },
      adopt: ['run-x'],
    };
    expect(open.parse(body)).toEqual({
      ...body,
      work_ids: ['123', '124', '123'],
      wait_timeout_ms: null,
      tenant: 'default',
      labels: {},
      budget: {},
      webhooks: [],
    });
  });

  test.each<[string, object, [string, string][]]>([
    ['no run', {}, [['runs', 'must hold a run; or give work_ids with run, or ids of runs in adopt']]],
    [
      'work ids without a body',
      { work_ids: ['1'] },
      [['run', 'is missing: the body that a run is started with for each of work_ids']],
    ],
    [
      'a body without work ids',
      { adopt: ['x'], run: { steps: 1 } },
      [['work_ids', 'is missing: run is started once for each of them; a single run stands in runs']],
    ],
    ['a body that is none', { work_ids: ['1'], run: { steps: 'two' } }, [['run.steps', 'must be a number']]],
    [
      'a body with what differs',
      { work_ids: ['1'], run: { steps: 1, id: 'x', work_id: '2' } },
      [
        ['run.id', 'cannot be given: it is different for each of work_ids'],
        ['run.work_id', 'cannot be given: it is different for each of work_ids'],
      ],
    ],
    [
      'too many runs',
      { work_ids: many, run: { steps: 1 }, adopt: ['x'] },
      [['runs', 'must be at most 1000, with those of work_ids and adopt; got 1001']],
    ],
  ])('with %s is refused by path', (_, body, expected) => {
    expect(faults(body)).toEqual(expected);
  });

  test.each([
    ['with blanks', 'a b'],
    ['with a colon', 'a:b'],
    ['empty', ''],
    ['negative', -1],
    ['broken', 1.5],
  ])('refuses a work id %s', (_, workId) => {
    expect(faults({ work_ids: [workId], run: { steps: 1 } }).map(([path]) => path)).toContain('work_ids.0');
  });

  test('counts repeated ids once', () => {
    const workIds = [...many.slice(2), 7, '7'];
    expect(faults({ adopt: ['x', 'x'], work_ids: workIds, run: { steps: 1 } })).toEqual([]);
  });
});

describe('responses as JSON', () => {
  test('name their runs by text or number', () => {
    expect(
      coordinatorResponsesSchema.parse([
        { work_id: 124, response: 'approve' },
        { work_id: 'parser', response: 'retry', comment: 'once' },
      ]),
    ).toEqual([
      { work_id: '124', response: 'approve' },
      { work_id: 'parser', response: 'retry', comment: 'once' },
    ]);
  });

  test.each<[string, unknown]>([
    ['nothing', []],
    ['no list', { work_id: '1', response: 'approve' }],
    ['no response', [{ work_id: '1' }]],
    ['a field that is none', [{ work_id: '1', response: 'approve', why: '' }]],
    ['a request id that is none', [{ work_id: '1', response: 'approve', request_id: 'x' }]],
  ])('with %s are refused', (_, body) => {
    expect(coordinatorResponsesSchema.safeParse(body).success).toBe(false);
  });
});
