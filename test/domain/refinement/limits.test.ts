import { refinementStatusSchema } from '../../../src/contracts/refinement-status.js';
import { forkRefinement } from '../../../src/domain/refinement/fork.js';
import { nextDue } from '../../../src/domain/refinement/refinement.js';
import { refinementStatus } from '../../../src/domain/refinement/view.js';
import { elapsedMs } from '../../../src/domain/ledger/clock.js';
import { reservedOf } from '../../../src/domain/work-account.js';
import { amount } from '../../support/ledger-play.js';
import { type RefinementBody, RefinementPlay, scored } from '../../support/refinement-play.js';

const remote = { adapter: { kind: 'http' as const, url: 'http://127.0.0.1' } };
const timed = (more: RefinementBody = {}): RefinementPlay =>
  new RefinementPlay({ budget: { max_seconds: 60 }, ...more }).start();
const written = { outcome: 'generated' as const, output: 'v' };
const timedOut = { outcome: 'timeout' as const };
const over = "the budget's time of 60 seconds is used up";

describe('a call of a refinement', () => {
  test('of a script holds its prompt as well as its answer', () => {
    const script = { adapter: { kind: 'scripted' as const, script: [{ final: 'x'.repeat(40) }] } };
    const play = new RefinementPlay({ budget: { max_tokens: 5_000 }, generator: script }).start();
    const { prompt, instructions } = play.pending;
    expect(reservedOf(play.refinement.ledger).tokens).toBe(10 + Math.ceil((prompt.length + instructions.length) / 4));
  });
  test('of a remote agent is not made once what one has stated has passed a limit of money', () => {
    const play = new RefinementPlay({ budget: { max_usd: 1 }, generator: remote, critic: remote }).start();
    play.generated(written, amount(5, 1_500_000));
    expect([play.state, play.refinement.error?.code]).toEqual(['FAILED', 'EBUDGET']);
    expect(play.refinement.error?.message).toContain('the critic cannot be asked: the budget has passed its limit');
  });
});

describe('the time of a refinement', () => {
  test.each<[string, RefinementBody, number]>([
    ['what is left of it', {}, 40_000],
    ['what is left of the iteration where that is less', { loop_control: { iteration_timeout_ms: 30_000 } }, 10_000],
  ])('gives a call %s', (_, more, left) => {
    const play = timed(more).after(20_000).generated(written);
    expect([play.pending.type, play.pending.timeoutMs]).toEqual(['critique', left]);
  });

  test.each<[string, (play: RefinementPlay) => RefinementPlay]>([
    ['while the generator writes', (play) => play.after(60_000).generated(timedOut)],
    ['while the critic reads', (play) => play.generated(written).after(60_000).critiqued(timedOut)],
    ['as an answer comes, before another is asked for', (play) => play.after(60_000).generated(written)],
    ['with no worker that says so', (play) => play.wait()],
  ])('ends it by its budget %s, with the best so far', (_, ends) => {
    const play = ends(timed().iterate(0.5));
    expect([play.state, play.refinement.pending]).toEqual(['ABORTED', null]);
    expect(play.refinement.result).toMatchObject({ reason: 'budget', version: 1, why: expect.stringContaining(over) });
    expect(play.refinement.ledger.calls).toEqual([]);
  });
  test('stops what is still under way then', () => {
    const play = timed();
    const { id } = play.pending;
    expect(nextDue(play.refinement)).toBe(play.now + 65_000);
    expect(play.wait().effects.at(-1)).toEqual({ type: 'stop', of: id });
  });
  test('fails it where nothing has a score by then', () => {
    const play = timed().after(60_000).generated(timedOut);
    expect([play.state, play.refinement.error?.code]).toEqual(['FAILED', 'EBUDGET']);
    expect(play.refinement.error?.message).toContain(`${over}; there is no version to give back (budget)`);
  });
  test('leaves a version that comes with its end as good as any', () => {
    const play = timed().generated(written).after(60_000).critiqued(scored(0.9));
    expect([play.state, play.refinement.result?.reason]).toEqual(['COMPLETE', 'threshold_met']);
  });
  test('stands still while a call waits for a person of its tenant, and that of its iteration too', () => {
    const play = timed().after(20_000);
    const call = String(play.pending.id);
    play.take({ type: 'PERSON_AWAITED', call, tenant: 'acme' }).after(9_000_000);
    expect(nextDue(play.refinement)).toBeNull();
    expect(refinementStatusSchema.parse(refinementStatus(play.refinement))).toMatchObject({
      ...{ lifecycle: 'running', time: { elapsed_ms: 20_000, ends_at: null } },
      waiting: { for: 'person', detail: expect.stringContaining('whether tenant acme may use more') as string },
    });
    play.take({ type: 'TICK' }).take({ type: 'PERSON_AWAITED', call, tenant: null });
    expect(nextDue(play.refinement)).toBe(play.now + 45_000);
    play.generated(written);
    expect([play.pending.type, play.pending.timeoutMs]).toEqual(['critique', 40_000]);
    expect(play.told('waiting').map((told) => told?.for)).toEqual(['lane', 'person', 'lane', 'lane']);
  });
  test('stands in the status, and begins anew in a fork', () => {
    const play = timed().after(20_000).iterate(0.5);
    const { time } = refinementStatusSchema.parse(refinementStatus(play.refinement));
    expect(time).toMatchObject({ max_ms: 60_000, elapsed_ms: 20_000, left_ms: 40_000 });
    const fork = forkRefinement(play.refinement, play.refinement.setup, play.now + 1e6).work;
    const [account] = fork.ledger.accounts;
    expect(account && elapsedMs(account, play.now + 1e6)).toBe(0);
  });
  test('is no limit where none is given', () => {
    const play = new RefinementPlay().start();
    expect([play.pending.timeoutMs, refinementStatus(play.refinement)]).toEqual([
      600_000,
      expect.not.objectContaining({ time: expect.anything() }),
    ]);
  });
});
