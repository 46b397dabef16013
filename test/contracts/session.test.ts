import { openSessionSchema } from '../../src/contracts/session.js';

describe('a session that says only what it must', () => {
  const session = openSessionSchema.parse({
    prompt: 'Which colour?',
    lanes: [{ lane_id: 'a', adapter: { kind: 'scripted', script: [{ final: 'blue' }] } }],
  });

  test('has the defaults of the specification', () => {
    expect(session).toMatchObject({
      tenant: 'default',
      lanes: [{ tier: 'silver', weight: 1, clones: 1 }],
      policy: {
        profile: 'full',
        reconciliation: 'consensus',
        threshold: 0.6,
        quorum_min: 2,
        count_partials: true,
        deadline_ms: 30_000,
        gaps: { fragment_ms: 500, message_ms: 5_000 },
        pause_grace_ms: 5_000,
        agreement: { method: 'similarity', similarity_threshold: 0.85 },
        tier_weights: { gold: 1, silver: 1, bronze: 1 },
        elo_weights: false,
        provisional: { enabled: true, expiry_ms: 15_000 },
        early_exit: { enabled: true, threshold: 0.85, wait_for_premium: false },
        arbiter: { allowed: false, max_usd: 0.1 },
        escalation: { allowed: false, limit: 1 },
      },
    });
  });

  test('means the same as one that spells its defaults out', () => {
    expect(openSessionSchema.parse(session)).toEqual(session);
  });
});
