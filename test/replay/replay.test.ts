import '../support/quiet-runtime.js';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defaultPayloadConverter } from '@temporalio/common';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import type { OpenSessionBody, SessionStatus } from '../../src/contracts/session.js';
import { startProduct, type Product } from '../support/product.js';

const folder = fileURLToPath(new URL('./histories/', import.meta.url));
const cancelledOutcome = `${folder}../cancelled-outcome.json`;
const lane = (lane_id: string, script: object[], more: object = {}) => ({
  lane_id,
  adapter: { kind: 'scripted' as const, script },
  ...more,
});
const says = (text: string, after_ms = 60) => [{ after_ms, final: text }];
const slow = [{ after_ms: 60_000, final: 'late' }];

/** One story for every terminal state and every way through the workflow that leaves other commands behind. */
const stories: Record<string, { body: OpenSessionBody; act?: (product: Product, id: string) => Promise<unknown> }> = {
  'complete-all-final': {
    body: { prompt: 'p', lanes: [lane('a', says('blue')), lane('b', says('blue')), lane('c', says('blue'))] },
  },
  'complete-early-exit': {
    body: {
      prompt: 'p',
      lanes: [lane('a', says('blue')), lane('b', says('blue', 160)), lane('c', slow, { tier: 'bronze' })],
    },
  },
  'complete-escalated-and-arbitrated': {
    body: {
      prompt: 'p',
      lanes: [lane('a', says('blue')), lane('b', says('red'))],
      policy: {
        escalation: { allowed: true, lane: lane('senior', says('green')) },
        arbiter: { allowed: true, adapter: { kind: 'scripted', script: says('teal') } },
      },
    },
  },
  'complete-arbiter-failed': {
    body: {
      prompt: 'p',
      lanes: [lane('a', says('blue')), lane('b', says('red'))],
      policy: { arbiter: { allowed: true, adapter: { kind: 'scripted', script: [{ fail: { message: 'no' } }] } } },
    },
  },
  'complete-at-the-deadline': {
    body: {
      prompt: 'p',
      lanes: [lane('a', [{ partial: 'so far' }, ...slow]), lane('b', slow)],
      policy: { deadline_ms: 400 },
    },
  },
  'complete-merged-by-an-adapter': {
    body: {
      prompt: 'p',
      lanes: [lane('a', says('blue')), lane('b', says('navy'))],
      policy: {
        threshold: 0.5,
        reconciliation: 'weighted_merge',
        merge: { adapter: { kind: 'scripted', script: says('both') } },
      },
    },
  },
  'complete-judged': {
    body: {
      prompt: 'p',
      lanes: [lane('a', says('blue')), lane('b', says('azure'))],
      policy: {
        agreement: { method: 'judge', adapter: { kind: 'scripted', script: [{ final: { groups: [['a', 'b']] } }] } },
      },
    },
  },
  'complete-simple': {
    body: { prompt: 'p', lanes: [lane('a', says('blue')), lane('b', says('red'))], policy: { profile: 'simple' } },
  },
  'complete-external': {
    body: {
      prompt: 'p',
      lanes: [{ lane_id: 'x', adapter: { kind: 'external' } }],
      policy: { gaps: { message_ms: 100 } },
    },
    act: async (product, id) => {
      const started = await product.post('/v1/sessions', { ...stories['complete-external']!.body, id });
      const key = (started.body as { lane_keys: Record<string, string> }).lane_keys['x'];
      const post = (frames: object[]) =>
        product.post(`/v1/sessions/${id}/lanes/x/frames`, { frames }, { authorization: `Bearer ${key}` });
      await post([{ type: 'partial', msg_seq: 2, text: 'blue' }]);
      await product.until(id, (status) => status.lanes[0]!.lost === 1);
      await post([{ type: 'final', msg_seq: 3 }]);
    },
  },
  'error-no-answer': { body: { prompt: 'p', lanes: [lane('a', [{ fail: { message: 'broke' } }])] } },
  'error-no-dispatch': { body: { prompt: 'p', lanes: [lane('a', [{ dispatch_err: 'unreachable' }])] } },
  cancelled: {
    body: { prompt: 'p', lanes: [lane('a', [{ partial: 'x' }, ...slow])] },
    act: async (product, id) => {
      await product.until(id, (status) => status.state === 'BUFFERING');
      await product.post(`/v1/sessions/${id}/cancel`);
    },
  },
};

const record = async (): Promise<void> => {
  const product = await startProduct();
  try {
    for (const [name, { body, act }] of Object.entries(stories)) {
      const id = `recorded-${name}`;
      await product.start({ ...body, id });
      await act?.(product, id);
      await product.until(id, (status) => status.lifecycle !== 'running');
      const handle = product.client.workflow.getHandle(id);
      await handle.result().catch(() => {});
      writeFileSync(`${folder}session-${name}.json`, `${historyToJSON(await handle.fetchHistory())}\n`);
      // A cancelled run's close event has no room for its outcome.
      if (name === 'cancelled')
        writeFileSync(cancelledOutcome, `${JSON.stringify(await product.status(id), null, 2)}\n`);
    }
  } finally {
    await product.stop();
  }
};

/** The status that a recorded run closed with, wherever its way of closing keeps it. */
const recordedOutcome = (history: ReturnType<typeof historyFromJSON>): unknown => {
  const last = history.events?.at(-1);
  const failure = last?.workflowExecutionFailedEventAttributes?.failure?.applicationFailureInfo?.details;
  const payloads = last?.workflowExecutionCompletedEventAttributes?.result?.payloads ?? failure?.payloads;
  if (last?.workflowExecutionCanceledEventAttributes) return JSON.parse(readFileSync(cancelledOutcome, 'utf8'));
  return payloads?.[0] ? defaultPayloadConverter.fromPayload(payloads[0]) : undefined;
};

// PARLEY_RECORD=1 npm run jest -- test/replay writes them anew, after a change that is meant to alter what happens.
if (process.env['PARLEY_RECORD'] === '1') beforeAll(record, 120_000);

describe('a recorded history replays to the outcome it was recorded with', () => {
  const files =
    process.env['PARLEY_RECORD'] === '1'
      ? Object.keys(stories).map((name) => `session-${name}.json`)
      : readdirSync(folder);
  test.each(files)('%s', async (file) => {
    const history = historyFromJSON(JSON.parse(readFileSync(folder + file, 'utf8')));
    const outcomes: unknown[] = [];
    await Worker.runReplayHistory(
      {
        workflowBundle: { codePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '' },
        sinks: {
          bus: {
            hint: { fn: () => {}, callDuringReplay: false },
            partial: { fn: () => {}, callDuringReplay: false },
          },
          trace: { outcome: { fn: (_, status) => void outcomes.push(status), callDuringReplay: true } },
        },
      },
      history,
      `recorded-${file.slice('session-'.length, -'.json'.length)}`,
    );
    const recorded = recordedOutcome(history) as SessionStatus;
    expect(recorded.state).toMatch(/^(COMPLETE|ERROR|CANCELLED)$/);
    expect(outcomes).toEqual([recorded]);
  });

  test('and every way a session can end is among them', () => {
    const names = readdirSync(folder).map((file) => file.slice('session-'.length, -'.json'.length));
    expect(names.toSorted()).toEqual(Object.keys(stories).toSorted());
  });
});
