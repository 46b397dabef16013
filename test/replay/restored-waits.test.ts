import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defaultPayloadConverter } from '@temporalio/common';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import type { FanOutSetup } from '../../src/domain/fan-out/setup.js';
import { openFanOutState } from '../../src/domain/fan-out/state.js';
import { createReplayer } from '../../temporal/replaying.js';

/** Two workers, of which one ends after the other: who is left is waited for, and the barrier has its timer. */
const recorded = fileURLToPath(new URL('histories/fan-out-complete.json', import.meta.url));
const waits = { call: 'task 0', tenant: 'acme' };
const waitsToo = { call: 'task 1', tenant: 'acme' };
const restored = {
  isRestored: true,
  epoch: 1,
  restores: [{ checkpoint: 0, reason: 'again', by: 'anna', at: 0, key: null, fromRunId: 'before' }],
};
const forked = { forkedFrom: { id: 'other', checkpoint: 0 } };

describe('work that goes on from a point at which calls waited for a person of their tenant', () => {
  const replayer = createReplayer({ bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '' });
  afterAll(() => replayer.close());

  test.each([
    ['a restore', 'waited', restored, [waits, waitsToo], []],
    ['a restore', 'had just been told to wait', restored, [], [waits, waitsToo]],
    ['a fork', 'waited, or had just been told to', forked, [waits], [waitsToo]],
  ])('goes on as if none did: %s where they %s', async (_, _when, begins, waiting, told) => {
    const history = historyFromJSON(JSON.parse(readFileSync(recorded, 'utf8')));
    const begun = history.events?.[0];
    const input = begun?.workflowExecutionStartedEventAttributes?.input;
    const setup = defaultPayloadConverter.fromPayload(input!.payloads![0]!) as FanOutSetup;
    const now = Number(begun!.eventTime!.seconds) * 1_000;
    const tenantWaits = waiting.map((wait) => ({ ...wait, since: now }));
    const carried = {
      ...{ events: [], eventsBefore: 0, previousRunId: null, hostQueue: null, ...begins },
      work: { ...openFanOutState(setup, now), ...(tenantWaits.length > 0 && { tenantWaits }) },
      inbox: [...told.map((wait) => ({ ...wait, type: 'PERSON_AWAITED' })), { type: 'START' }],
    };
    input!.payloads![1] = defaultPayloadConverter.toPayload(carried);
    const states: string[] = [];
    await replayer.replay({ history, workId: 'recorded-complete', onOutcome: ({ state }) => void states.push(state) });
    expect(states).toEqual(['COMPLETED']);
  });
});
