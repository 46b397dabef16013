import type { Role } from '../../../src/contracts/debate.js';
import { answer, DebatePlay, failed, plan, unreadable, type DebateBody } from '../../support/debate-play.js';

const silent = { confidence: 0 };
/** Consensus 0.8 and 0.6 exactly, but for the hair that binary fractions miss them by. */
const at80 = {
  analyst: silent,
  solution: silent,
  critic: { stance: 'against' as const, confidence: 0.2 },
  security: { confidence: 0.6 },
  optimizer: silent,
};
const at60 = {
  ...at80,
  critic: { stance: 'against' as const, confidence: 0.376 },
  security: { confidence: 0.423 },
};
const below60 = { ...at60, security: { confidence: 0.422 } };
const veto = { stance: 'against' as const, confidence: 0.9 };

const asked = (play: DebatePlay): string[] => play.done.filter((what) => what.startsWith('ask'));
const turns = (play: DebatePlay): Partial<Record<Role, number>> => {
  const count: Partial<Record<Role, number>> = {};
  for (const what of asked(play)) {
    const role = what.split(' ')[1] as Role;
    count[role] = (count[role] ?? 0) + 1;
  }
  return count;
};

describe('a debate that agrees', () => {
  const play = new DebatePlay().open().pass();

  test('goes through the states of the specification in their order', () => {
    expect(play.path).toEqual([
      'VERIFYING_IDENTITY',
      'LOADING_CONTEXT',
      'CLASSIFYING',
      'PLANNING',
      'ROUND_ANALYST',
      'ROUND_SOLUTION',
      'ROUND_CRITIC',
      'ROUND_SECURITY',
      'ROUND_OPTIMIZER',
      'MULTI_PASS_CHECK',
      'AGGREGATING',
      'CALCULATING_CONSENSUS',
      'ELO_DUELS',
      'RESOLVING',
      'EXECUTING',
    ]);
  });
  test('asks the roles one after the other, and nobody twice', () => {
    expect(play.done).toEqual([
      'verify_identity',
      'load_context',
      'ask analyst',
      'ask solution',
      'ask critic',
      'ask security',
      'ask optimizer',
      'take_snapshot',
    ]);
  });
  test('says its consensus and its decision, with why', () => {
    expect(play.told('consensus')).toMatchObject([
      { pass: 1, consensus: 1, next: 'decision', why: 'consensus 1 is at least 0.8' },
    ]);
    expect(play.told('decision')).toMatchObject([
      { decision: 'PROCEED', why: 'consensus 1 after 1 pass is at least 0.6, and security does not veto' },
    ]);
  });
});

describe('the multi-pass check', () => {
  test('asks for no further pass at a consensus of 0.8 exactly', () => {
    const play = new DebatePlay().open().pass(at80);
    expect(play.debate.consensus).toBeLessThan(0.8);
    expect(play.state).toBe('EXECUTING');
    expect(play.debate.refinements).toBe(0);
  });

  test('asks for rounds 2 to 5 again below 0.8: not the analyst', () => {
    const play = new DebatePlay().open().pass({ ...at80, critic: { stance: 'against', confidence: 0.21 } });
    expect(play.state).toBe('ROUND_SOLUTION');
    play.pass();
    expect(turns(play)).toEqual({ analyst: 1, solution: 2, critic: 2, security: 2, optimizer: 2 });
    expect(play.told('consensus').map(({ pass, next, why }) => [pass, next, why])).toEqual([
      [1, 'another_pass', 'consensus 0.7921 is below 0.8, 0 of 3 further passes used'],
      [2, 'decision', 'consensus 1 is at least 0.8'],
    ]);
    expect(play.state).toBe('EXECUTING');
  });

  test('holds the rule of 3: four passes, four statements of the solution', () => {
    const play = new DebatePlay().open().pass(at60).pass(at60).pass(at60).pass(at60);
    expect(turns(play)).toEqual({ analyst: 1, solution: 4, critic: 4, security: 4, optimizer: 4 });
    expect(play.debate).toMatchObject({ pass: 4, refinements: 3 });
  });

  test('goes on with at least 0.6 after the third refinement, 0.6 exactly included', () => {
    const play = new DebatePlay().open().pass(at60).pass(at60).pass(at60).pass(at60);
    expect(play.debate.consensus).toBeCloseTo(0.6, 12);
    expect(play.debate.consensus).toBeLessThan(0.6);
    expect(play.state).toBe('EXECUTING');
    expect(play.told('consensus').at(-1)).toMatchObject({ next: 'decision', why: '3 of 3 further passes are used up' });
  });

  test('rejects below 0.6 after all passes', () => {
    const play = new DebatePlay().open().pass(below60).pass(below60).pass(below60).pass(below60).close();
    expect(play.result).toMatchObject({ decision: 'REJECT', outcome: 'blocked', passes: 4, report: null });
    expect(play.result.reason).toBe('consensus 0.5994 after 4 passes is below 0.6');
  });

  test.each([
    [0, 1],
    [1, 2],
    [2, 3],
    [3, 4],
  ])('with refinements %i makes %i passes', (refinements, passes) => {
    const play = new DebatePlay({ limits: { refinements } }).open();
    for (let pass = 0; pass < passes; pass += 1) play.pass(at60);
    expect(play.state).toBe('EXECUTING');
    expect(play.debate.pass).toBe(passes);
  });

  test('takes the limits of the request', () => {
    const limits = { refine_below: 0.6, proceed: 0.6 };
    expect(new DebatePlay({ limits }).open().pass(at60).state).toBe('EXECUTING');
    const strict = { refinements: 0, proceed: 0.61, refine_below: 0.9 };
    expect(new DebatePlay({ limits: strict }).open().pass(at60).debate.decision?.decision).toBe('REJECT');
  });
});

describe('what counts in a later pass', () => {
  test('is each role’s statement of it, so that a refinement alone raises nothing', () => {
    const play = new DebatePlay().open().pass(at60).pass(at60);
    expect(play.debate.votes.map(({ role, pass }) => `${role}@${pass}`)).toEqual([
      'analyst@1',
      'solution@2',
      'critic@2',
      'security@2',
      'optimizer@2',
    ]);
    expect(play.debate.consensus).toBeCloseTo(0.6, 12);
  });
  test('is not what a role said of the plan before, when it abstains now', () => {
    const play = new DebatePlay()
      .open()
      .pass(at60)
      .pass({ ...at60, critic: failed() });
    expect(play.debate.votes.find(({ role }) => role === 'critic')).toMatchObject({
      stance: 'abstain',
      weight: 0,
      pass: 2,
    });
    expect(play.debate.consensus).toBe(1);
  });
});

describe('a veto', () => {
  test.each<[string, { stance: 'for' | 'against'; confidence: number }, string]>([
    ['against with 0.9', { stance: 'against', confidence: 0.9 }, 'VETO'],
    ['against with 0.95', { stance: 'against', confidence: 0.95 }, 'VETO'],
    ['against with 0.89', { stance: 'against', confidence: 0.89 }, 'PROCEED'],
    ['for with 0.95', { stance: 'for', confidence: 0.95 }, 'PROCEED'],
  ])('comes of security %s: %s', (_, security, decision) => {
    const limits = { proceed: 0.5, refine_below: 0.5 };
    const all = { analyst: { confidence: 1 }, solution: { confidence: 1 }, critic: { confidence: 1 } };
    const play = new DebatePlay({ limits }).open().pass({ ...all, security });
    expect(play.debate.decision?.decision).toBe(decision);
  });

  test('blocks whatever the consensus, buys no further pass, and runs nothing', () => {
    const play = new DebatePlay({ limits: { proceed: 0, refine_below: 1 } }).open().pass({ security: veto }).close();
    expect(play.debate.refinements).toBe(0);
    expect(play.told('consensus')).toMatchObject([{ next: 'decision', why: 'security vetoes the plan' }]);
    expect(play.result).toMatchObject({ decision: 'VETO', outcome: 'blocked', report: null });
    expect(play.result.reason).toBe('security is against the plan with 0.9, a veto from 0.9 on');
    expect(play.done.filter((what) => what === 'take_snapshot' || what.startsWith('run'))).toEqual([]);
  });

  test('is heard out: the optimizer still speaks, and then there is no more', () => {
    const play = new DebatePlay().open().pass({ security: veto });
    expect(asked(play).at(-1)).toBe('ask optimizer');
    expect(play.path.slice(-6)).toEqual([
      'AGGREGATING',
      'CALCULATING_CONSENSUS',
      'ELO_DUELS',
      'RESOLVING',
      'BLOCKED',
      'STORING_MEMORY',
    ]);
  });

  test('of a later pass blocks as well', () => {
    const play = new DebatePlay().open().pass(at60).pass({ security: veto });
    expect(play.debate).toMatchObject({ pass: 2, decision: { decision: 'VETO' } });
    expect(play.state).toBe('STORING_MEMORY');
  });
});

describe('an answer that cannot be read', () => {
  test('is asked for once more, with what is wrong with it', () => {
    const play = new DebatePlay().open();
    play.reply(unreadable('"confidence" must be a number from 0 to 1; got 2'));
    expect(play.done.slice(-2)).toEqual(['ask analyst', 'ask analyst again']);
    expect(play.ask.prompt).toContain('"confidence" must be a number from 0 to 1; got 2');
    expect(play.ask).toMatchObject({ attempt: 2, callsBefore: 1 });
    play.reply(answer({ stance: 'against', confidence: 0.4 }));
    expect(play.state).toBe('ROUND_SOLUTION');
    expect(play.said('analyst')).toMatchObject({
      stance: 'against',
      confidence: 0.4,
      valid: true,
      calls: 2,
      usage: { tokens: 20 },
      failure: { code: 'EPROTO', message: '"confidence" must be a number from 0 to 1; got 2' },
    });
  });

  test('twice is an abstention of no weight, with the failure recorded', () => {
    const play = new DebatePlay().open().reply(unreadable('no')).reply(unreadable('still no'));
    expect(play.state).toBe('ROUND_SOLUTION');
    expect(play.said('analyst')).toMatchObject({
      stance: 'abstain',
      valid: false,
      confidence: 0,
      calls: 2,
      failure: { code: 'EPROTO', message: 'still no' },
    });
  });

  test('that never came is an abstention at once: an agent that failed is not asked again', () => {
    const play = new DebatePlay().open().reply(failed('ETIMEOUT', 'no answer within 120000 ms'));
    expect(asked(play)).toEqual(['ask analyst', 'ask solution']);
    expect(play.said('analyst')).toMatchObject({
      stance: 'abstain',
      calls: 1,
      failure: { code: 'ETIMEOUT', message: 'no answer within 120000 ms' },
    });
  });

  test('that never came says whether asking again can help, where its agent does', () => {
    const down = { ...failed('EAGENTDOWN', 'no such model'), retryable: false };
    const { failure } = new DebatePlay().open().reply(down).said('analyst');
    expect(failure).toEqual({ code: 'EAGENTDOWN', message: 'no such model', retryable: false });
  });

  test.each<[string, DebatePlay]>([
    ['unreadable twice', new DebatePlay().open().pass({ security: unreadable('no') })],
    ['failed', new DebatePlay().open().pass({ security: failed() })],
  ])('of security (%s) never counts as approval: REJECT, whatever the consensus', (_, play) => {
    if (play.debate.pending?.type === 'ask') play.reply(unreadable('no'));
    if (play.debate.pending?.type === 'ask') play.reply();
    expect(play.debate.consensus).toBe(1);
    expect(play.debate.decision).toMatchObject({ decision: 'REJECT' });
    expect(play.debate.decision?.why).toMatch(/^security gave no valid answer \(.*\), which is no approval$/);
    expect(play.close().result).toMatchObject({ outcome: 'blocked' });
  });

  test('of security is one thing, a second that can be read another', () => {
    const play = new DebatePlay().open();
    play
      .reply()
      .reply(answer({ plan: plan('t1') }))
      .reply()
      .reply(unreadable('no'))
      .reply()
      .reply();
    expect(play.debate.decision?.decision).toBe('PROCEED');
  });

  test('to a fault of the whole call is an abstention, too', () => {
    const play = new DebatePlay().open().fault('EAGENTDOWN', 'the worker died');
    expect(play.said('analyst').failure).toEqual({ code: 'EAGENTDOWN', message: 'the worker died' });
    expect(play.state).toBe('ROUND_SOLUTION');
  });

  test('to another question is one', () => {
    const play = new DebatePlay().open().reply({ outcome: 'diagnosis', diagnosis: 'x' });
    expect(play.done.at(-1)).toBe('ask analyst again');
  });
});

describe('the plan that is judged', () => {
  const tasks = (play: DebatePlay): string[] => play.debate.plan.tasks.map(({ task_id: id }) => id);

  test('is the solution’s latest', () => {
    const play = new DebatePlay().open().pass({ ...at60, solution: { plan: plan('a'), confidence: 0 } });
    expect([tasks(play), play.debate.planFromPass]).toEqual([['a'], 1]);
    play.pass({ solution: { plan: plan('b', 'c') } });
    expect([tasks(play), play.debate.planFromPass]).toEqual([['b', 'c'], 2]);
    expect(play.snapshot().task.task.task_id).toBe('b');
    expect(play.told('plan').map(({ from_pass: from }) => from)).toEqual([1, 2]);
  });
  test('stays where the solution gives none', () => {
    const play = new DebatePlay()
      .open()
      .pass({ ...at60, solution: { plan: plan('a'), confidence: 0 } })
      .pass();
    expect([tasks(play), play.debate.planFromPass]).toEqual([['a'], 1]);
  });
  test('is the request’s where the solution gives none at all', () => {
    const play = new DebatePlay({ plan: plan('r') }).open().pass();
    expect([tasks(play), play.debate.planFromPass]).toEqual([['r'], 0]);
    expect(play.told('plan')).toMatchObject([{ from_pass: 0 }]);
  });
  test('is not one of another role', () => {
    const play = new DebatePlay({ plan: plan('r') }).open().pass({ optimizer: { plan: plan('o') } });
    expect(tasks(play)).toEqual(['r']);
  });
  test('is no plan that goes round in a circle: the solution is asked again, with the circle', () => {
    const circle = plan('a', 'b');
    circle.tasks[0]!.depends_on = ['b'];
    circle.tasks[1]!.depends_on = ['a'];
    const play = new DebatePlay()
      .open()
      .reply()
      .reply(answer({ plan: circle }));
    expect(play.done.at(-1)).toBe('ask solution again');
    expect(play.ask.prompt).toContain('"a" -> "b" -> "a"');
    play.reply(answer({ plan: plan('a', 'b') }));
    expect(play.state).toBe('ROUND_CRITIC');
  });
});

describe('identity and context', () => {
  test('that differ abort before anybody is asked, without memory or audit', () => {
    const play = new DebatePlay().take({ type: 'START' }).identity({ code: 'ESEC', message: 'the project differs' });
    expect(play.path).toEqual(['VERIFYING_IDENTITY', 'ABORTED']);
    expect(play.done).toEqual(['verify_identity']);
    expect(play.result).toMatchObject({ decision: null, outcome: 'aborted', memory: null, audit: null, passes: 0 });
    expect(play.debate.error).toEqual({ code: 'ESEC', message: 'the project differs' });
    expect(play.told('error')).toHaveLength(1);
  });
  test('name every fault', () => {
    const faults = [
      { code: 'ESEC', message: 'The project differs.' },
      { code: 'unavailable', message: 'No sandbox: install bubblewrap.' },
    ];
    const play = new DebatePlay().take({ type: 'START' }).identity(...faults);
    expect(play.result.reason).toBe('ESEC: The project differs. No sandbox: install bubblewrap.');
  });
  test('that no worker can verify abort as well', () => {
    expect(new DebatePlay().take({ type: 'START' }).fault().state).toBe('ABORTED');
  });
  test('ask for the ratings of each persona once, and the traces that the request wants', () => {
    const body: DebateBody = {
      limits: { top_k: 3 },
      roles: { critic: { persona: { persona_id: 'ada' } }, security: { persona: { persona_id: 'ada' } } },
    };
    const play = new DebatePlay(body).take({ type: 'START' }).identity();
    expect(play.pending).toMatchObject({ topK: 3, personas: ['analyst', 'solution', 'ada', 'optimizer'] });
  });
  test('weigh: a critic of twice the rating counts for half as much again', () => {
    const critic = { elo: 1800, matches: 0, successes: 0 };
    const play = new DebatePlay().open({ ratings: { critic } }).pass();
    expect(play.debate.votes.find(({ role }) => role === 'critic')?.weight).toBeCloseTo(2.25, 12);
  });
  test('without a memory go on: every persona starts afresh, and the result says so', () => {
    const play = new DebatePlay()
      .take({ type: 'START' })
      .identity()
      .fault('unavailable', 'locked')
      .pass()
      .snapshot()
      .run()
      .close();
    expect(play.result).toMatchObject({
      outcome: 'succeeded',
      notes: ['the memory could not be read, so that every persona starts afresh: unavailable: locked'],
    });
  });
  test('with part of the memory say which is missing', () => {
    const play = new DebatePlay().take({ type: 'START' }).identity().context({}, 'MongoDB is away');
    expect(play.debate.notes).toEqual(['part of the memory could not be read: MongoDB is away']);
  });
});

describe('duels', () => {
  test('are settled once, from the last pass', () => {
    const play = new DebatePlay().open();
    play.pass({ ...at60, critic: { stance: 'against', confidence: 0.8 } });
    play.pass();
    expect(play.told('duels')).toHaveLength(1);
    expect(play.debate.duels).toMatchObject([
      { kind: 'critic_solution', winner: { role: 'solution', elo: 5 }, loser: { role: 'critic', elo: -5 } },
    ]);
  });
  test('of a blocked debate are remembered too, a veto’s in addition', () => {
    const play = new DebatePlay().open().pass({ critic: { stance: 'against', confidence: 0.8 }, security: veto });
    expect(play.pending).toMatchObject({
      type: 'store_trace',
      trace: {
        outcome: 'blocked',
        elo_changes: [
          { persona_id: 'analyst', delta: 0 },
          { persona_id: 'solution', delta: -60 },
          { persona_id: 'critic', delta: 10 },
          { persona_id: 'security', delta: 25 },
          { persona_id: 'optimizer', delta: 0 },
        ],
      },
    });
  });
});
