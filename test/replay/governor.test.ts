import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { createReplayer } from '../../temporal/replaying.js';
import { exportOfHistory } from '../../temporal/history-file.js';
import { countOf, startGovernedRig } from '../support/governed-rig.js';
import { historyText } from '../support/history-text.js';

const file = fileURLToPath(new URL('./histories/governor-of-two-workers.json', import.meta.url));

/** Two workers, one refusal by the provider, one call that is given up while it waits. PARLEY_RECORD=1 writes it anew. */
const record = async (): Promise<void> => {
  const rig = await startGovernedRig(process.env['TEST_TEMPORAL_ADDRESS'] ?? '');
  try {
    const { call, until, id, arrivals } = await rig.install(2, { requests: 4, concurrency: 1, window_ms: 1_000 });
    rig.model.refuse = ({ at }) => (at === arrivals()[1]?.at ? { status: 429, headers: { 'retry-after': '1' } } : null);
    const stop = new AbortController();
    const first = call(0, { ms: 2_000 });
    await until((status) => countOf(status, 'under_way') === 1);
    const calls = [first, call(1, { tenant: 'b' }), call(1, {}, stop.signal), call(0, { tier: 'gold' })];
    await until((status) => countOf(status, 'waiting') === 3);
    stop.abort();
    await Promise.all(calls);
    await until((status) => countOf(status, 'waiting') + countOf(status, 'under_way') === 0);
    writeFileSync(file, historyText(await rig.client.workflow.getHandle(id).fetchHistory()));
  } finally {
    await rig.uninstall();
    await rig.close();
  }
};
if (process.env['PARLEY_RECORD'] === '1') beforeAll(record, 120_000);

describe('a recorded history of a governor', () => {
  const text = (): string => readFileSync(file, 'utf8');

  test('replays', async () => {
    const history = historyFromJSON(JSON.parse(text()));
    const replayer = createReplayer({ bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '' });
    await replayer.replay({ history, workId: 'governor:parley:lab' });
    await replayer.close();
    const timers = (history.events ?? []).filter(({ timerStartedEventAttributes }) => timerStartedEventAttributes);
    expect(timers.length).toBeGreaterThan(0);
  });

  test('is what a check before a deployment knows', async () => {
    expect(await exportOfHistory('governor', text())).toMatchObject({ kind: 'governor', closed_as: null });
  });
});
