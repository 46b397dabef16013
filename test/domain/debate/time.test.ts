import { openDebateSchema } from '../../../src/contracts/debate.js';
import { debateStatusSchema } from '../../../src/contracts/debate-status.js';
import { nextDue } from '../../../src/domain/debate/debate.js';
import { forkDebate } from '../../../src/domain/debate/fork.js';
import { debateDetails, debateStatus } from '../../../src/domain/debate/view.js';
import { shifted } from '../../../src/domain/shift.js';
import {
  answer,
  debateBody,
  type DebateBody,
  DebatePlay,
  failed,
  plan,
  unreadable,
} from '../../support/debate-play.js';
import { wrongSeconds } from '../../support/wrong-seconds.js';

const budget = { max_seconds: 60 };
/** A debate that may take a minute, its analyst asked. */
const timed = (body: DebateBody = {}): DebatePlay => new DebatePlay({ plan: plan('a', 'b'), budget, ...body }).open();
/** The same, decided, the workspace snapshotted and its first task under way. */
const executing = (body: DebateBody = {}): DebatePlay => timed(body).pass().snapshot();
const approval = { required: true };
const time = (at: DebatePlay) => {
  const { elapsed_ms: elapsed, left_ms: left } = debateStatus(at.debate).time ?? {};
  return [elapsed, left];
};
const usedUp = "the budget's time of 60 seconds is used up";

describe('max_seconds of a debate', () => {
  test.each(wrongSeconds)('cannot be %j', (max_seconds, why) => {
    const read = openDebateSchema.safeParse({ ...debateBody(), budget: { max_seconds } });
    expect(read.error?.issues.map(({ path, message }) => [path.join('.'), message])).toEqual([
      ['budget.max_seconds', expect.stringContaining(why)],
    ]);
  });
  test('left out leaves its calls and its tasks the limits that they have', () => {
    const at = timed({ budget: {} });
    expect(at.debate.setup.budget).toEqual({ maxTokens: 100_000, maxUsdMicros: null });
    expect([at.ask.timeoutMs, Object.keys(at.ask).includes('leftMs')]).toEqual([120_000, false]);
    at.after(9_000_000).pass().snapshot();
    expect([at.task.task.limits.timeout_ms, Object.keys(at.task).includes('leftMs')]).toEqual([300_000, false]);
    expect([debateStatus(at.debate).time, nextDue(at.debate)]).toEqual([undefined, null]);
  });
});

describe('the time of a debate', () => {
  test('counts from its start, and is told with what is left and when it is over', () => {
    const at = timed().after(20_000).reply();
    expect(debateStatus(at.debate).time).toEqual({
      max_ms: 60_000,
      elapsed_ms: 20_000,
      left_ms: 40_000,
      as_of: '2026-11-21T00:00:20.000Z',
      ends_at: '2026-11-21T00:01:00.000Z',
    });
    expect(debateStatusSchema.parse(debateStatus(at.debate)).time).toBeDefined();
    expect(debateDetails(at.debate)).toContain('Time: 20 seconds of 60 seconds.');
    at.after(5_000).pass().snapshot().run().close();
    expect(debateStatus(at.debate).time).toMatchObject({ elapsed_ms: 25_000, ends_at: null });
  });

  test('is the time limit of a call that begins, where its own is longer', () => {
    const at = timed({ limits: { answer_timeout_ms: 30_000 } });
    expect([at.ask.timeoutMs, at.ask.leftMs]).toEqual([30_000, 60_000]);
    at.after(45_000).reply();
    expect([at.ask.timeoutMs, at.ask.leftMs]).toEqual([15_000, 15_000]);
  });

  test('that is over lets no role speak, as a budget that is gone does', () => {
    const at = timed().after(20_000).reply().after(40_000).reply().close();
    expect(at.done.filter((what) => what.startsWith('ask'))).toEqual(['ask analyst', 'ask solution']);
    expect(at.said('security').failure).toEqual({ code: 'EBUDGET', message: usedUp });
    expect(at.result).toMatchObject({ decision: 'REJECT', outcome: 'blocked' });
    expect(at.result.reason).toContain(`security gave no valid answer (EBUDGET: ${usedUp})`);
    expect(at.result.budget_note).toBe(
      'for want of budget (max_tokens 100000, max_seconds 60) these did not speak: critic in pass 1, security in pass 1, optimizer in pass 1',
    );
    expect(at.told('budget')).toHaveLength(3);
  });

  test('that is over in the middle of a call is why that brought nothing', () => {
    const late = timed().after(60_000).reply(failed('ETIMEOUT', 'no answer in time'));
    expect(late.said('analyst').failure).toEqual({ code: 'EBUDGET', message: `${usedUp}: no answer in time` });
    const early = timed().after(59_999).reply(failed('ETIMEOUT', 'no answer in time'));
    expect(early.said('analyst').failure).toEqual({ code: 'ETIMEOUT', message: 'no answer in time' });
  });

  test('that is over leaves an answer that came, asks for none again, and buys no further pass', () => {
    const at = timed().after(60_000).reply(unreadable('no JSON'));
    expect(at.said('analyst').failure?.message).toBe(`no JSON; not asked again: ${usedUp}`);
    const against = { stance: 'against' as const, confidence: 0.5 };
    const decided = timed().reply().reply().reply(answer(against)).reply().after(60_000).reply(answer(against));
    expect(decided.debate).toMatchObject({ pass: 1, refinements: 0 });
    expect(decided.told('consensus')).toMatchObject([{ next: 'decision', why: 'the budget is used up' }]);
  });

  test('that is over before its tasks begin ends it with nothing run', () => {
    const at = timed().reply().reply().reply().reply().after(60_000).reply();
    expect([at.state, at.done.includes('take_snapshot')]).toEqual(['ABORTED', false]);
    expect(debateStatus(at.debate)).toMatchObject({
      lifecycle: 'failed',
      error: { code: 'EBUDGET', message: usedUp },
      report: { tasks: [{ outcome: 'not_run' }, { outcome: 'not_run' }] },
    });
    const snapshotted = timed().pass().after(60_000).snapshot().restore();
    expect([snapshotted.state, snapshotted.done.some((what) => what.startsWith('run'))]).toEqual(['ABORTED', false]);
  });

  test('is the time limit of a task that begins, where its own is longer, and never that of an undo', () => {
    const at = executing().after(10_000).ends();
    expect([at.task.task.limits.timeout_ms, at.task.leftMs]).toEqual([50_000, 50_000]);
    at.after(45_000).ends('failed').reply(failed());
    expect(at.pending).toMatchObject({ type: 'undo_task', task: { task_id: 'a', limits: { timeout_ms: 300_000 } } });
    at.after(9_000_000).rollBack().close();
    expect(at.result.outcome).toBe('rolled_back');
  });

  test('that is over between two tasks takes back what was done', () => {
    const at = executing().after(60_000).ends();
    expect(at.path.slice(-2)).toEqual(['EXECUTING', 'ROLLING_BACK']);
    at.rollBack().close();
    expect(at.done.slice(-6)).toEqual(['run a', 'undo a', 'restore_snapshot', 'store_trace', 'mirror_trace', 'audit']);
    expect(at.result).toMatchObject({ decision: 'PROCEED', outcome: 'rolled_back' });
    expect(at.result.reason).toContain(`EBUDGET: ${usedUp}`);
  });

  test('that is over as the last task succeeds takes nothing back', () => {
    const at = executing().ends().after(60_000).ends().close();
    expect(at.result.outcome).toBe('succeeded');
  });

  test('that is over as a task fails heals nothing, and takes back what was done', () => {
    const at = executing().ends().after(60_000).ends('failed');
    expect(at.debate.execution?.repairs.at(-1)?.givenUp).toEqual({
      because: 'budget',
      message: `no diagnosis: ${usedUp}`,
    });
    expect(at.rollBack().close().result.outcome).toBe('rolled_back');
  });

  test('that is over in the middle of a diagnosis gives the repair up for want of budget', () => {
    const at = executing().ends('failed').after(60_000).reply(failed('ETIMEOUT', 'no answer in time'));
    expect(at.debate.execution?.repairs.at(-1)?.givenUp).toEqual({
      because: 'budget',
      message: `no diagnosis: EBUDGET: ${usedUp}: no answer in time`,
    });
  });

  test('that is over before a worker had a task is why nothing became of it', () => {
    const at = executing().ends().after(60_000).fault('EAGENTDOWN', 'no worker took it');
    expect(at.debate.execution?.fault).toEqual({ code: 'EBUDGET', message: `${usedUp}: no worker took it` });
    expect(at.rollBack().close().result.outcome).toBe('rolled_back');
  });

  test('that is over as a task is refused before it could run leaves that refusal: nothing has run', () => {
    const at = executing().after(60_000).fault('ESEC', 'no such command is allowed');
    expect(at.debate.execution).toMatchObject({ fault: { code: 'ESEC', message: 'no such command is allowed' } });
    expect([at.debate.execution?.reports, at.restore().state]).toEqual([[], 'ABORTED']);
  });

  test('does not pass at the human gate, before the tasks and before a repair', () => {
    const at = timed({ approval }).after(10_000).pass();
    expect([at.state, debateStatus(at.debate).time?.ends_at]).toEqual(['AWAITING_APPROVAL', null]);
    at.after(600_000).feedback('approve').snapshot();
    expect([time(at), at.task.leftMs]).toEqual([[10_000, 50_000], 50_000]);
    at.after(5_000).ends('failed').diagnose().repair(plan('c', 'b'));
    expect(at.state).toBe('AWAITING_APPROVAL');
    at.after(600_000).feedback('approve');
    expect([time(at), at.task.leftMs]).toEqual([[15_000, 45_000], 45_000]);
  });

  test('goes on from a checkpoint as it was there, whenever that is restored', () => {
    const at = timed().after(20_000).reply();
    const [before, after] = [debateStatus(at.debate).time, debateStatus(shifted(at.debate, 1_000_000)).time];
    expect(after).toMatchObject({ elapsed_ms: before?.elapsed_ms, left_ms: before?.left_ms });
    expect(Date.parse(after?.ends_at ?? '') - Date.parse(before?.ends_at ?? '')).toBe(1_000_000);
  });

  test('begins anew in a fork, as money and tokens do', () => {
    const at = timed().after(20_000).reply();
    const fork = forkDebate(at.debate, { ...at.debate.setup, id: 'fork' }, at.now + 5_000_000).work;
    expect(debateStatus(fork)).toMatchObject({ spend: { tokens: 0 }, time: { elapsed_ms: 0 } });
  });
});

describe('a role whose call waits for a person of its tenant', () => {
  const awaited = (at: DebatePlay, tenant: string | null, call = String(at.ask.id)): DebatePlay =>
    at.take({ type: 'PERSON_AWAITED', call, tenant });

  test('takes no time of its debate, which says whom it waits for', () => {
    const at = awaited(timed().after(10_000), 'acme').after(9_000_000);
    expect(debateStatus(at.debate)).toMatchObject({
      lifecycle: 'running',
      time: { elapsed_ms: 10_000, ends_at: null },
      waiting: {
        ...{ for: 'person', since: '2026-11-21T00:00:10.000Z' },
        detail: '1 call waits for an answer whether tenant acme may use more',
        who_can_unblock: expect.stringContaining('parley budget acme --max-usd') as string,
      },
    });
    expect(debateDetails(at.debate)).toContain('Waiting for person');
    awaited(at, null).after(5_000).reply();
    expect(time(at)).toEqual([15_000, 45_000]);
    expect(at.ask.leftMs).toBe(45_000);
    expect(at.told('waiting').map((told) => told?.for)).toEqual(['worker', 'worker', 'lane', 'person', 'lane', 'lane']);
  });
  test('holds no clock of another call, nor of a debate that goes on without it', () => {
    const at = timed();
    const before = String(at.ask.id);
    awaited(at.reply(), 'acme', before).after(1_000).reply();
    expect(time(at)).toEqual([1_000, 59_000]);
    const last = String(at.ask.id);
    awaited(at, 'acme').take({ type: 'CANCEL' });
    awaited(at, null, last);
    expect([debateStatus(at.debate).waiting?.for, at.debate.dropped]).toEqual([undefined, 0]);
  });
});
