import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defaultPayloadConverter } from '@temporalio/common';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Spend } from '../../src/contracts/work.js';
import { openDebateState } from '../../src/domain/debate/state.js';
import { openFanOutState } from '../../src/domain/fan-out/state.js';
import { openRefinementState } from '../../src/domain/refinement/state.js';
import { openRunState } from '../../src/domain/run/state.js';
import { openSessionState } from '../../src/domain/session/state.js';
import { createReplayer } from '../../temporal/replaying.js';

const used = { tokens: 7, usdMicros: 3 };

/** States as they were before work carried a ledger, with what was used by then where it stood. */
const before = {
  session: (work: ReturnType<typeof openSessionState>) => ({ ...work, overhead: used }),
  debate: (work: ReturnType<typeof openDebateState>) => ({ ...work, usage: { ...work.usage, critic: used } }),
  refinement: (work: ReturnType<typeof openRefinementState>) => ({ ...work, usage: { ...work.usage, critic: used } }),
  'fan-out': (work: ReturnType<typeof openFanOutState>) => ({ ...work, spent: used }),
  run: (work: ReturnType<typeof openRunState>) => {
    // Of a gate, which is not tried: what a try is called depends on how many there were.
    const gate = work.steps.at(-1);
    const failed = {
      attempt: 1,
      workId: null,
      outcome: 'failed',
      error: null,
      comment: null,
      startedAt: 0,
      endedAt: 0,
    };
    return { ...work, steps: [...work.steps.slice(0, -1), { ...gate, attempts: [{ ...failed, usage: used }] }] };
  },
};
const open = {
  session: openSessionState,
  debate: openDebateState,
  refinement: openRefinementState,
  'fan-out': openFanOutState,
  run: openRunState,
};
/** What the workflows keep beside. */
const beside = {
  session: { inbox: [{ type: 'FAN_OUT' }], feeds: {}, groups: [], judgeCalls: 0 },
  debate: { inbox: [{ type: 'START' }], hostQueue: null },
  refinement: { inbox: [{ type: 'START' }] },
  'fan-out': { inbox: [{ type: 'START' }], hostQueue: null },
  run: { inbox: [{ type: 'START' }], hostQueue: null, gitFolder: null },
};

describe('work that a run carries from before it kept a ledger', () => {
  const replayer = createReplayer({ bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '' });
  afterAll(() => replayer.close());

  test.each([
    ['session', 'complete-all-final'],
    ['debate', 'succeeded'],
    ['refinement', 'complete-after-feedback'],
    ['fan-out', 'complete'],
    ['run', 'completed-after-an-approval'],
  ] as const)('goes on with what it had used: a %s', async (kind, name) => {
    const file = fileURLToPath(new URL(`histories/${kind}-${name}.json`, import.meta.url));
    const history = historyFromJSON(JSON.parse(readFileSync(file, 'utf8')));
    const begun = history.events?.[0];
    const input = begun?.workflowExecutionStartedEventAttributes?.input;
    const setup = defaultPayloadConverter.fromPayload(input!.payloads![0]!) as never;
    const now = Number(begun!.eventTime!.seconds) * 1_000;
    const { ledger: _, ...work } = before[kind](open[kind](setup, now) as never) as { ledger?: unknown };
    const carried = { work, events: [], eventsBefore: 0, previousRunId: null, ...beside[kind] };
    input!.payloads![1] = defaultPayloadConverter.toPayload(carried);
    const outcomes: unknown[] = [];
    const onOutcome = (outcome: unknown) => void outcomes.push(outcome);
    await replayer.replay({ history, workId: `recorded-${name}`, onOutcome });
    const last = history.events?.at(-1)?.workflowExecutionCompletedEventAttributes?.result?.payloads?.[0];
    const recorded = defaultPayloadConverter.fromPayload(last!) as { state: string; spend: Spend };
    expect(outcomes).toEqual([expect.objectContaining({ state: recorded.state })]);
    const [{ spend }] = outcomes as [{ spend: Spend }];
    expect(spend.tokens).toBe(recorded.spend.tokens + used.tokens);
  });
});
