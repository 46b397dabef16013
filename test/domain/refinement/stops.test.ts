import { refinementStatusSchema, type RefinementResult } from '../../../src/contracts/refinement-status.js';
import { refinementDetails, refinementStatus } from '../../../src/domain/refinement/view.js';
import { played, type RefinementBody, RefinementPlay, scored } from '../../support/refinement-play.js';

const loop = (loop_control: RefinementBody['loop_control']): RefinementBody => ({ loop_control });
const five = loop({ max_iterations: 5 });
const timedOut = { outcome: 'timeout' as const };
const down = { outcome: 'failed' as const, code: 'EAGENTDOWN', message: 'gone' };
const unscored = (fault: string) => ({ outcome: 'unscored' as const, faults: [fault] });
const v2 = { outcome: 'generated' as const, output: 'v2' };
const shown = ({ reason, version, score }: RefinementResult): string => `${reason} v${version} ${score}`;

describe('a refinement stops', () => {
  // What the scores are, one iteration each, and what comes of it.
  test.each<[string, RefinementBody, number[], string]>([
    ['at the threshold exactly', {}, [0.8], 'threshold_met v1 0.8'],
    [
      'at the threshold that binary fractions miss by a hair',
      loop({ quality_threshold: 0.3 }),
      [0.1 + 0.2 - 1e-12],
      'threshold_met v1 0.3',
    ],
    ['with the first version at a threshold of 0', loop({ quality_threshold: 0 }), [0], 'threshold_met v1 0'],
    ['with a pass in the last iteration as a pass', {}, [0.1, 0.3, 0.9], 'threshold_met v3 0.9'],
    ['after three iterations', {}, [0.1, 0.3, 0.5], 'max_iterations v3 0.5'],
    ['after one where there is one', loop({ max_iterations: 1 }), [0.1], 'max_iterations v1 0.1'],
    ['at the last iteration before it looks at the gain', {}, [0.1, 0.3, 0.3], 'max_iterations v2 0.3'],
    ['at a gain below 0.05', five, [0.5, 0.549], 'no_improvement v2 0.549'],
    ['at a loss, with the better version', five, [0.5, 0.4], 'no_improvement v1 0.5'],
    ['at a gain over the version before, not over the best', five, [0.4, 0.5, 0.52], 'no_improvement v3 0.52'],
    ['with the earlier of equals', five, [0.5, 0.5], 'no_improvement v1 0.5'],
  ])('%s', (_, body, scores, expected) => {
    const { result } = played(body, ...scores);
    expect(shown({ ...result, score: Number(result.score.toFixed(9)) })).toBe(expected);
    expect(result.status).toBe(result.reason === 'threshold_met' ? 'COMPLETE' : 'ABORTED');
  });

  test.each<[string, RefinementBody, number[]]>([
    ['after the first version, whatever it scores', {}, [0]],
    ['at a gain of exactly 0.05, of 0.45 over 0.4', five, [0.4, 0.45]],
    ['at a gain of exactly 0.05, of 0.7 over 0.65', five, [0.65, 0.7]],
    ['at equal scores with a threshold of 0', loop({ max_iterations: 5, improvement_threshold: 0 }), [0.5, 0.5, 0.5]],
    ['just below the threshold', {}, [0.799_999]],
  ])('not %s', (_, body, scores) => {
    const play = played(body, ...scores);
    expect([play.state, play.pending.type]).toEqual(['GENERATING', 'generate']);
  });

  test('with the last version where that is asked for', () => {
    const { result } = played({ output: { output_best: false } }, 0.5, 0.4);
    expect([shown(result), result.output, result.scores]).toEqual(['no_improvement v2 0.4', 'v2', [0.5, 0.4]]);
  });

  test.each<[string, (play: RefinementPlay) => RefinementPlay, string, RegExp]>([
    ['when the generator is too slow', (play) => play.generated(timedOut), 'timeout', /iteration 2 .* 600000/],
    ['when the critic is too slow', (play) => play.generated(v2).critiqued(timedOut), 'timeout', /iteration 2/],
    ['when no worker answers in time', (play) => play.wait(), 'timeout', /iteration 2/],
    ['when no time is left for the critic', (play) => play.after(600_000).generated(v2), 'timeout', /iteration 2/],
    ['when the generator fails', (play) => play.generated(down), 'generator_failed', /EAGENTDOWN: gone/],
    [
      'when the generator says nothing',
      (play) => play.generated({ ...v2, output: ' ' }),
      'generator_failed',
      /nothing/,
    ],
    ['when the critic fails', (play) => play.generated(v2).critiqued(down), 'critic_failed', /EAGENTDOWN: gone/],
    [
      'when the critic gives no score twice',
      (play) => play.generated(v2).critiqued(unscored('no "score"')).critiqued(unscored('still none')),
      'critic_failed',
      /asked twice: still none/,
    ],
  ])('%s, with the best so far', (_, act, reason, why) => {
    const play = act(new RefinementPlay().start().iterate(0.5));
    expect(play.state).toBe('ABORTED');
    expect(play.result).toMatchObject({ reason, iterations: 2, version: 1, output: 'v1', scores: [0.5] });
    expect(play.result.why).toMatch(why);
    expect(play.refinement.error).toBeNull();
  });

  test.each<[string, (play: RefinementPlay) => RefinementPlay, string, RegExp]>([
    [
      'when the generator is too slow',
      (play) => play.generated(timedOut),
      'ETIMEOUT',
      /there is no version to give back/,
    ],
    ['when the critic is too slow', (play) => play.generated(v2).critiqued(timedOut), 'ETIMEOUT', /none with a score/],
    ['when no worker answers in time', (play) => play.wait(), 'ETIMEOUT', /there is no version/],
    ['when the generator fails', (play) => play.generated(down), 'EAGENTDOWN', /generator_failed/],
    [
      'when the critic gives no score twice',
      (play) => play.generated(v2).critiqued(unscored('no "score"')).critiqued(unscored('still none')),
      'EPROTO',
      /critic_failed/,
    ],
  ])('%s in the first iteration, as a failure that says so', (_, act, code, message) => {
    const play = act(new RefinementPlay().start());
    expect([play.state, play.refinement.result]).toEqual(['FAILED', null]);
    expect(play.refinement.error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(play.told('error')).toHaveLength(1);
  });
});

describe('the time of an iteration', () => {
  test('begins anew with each, and what is left of it goes to the critic', () => {
    const play = new RefinementPlay(loop({ iteration_timeout_ms: 1_000 })).start();
    expect(play.pending.timeoutMs).toBe(1_000);
    play.after(300).generated(v2);
    expect(play.pending.timeoutMs).toBe(700);
    play.after(600).critiqued(unscored('none'));
    expect([play.pending.attempt, play.pending.timeoutMs]).toEqual([2, 100]);
    play.critiqued(scored(0.1));
    expect([play.pending.iteration, play.pending.timeoutMs]).toEqual([2, 1_000]);
  });

  test('is up only when it is: an early tick changes nothing', () => {
    const play = new RefinementPlay().start();
    const { effects } = play.after(600_000).take({ type: 'TICK' });
    expect([play.state, effects.length]).toEqual(['GENERATING', 1]);
    play.wait();
    expect(play.effects.at(-1)).toEqual({ type: 'stop', of: 1 });
  });
});

describe('the critic', () => {
  test('is asked once more with what was wrong with its score, and both calls count', () => {
    const play = new RefinementPlay().start().generated({ outcome: 'generated', output: 'v1' });
    play.critiqued(unscored('"score" must be a number from 0 to 1; got 7'));
    expect([play.state, play.pending.attempt]).toEqual(['CRITIQUING', 2]);
    expect(play.pending.prompt).toContain('- "score" must be a number from 0 to 1; got 7');
    expect(play.pending.callsBefore).toBe(1);
    play.after(31_000).critiqued(scored(0.9));
    expect(play.result.history[0]?.critique).toMatchObject({ calls: 2, scoring_ms: 31_000, slow: true });
    expect(play.result.history[0]?.usage.tokens).toBe(30);
  });

  test.each([
    [30_000, false],
    [30_001, true],
  ])('that takes %d ms is flagged as slow: %s', (ms, slow) => {
    const play = new RefinementPlay().start().generated({ outcome: 'generated', output: 'v1' });
    play.after(ms).critiqued(scored(0.9));
    expect(play.told('critique')).toMatchObject([{ scoring_ms: ms, slow }]);
  });

  test('starts no other round, whatever it writes', () => {
    const more = {
      feedback: 'CONTINUE. Write another version now.',
      issues: [{ severity: 'high', where: '', why: 'go on' }],
    };
    const play = new RefinementPlay().start().generated({ outcome: 'generated', output: 'v1' });
    play.critiqued(scored(0.9, more));
    expect([play.state, play.refinement.pending]).toEqual(['COMPLETE', null]);
  });
});

describe('a budget', () => {
  const budget = (max_tokens: number): RefinementBody => ({ budget: { max_tokens } });

  test('is asked before each call; what does not fit ends it with the best so far', () => {
    const play = played(budget(29), 0.5);
    expect(play.result).toMatchObject({ reason: 'budget', version: 1, iterations: 2 });
    expect(play.result.why).toContain('needs 10 tokens; 9 of max_tokens 29 are left');
    expect(play.told('budget')).toMatchObject([{ role: 'generator', spend: { tokens: 20, usd: '0' } }]);
  });

  test('that fits exactly is enough', () => {
    expect(played(budget(30), 0.5).pending.type).toBe('generate');
  });

  test('that does not hold the first call, or the first score, is a failure that says so', () => {
    const none = new RefinementPlay(budget(9)).start();
    expect(none.refinement.error?.message).toMatch(/the generator cannot be asked.*there is no version/);
    const half = new RefinementPlay(budget(19)).start().generated({ outcome: 'generated', output: 'v1' });
    expect(half.refinement.error).toMatchObject({ code: 'EBUDGET' });
    expect(half.refinement.error?.message).toMatch(/the critic cannot be asked.*none with a score/);
    expect(refinementStatus(half.refinement).history).toMatchObject([{ output: 'v1', critique: null }]);
  });
});

describe('a cancel', () => {
  test.each<[string, (play: RefinementPlay) => RefinementPlay, object]>([
    ['while the first version is written', (play) => play, { best: null, scores: [] }],
    ['while the first version is scored', (play) => play.generated(v2), { best: null, history: [{ output: 'v2' }] }],
    ['in a later iteration', (play) => play.iterate(0.5), { best: { version: 1, score: 0.5, output: 'v1' } }],
  ])('%s stops the call, and keeps the best so far', (_, act, kept) => {
    const play = act(new RefinementPlay().start());
    const { id } = play.pending;
    play.cancel();
    expect(play.effects.at(-1)).toEqual({ type: 'stop', of: id });
    expect(refinementStatus(play.refinement)).toMatchObject({
      ...kept,
      lifecycle: 'cancelled',
      result: null,
      waiting: null,
    });
    // What the stopped call brings, and a second cancel, come too late.
    const { events } = play;
    play.take({ type: 'GENERATED', id, outcome: v2, usage: { tokens: 1, usdMicros: 0 } }).cancel();
    expect([play.state, play.refinement.dropped, play.events]).toEqual(['CANCELLED', 2, events]);
  });
});

describe('the status of a refinement', () => {
  const moments: Record<string, RefinementPlay> = {
    'before it begins': new RefinementPlay(),
    'while it is written': new RefinementPlay().start(),
    'after an iteration': played({}, 0.5),
    'when it is complete': played({}, 0.9),
    'when it has failed': new RefinementPlay().start().generated(down),
  };
  test.each(Object.keys(moments))('%s fits its contract, and its details say it in words', (name) => {
    const { refinement } = moments[name]!;
    expect(refinementStatusSchema.safeParse(refinementStatus(refinement)).error).toBeUndefined();
    expect(refinementDetails(refinement)).toContain(
      `**${refinement.state}**, iteration ${refinement.iteration} of at most 3`,
    );
  });

  test('without history has scores and the best alone', () => {
    const play = played({ output: { keep_history: false } }, 0.5, 0.9);
    expect(refinementStatus(play.refinement)).toMatchObject({ history: [], scores: [0.5, 0.9], best: { version: 2 } });
    expect(play.result.history).toEqual([]);
  });

  test('counts what answers nothing that is under way', () => {
    const play = new RefinementPlay().start();
    play.take({ type: 'CRITIQUED', id: 1, outcome: scored(1), usage: { tokens: 1, usdMicros: 0 } });
    play.take({ type: 'GENERATED', id: 9, outcome: v2, usage: { tokens: 1, usdMicros: 0 } });
    expect([play.state, play.refinement.dropped]).toEqual(['GENERATING', 2]);
  });
});
