import { answer, DebatePlay, failed, plan, unreadable, type DebateBody } from '../../support/debate-play.js';

/** A debate that has decided for a plan of these tasks, the workspace snapshotted. */
const executing = (ids: string[], body: DebateBody = {}): DebatePlay =>
  new DebatePlay({ plan: plan(...ids), ...body }).open().pass().snapshot();
/** What was done from the snapshot on. */
const acts = (play: DebatePlay): string[] => play.done.slice(play.done.indexOf('take_snapshot') + 1);

describe('an execution', () => {
  test('snapshots the workspace, runs the tasks one after the other, validates, remembers and audits', () => {
    const play = executing(['a', 'b']).run().close();
    expect(acts(play)).toEqual(['run a', 'run b', 'store_trace', 'mirror_trace', 'audit']);
    expect(play.path.slice(-6)).toEqual(['EXECUTING', 'VALIDATING', 'SUCCEEDED', 'STORING_MEMORY', 'AUDITING', 'DONE']);
    expect(play.result).toMatchObject({
      decision: 'PROCEED',
      outcome: 'succeeded',
      reason: 'all 2 tasks succeeded, and what they declare holds',
      report: { valid: true, repairs: 0, diagnoses: [], faults: [], rollback: null },
      memory: { sqlite: true, mongo: false },
      audit: { seq: 7, hash: 'f'.repeat(64) },
    });
  });

  test('runs what a task depends on before it', () => {
    const dependent = plan('a', 'b');
    dependent.tasks[0]!.depends_on = ['b'];
    expect(acts(executing([], { plan: dependent }).run())).toEqual(['run b', 'run a', 'store_trace']);
  });

  test('hands the task, its round, the workspace and the sandbox to the worker', () => {
    const play = executing(['a'], { sandbox: { backend: 'docker', network: true } });
    expect(play.task).toMatchObject({
      task: { task_id: 'a', argv: ['do', 'a'] },
      round: 0,
      workspace: '/srv/project',
      sandbox: { backend: 'docker', network: true },
    });
  });

  test('of an empty plan runs nothing and is no success', () => {
    const play = new DebatePlay().open().pass({ solution: answer() }).close();
    expect(play.path.slice(-6)).toEqual([
      'EXECUTING',
      'VALIDATING',
      'ROLLING_BACK',
      'STORING_MEMORY',
      'AUDITING',
      'DONE',
    ]);
    expect(acts(play)).not.toContain('take_snapshot');
    expect(play.done).not.toContain('take_snapshot');
    expect(play.result).toMatchObject({
      decision: 'PROCEED',
      outcome: 'rolled_back',
      reason: 'the execution is not valid, and nothing was run: the plan has no tasks; a plan needs at least one',
      report: { tasks: [], valid: false, faults: ['the plan has no tasks; a plan needs at least one'], rollback: null },
    });
  });

  test('stops at the first task that fails; what follows is not run', () => {
    const play = executing(['a', 'b', 'c'], { limits: { max_repairs: 0 } })
      .ends()
      .ends('failed')
      .rollBack()
      .close();
    expect(acts(play)).toEqual([
      'run a',
      'run b',
      'undo a',
      'restore_snapshot',
      'store_trace',
      'mirror_trace',
      'audit',
    ]);
    expect(play.result.report?.tasks.map(({ task_id: id, outcome, reason }) => [id, outcome, reason])).toEqual([
      ['a', 'succeeded', null],
      ['b', 'failed', 'exit code 1'],
      ['c', 'not_run', 'task b failed before it'],
    ]);
    expect(play.result.reason).toBe(
      'the execution is not valid, and was rolled back: task b failed: exit code 1; task c was not run',
    );
  });

  test('takes a refused task for a failed one', () => {
    const play = executing(['a']).ends('refused', { reason: 'sql-injection' });
    expect(play.state).toBe('SELF_HEALING');
  });
});

describe('self-healing', () => {
  const broken = (body: DebateBody = {}): DebatePlay => executing(['a', 'b', 'c'], body).ends().ends('failed');

  test('asks the critic for the cause and the solution for what replaces the failed task, and runs that', () => {
    const play = broken().diagnose('no such table').repair(plan('b2', 'c')).run().close();
    expect(acts(play)).toEqual([
      'run a',
      'run b',
      'diagnosis critic',
      'repair solution',
      'run b2',
      'run c',
      'store_trace',
      'mirror_trace',
      'audit',
    ]);
    expect(play.result).toMatchObject({
      outcome: 'succeeded',
      reason: 'all 3 tasks succeeded, and what they declare holds, after 1 repair',
      report: { repairs: 1, diagnoses: ['no such table'], valid: true, faults: [], rollback: null },
    });
    expect(play.result.report?.tasks.map(({ task_id: id, outcome, round }) => [id, outcome, round])).toEqual([
      ['a', 'succeeded', 0],
      ['b', 'failed', 0],
      ['b2', 'succeeded', 1],
      ['c', 'succeeded', 1],
    ]);
    expect(play.told('repair').at(-1)).toMatchObject({ round: 1, failed_task: 'b', healed: true, given_up: null });
  });

  test('gives the critic the report, and the solution the diagnosis', () => {
    const command = {
      exit_code: 3,
      signal: null,
      limit: null,
      stdout_tail: 'tried hard',
      stderr_tail: 'no such table: orders',
      output_bytes: 1,
      truncated: false,
      duration_ms: 1,
      enforced: {
        backend: 'none' as const,
        network: false,
        filesystem: false,
        user: false,
        environment: false,
        time: true,
        cpu: false,
        memory: 'none' as const,
        processes: 'none' as const,
        output: true,
        tree: true,
      },
    };
    const play = executing(['a', 'b'])
      .ends()
      .ends('failed', { command, unmet: ['file x is not there'] });
    expect(play.ask).toMatchObject({ role: 'critic', purpose: 'diagnosis', attempt: 1 });
    for (const words of [
      'exit code 3',
      'no such table: orders',
      'tried hard',
      'file x is not there',
      '- a: ["do","a"]',
    ]) {
      expect(play.ask.prompt).toContain(words);
    }
    play.diagnose('the table is missing');
    expect(play.ask).toMatchObject({ role: 'solution', purpose: 'repair' });
    expect(play.ask.prompt).toContain('the table is missing');
    expect(play.ask.prompt).toContain('what replaces task "b"');
  });

  test('never runs again what had succeeded', () => {
    const play = broken().diagnose().repair(plan('a', 'b2')).run();
    expect(acts(play).filter((what) => what === 'run a')).toHaveLength(1);
    expect(play.state).toBe('STORING_MEMORY');
  });

  test('tries max_repairs times, and then rolls back', () => {
    const play = broken().diagnose().repair(plan('b2')).ends('failed').diagnose().repair(plan('b3')).ends('failed');
    expect(play.state).toBe('ROLLING_BACK');
    play.rollBack().close();
    expect(play.result).toMatchObject({ outcome: 'rolled_back', report: { repairs: 2, valid: false } });
    expect(play.result.report?.rollback?.undone.map(({ task_id: id }) => id)).toEqual(['a']);
  });

  test('keeps what succeeded before a repair on the undo stack', () => {
    const limits = { max_repairs: 1 };
    const play = broken({ limits }).diagnose().repair(plan('b2', 'd')).ends().ends('failed').rollBack();
    expect(acts(play).slice(-4)).toEqual(['undo b2', 'undo a', 'restore_snapshot', 'store_trace']);
  });

  test.each<[string, (play: DebatePlay) => DebatePlay, string, string]>([
    ['there is no diagnosis', (p) => p.diagnose(null), 'no_diagnosis', 'the critic has no diagnosis'],
    ['the critic failed', (p) => p.reply(failed()), 'no_diagnosis', 'no diagnosis: EAGENTDOWN: gone'],
    [
      'the diagnosis cannot be read, asked for twice',
      (p) => p.reply(unreadable('x')).reply(unreadable('y')),
      'no_diagnosis',
      'no diagnosis that can be used: y',
    ],
    ['the solution failed', (p) => p.diagnose().reply(failed()), 'no_repair', 'no repair: EAGENTDOWN: gone'],
    [
      'the repair cannot be used, asked for twice',
      (p) => p.diagnose().repair(plan('a')).repair(plan('a')),
      'no_repair',
      'no repair that can be used: the repair has no task to run; give what replaces the failed task',
    ],
    [
      'the repair has the commands of the plan that failed',
      (p) => p.diagnose().repair(plan('b', 'c')),
      'same_commands',
      'the repair has the commands of a plan that was tried before',
    ],
  ])('ends in a rollback when %s', (_, story, because, message) => {
    const play = story(broken());
    expect(play.state).toBe('ROLLING_BACK');
    expect(play.debate.execution?.repairs).toMatchObject([{ givenUp: { because, message } }]);
    play.rollBack().close();
    expect(play.result).toMatchObject({ outcome: 'rolled_back', report: { repairs: 0 } });
    expect(play.result.report?.faults).toContain(`repair 1 was given up: ${message}`);
  });

  test('asks again, with the faults, for a repair that cannot be used', () => {
    const play = broken().diagnose().repair(plan('a'));
    expect(play.done.at(-1)).toBe('repair solution again');
    expect(play.ask.prompt).toContain('the repair has no task to run');
    expect(play.repair(plan('b2')).run().close().result.outcome).toBe('succeeded');
  });

  test('finds the commands of an earlier repair as well', () => {
    const play = broken({ limits: { max_repairs: 5 } });
    play.diagnose().repair(plan('b2', 'c')).ends('failed');
    play.diagnose().repair(plan('b3')).ends('failed');
    play.diagnose().repair(plan('b2', 'c'));
    expect(play.debate.execution?.repairs.at(-1)?.givenUp?.because).toBe('same_commands');
  });

  test('is not begun with max_repairs 0', () => {
    const play = broken({ limits: { max_repairs: 0 } });
    expect(play.state).toBe('ROLLING_BACK');
    expect(play.debate.execution?.repairs).toEqual([]);
  });
});

describe('a rollback', () => {
  const rolling = (): DebatePlay =>
    executing(['a', 'b', 'c'], { limits: { max_repairs: 0 } })
      .ends()
      .ends()
      .ends('failed');

  test('undoes the last success first, then restores the workspace', () => {
    const play = rolling().rollBack().close();
    expect(acts(play).slice(3, 6)).toEqual(['undo b', 'undo a', 'restore_snapshot']);
    expect(play.result.report?.rollback).toEqual({
      undone: ['b', 'a'].map((id) => ({ task_id: id, outcome: 'succeeded', reason: null, command: null })),
      restored: true,
      restore_error: null,
      workspace_before: 'before',
      workspace_after: 'before',
      manual: [],
    });
    expect(play.told('rollback').map(({ stage, why }) => [stage, why])).toEqual([
      ['started', 'the execution is not valid'],
      ['ended', 'the execution is not valid'],
    ]);
  });

  test('goes on past an undo that fails, and says what a person has to do', () => {
    const play = rolling().undo('failed', 'exit code 1').undo().restore().close();
    expect(acts(play)).toContain('undo a');
    expect(play.result).toMatchObject({
      outcome: 'rollback_incomplete',
      report: {
        rollback: {
          restored: true,
          manual: ['task b could not be undone (exit code 1); run ["undo","b"] in "." by hand, or what it stands for'],
        },
      },
    });
    expect(play.result.reason).toContain('task b could not be undone');
  });

  test('takes a worker that is lost in an undo for an undo that failed', () => {
    const play = rolling().fault('EAGENTDOWN', 'the worker died').undo().restore().close();
    expect(play.result.report?.rollback?.undone).toMatchObject([
      { task_id: 'b', outcome: 'failed', reason: 'EAGENTDOWN: the worker died' },
      { task_id: 'a', outcome: 'succeeded' },
    ]);
    expect(play.result.outcome).toBe('rollback_incomplete');
  });

  test.each<[string, (play: DebatePlay) => DebatePlay, string]>([
    ['fails', (p) => p.fault('wrong_state', 'the disk is full'), 'wrong_state: the disk is full'],
    [
      'leaves another workspace',
      (p) => p.restore('after'),
      'the workspace differs from its snapshot after it was restored: it has the digest after',
    ],
  ])('is incomplete when the restore %s', (_, story, error) => {
    const play = story(rolling().undo().undo()).close();
    expect(play.result).toMatchObject({
      outcome: 'rollback_incomplete',
      report: { rollback: { restored: false, restore_error: error } },
    });
    expect(play.result.report?.rollback?.manual).toEqual([
      `/srv/project is not as it was (${error}); compare it with snapshot s1`,
    ]);
  });

  test('is incomplete when something could not be put back', () => {
    const play = rolling().undo().undo().restore('before', ['set the owner of x by hand']).close();
    expect(play.result).toMatchObject({
      outcome: 'rollback_incomplete',
      report: { rollback: { restored: true, manual: ['set the owner of x by hand'] } },
    });
  });

  test('is remembered and audited, not as verified', () => {
    const play = rolling().rollBack();
    expect(play.pending).toMatchObject({
      type: 'store_trace',
      trace: {
        outcome: 'rolled_back',
        verified: false,
        report: { tasks: 3, succeeded: 2, failed: 1, rolled_back: true },
      },
    });
  });
});

describe('a fault while executing', () => {
  test('of the snapshot ends it aborted: nothing has run', () => {
    const play = new DebatePlay({ plan: plan('a') }).open().pass().fault('wrong_state', 'the workspace is gone');
    expect(play.state).toBe('ABORTED');
    expect(play.debate.error).toEqual({ code: 'wrong_state', message: 'the workspace is gone' });
    expect(play.result).toMatchObject({ decision: 'PROCEED', outcome: 'aborted', memory: null, audit: null });
  });

  test('of a sandbox that is not there names what to install; nothing was executed, nothing is remembered', () => {
    const play = executing(['a', 'b']).fault('unavailable', 'no sandbox: install bubblewrap');
    expect(play.state).toBe('ROLLING_BACK');
    play.restore();
    expect(play.state).toBe('ABORTED');
    expect(play.debate.error).toEqual({ code: 'unavailable', message: 'no sandbox: install bubblewrap' });
    expect(play.result).toMatchObject({ outcome: 'aborted', memory: null });
    expect(play.result.report?.tasks.map(({ outcome }) => outcome)).toEqual(['not_run', 'not_run']);
  });

  test('of a worker that died in the first task is taken back: nobody knows what it did', () => {
    const play = executing(['a', 'b']).fault('EAGENTDOWN', 'no heartbeat').restore().close();
    expect(play.result).toMatchObject({ outcome: 'rolled_back', memory: { sqlite: true } });
    expect(play.result.report?.tasks.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['failed', 'EAGENTDOWN: no heartbeat'],
      ['not_run', 'task a failed before it'],
    ]);
  });

  test('later is no reason for a repair: what was done is taken back', () => {
    const play = executing(['a', 'b']).ends().fault('unavailable', 'the sandbox is gone').rollBack().close();
    expect(play.done).not.toContain('diagnosis critic');
    expect(play.result).toMatchObject({ outcome: 'rolled_back' });
    expect(play.result.report?.faults).toContain('unavailable: the sandbox is gone');
  });
});

describe('memory and audit', () => {
  test('that cannot be written do not change what was done', () => {
    const play = executing(['a']).run().fault('unavailable', 'the disk is full').fault('unavailable', 'no audit log');
    expect(play.state).toBe('DONE');
    expect(play.result).toMatchObject({
      outcome: 'succeeded',
      memory: { sqlite: false, mongo: false, error: 'unavailable: the disk is full' },
      audit: null,
      notes: [
        'the memory was not written: unavailable: the disk is full',
        'the audit log could not be written: unavailable: no audit log',
      ],
    });
  });
  test('hold what SQLite has when the mirror fails', () => {
    const play = executing(['a']).run();
    play.take({ type: 'STORED', id: play.pending.id }).fault('unavailable', 'MongoDB is away');
    expect(play.debate.memory).toEqual({ sqlite: true, mongo: false, error: 'unavailable: MongoDB is away' });
    expect(play.state).toBe('AUDITING');
  });
  test('hold what the mirror says', () => {
    const play = executing(['a']).run();
    play
      .take({ type: 'STORED', id: play.pending.id })
      .take({ type: 'MIRRORED', id: play.pending.id, mongo: true, error: null });
    expect(play.debate.memory).toEqual({ sqlite: true, mongo: true });
  });
});
