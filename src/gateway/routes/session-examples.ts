import type { SessionStarted, SessionStatus } from '../../contracts/session-status.js';
import { urlsOf } from '../../links.js';
import { exampleLinks } from './example-links.js';

// One story for the whole document: two lanes answer, they agree, the session completes.
const id = 'session-01JD8W3Z4X5Y6Z7A8B9C0D1E2F';
const at = '2026-11-20T10:00:00.000Z';
const links = exampleLinks('session', id);

export const openSessionExample = {
  prompt: 'Which colour?',
  lanes: [
    {
      lane_id: 'a',
      persona: { persona_id: 'painter', instructions: 'Answer as a painter.' },
      tier: 'gold' as const,
      adapter: {
        kind: 'scripted' as const,
        script: [
          { after_ms: 10, partial: 'bl' },
          { after_ms: 20, final: 'blue' },
        ],
      },
    },
    {
      lane_id: 'b',
      tier: 'bronze' as const,
      clones: 2,
      adapter: { kind: 'simulated' as const, model: 'small' as const, seed: 7, answer: 'blue' },
    },
  ],
  budget: { max_tokens: 20_000, max_usd: 0.5 },
};

export const startedExample: SessionStarted = {
  id,
  kind: 'session',
  ...urlsOf(links),
};

const lane = (laneId: string, weight = 1): SessionStatus['lanes'][number] => ({
  lane_id: laneId,
  state: 'FINALIZED',
  persona_id: laneId,
  diversity_seed: 1,
  tier: 'gold',
  weight,
  adapter: 'scripted',
  attempt: 1,
  answer: 'blue',
  lost: 0,
  late: 0,
  duplicates: 0,
  refused: 0,
  usage: { tokens: 12, usd: '0.0001' },
  reason: null,
  window: null,
});

export const statusExample: SessionStatus = {
  id,
  kind: 'session',
  tenant: 'default',
  labels: {},
  lifecycle: 'completed',
  state: 'COMPLETE',
  prompt: 'Which colour?',
  profile: 'full',
  lanes: [lane('a'), lane('b')],
  agreement: 1,
  threshold: 0.6,
  provisional: null,
  waiting: null,
  result: {
    answer: 'blue',
    policy: 'consensus',
    agreement: 1,
    for: [
      { lane_id: 'a', weight: 1 },
      { lane_id: 'b', weight: 1 },
    ],
    against: [],
    total_weight: 2,
    completed_count: 2,
    total_personas: 2,
    cancelled: [],
    escalated: false,
    arbiter_used: false,
    arbiter_fallback: null,
    below_threshold: false,
    partial: false,
    ended_by: 'all_final',
    saved: { tokens: 0, usd: '0' },
    winner: { lane_id: 'a', persona_id: 'a', clone: 1 },
    timing_ms: { first_partial: 12, provisional: null, final: 60 },
  },
  error: null,
  spend: { tokens: 24, usd: '0.0002' },
  dropped_events: 0,
  started_at: at,
  ended_at: '2026-11-20T10:00:02.000Z',
  links,
};
