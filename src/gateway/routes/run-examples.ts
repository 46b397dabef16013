import type { OpenRunBody, RunStarted } from '../../contracts/run.js';
import type { RunStatus } from '../../contracts/run-status.js';
import { urlsOf } from '../../links.js';
import { exampleLinks } from './example-links.js';

// One story for the whole document: the tests pass, and a person is asked whether to release.
const id = 'run-01JD8W3Z4X5Y6Z7A8B9C0D1E2F';
const at = '2026-11-21T10:00:00.000Z';
const later = '2026-11-21T10:00:04.000Z';
const links = exampleLinks('run', id);
const free = { tokens: 0, usd: '0' };

export const openRunExample: OpenRunBody = {
  work_id: '124',
  workspace: { repo: '/srv/projects/shop', branch: 'parley/124' },
  phases: [
    {
      name: 'evaluate',
      steps: [{ name: 'test', kind: 'command', with: { argv: ['npm', 'test'] }, on_error: 'ask' }],
    },
    { name: 'release', steps: [{ name: 'sure', kind: 'gate', gate: { prompt: 'Release it?' } }] },
  ],
};

export const runStartedExample: RunStarted = {
  id,
  kind: 'run',
  ...urlsOf(links),
};

const request_id = 'fr-20261121-0a1b2c';

/** What whether to release may be answered by. */
export const releaseOptions = [
  { value: 'approve', label: 'Approve', effect: 'completes the run' },
  {
    value: 'request_changes',
    label: 'Request changes',
    effect: 'does evaluate -> test again with the comment',
  },
  { value: 'reject', label: 'Reject', effect: 'cancels the run; what it has done stays' },
];

export const runStatusExample: RunStatus = {
  id,
  kind: 'run',
  tenant: 'default',
  labels: {},
  lifecycle: 'waiting',
  state: 'awaiting_feedback',
  work_id: '124',
  workspace: { path: `/var/lib/parley/runs/${id}`, from: '/srv/projects/shop', branch: 'parley/124' },
  phase: 'release',
  step: 'sure',
  phases: [
    {
      name: 'evaluate',
      steps: [
        {
          name: 'test',
          kind: 'command',
          state: 'completed',
          on_error: 'ask',
          attempts: [
            {
              attempt: 1,
              work_id: null,
              outcome: 'completed',
              error: null,
              comment: null,
              spend: free,
              started_at: at,
              ended_at: later,
            },
          ],
          output: { exit_code: 0, stdout: '12 passed', stderr: '' },
        },
      ],
    },
    {
      name: 'release',
      steps: [{ name: 'sure', kind: 'gate', state: 'awaiting_feedback', on_error: 'fail', attempts: [], output: null }],
    },
  ],
  feedback: [
    {
      request: {
        request_id,
        type: 'approval',
        prompt: 'Release it?',
        options: releaseOptions,
        phase: 'release',
        step: 'sure',
        digest: '5f'.repeat(32),
        opened_at: later,
        expires_at: null,
        on_timeout: 'reject',
      },
      state: 'open',
      answers: [],
      refused: [],
      refused_count: 0,
      closed_at: null,
      outcome: 'pending',
      policy_version: 'run-1',
      needed: 1,
      approvers: null,
      started_by: null,
      requires_authentication: false,
      escalate_at: null,
      escalate_to: [],
      escalated: false,
      used_at: null,
    },
  ],
  refused: [],
  next: [],
  waiting: {
    for: 'person',
    since: later,
    detail: `approval ${request_id} at release -> sure: approve, request_changes, reject`,
    who_can_unblock: 'whoever may approve',
  },
  result: null,
  error: null,
  spend: free,
  dropped_events: 0,
  started_at: at,
  ended_at: null,
  links,
};
