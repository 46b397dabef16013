import {
  boundariesOf,
  type CheckpointMark,
  keptMarks,
  maxCheckpoints,
  nextNumber,
} from '../../src/domain/checkpoint.js';

const at = (state: string, message?: string) => ({ state, error: message === undefined ? null : { message } });
const long = 'x'.repeat(1_000);
const mark = (number: number): CheckpointMark => ({
  number,
  id: `id-${number}`,
  at: 0,
  agentId: 'a',
  phase: 'P',
  error: null,
  eventId: 3,
  temporalRunId: 'run',
});

describe('the boundaries of a step', () => {
  test.each<[string, Parameters<typeof boundariesOf>, ReturnType<typeof boundariesOf>]>([
    ['none where nothing ended and the state stays', ['session', at('A'), at('A'), []], []],
    [
      'the phase where the state changed alone',
      ['session', at('A'), at('B'), []],
      [{ agentId: 'session', phase: 'A', error: null }],
    ],
    [
      'the phase with the error that the step brought',
      ['debate', at('A'), at('B', 'no money'), []],
      [{ agentId: 'debate', phase: 'A', error: 'no money' }],
    ],
    [
      'no error that was there before',
      ['debate', at('A', 'no money'), at('B', 'no money'), []],
      [{ agentId: 'debate', phase: 'A', error: null }],
    ],
    [
      'one for each turn that ended, and none for the phase',
      [
        'session',
        at('A'),
        at('B'),
        [
          { agentId: 'x', error: null },
          { agentId: 'y', error: long },
        ],
      ],
      [
        { agentId: 'x', phase: 'A', error: null },
        { agentId: 'y', phase: 'A', error: long.slice(0, 200) },
      ],
    ],
  ])('are %s', (_, given, boundaries) => {
    expect(boundariesOf(...given)).toEqual(boundaries);
  });
});

describe('the checkpoints that are kept', () => {
  test('number on from 0, and are the latest hundred', () => {
    let marks: CheckpointMark[] = [];
    for (let count = 0; count < 250; count += 1) marks = keptMarks(marks, mark(nextNumber(marks)));
    expect(marks).toHaveLength(maxCheckpoints);
    expect(marks.map(({ number }) => number)).toEqual(Array.from({ length: 100 }, (_, index) => 150 + index));
  });
});
