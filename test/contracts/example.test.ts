import { openSessionSchema } from '../../src/contracts/session.js';

const example = {
  prompt: 'Which colour?',
  lanes: [
    {
      lane_id: 'a',
      persona: { persona_id: 'painter', instructions: '...' },
      tier: 'gold',
      weight: 1,
      adapter: { kind: 'scripted', script: [{ after_ms: 10, final: 'blue' }] },
    },
    { lane_id: 'b', tier: 'bronze', clones: 2, adapter: { kind: 'simulated', model: 'small', seed: 7 } },
  ],
  policy: {
    profile: 'full',
    reconciliation: 'consensus',
    threshold: 0.6,
    quorum_min: 2,
    count_partials: true,
    deadline_ms: 30000,
    agreement: { method: 'similarity', similarity_threshold: 0.85 },
    tier_weights: { gold: 1, silver: 1, bronze: 1 },
    elo_weights: false,
    provisional: { enabled: true, expiry_ms: 15000 },
    early_exit: { enabled: true, threshold: 0.85, wait_for_premium: false },
    arbiter: { allowed: true, max_usd: 0.1, adapter: { kind: 'scripted', script: [{ final: 'teal' }] } },
    escalation: { allowed: false, lane: {}, limit: 1 },
  },
  budget: { max_tokens: 20000, max_usd: 0.5 },
};

describe('the session of the wire specification', () => {
  test('is accepted as it is written', () => {
    expect(openSessionSchema.safeParse(example).error).toBeUndefined();
  });

  test('takes the very values it shows where they are left out', () => {
    const full = openSessionSchema.parse(example);
    const { arbiter: _, ...shown } = example.policy;
    const short = openSessionSchema.parse({ prompt: example.prompt, lanes: example.lanes });
    const { adapter: _adapter, ...arbiter } = full.policy.arbiter;
    expect({ ...short.policy, escalation: shown.escalation }).toMatchObject({
      ...shown,
      arbiter: { ...arbiter, allowed: false },
    });
    expect(short).toMatchObject({ tenant: 'default', labels: {}, budget: {} });
  });
});
