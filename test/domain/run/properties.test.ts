import fc from 'fast-check';
import { runEventSchema } from '../../../src/contracts/run-events.js';
import { runStatusSchema } from '../../../src/contracts/run-status.js';
import { add, noAmount } from '../../../src/domain/budget.js';
import { isOver, nextDue } from '../../../src/domain/run/run.js';
import { openRequest } from '../../../src/domain/run/state.js';
import { runTurns } from '../../../src/domain/run/turns.js';
import { spentOf } from '../../../src/domain/work-account.js';
import { runStatus } from '../../../src/domain/run/view.js';
import { given } from '../../support/given.js';
import { aGate, aStep, RunPlay, runBody } from '../../support/run-play.js';

type Gate = NonNullable<Parameters<typeof aGate>[1]>;
type Step = Parameters<typeof aStep>[1];
const gates: Gate[] = [
  { type: 'approval', prompt: 'Good?' },
  { type: 'approval', prompt: 'Good?', timeout_ms: 50_000 },
  { type: 'choice', prompt: 'Where?', options: ['left', 'right'], timeout_ms: 50_000, on_timeout: 'left' },
  { type: 'input', prompt: 'What?' },
];
const gate = fc.constantFrom(...gates);
const step = fc.oneof(
  gate.map((of) => ({ gate: of, does: null })),
  fc
    .record({
      kind: fc.constantFrom('command' as const, 'refinement' as const),
      on_error: fc.constantFrom('fail' as const, 'ask' as const),
      asks: fc.option(gate),
    })
    .map(({ asks, ...of }) => ({
      gate: null,
      does: { ...of, ...(asks && { gate: { prompt: 'Good?', ...asks } }) } satisfies Step,
    })),
);
const move = fc.record({
  ends: fc.constantFrom('done', 'done', 'done', 'fails', 'fails for good', 'stopped'),
  response: fc.constantFrom(
    'approve',
    'approve',
    'retry',
    'skip',
    'request_changes',
    'left',
    'RIGHT',
    'reject',
    'abort',
    'nonsense',
  ),
  tokens: fc.integer({ min: 0, max: 30 }),
  ms: fc.constantFrom(0, 1, 20_000, 60_000),
  // Now and then something comes that nobody waits for, or a person ends it.
  stray: fc.constantFrom('none', 'none', 'none', 'none', 'none', 'none', 'answer', 'tick', 'result', 'cancel'),
});
const random = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 4 }),
  max_tokens: fc.constantFrom(0, 60, 1_000),
  moves: fc.array(move, { minLength: 14, maxLength: 14 }),
});
type Random = typeof random extends fc.Arbitrary<infer T> ? T : never;

/** Plays the moves, then to the end: every step is done, and every request is granted or aborted. */
const play = (
  { steps, max_tokens, moves }: Random,
  watch: (before: RunPlay['run'], at: RunPlay) => void = () => {},
): RunPlay => {
  const body = runBody(
    steps.map(({ gate: of, does }, index) => (does ? aStep(`s${index}`, does) : aGate(`s${index}`, of ?? {}))),
    { budget: { max_tokens } },
  );
  const at = new RunPlay(body);
  const act = (work: () => unknown): void => {
    if (isOver(at.run)) return;
    const before = at.run;
    work();
    watch(before, at);
  };
  act(() => at.start());
  for (const { ends, response, tokens, ms, stray } of moves) {
    at.after(ms);
    if (stray === 'tick') act(() => at.take({ type: 'TICK' }));
    if (stray === 'cancel') act(() => at.cancel());
    if (stray === 'answer') act(() => at.take({ type: 'FEEDBACK', given: given(response) }));
    if (stray === 'result') act(() => at.take({ type: 'PREPARED', id: 99, path: '/x', branch: null }));
    if (openRequest(at.run)) act(() => at.answer(response));
    else if (ends === 'done') act(() => at.done('x', tokens));
    else if (ends === 'stopped') act(() => at.stopped());
    else act(() => at.fails({ retryable: ends === 'fails' }));
  }
  while (!isOver(at.run)) {
    const open = openRequest(at.run);
    if (!open) act(() => at.done());
    else act(() => at.answer(open.request.type === 'input' ? 'text' : (open.request.options.at(-1)?.value ?? '')));
  }
  return at;
};
/** From the title, so that every fact has plays of its own, and a failure is the same for everybody. */
const seed = (): number =>
  Array.from(expect.getState().currentTestName ?? '').reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) | 0, 7);
const always = (claim: (given: Random) => void): void =>
  fc.assert(fc.property(random, claim), { seed: seed(), numRuns: 120 });

describe('a run, whatever happens to it,', () => {
  test('ends, with a status and events that their contracts accept', () => {
    always((of) => {
      const at = play(of, (_, { run }) => {
        expect(runStatusSchema.safeParse(runStatus(run)).error).toBeUndefined();
      });
      expect(at.events.flatMap((event) => runEventSchema.safeParse(event).error ?? [])).toEqual([]);
      expect([at.run.pending === null || at.run.cancelled, at.told('final')]).toEqual([true, [at.run.result]]);
    });
  });

  test('either has one thing under way or asks one request, until it has ended', () => {
    always((of) => {
      play(of, (_, { run }) => {
        const isAsking = openRequest(run) !== null;
        expect(isAsking).toBe(run.state === 'awaiting_feedback' || run.state === 'error');
        expect(run.pending !== null).toBe(run.state === 'in_progress');
        expect(run.feedback.filter(({ state }) => state === 'open')).toHaveLength(isAsking ? 1 : 0);
        expect(nextDue(run) === null || isAsking).toBe(true);
      });
    });
  });

  test('has spent what all its tries used, and begins none once its budget is', () => {
    always((of) => {
      play(of, (before, { run }) => {
        const tries = run.steps.flatMap(({ attempts }) => attempts);
        expect(spentOf(run.ledger)).toEqual(tries.map(({ usage }) => usage).reduce(add, noAmount));
        const isBegun = tries.length > before.steps.flatMap(({ attempts }) => attempts).length;
        if (isBegun) expect(spentOf(run.ledger).tokens).toBeLessThan(of.max_tokens);
      });
    });
  });

  test('repeats no step that is done, but for changes that were asked for', () => {
    always((of) => {
      play(of, (before, { run }) => {
        before.steps.forEach(({ state, attempts }, index) => {
          if (state !== 'completed' && state !== 'skipped') return;
          const isAgain = (run.steps[index]?.attempts.length ?? 0) > attempts.length;
          const answer = run.feedback.at(-1)?.answers.at(-1)?.response;
          if (isAgain) expect(answer).toBe('request_changes');
        });
      });
    });
  });

  test('completes only where every step is done or was skipped by a person', () => {
    always((of) => {
      const { run } = play(of);
      const isDone = run.steps.every(({ state }) => state === 'completed' || state === 'skipped');
      expect(run.state === 'completed').toBe(run.result?.outcome === 'completed');
      if (run.state === 'completed') expect(isDone).toBe(true);
    });
  });

  test('has one ended turn for each effect that was answered', () => {
    always((of) => {
      play(of, (before, { run }) => {
        const event = {
          type: 'STEP' as const,
          id: before.pending?.id ?? -1,
          outcome: { outcome: 'stopped' as const, usage: { tokens: 0, usdMicros: 0 } },
        };
        const hasEnded = before.pending !== null && run.pending?.id !== before.pending.id;
        expect(runTurns(before, run, event)).toHaveLength(hasEnded ? 1 : 0);
      });
    });
  });

  test('is the same at every replay', () => {
    always((of) => expect(play(of).events).toEqual(play(of).events));
  });
});
