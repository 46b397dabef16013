import { type Ended, type EndedBy, type GroupEvents, outcomeOf } from '../../../activities/sandbox/outcome.js';
import { OutputTail } from '../../../activities/sandbox/output-tail.js';
import type { CommandReport, Enforced } from '../../../src/contracts/execution.js';
import { limitsOf } from './rig.js';

const enforced: Enforced = {
  ...{ backend: 'bubblewrap', network: true, filesystem: true, user: true, environment: true, time: true, cpu: true },
  ...{ memory: 'cgroup', processes: 'cgroup', output: true, tree: true },
};
const exit = (exitCode: number): Ended => ({ exitCode, signal: null });
const calm: GroupEvents = { outOfMemory: false, processesHeld: false };
const oom: GroupEvents = { ...calm, outOfMemory: true };
const held: GroupEvents = { ...calm, processesHeld: true };
type Outcome = Pick<CommandReport, 'exit_code' | 'signal' | 'limit'>;

describe('what became of a command', () => {
  test.each<[string, Ended, EndedBy, GroupEvents | null, Outcome]>([
    ['success', exit(0), null, calm, { exit_code: 0, signal: null, limit: null }],
    ['failure', exit(2), null, calm, { exit_code: 2, signal: null, limit: null }],
    ['a shell’s 128 + 9', exit(137), null, calm, { exit_code: null, signal: 'SIGKILL', limit: null }],
    ['128 + no signal', exit(255), null, calm, { exit_code: 255, signal: null, limit: null }],
    [
      'a signal to all of it',
      { exitCode: null, signal: 'SIGKILL' },
      null,
      calm,
      { exit_code: null, signal: 'SIGKILL', limit: null },
    ],
    ['its time was up', exit(143), 'time', calm, { exit_code: null, signal: 'SIGTERM', limit: 'time' }],
    ['its time was up, and it tidied up', exit(0), 'time', calm, { exit_code: null, signal: null, limit: 'time' }],
    [
      'its time was up, and what was around it said 1 when all was killed',
      { exitCode: 1, signal: null, isForced: true },
      'time',
      calm,
      { exit_code: null, signal: 'SIGKILL', limit: 'time' },
    ],
    [
      'its time was up while forks were refused',
      exit(143),
      'time',
      held,
      { exit_code: null, signal: 'SIGTERM', limit: 'time' },
    ],
    ['it wrote too much', exit(141), 'output', calm, { exit_code: null, signal: 'SIGPIPE', limit: 'output' }],
    ['nobody listened', exit(143), 'left', calm, { exit_code: null, signal: 'SIGTERM', limit: null }],
    ['it was killed for its memory', exit(137), null, oom, { exit_code: null, signal: 'SIGKILL', limit: 'memory' }],
    ['a part of it was killed for its memory', exit(2), null, oom, { exit_code: 2, signal: null, limit: 'memory' }],
    [
      'a part of it was killed for its memory, and it coped',
      exit(0),
      null,
      oom,
      { exit_code: 0, signal: null, limit: null },
    ],
    ['forks were refused', exit(2), null, held, { exit_code: 2, signal: null, limit: 'processes' }],
    ['SIGXCPU', exit(152), null, calm, { exit_code: null, signal: 'SIGXCPU', limit: 'cpu' }],
    ['a container was killed', exit(137), null, null, { exit_code: null, signal: 'SIGKILL', limit: 'memory' }],
  ])('%s', (_, end, endedBy, events, outcome) => {
    expect(outcomeOf(end, endedBy, events, { enforced, limits: limitsOf(), durationMs: 5_000 })).toEqual(outcome);
  });

  test.each([
    [2_000, 'cpu'],
    [1, null],
  ])('killed after %i ms with a second of processor time is limit %j', (durationMs, limit) => {
    const limits = limitsOf({ cpu_ms: 1_000 });
    expect(outcomeOf(exit(137), null, calm, { enforced, limits, durationMs }).limit).toBe(limit);
  });
});

describe('the tail of an output', () => {
  const tailOf = (limit: number, ...pieces: (string | number[])[]): OutputTail => {
    const tail = new OutputTail(limit);
    for (const piece of pieces) tail.add(Buffer.from(piece as string));
    return tail;
  };

  test.each<[string, OutputTail, string, boolean]>([
    ['nothing', tailOf(4), '', false],
    ['as much as is kept', tailOf(4, 'ab', 'cd'), 'abcd', false],
    ['more', tailOf(4, 'ab', 'cde'), 'bcde', true],
    ['one long piece', tailOf(4, 'abcdefghij'), 'ghij', true],
    ['many small pieces', tailOf(4, ...Array.from({ length: 5_000 }, (_, index) => `${index % 10}`)), '6789', true],
    ['a cut in a character', tailOf(4, 'a€€'), '€', true],
    ['characters in pieces', tailOf(6, [0xe2], [0x82], [0xac, 0x21]), '€!', false],
    ['bytes that are no text', tailOf(4, [0xff, 0x61]), '\ufffda', false],
    ['bytes inside of a character alone', tailOf(5, [0x80, 0x80, 0x80, 0x80, 0x80, 0x80]), '\ufffd\ufffd', true],
    ['nothing kept', tailOf(0, 'abc'), '', true],
  ])('of %s', (_, tail, text, truncated) => {
    expect([tail.text(), tail.truncated]).toEqual([text, truncated]);
  });
});
