import type { OpenDebateBody } from '../../../src/contracts/debate.js';
import type { Amount, Operator } from '../../../src/domain/session/setup.js';
import { reservedOf, spentOf } from '../../../src/domain/work-account.js';
import { DebatePlay, plan, unreadable, answer } from '../../support/debate-play.js';

const free: Partial<Operator> = { estimate: () => ({ tokens: 0, usdMicros: 0 }) };
/** Calls cost nothing before they are made, and `tokens` afterwards. */
const limited = (max_tokens: number): DebatePlay =>
  new DebatePlay({ plan: plan('a', 'b'), budget: { max_tokens } }, free).open();
const abstentions = (play: DebatePlay): string[] =>
  play.debate.statements
    .filter(({ stance }) => stance === 'abstain')
    .map(({ role, failure }) => `${role} ${failure?.code}`);

describe('the budget of a debate', () => {
  test('is 100,000 tokens unless told otherwise', () => {
    expect(new DebatePlay().debate.setup.budget).toEqual({ maxTokens: 100_000, maxUsdMicros: null });
    expect(new DebatePlay({ budget: { max_usd: 0.5 } }).debate.setup.budget).toEqual({
      maxTokens: 100_000,
      maxUsdMicros: 500_000,
    });
  });

  test('is used up when as much as the limit is used: from then on roles do not speak', () => {
    const play = limited(20).reply().reply();
    expect(abstentions(play)).toEqual(['critic EBUDGET', 'security EBUDGET', 'optimizer EBUDGET']);
    expect(play.said('critic').failure?.message).toBe('the budget is used up: 20 of max_tokens 20 tokens');
    expect(play.said('critic')).toMatchObject({ calls: 0, usage: { tokens: 0 } });
  });

  test('is not used up a token before', () => {
    expect(limited(21).reply().reply().state).toBe('ROUND_CRITIC');
  });

  test('that runs out before security has spoken rejects the plan', () => {
    const play = limited(30).reply().reply().reply().close();
    expect(play.result).toMatchObject({ decision: 'REJECT', outcome: 'blocked' });
    expect(play.result.reason).toContain('security gave no valid answer (EBUDGET: the budget is used up');
    expect(play.result.budget_note).toBe(
      'for want of budget (max_tokens 30) these did not speak: security in pass 1, optimizer in pass 1',
    );
  });

  test('that runs out after security has spoken leaves the decision to who has', () => {
    const play = limited(40).reply().reply().reply().reply();
    expect(abstentions(play)).toEqual(['optimizer EBUDGET']);
    expect(play.debate.decision?.decision).toBe('PROCEED');
  });

  test('of nothing asks nobody', () => {
    const play = limited(0);
    expect(play.done.filter((what) => what.startsWith('ask'))).toEqual([]);
    expect(play.debate.decision?.decision).toBe('REJECT');
    expect(play.told('budget')).toHaveLength(5);
  });

  test('that is used up buys no further pass', () => {
    const against = { stance: 'against' as const, confidence: 0.5 };
    const play = limited(50).pass({ critic: against, optimizer: against });
    expect(play.debate).toMatchObject({ pass: 1, refinements: 0 });
    expect(play.told('consensus')).toMatchObject([{ next: 'decision', why: 'the budget is used up' }]);
  });

  test.each<[string, OpenDebateBody['budget'], Amount]>([
    ['money', { max_usd: 1.2 }, { tokens: 1, usdMicros: 100_000 }],
    ['tokens', { max_tokens: 1_299 }, { tokens: 100, usdMicros: 0 }],
  ])('buys a further pass only where what is left of its %s is likely to pay for it', (_, budget, each) => {
    const argued = { critic: { stance: 'against' as const, confidence: 0.9 } };
    const play = new DebatePlay({ plan: plan('a'), budget }, { estimate: () => each }).open();
    play.pass(argued, each).pass(argued, each);
    expect(play.debate.pass).toBe(2);
    expect(play.told('consensus').map(({ next }) => next)).toEqual(['another_pass', 'decision']);
    expect(play.told('consensus')[1]?.why).toBe('what is left of the budget does not pay for another pass');
    expect(abstentions(play)).toEqual([]);
    expect(play.debate.decision?.decision).toBe('PROCEED');
  });

  test('that does not pay for another pass offers none to people either', () => {
    const each = { tokens: 100, usdMicros: 0 };
    const body = { plan: plan('a'), approval: { required: true }, budget: { max_tokens: 899 } };
    const gate = new DebatePlay(body, { estimate: () => each }).open().pass({}, each).debate.approvals[0];
    expect(gate?.request.options.map(({ value }) => value)).toEqual(['approve', 'reject']);
  });

  test('that runs out within a further pass rejects a plan that security has not seen again', () => {
    const play = limited(60)
      .pass({ critic: { stance: 'against', confidence: 0.9 } })
      .pass();
    expect(play.debate.pass).toBe(2);
    expect(play.debate.decision?.decision).toBe('REJECT');
  });

  test('holds a reservation for each call: one that does not fit is not made', () => {
    const estimate = { tokens: 15, usdMicros: 0 };
    const play = new DebatePlay({ budget: { max_tokens: 20 } }, { estimate: () => estimate }).open();
    expect(reservedOf(play.debate.ledger)).toEqual(estimate);
    play.reply();
    expect(abstentions(play)).toContain('solution EBUDGET');
    expect(play.said('solution').failure?.message).toBe('needs 15 tokens; 10 of max_tokens 20 are left');
  });

  test('counts money as well', () => {
    const estimate = { tokens: 1, usdMicros: 300_000 };
    const play = new DebatePlay({ budget: { max_usd: 0.5 } }, { estimate: () => estimate }).open();
    play.reply(answer(), { tokens: 1, usdMicros: 250_000 });
    expect(play.said('solution').failure?.message).toBe('needs 0.3 USD; 0.25 of max_usd 0.5 are left');
    expect(play.close().result.budget_note).toMatch(
      /^for want of budget \(max_tokens 100000, max_usd 0\.5\) these did not speak: solution in pass 1, critic in pass 1/,
    );
  });

  test('of no money lets agents speak that cost none', () => {
    expect(new DebatePlay({ budget: { max_usd: 0 }, plan: plan('a') }, free).open().pass().state).toBe('EXECUTING');
  });

  test('settles with what a call has used, first tries included', () => {
    const play = limited(1_000);
    play.reply(unreadable('x'), { tokens: 7, usdMicros: 1 }).reply(answer(), { tokens: 9, usdMicros: 2 });
    expect(spentOf(play.debate.ledger)).toEqual({ tokens: 16, usdMicros: 3 });
    expect(play.debate.calls.analyst).toBe(2);
  });

  test('that runs out before a second try leaves the first: an abstention', () => {
    const play = limited(10).reply(unreadable('not JSON'));
    expect(play.said('analyst')).toMatchObject({
      stance: 'abstain',
      calls: 1,
      usage: { tokens: 10 },
      failure: {
        code: 'EPROTO',
        message: 'not JSON; not asked again: the budget is used up: 10 of max_tokens 10 tokens',
      },
    });
  });

  test.each([
    ['diagnosis', 50],
    ['repair', 60],
  ])('that is used up before a %s rolls back', (purpose, max) => {
    const play = limited(max).pass().snapshot().ends().ends('failed');
    if (purpose === 'repair') play.diagnose();
    expect(play.state).toBe('ROLLING_BACK');
    const message = `no ${purpose}: the budget is used up: ${max} of max_tokens ${max} tokens`;
    expect(play.debate.execution?.repairs).toMatchObject([{ givenUp: { because: 'budget', message } }]);
    play.rollBack().close();
    expect(play.result).toMatchObject({ outcome: 'rolled_back' });
    expect(play.result.budget_note).toContain(`for a ${purpose}`);
  });

  test('bounds the answer by what is left, the prompt taken off', () => {
    const play = limited(100_000);
    const prompt = play.ask.prompt.length + play.ask.instructions.length;
    expect(play.ask.maxTokens).toBe(100_000 - Math.ceil(prompt / 4));
    expect(limited(20).ask.maxTokens).toBe(1);
  });

  test('estimates a call by its real prompt: a longer one is likely to cost more', () => {
    const estimate: Operator['estimate'] = (_, prompt) => ({
      tokens: 100 + prompt.length / 4,
      usdMicros: prompt.length,
    });
    const play = new DebatePlay({}, { estimate }).open();
    const characters = play.ask.prompt.length + play.ask.instructions.length;
    expect(reservedOf(play.debate.ledger)).toEqual({ tokens: 100 + Math.ceil(characters / 4), usdMicros: characters });
  });
});
