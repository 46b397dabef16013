import type { DebateStarted, OpenDebateBody } from '../../contracts/debate.js';
import type { DebateStatus } from '../../contracts/debate-status.js';
import { urlsOf } from '../../links.js';
import { exampleLinks } from './example-links.js';

// One story for the whole document: the plan is agreed on in one pass and runs.
const id = 'debate-01JD8W3Z4X5Y6Z7A8B9C0D1E2F';
const at = '2026-11-21T10:00:00.000Z';
const links = exampleLinks('debate', id);
const roles = ['analyst', 'solution', 'critic', 'security', 'optimizer'] as const;

const says = (position: string, more = ''): OpenDebateBody['roles']['analyst'] => ({
  adapter: {
    kind: 'scripted',
    script: [{ final: `{"stance":"for","confidence":0.9,"position":"${position}"${more}}` }],
  },
});

export const openDebateExample: OpenDebateBody = {
  task: 'Add an index to orders',
  workspace: { path: '/srv/projects/shop' },
  healing: { check: { argv: ['npm', 'run', 'health'] } },
  roles: {
    analyst: says('The query on customer_id is slow.'),
    solution: says('One migration.', ',"plan":{"tasks":[{"task_id":"t1","argv":["npm","run","migrate"]}]}'),
    critic: says('Nothing is missing.'),
    security: says('It stays inside.'),
    optimizer: says('Fine.'),
  },
};

export const debateStartedExample: DebateStarted = {
  id,
  kind: 'debate',
  ...urlsOf(links),
};

const vote = (role: (typeof roles)[number], weight: number): DebateStatus['votes'][number] => ({
  role,
  persona_id: role,
  pass: 1,
  stance: 'for',
  confidence: 0.9,
  weight,
});
const votes = [
  vote('analyst', 1),
  vote('solution', 1.2),
  vote('critic', 1.5),
  vote('security', 2),
  vote('optimizer', 0.8),
];

export const debateStatusExample: DebateStatus = {
  id,
  kind: 'debate',
  tenant: 'default',
  labels: {},
  lifecycle: 'running',
  state: 'EXECUTING',
  task: 'Add an index to orders',
  workspace: { path: '/srv/projects/shop', locks: {} },
  limits: {
    refinements: 3,
    max_repairs: 2,
    proceed: 0.6,
    refine_below: 0.8,
    veto: 0.9,
    top_k: 5,
    answer_timeout_ms: 120_000,
  },
  sandbox: { backend: 'auto', network: false },
  healing: {
    check: { argv: ['npm', 'run', 'health'], cwd: '.', env: {}, stdin: '', timeout_ms: 30_000 },
    timeout_ms: 300_000,
  },
  roles: roles.map((role) => ({
    role,
    persona_id: role,
    adapter: 'scripted',
    elo: 1200,
    calls: 1,
    usage: { tokens: 20, usd: '0' },
  })),
  pass: 1,
  refinements: 0,
  tags: [{ tag: 'database', score: 0.8 }],
  statements: [],
  plan: { tasks: [] },
  plan_from_pass: 1,
  consensus: 1,
  votes,
  duels: [],
  feedback: [],
  report: null,
  repairs: [],
  waiting: { for: 'worker', since: at, detail: 'task t1 runs: npm run migrate', who_can_unblock: 'a worker' },
  result: null,
  error: null,
  spend: { tokens: 100, usd: '0' },
  dropped_events: 0,
  started_at: at,
  ended_at: null,
  links,
};
