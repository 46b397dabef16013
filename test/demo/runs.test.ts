import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describeWithSandbox } from '../support/describe-with.js';

/** As `npm run demo:runs` is without a terminal: from the build that the tests' preparing step made. */
const play = async (): Promise<{ code: number; out: string }> => {
  const child = spawn(process.execPath, ['dist/src/demo/runs.js'], {
    env: { ...process.env, TEMPORAL_ADDRESS: '', TEMPORAL_CLI: process.env['TEST_TEMPORAL_CLI'] ?? '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const out = await text(child.stdout);
  return { code: ((await ended) as [number])[0], out };
};

describeWithSandbox('the demo of many runs', () => {
  test('stops with two done, two that ask and one that does not compile; one text brings all to their ends', async () => {
    const { code, out } = await play();
    const [before = '', answered = ''] = out.split('Nobody is at the terminal');
    for (const words of [
      '- Total: 5\n- Completed: 2\n- Awaiting feedback: 2\n- Failed: 1\n',
      '> Is this plan right?\n>\n> 1. Take 3000 where PORT is not set',
      "expected: '2026-03-09'",
      'SyntaxError: missing ) after argument list',
      'a colleague (the demo) has corrected dates.js',
    ])
      expect(before).toContain(words);
    expect(answered).toContain('#124: approve\n  #125: retry\n  #126: abort\n');
    expect(answered).toContain('- Total: 5\n- Completed: 4\n- Cancelled: 1\n');
    for (const workId of ['123', '124', '125', '127'])
      expect(answered).toMatch(
        new RegExp(`#${workId} completed\n  feat/${workId}: 1 file changed.*"${workId}: all \\d steps are done"`),
      );
    expect(answered).toMatch(/#126 cancelled\n {2}feat\/126: .*it was aborted by demo/);
    expect([code, out]).toEqual([0, expect.stringContaining('5 of 5 runs ended as they should.')]);
  }, 180_000);
});
