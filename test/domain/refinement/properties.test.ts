import fc from 'fast-check';
import { refinementEventSchema } from '../../../src/contracts/refinement-events.js';
import { refinementStatusSchema } from '../../../src/contracts/refinement-status.js';
import { add } from '../../../src/domain/budget.js';
import { addsUp } from '../../../src/domain/ledger/settle.js';
import type { CritiqueOutcome, GenerateOutcome } from '../../../src/domain/refinement/effects.js';
import { isOver } from '../../../src/domain/refinement/refinement.js';
import { refinementStatus } from '../../../src/domain/refinement/view.js';
import { spentOf } from '../../../src/domain/work-account.js';
import { RefinementPlay } from '../../support/refinement-play.js';

const down = { outcome: 'failed' as const, code: 'EAGENTDOWN', message: 'gone' };
const failure = fc.constantFrom<typeof down | { outcome: 'timeout' }>(down, { outcome: 'timeout' });
const output = fc.oneof(fc.string(), fc.constantFrom(null, 0, { text: 'x' }));
const generated: fc.Arbitrary<GenerateOutcome> = fc.oneof(
  { weight: 9, arbitrary: output.map((made) => ({ outcome: 'generated' as const, output: made })) },
  { weight: 1, arbitrary: failure },
);
const critiqued: fc.Arbitrary<CritiqueOutcome> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.integer({ min: 0, max: 20 }).map((twentieth) => ({
      outcome: 'scored' as const,
      critique: { score: twentieth / 20, scores: null, feedback: 'go on', issues: [] },
    })),
  },
  { weight: 2, arbitrary: fc.constant<CritiqueOutcome>({ outcome: 'unscored', faults: ['none'] }) },
  { weight: 1, arbitrary: failure },
);
const move = fc.record({
  generated,
  critiqued,
  tokens: fc.integer({ min: 0, max: 40 }),
  ms: fc.constantFrom(0, 1, 40_000, 400_000),
  // Now and then something comes that nobody waits for, or a person ends it.
  stray: fc.constantFrom('none', 'none', 'none', 'none', 'answer', 'tick', 'cancel'),
});
const random = fc.record({
  loop_control: fc.record({
    max_iterations: fc.integer({ min: 1, max: 5 }),
    quality_threshold: fc.constantFrom(0, 0.5, 0.8, 1),
    improvement_threshold: fc.constantFrom(0, 0.05, 0.5),
  }),
  output: fc.record({ keep_history: fc.boolean(), output_best: fc.boolean() }),
  max_tokens: fc.constantFrom(0, 60, 1_000),
  moves: fc.array(move, { minLength: 12, maxLength: 12 }),
});

/** Plays to the end: after the random moves nobody answers any more. */
const play = ({
  loop_control,
  output: kept,
  max_tokens,
  moves,
}: typeof random extends fc.Arbitrary<infer T> ? T : never) => {
  const at = new RefinementPlay({ loop_control, output: kept, budget: { max_tokens } }).start();
  for (const { generated: made, critiqued: said, tokens, ms, stray } of moves) {
    at.after(ms);
    if (stray === 'tick') at.take({ type: 'TICK' });
    if (stray === 'cancel') at.cancel();
    if (stray === 'answer') at.take({ type: 'CRITIQUED', id: 99, outcome: said, usage: { tokens: 1, usdMicros: 0 } });
    if (isOver(at.refinement)) continue;
    if (at.pending.type === 'generate') at.generated(made, { tokens, usdMicros: 0 });
    else at.critiqued(said, { tokens, usdMicros: 0 });
  }
  while (!isOver(at.refinement)) at.wait();
  return at;
};
/** From the title, so that every fact has plays of its own, and a failure is the same for everybody. */
const seed = (): number =>
  Array.from(expect.getState().currentTestName ?? '').reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) | 0, 7);
const always = (claim: (at: RefinementPlay) => void): void =>
  fc.assert(
    fc.property(random, (given) => claim(play(given))),
    { seed: seed(), numRuns: 120 },
  );

describe('a refinement, whatever happens to it,', () => {
  test('ends, with a status and events that their contracts accept', () => {
    always((at) => {
      expect(refinementStatusSchema.safeParse(refinementStatus(at.refinement)).error).toBeUndefined();
      expect(at.events.flatMap((event) => refinementEventSchema.safeParse(event).error ?? [])).toEqual([]);
      expect([at.refinement.pending, at.refinement.endedAt === null]).toEqual([null, false]);
    });
  });

  test('has a result or an error or was cancelled, never two of them', () => {
    always((at) => {
      const { result, error, state } = at.refinement;
      expect([result !== null, error !== null, state === 'CANCELLED'].filter(Boolean)).toHaveLength(1);
      expect(at.told('final')).toHaveLength(result ? 1 : 0);
    });
  });

  test('has spent what both used, and holds nothing in the end', () => {
    always((at) => {
      const { ledger, usage } = at.refinement;
      expect(spentOf(ledger)).toEqual(add(usage.generator, usage.critic));
      expect([ledger.calls, addsUp(ledger)]).toEqual([[], true]);
    });
  });

  test('makes at most max_iterations versions, and asks the critic at most twice for each', () => {
    always((at) => {
      const { setup, versions, calls, iteration } = at.refinement;
      expect(iteration).toBeLessThanOrEqual(setup.loop.max_iterations);
      expect(calls.generator).toBeLessThanOrEqual(iteration);
      expect(calls.critic).toBeLessThanOrEqual(versions.length * 2);
    });
  });

  test('gives back the highest score, of equals the earliest, or else the last', () => {
    always((at) => {
      const { result, setup } = at.refinement;
      if (!result) return;
      const best = setup.output.output_best
        ? result.scores.indexOf(Math.max(...result.scores))
        : result.scores.length - 1;
      expect([result.version, result.score]).toEqual([best + 1, result.scores[best]]);
      expect(result.status === 'COMPLETE').toBe(result.reason === 'threshold_met');
    });
  });

  test('writes another version only after a score that is too low and a gain that is enough', () => {
    always((at) => {
      const { loop } = at.refinement.setup;
      const { scores } = refinementStatus(at.refinement);
      const followed = scores.slice(0, Math.max(0, at.refinement.iteration - 1));
      for (const [index, score] of followed.entries()) {
        expect(score).toBeLessThan(loop.quality_threshold);
        if (index > 0) expect(score - followed[index - 1]!).toBeGreaterThan(loop.improvement_threshold - 1e-8);
      }
    });
  });

  test('counts every token of every call that was heard', () => {
    always((at) => {
      const { usage, versions } = at.refinement;
      const ofVersions = versions.reduce((sum, version) => sum + version.usage.tokens, 0);
      expect(usage.generator.tokens + usage.critic.tokens).toBeGreaterThanOrEqual(ofVersions);
    });
  });
});
