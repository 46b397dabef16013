import { openDebateSchema, type OpenDebateBody } from '../../../src/contracts/debate.js';
import type { CommandReport } from '../../../src/contracts/execution.js';
import { digestOf } from '../../../src/domain/canonical-json.js';
import { gateContent } from '../../../src/domain/debate/gate-content.js';
import { debateDetails, debateStatus } from '../../../src/domain/debate/view.js';
import { maxCheckCharacters } from '../../../src/domain/debate/health-check.js';
import { shifted } from '../../../src/domain/shift.js';
import { debateBody, type DebateBody, DebatePlay, failed, plan, unreadable } from '../../support/debate-play.js';

const check = { argv: ['cat', 'status.txt'] };
const healing = { check };
const ranWith = (exitCode: number, output: string): CommandReport => ({
  exit_code: exitCode,
  signal: null,
  limit: null,
  stdout_tail: output,
  stderr_tail: '',
  output_bytes: output.length,
  truncated: false,
  duration_ms: 12,
  enforced: {
    backend: 'bubblewrap',
    network: true,
    filesystem: true,
    user: true,
    environment: true,
    time: true,
    cpu: true,
    memory: 'cgroup',
    processes: 'cgroup',
    output: true,
    tree: true,
  },
});

const playing = (body: DebateBody = {}): DebatePlay =>
  new DebatePlay({ plan: plan('a', 'b', 'c'), healing, ...body }).open().pass();
/** Its second task of three has just failed. */
const failing = (body: DebateBody = {}): DebatePlay => playing(body).snapshot().ends().ends('failed');

describe('the healing of a request', () => {
  const faultsOf = (given: unknown): [string, string][] =>
    (openDebateSchema.safeParse({ ...debateBody(), healing: given }).error?.issues ?? []).map(({ path, message }) => [
      path.join('.'),
      message,
    ]);
  test('left out heals at once, and has 300 seconds', () => {
    expect(new DebatePlay().debate.setup.healing).toEqual({ timeout_ms: 300_000 });
  });
  test('has a check of 30 seconds in the workspace, where it says no more than the command', () => {
    expect(playing().debate.setup.healing).toEqual({
      check: { ...check, cwd: '.', env: {}, stdin: '', timeout_ms: 30_000 },
      timeout_ms: 300_000,
    });
  });
  test.each<[string, unknown, string, RegExp]>([
    ['no program', { check: { argv: [] } }, 'healing.check.argv', /must name a program/],
    ['no command', { check: {} }, 'healing.check.argv', /expected array/],
    ['a folder outside', { check: { argv: ['x'], cwd: '../y' } }, 'healing.check.cwd', /must stay inside/],
    ['no time', { check: { argv: ['x'], timeout_ms: 0 } }, 'healing.check.timeout_ms', /Too small/],
    ['too much time', { check: { argv: ['x'], timeout_ms: 600_001 } }, 'healing.check.timeout_ms', /Too big/],
    ['no time to heal', { timeout_ms: 0 }, 'healing.timeout_ms', /Too small/],
    ['too much time to heal', { timeout_ms: 3_600_001 }, 'healing.timeout_ms', /Too big/],
    ['another member', { checks: [] }, 'healing', /Unrecognized key/],
    [
      'a check as long as a book',
      { check: { argv: ['x'], stdin: 'y'.repeat(maxCheckCharacters) } },
      'healing.check',
      /must be at most 20000 characters of JSON; got 200\d\d\. Put long inputs into files/,
    ],
  ])('cannot have %s', (_, given, path, message) => {
    expect(faultsOf(given)).toEqual([[path, expect.stringMatching(message)]]);
  });
});

describe('a health check', () => {
  test('is run after a failure, before anybody is asked, in the sandbox of the tasks', () => {
    const play = failing();
    expect([play.state, play.done.at(-1)]).toEqual(['SELF_HEALING', 'check_health']);
    const { task, sandbox, workspace, round } = play.check;
    expect(task).toMatchObject({ task_id: 'health check', argv: check.argv, limits: { timeout_ms: 30_000 } });
    expect([sandbox, workspace, round]).toEqual([{ backend: 'auto', network: false }, '/srv/project', 0]);
    expect(debateStatus(play.debate).waiting).toMatchObject({ for: 'worker', detail: 'the health check runs' });
  });

  test('that is healthy ends the debate as succeeded, and says plainly that a task failed', () => {
    const play = failing().checked('succeeded', ranWith(0, 'all fine'));
    expect(play.path.slice(-3)).toEqual(['SELF_HEALING', 'SUCCEEDED', 'STORING_MEMORY']);
    play.close();
    expect(play.done.filter((what) => /diagnosis|repair|undo|restore/.test(what))).toEqual([]);
    expect(play.result).toMatchObject({
      decision: 'PROCEED',
      outcome: 'succeeded',
      reason: expect.stringMatching(
        /^the health check found nothing to heal after task b had failed, so that what was done stays: task b failed: .*; task c was not run$/,
      ),
      memory: { sqlite: true },
      audit: { seq: 7 },
    });
    expect(play.result.report).toMatchObject({
      valid: false,
      repairs: 0,
      rollback: null,
      faults: [expect.stringMatching(/^task b failed/), 'task c was not run'],
      checks: [{ round: 0, failed_task: 'b', healthy: true, reason: null, command: { exit_code: 0, duration_ms: 12 } }],
    });
    expect(play.result.report?.tasks.map(({ task_id: id, outcome }) => `${id} ${outcome}`)).toEqual([
      'a succeeded',
      'b failed',
      'c not_run',
    ]);
    expect(play.told('health')).toMatchObject([{ failed_task: 'b', healthy: true }]);
    expect(debateDetails(play.debate)).toContain('Health check after b: nothing to heal');
  });

  test('that is healthy is remembered with the whole plan, undos too, and not as verified; the audit log says why', () => {
    const play = failing().checked();
    const { trace } = play.effects.findLast((effect) => effect.type === 'store_trace')!;
    expect(trace).toMatchObject({ outcome: 'succeeded', verified: false, plan: plan('a', 'b', 'c') });
    play.take({ type: 'STORED', id: play.pending.id });
    play.take({ type: 'MIRRORED', id: play.pending.id, mongo: false, error: null });
    const [decided, executed, ended] = play.audit.entries;
    expect(decided?.data['health_check']).toMatch(/^[0-9a-f]{64}$/);
    expect(executed?.data).toMatchObject({
      valid: false,
      checks: [{ round: 0, failed_task: 'b', healthy: true, exit_code: null }],
    });
    expect(ended?.data).toMatchObject({ outcome: 'succeeded', reason: expect.stringContaining('health check') });
  });

  test('that is healthy after the debate was carried on is remembered with each task once', () => {
    const play = failing();
    play.work = JSON.parse(JSON.stringify(play.debate)) as typeof play.debate;
    play.checked();
    const { trace } = play.effects.findLast((effect) => effect.type === 'store_trace')!;
    expect(trace.plan).toEqual(plan('a', 'b', 'c'));
  });

  test('that is not healthy is told to the critic, and healing goes on as without it', () => {
    const play = failing().checked('failed', ranWith(1, 'the page is empty'));
    expect(play.done.at(-1)).toBe('diagnosis critic');
    expect(play.ask.prompt).toContain('What the health check said then');
    expect(play.ask.prompt).toContain('the page is empty');
    play.diagnose().repair(plan('b2')).run().close();
    expect(play.result).toMatchObject({ outcome: 'succeeded', report: { valid: true, checks: [{ healthy: false }] } });
    expect(play.result.reason).toMatch(/^all 2 tasks succeeded, .* after 1 repair$/);
  });

  test('that cannot be run, or is lost, is no health', () => {
    const play = failing().fault('unavailable', 'no sandbox');
    expect(play.done.at(-1)).toBe('diagnosis critic');
    expect(play.debate.execution?.checks).toMatchObject([{ healthy: false, reason: 'unavailable: no sandbox' }]);
  });

  test('is run again after each failure, and may be healthy after a repair that failed', () => {
    const play = failing().checked('failed').diagnose().repair(plan('b2', 'c2')).ends('failed');
    expect([play.state, play.done.at(-1), play.check.round]).toEqual(['SELF_HEALING', 'check_health', 1]);
    play.checked().close();
    expect(play.result).toMatchObject({ outcome: 'succeeded', report: { valid: false, repairs: 1 } });
    expect(play.result.report?.checks?.map(({ failed_task: of, healthy }) => [of, healthy])).toEqual([
      ['b', false],
      ['b2', true],
    ]);
    expect(debateStatus(play.debate).repairs).toMatchObject([{ healed: false, given_up: null }]);
  });

  test.each<[string, DebatePlay]>([
    ['where none is declared', failing({ healing: {} })],
    ['where nothing is healed any more', failing({ limits: { max_repairs: 0 } })],
    ['where every task succeeded', playing().snapshot().run()],
    ['after a fault that is no task’s', playing().snapshot().fault('ESEC', 'refused')],
  ])('is not run %s', (_, play) => {
    expect(play.done).not.toContain('check_health');
  });

  test('is not run once the time of the budget is over: what was done is taken back', () => {
    const play = playing({ budget: { max_seconds: 60 } });
    play.snapshot().ends().after(60_000).ends('failed');
    expect([play.state, play.done.includes('check_health')]).toEqual(['ROLLING_BACK', false]);
  });

  test('has at most what is left of the time of the budget', () => {
    const play = playing({ budget: { max_seconds: 60 } })
      .snapshot()
      .ends()
      .after(50_000)
      .ends('failed');
    expect([play.check.leftMs, play.check.task.limits.timeout_ms]).toEqual([10_000, 10_000]);
  });

  test('that is cancelled is waited for before anything is taken back, whatever it says', () => {
    const play = failing().cancel();
    expect([play.state, play.done.at(-1), play.pending.type]).toEqual(['ROLLING_BACK', 'stop', 'check_health']);
    play.checked();
    expect(play.done.at(-1)).toBe('undo a');
    play.rollBack().audited();
    expect(play.result).toMatchObject({ outcome: 'aborted', reason: 'the debate was cancelled' });
  });
});

describe('what is declared as a health check', () => {
  test('is told to every role before it judges', () => {
    const play = new DebatePlay({ plan: plan('a'), healing }).open();
    play.pass();
    const prompts = play.effects.flatMap((effect) => (effect.type === 'ask' ? [effect.prompt] : []));
    expect(prompts).toHaveLength(5);
    for (const prompt of prompts) expect(prompt).toContain('{"argv":["cat","status.txt"]}, at most 30000 ms');
    const silent = new DebatePlay({ plan: plan('a') }).open();
    expect(silent.ask.prompt).not.toMatch(/health check/i);
  });

  test.each<[string, OpenDebateBody['plan']]>([
    ['the plan of the request', plan('a')],
    ['the plan of the solution', undefined],
  ])('is scanned with %s, and vetoed as its commands are', (_, given) => {
    const destructive = { check: { argv: ['sh', '-c', 'rm -rf /home'] } };
    const play = new DebatePlay({ ...(given && { plan: given }), healing: destructive }).open().pass();
    expect(play.debate.decision?.decision).toBe('VETO');
    expect(play.said('security').findings).toMatchObject([{ where: 'health check' }]);
    expect(play.done).not.toContain('take_snapshot');
  });

  test('is part of what people approve: of its digest, of what is shown, and of the question', () => {
    const approval = { required: true };
    const asked = (body: DebateBody): DebatePlay => playing({ approval, ...body });
    const play = asked({});
    const status = debateStatus(play.debate);
    const request = status.feedback[0]!.request;
    expect(gateContent(status)).toMatchObject({ health_check: check });
    expect(digestOf({ subject: gateContent(status), policy_version: 'debate-1' })).toBe(request.digest);
    expect(request.prompt).toContain('After a task has failed: ["cat","status.txt"]; where that ends with');
    expect(asked({ healing: {} }).debate.approvals[0]?.request.digest).not.toBe(request.digest);
    expect(gateContent(debateStatus(asked({ healing: {} }).debate))).not.toHaveProperty('health_check');
  });
});

describe('the time of one healing', () => {
  const own = { timeout_ms: 100_000 };
  const failed1 = (body: DebateBody = {}): DebatePlay => failing({ healing: own, ...body });

  test('is 300 seconds for both answers, less than that for each by its own limit', () => {
    const play = failing({ healing: {} });
    expect([play.ask.timeoutMs, play.ask.leftMs]).toEqual([120_000, 300_000]);
    play.after(250_000).diagnose();
    expect([play.ask.purpose, play.ask.timeoutMs, play.ask.leftMs]).toEqual(['repair', 50_000, 50_000]);
  });

  test('begins after its check, and anew with each healing', () => {
    const play = failing({ healing: { ...own, check } })
      .after(29_000)
      .checked('failed');
    expect(play.ask.leftMs).toBe(100_000);
    play.after(60_000).diagnose().repair(plan('b2')).after(500_000).ends('failed').checked('failed');
    expect(play.ask.leftMs).toBe(100_000);
  });

  test.each<[string, (play: DebatePlay) => DebatePlay, string, string]>([
    [
      'before there is a diagnosis',
      (play) => play.after(100_000).reply(failed('ETIMEOUT', 'no answer')),
      'no_diagnosis',
      'no diagnosis: the time of healing, 100 seconds, is over: ETIMEOUT: no answer',
    ],
    [
      'after an answer that cannot be read',
      (play) => play.after(100_000).reply(unreadable('no JSON')),
      'no_diagnosis',
      'no diagnosis: the time of healing, 100 seconds, is over: no JSON',
    ],
    [
      'with the diagnosis',
      (play) => play.after(100_000).diagnose(),
      'no_repair',
      'no repair: the time of healing, 100 seconds, is over',
    ],
  ])('that is over %s rolls back', (_, act, because, message) => {
    const play = act(failed1());
    expect(play.state).toBe('ROLLING_BACK');
    expect(debateStatus(play.debate).repairs).toMatchObject([{ given_up: { because, message } }]);
  });

  test('is never more than what is left of the budget’s', () => {
    const play = playing({ healing: own, budget: { max_seconds: 60 } })
      .snapshot()
      .after(30_000)
      .ends('failed');
    expect([play.ask.timeoutMs, play.ask.leftMs]).toEqual([30_000, 30_000]);
    play.after(30_000).reply(failed('ETIMEOUT', 'no answer'));
    expect(debateStatus(play.debate).repairs).toMatchObject([{ given_up: { because: 'budget' } }]);
  });

  test('does not pass while a person is waited for, for the budget of its tenant', () => {
    const play = failed1().after(10_000);
    const call = String(play.pending.id);
    play.take({ type: 'PERSON_AWAITED', call, tenant: 'acme' }).after(1_000_000);
    play.take({ type: 'PERSON_AWAITED', call, tenant: null }).after(20_000).diagnose();
    expect(play.ask.leftMs).toBe(70_000);
  });

  test('does not pass while the work stood still before a restore', () => {
    const play = failed1();
    play.work = shifted(play.debate, 1_000_000);
    expect(play.after(1_050_000).diagnose().ask.leftMs).toBe(50_000);
  });

  test('is none for what began before there was one', () => {
    const play = failing({ healing: {} });
    const { healing: _, ...setup } = play.debate.setup;
    play.work = { ...play.debate, setup };
    play.after(900_000).diagnose();
    expect([play.ask.timeoutMs, 'leftMs' in play.ask]).toEqual([120_000, false]);
  });
});
