import type { InboxAnswered, InboxList } from '../../contracts/inbox.js';
import { exampleLinks } from './example-links.js';

const workId = 'debate-01JD8W3Z4X5Y6Z7A8B9C0D1E2F';

export const inboxListExample: InboxList = {
  items: [
    {
      work_id: workId,
      kind: 'debate',
      tenant: 'default',
      name: null,
      about: 'Add an index to orders',
      request: {
        request_id: 'fr-20261121-0a1b2c',
        type: 'approval',
        prompt: 'Run this plan? Consensus 0.82 after 1 pass.\nTask: Add an index to orders\n- t1: ["npm","test"]',
        options: [
          { value: 'approve', label: 'Approve', effect: 'the plan is run' },
          { value: 'reject', label: 'Reject', effect: 'the plan is blocked' },
        ],
        phase: 'execution',
        step: 'pass 1',
        digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        opened_at: '2026-11-21T10:00:00.000Z',
        expires_at: '2026-11-22T10:00:00.000Z',
        on_timeout: 'reject',
      },
      age_ms: 90_000,
      content: {
        work_id: workId,
        task: 'Add an index to orders',
        workspace: '/srv/shop',
        sandbox: { backend: 'auto', network: false },
        tasks: [{ task_id: 't1', argv: ['npm', 'test'] }],
        done: [],
      },
      policy_version: 'debate-1',
      approvals: 0,
      needed: 1,
      approved_by: [],
      may_answer: null,
      may_not_approve: 'olga',
      asked_before: 0,
      links: exampleLinks('debate', workId),
    },
  ],
  open: 1,
  unread: [],
  next_cursor: null,
};

export const inboxAnsweredExample: InboxAnswered = {
  applied: [
    {
      work_id: workId,
      request_id: 'fr-20261121-0a1b2c',
      response: 'approve',
      repeated: false,
      outcome: 'approved',
      approvals: 1,
      needed: 1,
    },
  ],
  warnings: [],
  errors: [
    {
      work_id: '125',
      request_id: 'fr-20261121-3d4e5f',
      code: 'invalid_request',
      message: '"aprove" is not offered for fr-20261121-3d4e5f; choose approve, request_changes, reject.',
      open: true,
      valid: ['approve', 'request_changes', 'reject'],
      meant: [],
    },
  ],
  reprompt:
    '### To be answered again\n\n- **125** (approve, request_changes, reject): "aprove" is not offered for ' +
    'fr-20261121-3d4e5f; choose approve, request_changes, reject.\n\n### Provide feedback\n\n    #125: approve',
};
