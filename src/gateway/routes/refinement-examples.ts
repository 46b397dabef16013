import type { OpenRefinementBody, RefinementStarted } from '../../contracts/refinement.js';
import type { RefinementStatus } from '../../contracts/refinement-status.js';
import { urlsOf } from '../../links.js';
import { exampleLinks } from './example-links.js';

// One story for the whole document: the second version is good enough.
const id = 'refinement-01JD8W3Z4X5Y6Z7A8B9C0D1E2F';
const at = '2026-11-21T10:00:00.000Z';
const links = exampleLinks('refinement', id);
const drafts = ['Faster orders.', 'Orders load in half the time.'] as const;

export const openRefinementExample: OpenRefinementBody = {
  task: 'Write the release note of the index on orders, in a sentence',
  generator: {
    agent_id: 'writer',
    adapter: { kind: 'scripted', script: drafts.map((final) => ({ final })) },
  },
  critic: {
    agent_id: 'editor',
    adapter: {
      kind: 'scripted',
      script: [
        { final: '{"scores":{"clarity":0.5,"accuracy":0.6},"feedback":"Say by how much."}' },
        { final: '{"scores":{"clarity":0.9,"accuracy":0.9},"feedback":"Good."}' },
      ],
    },
    scoring: {
      rubric: [
        { criterion: 'clarity', weight: 1 },
        { criterion: 'accuracy', weight: 1 },
      ],
    },
  },
};

export const refinementStartedExample: RefinementStarted = {
  id,
  kind: 'refinement',
  ...urlsOf(links),
};

const critique = (score: number, improvement: number | null, feedback: string) => ({
  score,
  scores: { clarity: score, accuracy: score },
  feedback,
  issues: [],
  improvement,
  scoring_ms: 1_200,
  slow: false,
  calls: 1,
});
const usage = { tokens: 40, usd: '0' };
const history: RefinementStatus['history'] = [
  {
    version: 1,
    output: drafts[0],
    generating_ms: 900,
    critique: critique(0.55, null, 'Say by how much.'),
    usage,
    at,
  },
  { version: 2, output: drafts[1], generating_ms: 900, critique: critique(0.9, 0.35, 'Good.'), usage, at },
];

export const refinementStatusExample: RefinementStatus = {
  id,
  kind: 'refinement',
  tenant: 'default',
  labels: {},
  lifecycle: 'completed',
  state: 'COMPLETE',
  task: openRefinementExample.task,
  agents: [
    { role: 'generator', agent_id: 'writer', adapter: 'scripted', temperature: 0.7, calls: 2, usage },
    { role: 'critic', agent_id: 'editor', adapter: 'scripted', temperature: 0.3, calls: 2, usage },
  ],
  rubric: [
    { criterion: 'clarity', weight: 0.5 },
    { criterion: 'accuracy', weight: 0.5 },
  ],
  loop_control: {
    max_iterations: 3,
    quality_threshold: 0.8,
    improvement_threshold: 0.05,
    iteration_timeout_ms: 600_000,
  },
  output: { keep_history: true, output_best: true },
  iteration: 2,
  scores: [0.55, 0.9],
  best: { version: 2, score: 0.9, output: drafts[1] },
  history,
  waiting: null,
  result: {
    status: 'COMPLETE',
    reason: 'threshold_met',
    why: 'version 2 scores 0.9, at least quality_threshold 0.8',
    iterations: 2,
    version: 2,
    score: 0.9,
    scores: [0.55, 0.9],
    output: drafts[1],
    history,
  },
  error: null,
  spend: { tokens: 80, usd: '0' },
  dropped_events: 0,
  started_at: at,
  ended_at: at,
  links,
};
