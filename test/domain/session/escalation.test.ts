import {
  arbiter,
  arbiterAnswers,
  arbiterFails,
  finals,
  Play,
  premium,
  type PlayBody,
} from '../../support/session-play.js';

describe('an escalation', () => {
  const policy = { deadline_ms: 1_000, escalation: premium };
  const doubt = { a: 'red', b: 'blue', c: 'green' };

  test('adds a premium lane on low confidence, in a group of its own, and waits for it', () => {
    const play = new Play({ policy }).open().finals(doubt);
    expect(play.way).toBe('FINAL>BUFFERING, ALL_ENDED>DEADLINE, ESCALATE>BUFFERING');
    expect(play.effects.at(-1)).toEqual({ type: 'run_lanes', group: 'lanes-2', lanes: ['p'] });
    expect(play.lane('p')).toMatchObject({ state: 'ADMITTED', setup: { tier: 'gold' } });
    expect(play.held('p').tokens).toBe(10);
    expect(play.logs).toEqual(['escalated: low_confidence']);
    play.report('p', { type: 'DISPATCH_OK' }).final('p', 'blue');
    expect(play.way).toBe(
      'FINAL>BUFFERING, ALL_ENDED>DEADLINE, ESCALATE>BUFFERING, ALL_ENDED>DEADLINE, RECONCILE>RECONCILING, RECONCILED>COMPLETE',
    );
    expect(play.result).toMatchObject({ answer: 'blue', agreement: 0.5, escalated: true, ended_by: 'all_final' });
  });

  test('comes at most as often as the limit says, each a lane of its own', () => {
    const play = new Play({ policy: { ...policy, escalation: { ...premium, limit: 2 } } }).open().finals(doubt);
    play.report('p', { type: 'DISPATCH_OK' }).final('p', 'yellow');
    play.report('p#2', { type: 'DISPATCH_OK' }).final('p#2', 'white');
    expect(play.session.escalations).toBe(2);
    expect(play.state).toBe('COMPLETE');
    expect(play.effects.flatMap((effect) => (effect.type === 'run_lanes' ? [effect.group] : []))).toEqual([
      'lanes-1',
      'lanes-2',
      'lanes-3',
    ]);
  });

  test.each<[string, PlayBody, object]>([
    ['where it is not allowed', { policy: { escalation: { ...premium, allowed: false } } }, {}],
    ['with a limit of 0', { policy: { escalation: { ...premium, limit: 0 } } }, {}],
    [
      'without budget for it',
      { budget: { max_tokens: 24 }, policy },
      { estimate: () => ({ tokens: 8, usdMicros: 0 }) },
    ],
    [
      'to a lane that policy forbids',
      { policy },
      { policyFault: (_: string, __: unknown, tier: string) => (tier === 'gold' ? 'no gold' : null) },
    ],
  ])('is none %s', (_, body, operator) => {
    const play = new Play(body, operator)
      .open()
      .reports(
        ...Object.entries(doubt).map(([lane, text]): [string, ReturnType<typeof finals>] => [lane, finals(text, 8)]),
      );
    expect(play.way).not.toContain('ESCALATE');
    expect(play.result).toMatchObject({ escalated: false, below_threshold: true });
  });

  test('is none from the deadline on', () => {
    const play = new Play({ policy }).open().finals({ a: 'red', b: 'blue' }).wait();
    expect(play.result).toMatchObject({ ended_by: 'deadline', escalated: false });
    const late = new Play({ policy }).open().at(1_000).finals(doubt);
    expect(late.result).toMatchObject({ escalated: false });
  });

  test('is none at exactly the threshold', () => {
    const lanes = ['a', 'b', 'c', 'd', 'e'];
    const play = new Play({ lanes, policy }).open().finals({ a: 'red', b: 'red', c: 'blue', d: 'blue', e: 'red' });
    expect(play.result).toMatchObject({ agreement: 0.6, escalated: false });
  });

  test('on disagreement is asked for by name', () => {
    const of = (on_disagreement: boolean): Play =>
      new Play({ policy: { ...policy, escalation: { ...premium, on_disagreement } } })
        .open()
        .finals({ a: 'blue', b: 'blue', c: 'red' });
    expect(of(false).result).toMatchObject({ escalated: false, agreement: 2 / 3 });
    expect(of(true).logs).toEqual(['escalated: disagreement']);
  });

  test.each<[string, PlayBody['policy']]>([
    ['early exit', {}],
    ['a quorum with provisional off', { provisional: { enabled: false } }],
  ])('is heard out: what it was called in for does not end it by %s', (_, more) => {
    const lanes = 'abcdefghi'.split('');
    const escalation = { ...premium, on_disagreement: true };
    const play = new Play({ lanes: [...lanes, 'z'], policy: { ...policy, ...more, escalation } }).open();
    play.finals({ ...Object.fromEntries(lanes.map((id) => [id, 'blue'])), z: 'red' });
    expect(play.lane('p').state).toBe('ADMITTED');
    play.report('p', { type: 'DISPATCH_OK' }).partial('p', 'red');
    expect(play.lane('p').state).toBe('STREAMING');
    play.final('p', 'red');
    expect(play.result).toMatchObject({ escalated: true, completed_count: 11, ended_by: 'all_final' });
  });

  test('whose lane fails changes nothing', () => {
    const play = new Play({ policy }).open().finals(doubt);
    play.report('p', { type: 'DISPATCH_ERR', code: 'EAGENTDOWN', message: 'no route' });
    expect(play.result).toMatchObject({ escalated: true, below_threshold: true, agreement: 1 / 3 });
  });
});

describe('an arbiter', () => {
  const policy = { arbiter };
  const doubt = { a: 'red', b: 'blue' };
  const of = (body: PlayBody = {}, operator = {}): Play =>
    new Play({ lanes: ['a', 'b'], ...body, policy: { ...policy, ...body.policy } }, operator).open().finals(doubt);

  test('settles what diverges', () => {
    const play = of();
    expect(play.way).toBe('FINAL>BUFFERING, ALL_ENDED>DEADLINE, RECONCILE>ARBITER');
    expect(play.effects.at(-1)).toEqual({ type: 'arbitrate' });
    expect(play.session.waiting).toMatchObject({ on: 'arbiter' });
    play.take(arbiterAnswers('Blue!', 50_000));
    expect(play.way).toMatch(/ARBITER_RESULT>RECONCILING, RECONCILED>COMPLETE$/);
    expect(play.result).toMatchObject({
      answer: 'Blue!',
      arbiter_used: true,
      arbiter_fallback: null,
      ended_by: 'arbiter',
      winner: null,
      for: [{ lane_id: 'b', weight: 1 }],
      against: [{ lane_id: 'a', weight: 1 }],
      agreement: 0.5,
      below_threshold: true,
    });
  });

  test.each(['failed', 'timeout'] as const)('that has %s leaves it to the policy', (outcome) => {
    expect(of().take(arbiterFails(outcome)).result).toMatchObject({
      answer: 'red',
      arbiter_used: false,
      arbiter_fallback: outcome,
      ended_by: 'all_final',
    });
  });

  test.each(['', null])('that answers %j has failed', (nothing) => {
    expect(of().take(arbiterAnswers(nothing)).result).toMatchObject({
      answer: 'red',
      arbiter_used: false,
      arbiter_fallback: 'failed',
      ended_by: 'all_final',
    });
  });

  test.each<[string, number, number, boolean]>([
    ['0.05 of 0.10', 50_000, 0.1, true],
    ['0.10 of 0.10', 100_000, 0.1, true],
    ['more than it may', 100_001, 0.1, false],
    ['anything where nothing may be spent', 0, 0, false],
  ])('is asked before it is paid: for %s', (_, usdMicros, max_usd, asked) => {
    const play = of({ policy: { arbiter: { ...arbiter, max_usd } } }, { estimate: () => ({ tokens: 1, usdMicros }) });
    expect(play.state).toBe(asked ? 'ARBITER' : 'COMPLETE');
    if (!asked) {
      expect(play.result).toMatchObject({ arbiter_used: false, arbiter_fallback: 'budget', below_threshold: true });
      expect(play.logs.join()).toContain('the arbiter is not asked: arbiter.max_usd is');
    }
  });

  test('is not asked when the session’s budget is used up', () => {
    const estimate = (_: unknown, __: unknown, tier: string) => ({ tokens: tier === 'gold' ? 11 : 5, usdMicros: 0 });
    // Its lanes have used 10.
    expect(of({ budget: { max_tokens: 21 } }, { estimate }).state).toBe('ARBITER');
    const poor = of({ budget: { max_tokens: 20 } }, { estimate });
    expect(poor.result).toMatchObject({ arbiter_used: false, arbiter_fallback: 'budget' });
    expect(poor.logs).toEqual(['the arbiter is not asked: needs 11 tokens; 10 of max_tokens 20 are left']);
  });

  test('that policy forbids has failed, for no want of money', () => {
    const policyFault = (_: string, __: unknown, tier: string) => (tier === 'gold' ? 'no gold' : null);
    expect(of({}, { policyFault }).result).toMatchObject({ arbiter_fallback: 'failed' });
  });

  test('is not asked while an escalation can be, and is not marked as refused by it', () => {
    const play = of({ policy: { escalation: premium, arbiter: { ...arbiter, max_usd: 0 } } });
    expect(play.way).toContain('ESCALATE>BUFFERING');
    play.report('p', { type: 'DISPATCH_OK' }).final('p', 'blue');
    expect(play.result).toMatchObject({ agreement: 2 / 3, arbiter_fallback: null });
    expect(play.logs).toEqual(['escalated: low_confidence']);
  });

  test.each<[string, (play: Play) => Play]>([
    ['results that converge', (play) => play.finals({ a: 'blue', b: 'blue' })],
    ['a single result, which never diverges', (play) => play.final('a', 'red').fail('b')],
  ])('is never asked of %s', (_, act) => {
    const play = act(new Play({ lanes: ['a', 'b'], policy }).open());
    expect(play.result).toMatchObject({ agreement: 1, arbiter_used: false, arbiter_fallback: null });
  });

  test('is asked of partial answers at the deadline too', () => {
    const play = new Play({ lanes: ['a', 'b'], policy: { ...policy, deadline_ms: 9 } }).open();
    play.partials(doubt).wait();
    expect(play.state).toBe('ARBITER');
    // What comes now is too late to count.
    play.final('a', 'purple').take(arbiterFails('failed'));
    expect(play.result).toMatchObject({
      answer: 'red',
      partial: true,
      ended_by: 'deadline',
      arbiter_fallback: 'failed',
    });
  });

  test('comes before a merge, which is then needed only if it fails', () => {
    const merging = { policy: { reconciliation: 'weighted_merge' as const, merge: { adapter: arbiter.adapter } } };
    const settled = of(merging);
    expect(settled.effects.map(({ type }) => type)).toEqual(['run_lanes', 'arbitrate']);
    expect(settled.take(arbiterAnswers('teal')).result).toMatchObject({ answer: 'teal' });
    const failed = of(merging).take(arbiterFails('failed'));
    expect(failed.effects.at(-1)).toEqual({ type: 'merge_texts' });
    expect(failed.state).toBe('RECONCILING');
  });

  test('whose answer nobody waits for any more is paid and counted', () => {
    const play = of().cancel().take(arbiterAnswers('blue', 7));
    expect(play.session).toMatchObject({ state: 'CANCELLED', dropped: 1, arbiter: null });
    expect(play.overhead).toEqual({ tokens: 4, usdMicros: 7 });
  });
});
