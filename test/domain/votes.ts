import type { Json } from '../../src/contracts/frames.js';
import type { AgreementPolicy } from '../../src/contracts/session.js';
import type { Vote } from '../../src/domain/agreement.js';

/** Final votes named a, b, c … in lane order, silver and of weight 1 unless a change says otherwise. */
export const votesFor = (answers: readonly (Json | [Json, Partial<Vote>])[]): Vote[] =>
  answers.map((given, order) => {
    const isChanged = Array.isArray(given) && given.length === 2 && isChange(given[1]);
    const [answer, change] = isChanged ? (given as [Json, Partial<Vote>]) : [given as Json, {}];
    const laneId = String.fromCharCode(97 + order);
    const final = change.final ?? true;
    return { laneId, order, weight: 1, tier: 'silver', answer, final, endedAt: final ? 100 : null, ...change };
  });
const changes = new Set(['laneId', 'weight', 'tier', 'final', 'endedAt', 'order']);
const isChange = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).every((name) => changes.has(name));

export const by = (method: AgreementPolicy['method'], change: Partial<AgreementPolicy> = {}): AgreementPolicy => ({
  method,
  similarity_threshold: 0.85,
  ...change,
});
