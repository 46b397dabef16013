import fc from 'fast-check';
import { refinementEventSchema } from '../../../src/contracts/refinement-events.js';
import { refinementStatusSchema } from '../../../src/contracts/refinement-status.js';
import { spentOf } from '../../../src/domain/work-account.js';
import type { CritiqueOutcome, GenerateOutcome } from '../../../src/domain/refinement/effects.js';
import { forkRefinement } from '../../../src/domain/refinement/fork.js';
import { isOver, nextDue } from '../../../src/domain/refinement/refinement.js';
import type { RefinementSetup } from '../../../src/domain/refinement/setup.js';
import type { RefinementState } from '../../../src/domain/refinement/state.js';
import { refinementStatus } from '../../../src/domain/refinement/view.js';
import { played, RefinementPlay, scored, type RefinementBody } from '../../support/refinement-play.js';
import { deepFreeze } from '../../support/deep-freeze.js';

/** A day after the refinement that it is forked from. */
const dayMs = 86_400_000;

/** A fork, with its first event taken; its setup is the old one's but for `change`. */
const forked = (work: RefinementState, change: Partial<RefinementSetup> = {}): RefinementPlay => {
  const play = new RefinementPlay();
  play.now += dayMs;
  const fork = forkRefinement(work, { ...work.setup, id: 'fork-1', ...change }, play.now);
  play.work = deepFreeze(fork.work);
  return play.take(fork.first);
};
const loop = (work: RefinementState, change: Partial<RefinementSetup['loop']>): Partial<RefinementSetup> => ({
  loop: { ...work.setup.loop, ...change },
});
const asked = ({ refinement }: RefinementPlay): string => {
  const { pending } = refinement;
  return pending === null ? refinement.state : `${pending.type} ${pending.iteration}`;
};

type Answer = { generated: GenerateOutcome } | { critiqued: CritiqueOutcome };
const answer = (play: RefinementPlay, given: Answer): void => {
  play.after(3);
  if ('generated' in given) play.generated(given.generated);
  else play.critiqued(given.critiqued);
};
/** What came of it, without how long it took, and what it cost: whoever failed is paid for failing again. */
const outcome = ({ refinement }: RefinementPlay): unknown => {
  const { state, result, error } = refinement;
  const text = JSON.stringify({ state, result, error });
  return JSON.parse(text.replaceAll(/"(generating_ms|scoring_ms|at|tokens)":("[^"]*"|\d+)/g, '"$1":0'));
};

const down = { outcome: 'failed' as const, code: 'EAGENTDOWN', message: 'gone' };
const random = fc.record({
  loop_control: fc.record({
    max_iterations: fc.integer({ min: 1, max: 5 }),
    quality_threshold: fc.constantFrom(0, 0.5, 0.8, 1),
    improvement_threshold: fc.constantFrom(0, 0.05),
  }),
  answers: fc.array(
    fc.record({
      generated: fc.oneof(
        { weight: 9, arbitrary: fc.constant<GenerateOutcome>({ outcome: 'generated', output: 'text' }) },
        { weight: 1, arbitrary: fc.constantFrom<GenerateOutcome>(down, { outcome: 'timeout' }) },
      ),
      critiqued: fc.oneof(
        { weight: 8, arbitrary: fc.integer({ min: 0, max: 20 }).map((score) => scored(score / 20)) },
        { weight: 2, arbitrary: fc.constant<CritiqueOutcome>({ outcome: 'unscored', faults: ['none'] }) },
        { weight: 1, arbitrary: fc.constantFrom<CritiqueOutcome>(down, { outcome: 'timeout' }) },
      ),
    }),
    { minLength: 16, maxLength: 16 },
  ),
});

describe('a fork of a refinement', () => {
  test('with nothing changed comes to the same, from whatever point of it, and so does a fork of the fork', () => {
    const claim = fc.property(random, ({ loop_control, answers }) => {
      const play = new RefinementPlay({ loop_control }).start();
      const moments: RefinementState[] = [play.refinement];
      const given: Answer[] = [];
      for (const each of answers) {
        if (isOver(play.refinement)) break;
        const next: Answer =
          play.pending.type === 'generate' ? { generated: each.generated } : { critiqued: each.critiqued };
        given.push(next);
        answer(play, next);
        moments.push(play.refinement);
      }
      moments.forEach((work, index) => {
        // Whoever failed in the end is asked again, and fails again.
        const rest = isOver(work) ? given.slice(-1) : given.slice(index);
        const fork = forked(work);
        expect([fork.refinement.startedAt, spentOf(fork.refinement.ledger)]).toEqual([
          fork.now,
          { tokens: 0, usdMicros: 0 },
        ]);
        expect(fork.refinement.pending?.id ?? 1).toBe(1);
        expect(nextDue(fork.refinement) ?? Infinity).toBeGreaterThan(fork.now);
        expect(fork.refinement.versions).toEqual(work.versions);
        const again = forked(fork.refinement);
        for (const on of [fork, again]) {
          for (const next of rest) if (!isOver(on.refinement)) answer(on, next);
          expect(outcome(on)).toEqual(outcome(play));
          expect(refinementStatusSchema.safeParse(refinementStatus(on.refinement)).error).toBeUndefined();
          expect(on.events.flatMap((event) => refinementEventSchema.safeParse(event).error ?? [])).toEqual([]);
        }
      });
    });
    fc.assert(claim, { seed: 5, numRuns: 40 });
  });

  const body: RefinementBody = {
    loop_control: { max_iterations: 3, quality_threshold: 0.9, improvement_threshold: 0.05 },
  };
  test.each<[string, RefinementPlay, Partial<RefinementSetup['loop']>, string]>([
    ['with more iterations goes on', played(body, 0.1, 0.3, 0.5), { max_iterations: 5 }, 'generate 4'],
    ['with as many ends again', played(body, 0.1, 0.3, 0.5), {}, 'ABORTED'],
    ['with a lower bar is complete', played(body, 0.1, 0.3, 0.5), { quality_threshold: 0.5 }, 'COMPLETE'],
    ['with a higher bar goes on', played(body, 0.9), { quality_threshold: 0.95 }, 'generate 2'],
    ['that needs no gain goes on', played(body, 0.3, 0.3), { improvement_threshold: 0 }, 'generate 3'],
    ['with a lower bar ends where the next was begun', played(body, 0.5), { quality_threshold: 0.5 }, 'COMPLETE'],
    ['with fewer iterations ends', played(body, 0.1, 0.3), { max_iterations: 2 }, 'ABORTED'],
    ['of a cancelled one goes on', played(body, 0.1, 0.3).cancel(), {}, 'generate 3'],
    ['of a cancelled one that had nothing begins', new RefinementPlay(body).start().cancel(), {}, 'generate 1'],
    ['of one that has not begun begins', new RefinementPlay(body), {}, 'generate 1'],
  ])('%s', (_, play, change, expected) => {
    const fork = forked(play.refinement, loop(play.refinement, change));
    expect(asked(fork)).toBe(expected);
    if (fork.refinement.result) expect(fork.result.version).toBe(play.refinement.versions.length);
  });

  test('with another task begins from nothing', () => {
    const fork = forked(played(body, 0.1, 0.3).refinement, { task: 'Write something else' });
    expect([asked(fork), fork.refinement.versions]).toEqual(['generate 1', []]);
  });

  test('has the whole time of an iteration, and the whole budget', () => {
    const play = new RefinementPlay({ ...body, budget: { max_tokens: 40 } }).start().iterate(0.1);
    play.generated({ outcome: 'generated', output: 'v2' }, { tokens: 20, usdMicros: 0 });
    expect(play.result.reason).toBe('budget');
    const fork = forked(play.refinement);
    expect(asked(fork)).toBe('critique 2');
    expect(fork.pending).toMatchObject({ timeoutMs: play.refinement.setup.loop.iteration_timeout_ms });
    expect(spentOf(fork.critiqued(scored(0.2)).refinement.ledger).tokens).toBe(10);
  });

  test('asks the critic once more with its faults; another one from the beginning, as one that has said nothing', () => {
    const play = played(body, 0.1).generated({ outcome: 'generated', output: 'v2' });
    const { refinement } = play.critiqued({ outcome: 'unscored', faults: ['no number'] });
    expect(forked(refinement).pending).toMatchObject({ type: 'critique', attempt: 2, callsBefore: 2 });
    const critic = { ...refinement.setup.critic, adapter: { kind: 'command' as const, argv: ['other'] } };
    expect(forked(refinement, { critic }).pending).toMatchObject({
      type: 'critique',
      attempt: 1,
      callsBefore: 0,
      adapter: { kind: 'command' },
    });
  });

  test('asks the generator as the new setup says, with the versions there are', () => {
    const { refinement } = played(body, 0.1);
    const generator = { ...refinement.setup.generator, instructions: 'be brief' };
    const fork = forked(refinement, { generator });
    expect(fork.pending).toMatchObject({ type: 'generate', instructions: 'be brief', callsBefore: 1, iteration: 2 });
    expect(fork.pending.prompt).toContain('v1');
    expect(fork.told('log')).toMatchObject([{ message: 'begins from a version made before the fork' }]);
  });

  test('is told to go on once: another time is counted, and changes nothing', () => {
    const fork = forked(played(body, 0.1).refinement);
    const { pending } = fork.refinement;
    fork.take({ type: 'RESUME' });
    expect([fork.refinement.pending, fork.refinement.dropped]).toEqual([pending, 1]);
  });
});
