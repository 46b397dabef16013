import type { FanOutStarted, OpenFanOutBody } from '../../contracts/fan-out.js';
import type { FanOutStatus } from '../../contracts/fan-out-status.js';
import { urlsOf } from '../../links.js';
import { exampleLinks } from './example-links.js';

// One story for the whole document: two researchers, one answer is in.
const id = '7d3f1c52-8a55-4b61-9a0e-0c9f6f1f2a11';
const at = '2026-11-21T10:00:00.000Z';
const links = exampleLinks('fan-out', id);

export const openFanOutExample: OpenFanOutBody = {
  workflow_id: id,
  agents: [
    {
      agent_id: 'ada',
      capabilities: ['sql'],
      adapter: { kind: 'scripted', script: [{ final: { indexes: 2 } }] },
    },
    {
      agent_id: 'bob',
      capabilities: ['docs'],
      adapter: { kind: 'scripted', script: [{ final: { pages: 7 } }] },
    },
  ],
  fan_out: {
    strategy: 'capability_match',
    tasks: [
      { task_id: 'schema', prompt: 'Which indexes are missing?', requires: ['sql'], input_artifacts: [] },
      { task_id: 'manual', prompt: 'Which pages are stale?', requires: ['docs'], input_artifacts: [] },
    ],
  },
  barrier: {},
  fan_in: { aggregation_strategy: 'merge' },
};

export const fanOutStartedExample: FanOutStarted = {
  id,
  kind: 'fan-out',
  ...urlsOf(links),
};

const task = {
  attempt: 1,
  queued_at: at,
  started_at: at,
  kept: null,
  artifacts: [],
  artifacts_cut: null,
  reason: null,
  late: false,
};

export const fanOutStatusExample: FanOutStatus = {
  id,
  kind: 'fan-out',
  tenant: 'default',
  labels: {},
  lifecycle: 'running',
  state: 'RUNNING',
  fan_out: { strategy: 'capability_match', max_concurrent: 5, queue_overflow: 'wait', queue_limit: null },
  fan_in: { aggregation_strategy: 'merge', conflict_resolution: 'first_wins' },
  agents: [
    { agent_id: 'ada', tasks: 1 },
    { agent_id: 'bob', tasks: 1 },
  ],
  tasks: [
    { ...task, task_id: 'schema', agent_id: 'ada', state: 'COMPLETED', ended_at: at, output: { indexes: 2 } },
    { ...task, task_id: 'manual', agent_id: 'bob', state: 'RUNNING', ended_at: null, output: null },
  ],
  barrier: {
    timeout_ms: 300_000,
    partial_mode: true,
    min_completion_ratio: 0.5,
    state: 'PARTIAL',
    total: 2,
    waiting: 1,
    completed: 1,
    failed: 0,
    ratio: 0.5,
    deadline_at: '2026-11-21T10:05:00.000Z',
    released_at: null,
    released_by: null,
  },
  waiting: {
    for: 'lane',
    since: at,
    detail: '1 of 2 tasks have not ended, 1 of them run, until 2026-11-21T10:05:00.000Z',
    who_can_unblock: 'the agents of these tasks, the timeout of the barrier, or a cancel',
  },
  result: null,
  error: null,
  spend: { tokens: 10, usd: '0' },
  dropped_events: 0,
  started_at: at,
  ended_at: null,
  links,
};
