import type { CoordinatorAnswer, CoordinatorStarted, OpenCoordinatorBody } from '../../contracts/coordinator.js';
import type {
  Aggregation,
  CoordinatorReport,
  CoordinatorReports,
  CoordinatorStatus,
} from '../../contracts/coordinator-status.js';
import { promptOf } from '../../domain/coordinator/prompt.js';
import { urlsOf } from '../../links.js';
import { exampleLinks } from './example-links.js';
import { openRunExample, releaseOptions } from './run-examples.js';

// One story for the whole document: one of three runs is done, one asks for an approval, and one has failed.
const id = 'coordinator-01JD8W3Z4X5Y6Z7A8B9C0D1E2F';
const at = '2026-11-21T10:00:00.000Z';
const later = '2026-11-21T10:02:00.000Z';
const links = exampleLinks('coordinator', id);

const { work_id: _, ...plan } = openRunExample;
export const openCoordinatorExample: OpenCoordinatorBody = {
  work_ids: ['123', '124', '125'],
  run: { ...plan, workspace: { repo: '/srv/projects/shop' } } as never,
  wait_timeout_ms: 3_600_000,
};

export const coordinatorStartedExample: CoordinatorStarted = {
  id,
  kind: 'coordinator',
  ...urlsOf(links),
};

const request_id = 'fr-20261121-0a1b2c';
const run = (number: number, work_id: string) => ({
  run_id: `${id}.run.${number}`,
  work_id,
  branch: `parley/${id}.run.${number}`,
});

const aggregation: Aggregation = {
  coordinator_id: 'coord-20261121-5d6e7f',
  report: '001-initial',
  aggregated_at: later,
  summary: { total_runs: 3, completed: 1, awaiting_feedback: 1, error: 1, cancelled: 0, unknown: 0, resume_failed: 0 },
  needs_feedback: true,
  runs: [
    {
      ...run(1, '123'),
      status: 'completed',
      outcome: 'all 2 steps are done',
      artifacts: { pr_url: 'https://git.example/acme/shop/pull/7' },
    },
    {
      ...run(2, '124'),
      status: 'awaiting_feedback',
      feedback_request: {
        request_id,
        type: 'approval',
        prompt: 'Release it?',
        options: releaseOptions,
        phase: 'release',
        step: 'sure',
        digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        opened_at: later,
        expires_at: null,
        on_timeout: null,
      },
    },
    {
      ...run(3, '125'),
      status: 'error',
      error: { phase: 'evaluate', step: 'test', message: 'EAGENTDOWN: it exited with 1', retryable: true },
      feedback_request: {
        request_id: 'fr-20261121-3d4e5f',
        type: 'error_resolution',
        prompt: 'evaluate -> test has failed. EAGENTDOWN: it exited with 1',
        options: [
          { value: 'retry', label: 'Retry', effect: 'does evaluate -> test again' },
          { value: 'abort', label: 'Abort', effect: 'cancels the run; what it has done stays' },
        ],
        phase: 'evaluate',
        step: 'test',
        digest: null,
        opened_at: later,
        expires_at: null,
        on_timeout: null,
      },
    },
  ],
};

/** What a person is shown of it. */
export const promptExample = promptOf(aggregation);
export const coordinatorReportExample: CoordinatorReport = { ...aggregation, prompt: promptExample };

const { report, aggregated_at, summary } = aggregation;
export const coordinatorReportsExample: CoordinatorReports = {
  items: [{ number: 1, report, aggregated_at, summary }],
};

export const coordinatorStatusExample: CoordinatorStatus = {
  id,
  kind: 'coordinator',
  tenant: 'default',
  labels: {},
  lifecycle: 'waiting',
  state: 'PRESENTING',
  coordinator_id: aggregation.coordinator_id,
  total_runs: 3,
  runs: aggregation.runs.map(({ run_id, work_id, branch = '', status }) => ({ run_id, work_id, status, branch })),
  aggregation,
  prompt: promptExample,
  reports: [{ report, aggregated_at, summary }],
  history: [],
  feedback: [],
  last_answer: null,
  waiting: {
    for: 'person',
    since: later,
    detail: 'answers for 2 of 3 runs: #124, #125',
    who_can_unblock: `whoever may approve: POST ${links.self}/responses`,
  },
  result: null,
  error: null,
  spend: { tokens: 0, usd: '0' },
  dropped_events: 0,
  started_at: at,
  ended_at: null,
  links,
};

export const coordinatorAnswerExample: CoordinatorAnswer = {
  applied: [{ work_id: '124', run_id: `${id}.run.2`, request_id, response: 'approve', comment: null }],
  warnings: ['line 2: #123 takes no answer now: it is completed; skipped.'],
  errors: [
    {
      work_id: '125',
      message: 'line 3: "skip" is not offered for #125; choose retry, abort.',
      valid: ['retry', 'abort'],
    },
  ],
  reprompt: '### Please Answer Again\n\n- line 3: "skip" is not offered for #125; choose retry, abort.\n',
};
