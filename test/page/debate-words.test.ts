import { answer, DebatePlay, plan, report } from '../support/debate-play.js';
import { executing, failing, numbered, opened, seen, steps, twoTasks, vetoed, words } from './debate-modules.js';

const healing = { check: { argv: ['look'] } };
const stands = { done: '✓', failed: '✗', now: '●', ahead: '○', skipped: '–' } as const;
const way = (play: DebatePlay): string =>
  steps
    .stepsOf(seen(play))
    .map(({ name, stand, note }) => `${stands[stand]} ${name}${note ? ` (${note})` : ''}`)
    .join(' ');

const stories: Record<string, () => DebatePlay> = {
  'that has just begun': () => new DebatePlay().take({ type: 'START' }),
  'in its first round': () => opened(),
  'in another pass': () => opened().pass({ critic: { stance: 'against' }, optimizer: { stance: 'against' } }),
  'that was vetoed': () => vetoed().close(),
  'that waits for two people': () =>
    opened({ ...twoTasks, approval: { required: true, k: 2 } })
      .pass()
      .feedback('approve'),
  'whose first task runs': () => executing(),
  'that is being mended': () => failing(),
  'that was healed': () => failing().diagnose().repair(plan('c')).run().close(),
  'whose health check runs': () => failing({ healing }),
  'that is mended after a health check': () => failing({ healing }).checked('failed'),
  'that was found healthy': () => failing({ healing }).checked().close(),
  'that was rolled back': () => failing().diagnose(null).rollBack().close(),
  'that was rolled back in part': () => failing().diagnose(null).undo('failed', 'gone').restore().close(),
  'of the wrong worker': () => {
    const play = new DebatePlay().take({ type: 'START' });
    play.identity({ code: 'ESEC', message: 'another project' });
    return play;
  },
  'that was cancelled while it spoke': () => opened().cancel(),
  'that was cancelled once it was approved': () =>
    opened({ ...twoTasks, approval: { required: true } })
      .pass()
      .feedback('approve')
      .cancel()
      .audited(),
};

describe('the way of a debate on the page', () => {
  test.each<[string, string]>([
    [
      'that has just begun',
      '● Identity ○ Context ○ Rounds ○ Decision ○ Execution ○ Validation ○ Memory ○ Audit ○ Done',
    ],
    [
      'in its first round',
      '✓ Identity ✓ Context ● Rounds (pass 1, analyst) ○ Decision ○ Execution ○ Validation ○ Memory ○ Audit ○ Done',
    ],
    [
      'in another pass',
      '✓ Identity ✓ Context ● Rounds (pass 2, solution) ○ Decision ○ Execution ○ Validation ○ Memory ○ Audit ○ Done',
    ],
    [
      'that was vetoed',
      '✓ Identity ✓ Context ✓ Rounds (pass 1) ✗ Decision (veto) – Execution – Validation ✓ Memory ✓ Audit ✓ Done',
    ],
    [
      'that waits for two people',
      '✓ Identity ✓ Context ✓ Rounds (pass 1) ✓ Decision (proceed) ● Approval (1 of 2) ○ Execution ○ Validation ○ Memory ○ Audit ○ Done',
    ],
    [
      'that is being mended',
      '✓ Identity ✓ Context ✓ Rounds (pass 1) ✓ Decision (proceed) ✓ Execution ✓ Validation ● Repair ○ Memory ○ Audit ○ Done',
    ],
    [
      'that was healed',
      '✓ Identity ✓ Context ✓ Rounds (pass 1) ✓ Decision (proceed) ✓ Execution ✓ Validation ✓ Repair ✓ Memory ✓ Audit ✓ Done',
    ],
    [
      'that was found healthy',
      '✓ Identity ✓ Context ✓ Rounds (pass 1) ✓ Decision (proceed) ✓ Execution ✗ Validation ✓ Repair (healthy) ✓ Memory ✓ Audit ✓ Done',
    ],
    [
      'that was cancelled once it was approved',
      '✓ Identity ✓ Context ✓ Rounds (pass 1) ✓ Decision (proceed) ✓ Approval ✓ Execution – Validation – Memory ✗ Audit ✗ Aborted',
    ],
    [
      'that was rolled back in part',
      '✓ Identity ✓ Context ✓ Rounds (pass 1) ✓ Decision (proceed) ✓ Execution ✗ Validation ✓ Repair ✗ Rollback (incomplete) ✓ Memory ✓ Audit ✓ Done',
    ],
    [
      'of the wrong worker',
      '✗ Identity – Context – Rounds – Decision – Execution – Validation – Memory – Audit ✗ Aborted',
    ],
    [
      'that was cancelled while it spoke',
      '✓ Identity ✓ Context ✗ Rounds (pass 1) – Decision – Execution – Validation – Memory – Audit ✗ Aborted',
    ],
  ])('%s', (story, expected) => {
    expect(way(stories[story]!())).toBe(expected);
  });

  test('shows execution and validation ahead again while a repair runs', () => {
    expect(way(failing().diagnose().repair(plan('c')))).toContain('● Execution ○ Validation ✓ Repair');
  });
});

describe('what a screen reader is told of a debate', () => {
  test.each<[string, string]>([
    ['that has just begun', 'The worker is checked against the locks.'],
    ['in its first round', 'The analyst speaks in pass 1.'],
    ['in another pass', 'Consensus 65 % after pass 1. The solution speaks in pass 2.'],
    ['that was vetoed', 'Blocked: security is against the plan with 0.95, a veto from 0.9 on'],
    ['that waits for two people', 'An approval is asked for: Run this plan? Consensus 1.00 after 1 pass.'],
    ['whose first task runs', 'Consensus 100 % after pass 1. Task a runs.'],
    ['that is being mended', 'Consensus 100 % after pass 1. The critic looks for the cause.'],
    [
      'whose health check runs',
      'Consensus 100 % after pass 1. The health check says whether there is anything to mend.',
    ],
    ['that is mended after a health check', 'Consensus 100 % after pass 1. The critic looks for the cause.'],
    [
      'that was found healthy',
      'Succeeded: the health check found nothing to heal after task b had failed, so that what was done stays: task b failed: exit code 1',
    ],
    ['that was healed', 'Succeeded: all 2 tasks succeeded, and what they declare holds, after 1 repair'],
    ['of the wrong worker', 'Aborted: ESEC: another project'],
  ])('%s', (story, expected) => {
    expect(words.announcement(seen(stories[story]!())).replaceAll('\u202f', ' ')).toBe(expected);
  });
});

test('every durable event of these debates has words', () => {
  const told = Object.values(stories).flatMap((play) => numbered(play()));
  expect(new Set(told.map(({ event }) => event)).size).toBeGreaterThan(12);
  const sentences = told.map((event) => [event.event, ...words.describeEvent(event)]);
  expect(sentences.filter(([, kind, sentence]) => !kind || !sentence || /undefined|\[object/.test(sentence))).toEqual(
    [],
  );
});

test('a statement with text that looks like a code stays as it is', () => {
  const play = opened().reply(answer({ position: '<b>bold</b>' }));
  const statements = numbered(play).filter(({ event }) => event === 'statement');
  expect(statements.map((event) => words.describeEvent(event)[1].replaceAll('\u202f', ' '))).toEqual([
    'analyst is for (90 %) in pass 1: <b>bold</b>',
  ]);
});

test('a report of a task that was repeated says so', () => {
  const event = {
    ...{ id: 1, event: 'task' as const },
    data: { at: '2026-11-21T00:00:00.000Z', stage: 'ended' as const, report: report('t', 'succeeded', { attempt: 2 }) },
  };
  expect(words.describeEvent(event)).toEqual(['task', 't succeeded at attempt 2']);
});
