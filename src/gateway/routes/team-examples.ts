import type { OpenTeamBody, TeamStarted } from '../../contracts/team.js';
import type { AgentStatus, ContextInfo, PatternAnswer, TeamStatus } from '../../contracts/team-status.js';
import { urlsOf } from '../../links.js';
import { exampleLinks } from './example-links.js';

// One story for the whole document: a lead has spawned a reader and waits for it.
const id = 'team-01JD8W3Z4X5Y6Z7A8B9C0D1E2F';
const at = '2026-11-21T10:00:00.000Z';
const later = '2026-11-21T10:00:02.000Z';
const links = exampleLinks('team', id);
const free = { tokens: 0, usd: '0' };

export const openTeamExample: OpenTeamBody = {
  agents: [
    {
      agent_id: 'lead',
      role: 'planner',
      instructions: 'You plan, and give the work to others.',
      adapter: { kind: 'anthropic', model: 'claude-haiku-4-5' },
      tools: ['spawn_sub_agent', 'delegate', 'wait_for_agents', 'read_file', 'search_files'],
      prompt: 'What would it take to add an index to orders?',
    },
  ],
  max_concurrent: 4,
  keep_open: true,
  budget: { max_usd: 1 },
};

export const teamStartedExample: TeamStarted = {
  id,
  kind: 'team',
  ...urlsOf(links),
};

const agent: AgentStatus = {
  agent_id: 'lead',
  state: 'RUNNING',
  result: null,
  error: null,
  metadata: {},
  role: 'planner',
  parent: null,
  turns: 1,
  queued: 0,
  streaming: false,
  text: null,
  waiting_for: ['reader'],
  spend: { tokens: 420, usd: '0.0012' },
  spawned_at: at,
  started_at: at,
  ended_at: null,
};

export const agentStatusExample: AgentStatus = {
  ...agent,
  agent_id: 'reader',
  role: 'agent',
  parent: 'lead',
  streaming: true,
  text: 'The table orders has',
  waiting_for: [],
  spend: free,
  spawned_at: later,
  started_at: later,
};

export const teamStatsExample: TeamStatus['stats'] = {
  max_concurrent: 4,
  total_agents: 2,
  by_state: { PENDING: 0, RUNNING: 2, PAUSED: 0, COMPLETED: 0, FAILED: 0, CANCELLED: 0 },
  free_slots: 3,
  concurrent: 1,
  queue_depth: 0,
  latency_ms: null,
  slot_wait_ms: { count: 2, p50: 0, p90: 3, p95: 3, p99: 3 },
};

export const teamStatusExample: TeamStatus = {
  id,
  kind: 'team',
  tenant: 'default',
  labels: {},
  lifecycle: 'running',
  state: 'OPEN',
  keep_open: true,
  closed: false,
  subagents_enabled: true,
  agents: [agent, agentStatusExample],
  delegations: [],
  stats: teamStatsExample,
  feedback: [],
  asked_call: null,
  waiting: {
    for: 'lane',
    since: at,
    detail: 'agents: 2 running, 0 paused, 0 waiting for one of 4 slots',
    who_can_unblock: 'the agents, or a cancel',
  },
  result: null,
  error: null,
  spend: { tokens: 420, usd: '0.0012' },
  dropped_events: 0,
  started_at: at,
  ended_at: null,
  links,
};

export const contextInfoExample: ContextInfo = {
  agent_id: 'reader',
  has_window: true,
  parent: 'lead',
  shares_with_parent: false,
  shares_session_with_parent: false,
  shares_with: [],
  children: [],
  children_sharing: [],
  stats: {
    limit_tokens: 100_000,
    used_tokens: 64,
    free_tokens: 99_936,
    base_tokens: 0,
    own_tokens: 64,
    messages: { system: 1, context: 0, dialog: 1, tool: 0 },
    trimmed_messages: 0,
  },
  notices: [],
};

const answered = (role: string, handledBy: string, answer: string): PatternAnswer['lineage'][number] => ({
  role,
  handled_by: handledBy,
  answer,
  error: null,
});

/** What patterns come to; the team has two lite agents for the role reviewer. */
export const patternExamples = {
  round_robin: {
    status: 'completed',
    answer: ['It has 12 columns.', 'It has 3 indexes.'],
    lineage: [answered('reader', 'reader', 'It has 12 columns.'), answered('reader', 'reader', 'It has 3 indexes.')],
  },
  role_chain: {
    status: 'completed',
    answer: 'Approved.\nApproved.',
    lineage: [
      answered('planner', 'lead', 'Add it concurrently.'),
      { role: 'implementer', handled_by: 'none', answer: null, error: null },
      answered('reviewer', 'lite-reviewer-1, lite-reviewer-2', 'Approved.\nApproved.'),
    ],
  },
  send_to_role: {
    status: 'completed',
    answer: 'Yes.\nYes, at night.',
    lineage: [answered('reviewer', 'lite-reviewer-1, lite-reviewer-2', 'Yes.\nYes, at night.')],
  },
  broadcast: {
    status: 'completed',
    answer: ['Writes get slower.', 'Nothing.\nIts size.'],
    lineage: [
      answered('reader', 'reader', 'Writes get slower.'),
      answered('reviewer', 'lite-reviewer-1, lite-reviewer-2', 'Nothing.\nIts size.'),
    ],
  },
} satisfies Record<string, PatternAnswer>;
