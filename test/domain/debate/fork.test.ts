import fc from 'fast-check';
import { debateEventSchema } from '../../../src/contracts/debate-events.js';
import { debateStatusSchema } from '../../../src/contracts/debate-status.js';
import { spentOf } from '../../../src/domain/work-account.js';
import { isOver } from '../../../src/domain/debate/debate.js';
import { debateForkFault, forkDebate } from '../../../src/domain/debate/fork.js';
import type { DebateSetup } from '../../../src/domain/debate/setup.js';
import type { DebateState } from '../../../src/domain/debate/state.js';
import { debateStatus } from '../../../src/domain/debate/view.js';
import { answer, DebatePlay, plan, unreadable, type DebateBody } from '../../support/debate-play.js';
import { playDebate, playDebateOn, randomDebate } from '../../support/random-debate.js';
import { deepFreeze } from '../../support/deep-freeze.js';

/** A day after the debate that it is forked from. */
const dayMs = 86_400_000;

/** A fork, with its first event taken; its setup is the old one's but for `change`. */
const forked = (work: DebateState, change: Partial<DebateSetup> = {}): DebatePlay => {
  const play = new DebatePlay();
  play.now += dayMs;
  const setup = { ...work.setup, id: 'fork-1', traceId: '1'.repeat(32), ...change };
  const fork = forkDebate(work, setup, play.now);
  play.work = deepFreeze(fork.work);
  return play.take(fork.first);
};
const limits = (work: DebateState, change: Partial<DebateSetup['limits']>): Partial<DebateSetup> => ({
  limits: { ...work.setup.limits, ...change },
});
const required: DebateBody['approval'] = { required: true, timeout_ms: 60_000 };
const asked = ({ debate, effects }: DebatePlay): string => {
  const { pending, state } = debate;
  if (pending === null) return state;
  expect(effects.at(-1)).toEqual(pending);
  return pending.type === 'ask' ? `${pending.role} ${pending.pass}.${pending.attempt}` : pending.type;
};

/** What came of it, without times, ids and what it cost. */
const outcome = ({ debate }: DebatePlay): unknown => {
  const { state, decision, consensus, statements, pass, plan: decided, execution, error, result } = debate;
  return {
    state,
    decision,
    consensus,
    pass,
    decided,
    error,
    said: statements.map(({ role, pass: of, stance, confidence, valid }) => [role, of, stance, confidence, valid]),
    ran: execution?.reports.map(({ task_id, outcome: ended }) => [task_id, ended]),
    outcome: result?.outcome,
  };
};

describe('a fork of a debate, from whatever point of it,', () => {
  test('is refused in words, or begins with nothing under way and ends', () => {
    const claim = fc.property(randomDebate, fc.nat(), (random, seed) => {
      const moments: DebateState[] = [];
      playDebate(random, ({ debate }) => void moments.push(debate));
      // Every point of one play is one too many: the first, and those at which it may be refused.
      for (const work of [moments[0]!, moments[seed % moments.length]!, moments.at(-1)!]) {
        const fault = debateForkFault(work);
        expect(fault !== null).toBe(work.execution !== null || work.cancelled || isOver(work));
        if (fault !== null) {
          expect(fault).toMatch(
            / is [A-Z_]+ there and cannot be forked: .*; fork it from .* it is [A-Z_]+ or before\.$/,
          );
          const named = /it is ([A-Z_]+) or before/.exec(fault)?.[1];
          expect(moments.map(({ state }) => state)).toContain(named);
          expect(() => forked(work)).toThrow(fault);
          expect(forked(work, { task: 'Something else' }).state).toBe('VERIFYING_IDENTITY');
          continue;
        }
        const fork = forked(work);
        const { debate } = fork;
        expect([debate.startedAt, spentOf(debate.ledger)]).toEqual([fork.now, { tokens: 0, usdMicros: 0 }]);
        expect(fork.effects.filter((effect) => 'id' in effect).length).toBeLessThanOrEqual(1);
        expect(debate.pending === null || debate.pending.id === 1).toBe(true);
        expect(debate.pending !== null || debate.state === 'AWAITING_APPROVAL').toBe(true);
        expect(debate.statements.slice(0, work.statements.length)).toEqual(work.statements);
        const spoken = fork.effects.flatMap((effect) =>
          effect.type === 'ask' ? [`${effect.role} ${effect.pass}`] : [],
        );
        expect(spoken.filter((one) => work.statements.some(({ role, pass }) => one === `${role} ${pass}`))).toEqual([]);
        playDebateOn(fork, random);
        expect(isOver(fork.debate)).toBe(true);
        expect(debateStatusSchema.safeParse(debateStatus(fork.debate)).error).toBeUndefined();
        expect(fork.events.flatMap((event) => debateEventSchema.safeParse(event).error ?? [])).toEqual([]);
      }
    });
    fc.assert(claim, { seed: 3, numRuns: 60 });
  });

  test('comes to the same where the same is said, and so does a fork of the fork', () => {
    const claim = fc.property(randomDebate, (random) => {
      // A budget begins anew with a fork, and so does the time that people have.
      const same = { ...random, body: { ...random.body, budget: {}, approval: { required: false } } };
      const moments: DebateState[] = [];
      const whole = playDebate(same, ({ debate }) => void moments.push(debate));
      moments.slice(0, same.moves.length).forEach((work, index) => {
        if (debateForkFault(work) !== null || (index % 3 !== 0 && work.state !== 'STORING_MEMORY')) return;
        // Before anybody has been asked it begins from nothing: the answers of then come once more.
        const rest = { ...same, moves: work.pass === 0 ? same.moves : same.moves.slice(index) };
        const once = forked(work);
        const twice = forked(once.debate);
        for (const fork of [once, twice]) expect(outcome(playDebateOn(fork, rest))).toEqual(outcome(whole));
      });
    });
    fc.assert(claim, { seed: 4, numRuns: 40 });
  });
});

describe('a fork of a debate', () => {
  const body: DebateBody = { plan: plan('t1') };
  test.each<[string, DebatePlay, string]>([
    ['that has not begun begins', new DebatePlay(body), 'verify_identity'],
    ['that is being verified begins', new DebatePlay(body).take({ type: 'START' }), 'verify_identity'],
    ['whose memory is read begins', new DebatePlay(body).take({ type: 'START' }).identity(), 'verify_identity'],
    ['asks the analyst', new DebatePlay(body).open(), 'analyst 1.1'],
    ['asks who is next', new DebatePlay(body).open().reply().reply(), 'critic 1.1'],
    ['asks once more', new DebatePlay(body).open().reply().reply(unreadable('no stance')), 'solution 1.2'],
    ['asks in its pass', new DebatePlay(body).open().pass({ critic: { stance: 'against' } }), 'solution 2.1'],
    ['asks people', new DebatePlay({ ...body, approval: required }).open().pass(), 'AWAITING_APPROVAL'],
    [
      'that was blocked is remembered',
      new DebatePlay({ ...body, limits: { refinements: 0 } }).open().pass({ security: { stance: 'against' } }),
      'store_trace',
    ],
    [
      'that was remembered is remembered as its own',
      new DebatePlay({ ...body, approval: required }).open().pass().feedback('reject').take({ type: 'STORED', id: 6 }),
      'mirror_trace',
    ],
  ])('%s', (_, play, expected) => {
    if (expected === 'mirror_trace') {
      const { pending } = play.debate;
      if (pending?.type === 'store_trace') play.take({ type: 'STORED', id: pending.id });
      play.take({ type: 'MIRRORED', id: play.pending.id, mongo: false, error: null });
      expect(play.state).toBe('AUDITING');
      const fork = forked(play.debate);
      expect([asked(fork), fork.debate.memory, fork.debate.approvals.length]).toEqual(['store_trace', null, 1]);
      return;
    }
    expect(asked(forked(play.debate))).toBe(expected);
  });

  test('asks people by a request of its own, with the whole of its time and no answers', () => {
    const play = new DebatePlay({ ...body, approval: { ...required, k: 2 } }).open().pass().feedback('approve');
    const fork = forked(play.debate);
    const [old, own] = [play.debate.approvals[0]!, fork.debate.approvals[0]!];
    expect(old.answers).toHaveLength(1);
    expect([own.answers, own.outcome, fork.debate.approvals.length]).toEqual([[], 'pending', 1]);
    expect(own.request.request_id).not.toBe(old.request.request_id);
    expect(Date.parse(own.request.expires_at ?? '')).toBe(fork.now + 60_000);
    expect(own.request.digest).not.toBe(old.request.digest);
    fork.feedback('approve').feedback('approve', { provided_by: 'ben' });
    expect(asked(fork)).toBe('take_snapshot');
    const rejected = forked(play.debate).feedback('reject');
    expect(rejected.debate.decision?.decision).toBe('REJECT');
  });

  test.each([
    ['approve', 'AWAITING_APPROVAL'],
    ['request_changes', 'ROUND_SOLUTION'],
  ])('that was cancelled after somebody answered %s is refused, while that is recorded, too', (response, latest) => {
    const play = new DebatePlay({ ...body, approval: { ...required, k: 2 } }).open().pass();
    play.feedback(response, { comment: 'smaller' }).cancel();
    expect([play.state, debateForkFault(play.debate)]).toEqual([
      'AUDITING',
      `debate debate-1 is AUDITING there and cannot be forked: it was cancelled; fork it from a checkpoint at which it is ${latest} or before.`,
    ]);
    expect(() => forked(play.debate)).toThrow('it was cancelled');
  });

  test('keeps the request for changes that another pass answers', () => {
    const play = new DebatePlay({ ...body, approval: required }).open().pass();
    play.feedback('request_changes', { comment: 'smaller' });
    const fork = forked(play.debate);
    expect([asked(fork), fork.debate.comment?.text]).toEqual(['solution 2.1', 'smaller']);
    expect(forked(fork.pass().debate).debate.approvals.map(({ outcome: of }) => of)).toEqual([
      'changes_requested',
      'pending',
    ]);
  });

  test('decides again by other limits and another gate, of what was said', () => {
    const waiting = new DebatePlay({ ...body, approval: required }).open().pass().debate;
    expect(asked(forked(waiting, { approval: { ...waiting.setup.approval, required: false } }))).toBe('take_snapshot');
    const blocked = new DebatePlay({ ...body, limits: { refinements: 0, proceed: 0.8 } })
      .open()
      .pass({ critic: { stance: 'against' } }).debate;
    expect([blocked.state, blocked.decision?.decision]).toEqual(['STORING_MEMORY', 'REJECT']);
    const fork = forked(blocked, limits(blocked, { proceed: 0.1 }));
    expect([asked(fork), fork.debate.decision?.decision]).toEqual(['take_snapshot', 'PROCEED']);
    const split = new DebatePlay({ ...body, approval: required, limits: { proceed: 0.5, refine_below: 0.6 } });
    split.open().pass({ critic: { stance: 'against' } });
    expect(split.state).toBe('AWAITING_APPROVAL');
    const stricter = forked(split.debate, limits(split.debate, { refine_below: 1 }));
    expect(asked(stricter)).toBe('solution 2.1');
  });

  test.each<[string, Partial<DebateSetup>]>([
    ['task', { task: 'Drop the index' }],
    ['plan', { plan: plan('t2') }],
    ['workspace', { workspace: { path: '/srv/other', locks: {} } }],
    [
      'health check',
      { healing: { check: { argv: ['true'], cwd: '.', env: {}, stdin: '', timeout_ms: 9 }, timeout_ms: 300_000 } },
    ],
  ])('with another %s begins from nothing', (_, change) => {
    const fork = forked(new DebatePlay(body).open().pass().debate, change);
    expect([asked(fork), fork.debate.statements, fork.debate.setup]).toMatchObject(['verify_identity', [], change]);
  });

  test('asks with the new adapter and instructions; a script plays on, another begins', () => {
    const play = new DebatePlay(body).open().reply().reply(unreadable('no stance'));
    const { roles } = play.debate.setup;
    const adapter = { kind: 'command' as const, argv: ['other'] };
    const other = forked(play.debate, {
      roles: { ...roles, solution: { ...roles.solution, adapter, instructions: 'be brief' } },
    });
    expect(other.ask).toMatchObject({ attempt: 1, callsBefore: 0, instructions: 'be brief', adapter });
    expect(forked(play.debate).ask).toMatchObject({ attempt: 2, callsBefore: 1 });
    expect(other.told('log')).toMatchObject([{ message: 'begins from 1 statement of before the fork, in pass 1' }]);
  });

  test('spends a budget of its own', () => {
    const play = new DebatePlay({ ...body, budget: { max_tokens: 5_000 } }).open();
    play.reply(answer(), { tokens: 4_000, usdMicros: 0 });
    const fork = forked(play.debate);
    expect(fork.ask.maxTokens).toBe((play.ask.maxTokens ?? 0) + 4_000);
    expect(spentOf(fork.reply().debate.ledger).tokens).toBe(10);
  });

  test('is told to go on once: another time is counted, and changes nothing', () => {
    const fork = forked(new DebatePlay(body).open().debate);
    const { pending } = fork.debate;
    fork.take({ type: 'RESUME' });
    expect([fork.debate.pending, fork.debate.dropped]).toEqual([pending, 1]);
  });
});
