import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { runSample, sampleTrustedCommands } from '../../src/sample.js';
import { type FakeSession, finalEvent, startFakeGateway, stateEvent } from './fake-gateway.js';

const run = promisify(execFile);

describe('the sample', () => {
  test.each(sampleTrustedCommands().map((argv) => [argv.at(-1)!.split('/').at(-1)!, argv] as const))(
    'finds the bug by %s',
    async (_, [program, ...rest]) => {
      const { stdout } = await run(program!, rest, { cwd: '/' });
      expect(stdout).toMatch(/^At fault: applyDiscount \(till\.js:1[23]\)\.\n./);
    },
  );

  test('runs exactly the commands it asks to be trusted, beside simulated models, and tells how it ends', async () => {
    const gateway = await startFakeGateway();
    let session: FakeSession | undefined;
    gateway.onStart = (started) => {
      session = started;
      started.emit(stateEvent('INIT', 'DISPATCHED', 'FAN_OUT'), finalEvent('At fault: applyDiscount (till.js:13).'));
      started.emit(stateEvent('RECONCILING', 'COMPLETE', 'RECONCILED', 1));
      started.end();
    };
    const lines: string[] = [];
    try {
      const status = await runSample({ baseUrl: gateway.url, out: (line) => void lines.push(line) });
      expect(status.lifecycle).toBe('completed');
    } finally {
      await gateway.close();
    }
    expect(session?.status.lanes.map(({ adapter }) => adapter)).toEqual([
      'simulated',
      'command',
      'command',
      'command',
      'command',
      'simulated',
    ]);
    expect(lines.filter((line) => line.startsWith('★'))).toEqual([
      '★ FINAL        At fault: applyDiscount (till.js:13).',
    ]);
  });
});
