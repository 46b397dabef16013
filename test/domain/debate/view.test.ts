import { auditEntrySchema } from '../../../src/contracts/audit.js';
import { debateEventSchema } from '../../../src/contracts/debate-events.js';
import { debateStatusSchema } from '../../../src/contracts/debate-status.js';
import { traceSchema } from '../../../src/contracts/memory.js';
import { debateDetails, debateStatus } from '../../../src/domain/debate/view.js';
import { DebatePlay, failed, plan, unreadable } from '../../support/debate-play.js';

const open = (): DebatePlay => new DebatePlay({ plan: plan('a', 'b') }).open();
const executing = (): DebatePlay => open().pass().snapshot();

/** A play for every state that a debate rests in, and for each outcome. */
const plays: [string, DebatePlay][] = [
  ['IDLE', new DebatePlay()],
  ['VERIFYING_IDENTITY', new DebatePlay().take({ type: 'START' })],
  ['ROUND_ANALYST', open()],
  ['ROUND_SECURITY asked again', open().reply().reply().reply().reply(unreadable('no'))],
  [
    'AWAITING_APPROVAL',
    new DebatePlay({ plan: plan('a'), approval: { required: true } }).open().pass().feedback('what'),
  ],
  ['EXECUTING', executing().ends()],
  ['SELF_HEALING', executing().ends('failed').diagnose()],
  ['ROLLING_BACK', executing().ends().ends('failed').diagnose(null)],
  ['STORING_MEMORY', executing().run()],
  ['AUDITING', executing().run().fault()],
  ['DONE succeeded', executing().run().close()],
  ['DONE healed', executing().ends().ends('failed').diagnose().repair(plan('b2')).run().close()],
  [
    'DONE blocked',
    open()
      .pass({ security: { stance: 'against', confidence: 1 } })
      .close(),
  ],
  ['DONE rejected', open().pass({ security: failed() }).close()],
  ['DONE rolled back', executing().ends().ends('failed').diagnose(null).rollBack().close()],
  ['DONE incomplete', executing().ends().ends('failed').diagnose(null).undo('failed', 'x').restore('other').close()],
  ['ABORTED by identity', new DebatePlay().take({ type: 'START' }).identity({ code: 'ESEC', message: 'differs' })],
  ['ABORTED by a cancel', executing().cancel().ends().rollBack()],
];

describe.each(plays)('a debate, %s,', (_, play) => {
  test('has a status that its contract accepts', () => {
    expect(debateStatusSchema.safeParse(debateStatus(play.debate)).error).toBeUndefined();
  });
  test('has told events that their contract accepts, and a state that is plain JSON', () => {
    expect(play.events.flatMap((event) => debateEventSchema.safeParse(event).error ?? [])).toEqual([]);
    expect(JSON.parse(JSON.stringify(play.debate))).toEqual(play.debate);
  });
  test('has handed on traces and audit entries that their contracts accept', () => {
    for (const effect of play.effects) {
      if (effect.type === 'store_trace') expect(traceSchema.safeParse(effect.trace).error).toBeUndefined();
      if (effect.type === 'audit') {
        expect(effect.entries.flatMap((entry) => auditEntrySchema.safeParse(entry).error ?? [])).toEqual([]);
        expect(new Set(effect.entries.map(({ key }) => key)).size).toBe(effect.entries.length);
      }
    }
  });
  test('says in words what it is doing', () => {
    expect(debateDetails(play.debate)).toContain(`**${play.state}**`);
  });
});

describe('the status', () => {
  test.each<[string, DebatePlay, string]>([
    ['running', open(), 'running'],
    [
      'waiting for a person',
      new DebatePlay({ plan: plan('a'), approval: { required: true } }).open().pass(),
      'waiting',
    ],
    ['done', executing().run().close(), 'completed'],
    ['blocked, which is an end like another', open().pass({ security: failed() }).close(), 'completed'],
    ['cancelled', open().cancel(), 'cancelled'],
    ['aborted', new DebatePlay().take({ type: 'START' }).fault(), 'failed'],
  ])('%s has the lifecycle of it', (_, play, lifecycle) => {
    expect(debateStatus(play.debate).lifecycle).toBe(lifecycle);
  });

  test('has no result before the end, and then keeps it', () => {
    const play = executing().run();
    expect(debateStatus(play.debate).result).toBeNull();
    expect(debateStatus(play.close().debate).result).toMatchObject({ outcome: 'succeeded' });
    expect(play.told('final')).toEqual([play.result]);
  });

  test('has the transcript by pass and role, abstentions with their failure', () => {
    const play = open().pass({ critic: failed('EAGENTDOWN', 'gone') });
    expect(
      debateStatus(play.debate).statements.map(({ pass, role, stance, failure }) => [
        pass,
        role,
        stance,
        failure?.code,
      ]),
    ).toEqual([
      [1, 'analyst', 'for', undefined],
      [1, 'solution', 'for', undefined],
      [1, 'critic', 'abstain', 'EAGENTDOWN'],
      [1, 'security', 'for', undefined],
      [1, 'optimizer', 'for', undefined],
    ]);
  });

  test('has what each role has used, and all together', () => {
    const status = debateStatus(open().reply().reply().debate);
    expect(status.roles.map(({ role, calls, usage }) => [role, calls, usage.tokens])).toEqual([
      ['analyst', 1, 10],
      ['solution', 1, 10],
      ['critic', 0, 0],
      ['security', 0, 0],
      ['optimizer', 0, 0],
    ]);
    expect(status.spend).toEqual({ tokens: 20, usd: '0' });
  });
});

describe('the waiting record', () => {
  const waiting = (play: DebatePlay) => debateStatus(play.debate).waiting;
  test.each<[string, DebatePlay, string, string]>([
    [
      'a worker',
      new DebatePlay().take({ type: 'START' }),
      'worker',
      'a worker has not said yet whether it is the right one',
    ],
    ['memory', new DebatePlay().take({ type: 'START' }).identity(), 'worker', 'the memory is being read'],
    ['a role', open().reply(), 'lane', 'the statement in pass 1 of solution'],
    [
      'a second try',
      open().reply(unreadable('x')),
      'lane',
      'the statement in pass 1 of analyst, asked again as its answer could not be read',
    ],
    ['a snapshot', open().pass(), 'worker', 'the workspace is being snapshotted, as soon as no other work changes it'],
    ['a task', executing(), 'worker', 'task a runs'],
    ['a diagnosis', executing().ends('failed'), 'lane', 'the diagnosis of critic'],
    ['an undo', executing().ends().ends('failed').diagnose(null), 'worker', 'task a is being undone'],
    ['a restore', executing().ends('failed').diagnose(null), 'worker', 'the workspace is being restored'],
    ['memory to be written', executing().run(), 'worker', 'the debate is being remembered'],
    ['the audit log', executing().run().fault(), 'worker', 'the audit log is being written'],
  ])('names %s', (_, play, kind, detail) => {
    expect(waiting(play)).toMatchObject({ for: kind, detail });
  });

  test('names the person who is asked, and until when', () => {
    const approval = { required: true, approvers: ['anna', 'ben'], k: 2 };
    const play = new DebatePlay({ plan: plan('a'), approval }).open().pass();
    expect(waiting(play)).toMatchObject({
      for: 'person',
      detail: expect.stringMatching(/^approval fr-20261121-\w{6}, until 2026-11-22T00:00:00.000Z$/) as string,
      who_can_unblock: '2 more of: anna, ben',
    });
  });

  test('is there from the moment that something new is waited for, and is told once', () => {
    const play = open().after(5_000).reply();
    expect(waiting(play)?.since).toBe('2026-11-21T00:00:05.000Z');
    play.after(1_000).take({ type: 'TICK' });
    expect(waiting(play)?.since).toBe('2026-11-21T00:00:05.000Z');
    expect(play.told('waiting')).toHaveLength(4);
  });

  test('is none once it is over', () => {
    expect(waiting(executing().run().close())).toBeNull();
  });
});

describe('what is remembered', () => {
  const trace = (play: DebatePlay) => {
    const effect = play.effects.find(({ type }) => type === 'store_trace');
    return effect?.type === 'store_trace' ? effect.trace : null;
  };
  test('of a success: what was run, verified, with who argued', () => {
    expect(trace(executing().run())).toMatchObject({
      trace_id: '0'.repeat(32),
      outcome: 'succeeded',
      decision: 'PROCEED',
      verified: true,
      passes: 1,
      consensus: 1,
      plan: { tasks: [{ task_id: 'a' }, { task_id: 'b' }] },
      report: { tasks: 2, succeeded: 2, failed: 0, repairs: 0, rolled_back: false },
      tags: [{ tag: 'database' }, { tag: 'feature' }],
    });
  });
  test('of a repair: its diagnosis, and the plan as it was mended', () => {
    expect(trace(executing().ends().ends('failed').diagnose('no table').repair(plan('b2')).run())).toMatchObject({
      verified: true,
      plan: { tasks: [{ task_id: 'a' }, { task_id: 'b2' }] },
      report: { tasks: 3, succeeded: 2, failed: 1, repairs: 1, diagnoses: ['no table'] },
    });
  });
  test('is the same for SQLite and for the mirror, whenever it is written', () => {
    const play = executing().run();
    const first = trace(play);
    play.after(60_000).take({ type: 'STORED', id: play.pending.id });
    expect(play.pending).toMatchObject({ type: 'mirror_trace', trace: first });
  });
});

describe('what is audited', () => {
  const types = (play: DebatePlay): string[] => {
    const effect = play.effects.find(({ type }) => type === 'audit');
    return effect?.type === 'audit' ? effect.entries.map(({ type }) => type) : [];
  };
  test('of a success', () => {
    expect(types(executing().run().fault())).toEqual(['debate.decided', 'debate.executed', 'debate.ended']);
  });
  test('of a rollback', () => {
    expect(types(executing().ends('failed').diagnose(null).restore().fault())).toEqual([
      'debate.decided',
      'debate.executed',
      'debate.rolled_back',
      'debate.ended',
    ]);
  });
  test('of an approval', () => {
    const play = new DebatePlay({ plan: plan('a'), approval: { required: true } })
      .open()
      .pass()
      .feedback('reject')
      .fault();
    expect(types(play)).toEqual(['debate.decided', 'approval.requested', 'approval.closed', 'debate.ended']);
  });
  test('holds no argument of a command, which may be a secret', () => {
    const play = executing().run().fault();
    expect(JSON.stringify(play.effects.filter(({ type }) => type === 'audit'))).not.toContain('"do"');
  });
});
